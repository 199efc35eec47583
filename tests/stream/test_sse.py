from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.errors import InvalidInputError
from partwise.stream import SseEvent, SseReader


def read(*pieces: bytes) -> list[SseEvent]:
    reader = SseReader()
    return [*(event for piece in pieces for event in reader.feed(piece)), *reader.close()]


SAMPLE = (
    "\ufeff: a comment\n"
    'data: {"text": "Größe 大小 \U0001f642"}\n'
    "\n"
    "event: named\n"
    "id: 7\n"
    "retry: 10\n"
    "data:no blank\n"
    "data:  two blanks\n"
    "\n"
    "\n"
    ": only a comment\n"
    "\n"
    "event: nothing said\n"
    "\n"
    "data\n"
    "\n"
    "data: \u2028 is no line end\n"
    "\n"
)
EVENTS = [
    SseEvent('{"text": "Größe 大小 \U0001f642"}'),
    SseEvent("no blank\n two blanks", "named", id="7", retry=10),
    SseEvent("", id="7", retry=10),
    SseEvent("\u2028 is no line end", id="7", retry=10),
]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@given(places=st.lists(st.integers(0, 400), max_size=8))
def test_bytes_cut_anywhere_give_the_same_events(end: str, places: list[int]) -> None:
    data = SAMPLE.replace("\n", end).encode()
    edges = sorted({0, len(data), *(place % len(data) for place in places)})

    assert read(*(data[start:stop] for start, stop in itertools.pairwise(edges))) == EVENTS


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_bytes_one_by_one_give_the_same_events(end: str) -> None:
    data = SAMPLE.replace("\n", end).encode()

    assert read(*(bytes([byte]) for byte in data)) == EVENTS


def test_an_event_is_given_as_soon_as_it_ends() -> None:
    reader = SseReader()

    assert reader.feed(b"data: a\r") == []
    assert reader.feed(b"\r") == [SseEvent("a")]
    assert reader.feed(b"\ndata: b\n\n") == [SseEvent("b")]


def test_a_tail_without_its_blank_line_is_told_apart() -> None:
    assert read(b"data: a\n\ndata: b") == [SseEvent("a"), SseEvent("b", is_whole=False)]
    assert read(b"event: x\ndata: b\n") == [SseEvent("b", "x", is_whole=False)]
    assert read(b"event: x\n") == []


def test_an_error_line_is_an_error_event() -> None:
    assert read(b'error: {"a": 1}\n\n') == [SseEvent('{"a": 1}', "error")]
    assert read(b"data: x\nerror: no\n\n") == [SseEvent("no", "error"), SseEvent("x")]
    assert read(b"error\n\n") == []


def test_bytes_that_are_no_text_do_not_stop_the_reading() -> None:
    assert read(b"data: \xff\n\n", b"data: \xe5\xa4") == [SseEvent("\ufffd"), SseEvent("\ufffd", is_whole=False)]


def test_a_line_that_is_too_long_costs_its_event_and_no_more() -> None:
    reader = SseReader(max_line_length=12)

    assert reader.feed(b"data: a\n\ndata: 1\ndata: 23") == [SseEvent("a")]
    (problem,) = reader.feed(b"456789")
    assert problem.problem is not None
    assert problem.problem.code == "line-too-long"
    assert reader.feed(b"0" * 100) == []
    assert reader.feed(b"\n\ndata: ok\n\n") == [SseEvent("ok")]


def test_a_limit_that_makes_no_sense_is_refused() -> None:
    for limit in (0, -1, True, 1.5, 2**53):
        with pytest.raises(InvalidInputError, match="whole number"):
            SseReader(max_line_length=limit)  # type: ignore[arg-type]  # wrong on purpose
