"""A stream of events: what happened, as opposed to what is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import reactivex
from reactivex import abc
from reactivex.disposable import Disposable

from partwise.reactive._report import ErrorContext, ErrorHook, log_error

E = TypeVar("E")


class _Listener(Generic[E]):
    __slots__ = ("is_gone", "on_completed", "on_next")

    def __init__(self, on_next: Callable[[E], None] | None, on_completed: Callable[[], None] | None) -> None:
        self.on_next = on_next
        self.on_completed = on_completed
        self.is_gone = False


def _listener(observer: Any, on_completed: Callable[[], None] | None) -> _Listener[Any]:
    """Make a listener of a function, or of an object with ``on_next`` and ``on_completed``."""
    return _Listener(getattr(observer, "on_next", observer), getattr(observer, "on_completed", on_completed))


class Events(reactivex.Observable[E]):
    """Delivers each event to those who listen at that moment, in order, one event at a time.

    An event emitted by a listener waits until everybody has the present one. A listener that raises is
    reported and goes on listening; neither the emitter nor other listeners notice. There is no current
    event: who subscribes later hears only what comes later, except for events that are to be replayed.

    Args:
        on_error: Told of listeners that raise.
        replays: Which events late listeners get as well, a turn of the loop after they subscribed.
        spawn: Starts an async function; needed for replays.
    """

    def __init__(
        self,
        *,
        on_error: ErrorHook | None = None,
        replays: Callable[[E], bool] | None = None,
        spawn: Callable[..., None] | None = None,
    ) -> None:
        super().__init__()
        self._on_error = on_error or log_error
        self._replays = replays
        self._spawn = spawn
        self._listeners: dict[_Listener[E], None] = {}
        self._past: list[E] = []
        self._waiting: deque[E] = deque()
        self._is_delivering = False
        self._is_closed = False

    def subscribe(
        self,
        on_next: abc.ObserverBase[E] | Callable[[E], None] | None = None,
        on_error: Callable[[Exception], None] | None = None,
        on_completed: Callable[[], None] | None = None,
        *,
        scheduler: abc.SchedulerBase | None = None,
    ) -> abc.DisposableBase:
        """Listen; returns what ends the listening. ``on_error`` is never called."""
        del on_error, scheduler
        listener = _listener(on_next, on_completed)
        if self._is_closed:
            self._call(listener.on_completed)
            return Disposable()
        self._listeners[listener] = None
        if self._past and self._spawn is not None:
            self._spawn(self._replay, listener, tuple(self._past))

        def dispose() -> None:
            # Whoever keeps the handle must not keep the functions alive.
            listener.is_gone = True
            listener.on_next = listener.on_completed = None
            self._listeners.pop(listener, None)

        return Disposable(dispose)

    def emit(self, event: E) -> None:
        """Deliver an event; called by the owner of the stream."""
        if self._is_closed:
            return
        if self._replays is not None and self._replays(event):
            self._past.append(event)
        self._waiting.append(event)
        if self._is_delivering:
            return
        self._is_delivering = True
        try:
            while self._waiting:
                present = self._waiting.popleft()
                for listener in tuple(self._listeners):
                    self._deliver(listener, present)
        finally:
            self._is_delivering = False

    def close(self) -> None:
        """Complete the stream; nothing is delivered any more."""
        if self._is_closed:
            return
        self._is_closed = True
        listeners = tuple(self._listeners)
        self._listeners.clear()
        for listener in listeners:
            listener.is_gone = True
            self._call(listener.on_completed)

    async def _replay(self, listener: _Listener[E], events: tuple[E, ...]) -> None:
        for event in events:
            self._deliver(listener, event)

    def _deliver(self, listener: _Listener[E], event: E) -> None:
        if not listener.is_gone and listener.on_next is not None:
            self._call(listener.on_next, event)

    def _call(self, function: Callable[..., Any] | None, *args: object) -> None:
        if function is None:
            return
        try:
            function(*args)
        except Exception as error:
            self._on_error(error, ErrorContext(culprit="listener", store="events", source=self))
