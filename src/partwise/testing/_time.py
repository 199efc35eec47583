"""Time that passes when a test says so."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

__all__ = ["VirtualTimer"]


class VirtualTimer:
    """A timer for ``per_frame`` and others: ``advance`` lets seconds pass, without any waiting."""

    def __init__(self) -> None:
        self._now = 0.0
        self._numbers = count()
        self._waiting: list[tuple[float, int, Callable[[], object]]] = []
        self._cancelled: set[int] = set()

    def now(self) -> float:
        """Return the seconds that have passed."""
        return self._now

    def call_later(self, seconds: float, action: Callable[[], object]) -> Callable[[], object]:
        """Call a function once after some seconds; returns a function that cancels that."""
        number = next(self._numbers)
        heappush(self._waiting, (self._now + seconds, number, action))
        return lambda: self._cancelled.add(number)

    def advance(self, seconds: float) -> None:
        """Let seconds pass; what is due is called in its order, also what becomes due by that."""
        end = self._now + seconds
        while self._waiting and self._waiting[0][0] <= end:
            self._now, number, action = heappop(self._waiting)
            if number not in self._cancelled:
                action()
        self._now = end
