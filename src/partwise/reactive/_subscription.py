"""One listener of a slice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from reactivex.abc import DisposableBase

from partwise.reactive._cell import Cell
from partwise.reactive._paths import MISSING


class Releases(Protocol):
    """Whoever must be told that a subscription is over."""

    def release(self, subscription: Subscription) -> None:
        """Forget the subscription."""
        ...


def _nothing(_value: object) -> None:
    return None


class Subscription(DisposableBase):
    """The handle of a listener: it listens until disposed, or until the slice completes.

    It does not depend on the handle being kept. As a context manager it ends with the block.
    """

    __slots__ = ("active", "cell", "engine", "last", "on_completed", "on_error", "on_next", "since", "source")

    def __init__(
        self,
        engine: Releases,
        source: object,
        on_next: Callable[[object], object],
        on_error: Callable[[Exception], object],
        on_completed: Callable[[], object] | None,
    ) -> None:
        self.engine = engine
        self.source: object = source
        self.on_next = on_next
        self.on_error = on_error
        self.on_completed = on_completed
        self.active = True
        # The number of the commit whose value it got when it subscribed.
        self.since = 0
        self.cell: Cell | None = None
        # The value it got, while the rounds before it are still to be delivered.
        self.last: object = MISSING

    def dispose(self) -> None:
        """Stop listening; nothing is called any more. Safe from any thread, and twice."""
        if self.active:
            self._end()
            self.engine.release(self)

    def complete(self) -> None:
        """Tell the listener that there will be no more values."""
        if self.active:
            on_completed = self.on_completed
            self._end()
            if on_completed is not None:
                on_completed()

    def fail(self, error: Exception) -> None:
        """Tell the listener that there is no value because of an error."""
        if self.active:
            on_error = self.on_error
            self._end()
            on_error(error)

    def _end(self) -> None:
        # Whoever keeps the handle must not keep the functions alive, nor the last value.
        self.active = False
        self.on_next = _nothing
        self.on_error = _nothing
        self.on_completed = None
        self.last = MISSING
        self.source = None
