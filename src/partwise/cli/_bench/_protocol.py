"""What a peer of the race can do, and the gate that it has to pass before its time counts."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Protocol

import attrs

from partwise.errors import InvalidInputError

from ._thread import Parameters, reader

__all__ = ["Peer", "check", "check_closed", "evaluations_per_change"]

_CODES: frozenset[CodeType] = frozenset(
    reader((0, 0), depth).__code__ for depth in ("message", "part", "text", "argument")
)


class Peer(Protocol):
    """One way of telling listeners that what they look at has changed."""

    def version(self) -> str:
        """Return the version of what is measured."""
        ...

    def build(self, parameters: Parameters) -> None:
        """Make the thread and the listeners, each told about one part."""
        ...

    def change(self, number: int) -> None:
        """Give the parts that change another text, and have their listeners told before returning."""
        ...

    def deliveries(self) -> int:
        """Return how many values listeners have been given since ``build``."""
        ...

    def evaluations(self) -> int | None:
        """Return how often a slice was computed; None where only the calls of its function can be counted."""
        ...

    def churn(self, number: int) -> None:
        """Begin to listen to one more part, and stop."""
        ...

    def close(self) -> None:
        """Stop all listening."""
        ...


def check(peer: Peer, parameters: Parameters) -> int:
    """Change twice, once and then three times; return how many changes that were.

    Raises:
        InvalidInputError: Not exactly the listeners concerned were told, once per change.
    """
    expected = parameters.expected()
    for first, times in ((1, 1), (2, 3)):
        before = peer.deliveries()
        for number in range(first, first + times):
            peer.change(number)
        _require(peer, peer.deliveries() - before, expected * times, f"after {times} changes")
    return 4


def check_closed(peer: Peer) -> None:
    """Close a peer and change once more.

    Raises:
        InvalidInputError: Somebody was told after the end.
    """
    peer.close()
    before = peer.deliveries()
    peer.change(-1)
    _require(peer, peer.deliveries() - before, 0, "after its end")


def _require(peer: Peer, got: int, expected: int, when: str) -> None:
    if got != expected:
        text = f"{type(peer).__name__} delivered {got} values {when}, where {expected} are right; it is not measured"
        raise InvalidInputError(text)


def evaluations_per_change(peer: Peer, number: int) -> int:
    """Change once, and return how many slices were computed for it."""
    before = peer.evaluations()
    with _counted_reads() as reads:
        peer.change(number)
    after = peer.evaluations()
    return reads.count if before is None or after is None else after - before


@attrs.define
class _Reads:
    count: int = 0


@contextmanager
def _counted_reads() -> Generator[_Reads]:
    """Count the calls of selectors without changing them, so that what is counted is what was measured."""
    reads = _Reads()

    def on_call(frame: FrameType, event: str, argument: object) -> None:
        del argument
        if event == "call" and frame.f_code in _CODES:
            reads.count += 1

    sys.setprofile(on_call)
    try:
        yield reads
    finally:
        sys.setprofile(None)
