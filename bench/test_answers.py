"""What does an answer cost that is ten times as long, as text and as arguments of a tool?"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from itertools import pairwise
from statistics import median
from typing import Any

import anyio

from bench._answer import Answer, Step, micros, millis, question_of
from bench._conversations import Streaming
from partwise.messages import TextPart
from partwise.stream import Chunk, TextDelta, ToolArgsDelta, ToolArgsFinish, ToolCallStart

DELTA = 16
SIZES = (1_000, 10_000, 100_000, 1_000_000)


def text_of(size: int) -> list[Chunk]:
    """Return an answer of that many characters, sixteen at a time."""
    return [TextDelta("x" * DELTA) for _ in range(size // DELTA)]


def arguments_of(size: int) -> list[Chunk]:
    """Return a tool call with that many characters of arguments: a file to write, as models stream them."""
    lines = "".join(f"line {number} of the file\n" for number in range(size // 20))
    text = json.dumps({"path": "notes.txt", "content": lines})[:size] + '"}'
    pieces = [text[at : at + DELTA] for at in range(0, len(text), DELTA)]
    return [ToolCallStart("call", "write"), *(ToolArgsDelta("call", piece) for piece in pieces), ToolArgsFinish("call")]


KINDS: dict[str, Callable[[int], list[Chunk]]] = {"text": text_of, "arguments": arguments_of}
# What the listener reads of each state of the part that it is given.
READERS: dict[str, Callable[[Any], object]] = {
    "": lambda part: part,
    ", read whole at each delta": lambda part: part.text if isinstance(part, TextPart) else part.args_text,
    ", read after every hundredth": lambda part: part.text if isinstance(part, TextPart) else part.args_text,
}


def measure(on_step: Step, *, sizes: tuple[int, ...] = SIZES, rounds: int = 7) -> Answer:
    """Stream whole answers through the runtime, each with one listener that is given every state of its part."""
    return anyio.run(_measure, on_step, sizes, rounds)


async def _measure(on_step: Step, sizes: tuple[int, ...], rounds: int) -> Answer:
    rows: list[tuple[str, ...]] = []
    figures: dict[str, float] = {}
    for kind, make in KINDS.items():
        for reader in READERS:
            name = kind + reader
            for small, large in pairwise((sizes[0] // 10, *sizes)):
                on_step(f"{name}, {large:,} characters")
                seconds, growth = await _compared(make, reader, small, large, rounds)
                figures[f"answer/{name}/{large}"] = seconds
                figures[f"growth/{name}/{large}"] = growth
                deltas = len(make(large))
                each = micros(seconds / deltas)
                rows.append((name, f"{large:,}", f"{deltas:,}", millis(seconds), each, f"{growth:,.1f}"))
    return Answer(
        question=question_of(__doc__),
        heads=("answer", "characters", "deltas", "ms", "µs per delta", "times ten of a tenth"),
        rows=tuple(rows),
        figures=figures,
        notes=(
            f"{DELTA} characters a delta; seconds of the processor. The last column is ten times the median ratio of "
            "one answer to ten answers of a tenth of its length, taken in turns: 10 is linear. Reading the whole text "
            "at each delta asks for a new text of that length each time; `per_frame` and appending are there for that.",
        ),
    )


async def _compared(
    make: Callable[[int], list[Chunk]], reader: str, small: int, large: int, rounds: int
) -> tuple[float, float]:
    """Return the seconds of a long answer, and how many times those of one of a tenth of its length."""
    long, short = make(large), make(small)
    taken: list[tuple[float, float]] = []
    for _ in range(min(rounds, 3) if large > 100_000 else rounds):
        gc.collect()
        tenth = sum([await _answered(short, reader) for _ in range(10)])
        taken.append((await _answered(long, reader), tenth))
    return median(one for one, _ in taken), 10 * median(one / ten for one, ten in taken)


async def _answered(chunks: list[Chunk], reader: str) -> float:
    heard = 0
    read = READERS[reader]
    every = 100 if "hundredth" in reader else 1

    def hear(part: object) -> None:
        nonlocal heard
        heard += 1
        if heard % every == 0:
            read(part)

    async with Streaming(2) as streaming:
        thread = streaming.thread
        id = thread.state.messages[-1].id
        thread.message(id).part(-1).subscribe(hear)
        heard = 0
        seconds = await streaming.say(chunks)
    if not len(chunks) - 2 <= heard <= len(chunks) + 1:
        text = f"{len(chunks)} chunks were heard {heard} times"
        raise AssertionError(text)
    return seconds


def test_every_delta_of_an_answer_is_heard():
    answer = measure(lambda text: None, sizes=(640, 1_600), rounds=1)

    assert [row[0] for row in answer.rows] == [kind + reader for kind in KINDS for reader in READERS for _ in range(2)]


def test_streamed_arguments_are_whole_in_the_end():
    text = "".join(chunk.text for chunk in arguments_of(2_000) if isinstance(chunk, ToolArgsDelta))

    assert json.loads(text)["path"] == "notes.txt"
