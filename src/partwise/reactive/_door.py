"""The door through which other threads reach a store."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import anyio.lowlevel

Call = Callable[[], object]


class Door:
    """A queue of functions to be called on the event loop (or in the thread) of its owner.

    Args:
        call: Calls one function; must not raise.
    """

    __slots__ = ("_call", "_draining", "_queue", "_scheduled", "_wake")

    def __init__(self, call: Callable[[Call], None]) -> None:
        self._call = call
        self._queue: deque[Call] = deque()
        self._wake: Callable[[Call], object] | None = None
        self._scheduled = False
        self._draining = False

    def __bool__(self) -> bool:
        return bool(self._queue)

    def adopt_loop(self) -> None:
        """Remember the running event loop, if there is one, in place of one known before."""
        wake = _waker()
        if wake is None or wake == self._wake:
            return
        self._wake = wake
        self._scheduled = False
        if self._queue:
            self._schedule()

    def put(self, function: Call) -> None:
        """Queue a function and wake the loop; callable from any thread."""
        self._queue.append(function)
        self._schedule()

    def drain(self) -> None:
        """Call what was queued until now, in order; a call made by one of them does nothing."""
        if self._draining:
            return
        self._scheduled = False
        self._draining = True
        try:
            for _ in range(len(self._queue)):
                if not self._queue:
                    break
                self._call(self._queue.popleft())
        finally:
            self._draining = False
        if self._queue:
            self._schedule()

    def clear(self) -> None:
        """Forget what is queued."""
        self._queue.clear()

    def _schedule(self) -> None:
        wake = self._wake
        if wake is None or self._scheduled:
            return
        # Set before the loop is woken: a drain resets it first and then looks at the queue.
        self._scheduled = True
        try:
            wake(self.drain)
        except RuntimeError:
            # That loop is over; what is queued waits for the next commit, drain or loop.
            self._wake = None
            self._scheduled = False


def _waker() -> Callable[[Call], object] | None:
    try:
        native = anyio.lowlevel.current_token().native_token
    except RuntimeError:
        return None
    for name in ("call_soon_threadsafe", "run_sync_soon"):
        wake: Callable[[Call], object] | None = getattr(native, name, None)
        if wake is not None:
            return wake
    return None
