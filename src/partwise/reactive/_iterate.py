"""``async for`` over an observable that delivers on the event loop."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

import anyio
import anyio.lowlevel
from reactivex import Observable
from reactivex.abc import DisposableBase

T = TypeVar("T")


class _Inbox(Generic[T]):
    """What was delivered and not yet taken. It does not know its iterator, so that it is collected."""

    def __init__(self) -> None:
        self.values: deque[T] = deque()
        self.error: Exception | None = None
        self.over = False
        self.arrival: anyio.Event | None = None

    def on_next(self, value: T) -> None:
        self.values.append(value)
        self._wake()

    def on_error(self, error: Exception) -> None:
        self.error = error
        self.on_completed()

    def on_completed(self) -> None:
        self.over = True
        self._wake()

    def _wake(self) -> None:
        arrival, self.arrival = self.arrival, None
        if arrival is not None:
            arrival.set()


class SliceIterator(Generic[T]):
    """Gives every value in order; subscribed from its making until it is closed or exhausted.

    A wait that is cancelled loses nothing: the next one goes on where it stopped.
    """

    def __init__(self, source: Observable[T]) -> None:
        self._inbox: _Inbox[T] = _Inbox()
        inbox = self._inbox
        self._subscription: DisposableBase = source.subscribe(inbox.on_next, inbox.on_error, inbox.on_completed)

    def __aiter__(self) -> SliceIterator[T]:
        return self

    async def __anext__(self) -> T:
        inbox = self._inbox
        # Checked first: a loop over values that are all there must not keep others from running.
        await anyio.lowlevel.checkpoint()
        while not inbox.values:
            if inbox.error is not None:
                error, inbox.error = inbox.error, None
                raise error
            if inbox.over:
                raise StopAsyncIteration
            arrival = inbox.arrival = inbox.arrival or anyio.Event()
            await arrival.wait()
        return inbox.values.popleft()

    async def aclose(self) -> None:
        """End the subscription; the values not yet taken are dropped."""
        self._close()

    def _close(self) -> None:
        self._subscription.dispose()
        self._inbox.values.clear()
        self._inbox.on_completed()

    def __del__(self) -> None:
        if hasattr(self, "_subscription"):
            self._subscription.dispose()
