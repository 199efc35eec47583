"""What an answer costs grows with its length, not with the square of it: counted in bytes that are copied.

A step that copies what had come before it needs room for the copy while it does so. The sum of that room over all
steps is what is counted; ten times the steps may need little more than ten times of it.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest

from partwise.messages import TextPart
from partwise.providers.anthropic import MessagesDecoder
from partwise.providers.openai import ResponsesDecoder
from partwise.stream import (
    Accumulator,
    ArgsReader,
    ObjectDecoder,
    PartDelta,
    PartStart,
    ReasoningDelta,
    SseReader,
    TextDelta,
    ToolArgsDelta,
    ToolCallStart,
)
from partwise.stream.codecs import CODECS

PIECE = "a word or two, " * 4
FEW = 200

# A step of an answer of any length, given its number.
Answer = Callable[[], Callable[[int], object]]


def copied(answer: Answer, steps: int) -> int:
    """The bytes that the steps of an answer need beside what they keep."""
    step = answer()
    step(0)
    total = 0
    tracemalloc.start()
    try:
        for number in range(1, steps):
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            step(number)
            total += tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    return total


def text() -> Callable[[int], object]:
    accumulator = Accumulator()
    return lambda _: accumulator.apply(TextDelta(PIECE))


def reasoning() -> Callable[[int], object]:
    accumulator = Accumulator()
    return lambda _: accumulator.apply(ReasoningDelta(PIECE))


def placed_text() -> Callable[[int], object]:
    accumulator = Accumulator()
    accumulator.apply(PartStart(TextPart("")))
    return lambda _: accumulator.apply(PartDelta((0,), PIECE))


def folded_args() -> Callable[[int], object]:
    accumulator = Accumulator()
    accumulator.apply(ToolCallStart("c", "t"))
    accumulator.apply(ToolArgsDelta("c", '{"a": "'))
    return lambda _: accumulator.apply(ToolArgsDelta("c", PIECE))


def one_long_argument() -> Callable[[int], object]:
    reader = ArgsReader()
    reader.feed('{"a": "')
    return lambda _: reader.feed(PIECE)


def many_arguments() -> Callable[[int], object]:
    reader = ArgsReader()
    reader.feed('{"a": [0')
    return lambda number: reader.feed(f", {number}")


def one_long_line(name: str) -> Answer:
    heads = {"data-stream": b'0:"', "plain-text": b""}

    def begun() -> Callable[[int], object]:
        decoder = CODECS[name].decoder()
        decoder.feed(heads.get(name, b'data: {"type":"text-delta","path":[0],"textDelta":"'))
        return lambda _: decoder.feed(PIECE.encode())

    return begun


def many_lines(name: str) -> Answer:
    """A stream of deltas, of which each piece brings one."""

    def begun() -> Callable[[int], object]:
        encoder, decoder = CODECS[name].encoder(), CODECS[name].decoder()
        return lambda _: decoder.feed(encoder.encode(TextDelta(PIECE)))

    return begun


def one_event_of_many_lines() -> Callable[[int], object]:
    reader = SseReader()
    return lambda _: reader.feed(b"data: " + PIECE.encode() + b"\n")


def a_long_change_of_state() -> Callable[[int], object]:
    decoder = ObjectDecoder()
    decoder.feed(b'data: [{"type":"set","path":["a"],"value":"')
    return lambda _: decoder.feed(PIECE.encode())


def anthropic(kind: str, delta: str, field: str) -> Answer:
    """A block that is never shown while it grows."""

    def begun() -> Callable[[int], object]:
        decoder = MessagesDecoder()
        decoder.decode({"type": "message_start", "message": {"id": "m"}})
        decoder.decode({"type": "content_block_start", "index": 0, "content_block": {"type": kind}})
        grown = {"type": "content_block_delta", "index": 0, "delta": {"type": delta, field: PIECE}}
        return lambda _: decoder.decode(grown)

    return begun


ANSWERS: dict[str, Answer] = {
    "text": text,
    "reasoning": reasoning,
    "placed text": placed_text,
    "arguments, folded": folded_args,
    "one long argument": one_long_argument,
    "many arguments": many_arguments,
    **{f"{name}, one long line": one_long_line(name) for name in CODECS},
    **{f"{name}, many lines": many_lines(name) for name in CODECS},
    "one event of many lines": one_event_of_many_lines,
    "a long change of state": a_long_change_of_state,
    "a long signature": anthropic("thinking", "signature_delta", "signature"),
    "a long summary": anthropic("compaction", "compaction_delta", "content"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_ten_times_the_answer_copies_ten_times_the_bytes(name: str) -> None:
    few, many = copied(ANSWERS[name], FEW), copied(ANSWERS[name], 10 * FEW)

    assert many <= 13 * few + 50_000


def test_what_is_counted_finds_a_buffer_that_is_copied_with_each_step() -> None:
    def buffered() -> Callable[[int], object]:
        pieces: list[bytes] = [b""]

        def step(_: int) -> None:
            pieces[0] = pieces[0] + PIECE.encode()

        return step

    few, many = copied(buffered, FEW), copied(buffered, 10 * FEW)
    assert many > 50 * few


class Item(dict[str, object]):
    """An output item that counts how often it is looked at."""

    looks = 0

    def get(self, key: str, default: object = None) -> object:
        Item.looks += 1
        return super().get(key, default)


@pytest.mark.parametrize("has_ids", [True, False])
def test_each_item_of_a_closing_list_is_looked_at_a_few_times(has_ids: bool) -> None:
    def looks(count: int) -> int:
        decoder = ResponsesDecoder()
        items = [Item(type="web_search_call", id=f"i{number}" if has_ids else "") for number in range(count)]
        decoder.decode({"type": "response.created", "response": {"id": "r"}})
        for number, item in enumerate(items):
            decoder.decode({"type": "response.output_item.added", "output_index": number, "item": item})
        Item.looks = 0
        decoder.decode({"type": "response.completed", "response": {"id": "r", "output": items[::-1]}})
        return Item.looks

    assert looks(400) <= 10.5 * looks(40)
