"""Whatever a server sends, in whatever pieces: no exception, and the same answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.messages import RUNNING, AssistantMessage
from partwise.providers.anthropic import MessagesDecoder
from partwise.providers.openai import ChatDecoder, ResponsesDecoder
from partwise.providers.wire import Decoder, PayloadReader
from partwise.stream import Fold

OWN = Path(__file__).parent / "recordings"
BODIES = {
    name: (OWN / name).read_bytes() for name in ("look-then-answer.sse", "responses-look.sse", "anthropic-look.sse")
}
DECODERS: dict[str, Callable[[], Decoder]] = {
    "look-then-answer.sse": lambda: ChatDecoder(think_tags=True),
    "responses-look.sse": ResponsesDecoder,
    "anthropic-look.sse": MessagesDecoder,
}
each_protocol = pytest.mark.parametrize("name", DECODERS)


def read(pieces: Sequence[bytes]) -> list[dict[str, Any]]:
    reader = PayloadReader()
    return [*(payload for piece in pieces for payload in reader.feed(piece)), *reader.close()]


def folded(name: str, payloads: Sequence[Any]) -> AssistantMessage:
    decoder, fold = DECODERS[name](), Fold(report=lambda _: None)
    message = AssistantMessage(id="a", created_at=datetime(2026, 1, 1, tzinfo=UTC), status=RUNNING)
    for payload in payloads:
        for chunk in decoder.decode(payload):
            message = fold.apply(message, chunk)
    for chunk in decoder.close():
        message = fold.apply(message, chunk)
    return fold.finish(message)


@each_protocol
@settings(max_examples=50)
@given(data=st.data())
def test_any_split_of_the_bytes_gives_the_same_message(name: str, data: st.DataObject) -> None:
    body = BODIES[name]
    places = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    pieces = [body[start:end] for start, end in zip([0, *places], [*places, len(body)], strict=True)]

    assert folded(name, read(pieces)) == folded(name, read([body]))


@each_protocol
@settings(max_examples=50)
@given(data=st.data())
def test_damaged_bytes_end_an_answer_and_nothing_else(name: str, data: st.DataObject) -> None:
    body = bytearray(BODIES[name])
    for at in data.draw(st.lists(st.integers(0, len(body) - 1), max_size=6)):
        body[at] = data.draw(st.integers(0, 255))
    message = folded(name, read([bytes(body[: data.draw(st.integers(0, len(body)))])]))

    assert message.status != RUNNING


def _values(depth: int) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["", "0", "{", '{"a": 1}', "x", "\ud83d"]),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
        max_leaves=depth,
    )


def _mutated(value: Any, draw: Callable[[st.SearchStrategy[Any]], Any]) -> Any:
    """Put anything in the place of one value, somewhere in a payload."""
    if isinstance(value, dict) and value and draw(st.integers(0, 3)):
        key = draw(st.sampled_from(sorted(value)))
        if not draw(st.integers(0, 3)):
            return {other: one for other, one in value.items() if other != key}
        return {**value, key: _mutated(value[key], draw)}
    if isinstance(value, list) and value and draw(st.booleans()):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], _mutated(value[at], draw), *value[at + 1 :]]
    return draw(_values(4))


@each_protocol
@given(data=st.data())
def test_payloads_with_anything_in_them_in_any_order_are_read(name: str, data: st.DataObject) -> None:
    known = read([BODIES[name]])
    payloads: list[Any] = []
    for _ in range(data.draw(st.integers(1, 12))):
        payload = data.draw(st.sampled_from(known))
        if data.draw(st.booleans()):
            payload = _mutated(payload, data.draw)
        payloads.append(payload if isinstance(payload, dict) else {"type": payload})

    message = folded(name, payloads)

    assert message.status != RUNNING
    assert json.dumps(message.status.type)


@each_protocol
def test_what_comes_after_the_end_or_comes_twice_is_harmless(name: str) -> None:
    payloads = read([BODIES[name]])
    whole = folded(name, payloads)

    for at in (-1, -2):
        assert folded(name, [*payloads, payloads[at]]).status == whole.status
        assert folded(name, [*payloads, payloads[at]]).content == whole.content
    assert folded(name, [*payloads, {"error": {"message": "late"}}]).content == whole.content
