"""At most so many values a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from reactivex import Observable, abc
from reactivex.disposable import Disposable

from partwise.reactive._timer import Action, LoopTimer, SchedulerTimer, Timer

T = TypeVar("T")


def per_frame(
    hz: float, *, timer: Timer | None = None, scheduler: abc.SchedulerBase | None = None
) -> Callable[[Observable[T]], Observable[T]]:
    """Let at most ``hz`` values a second through: the first at once, then the newest of each frame.

    The last value is never lost: it is delivered at the end of its frame, or right before the
    completion or error that comes earlier.

    Args:
        hz: Frames per second.
        timer: A clock; by default that of the event loop running at subscription.
        scheduler: An Rx scheduler to take the time from instead, for example a virtual one.

    Raises:
        ValueError: ``hz`` is not positive.
    """
    if hz <= 0:
        text = f"hz must be positive, not {hz}"
        raise ValueError(text)
    length = 1.0 / hz

    def operator(source: Observable[T]) -> Observable[T]:
        def subscribe(observer: abc.ObserverBase[T], given: abc.SchedulerBase | None = None) -> abc.DisposableBase:
            chosen = scheduler or given
            clock = timer or (SchedulerTimer(chosen) if chosen is not None else LoopTimer())
            frames = _Frames(observer, clock, length)
            upstream = source.subscribe(frames.on_next, frames.on_error, frames.on_completed)

            def dispose() -> None:
                frames.stop()
                upstream.dispose()

            return Disposable(dispose)

        return Observable(subscribe)

    return operator


class _Frames(abc.ObserverBase[T]):
    """Holds back what comes within a frame, and delivers the newest of it at the frame's end."""

    def __init__(self, observer: abc.ObserverBase[T], timer: Timer, length: float) -> None:
        self._observer = observer
        self._timer = timer
        self._length = length
        self._held: list[T] = []
        self._cancel: Action | None = None

    def on_next(self, value: T) -> None:
        if self._cancel is not None:
            self._held = [value]
            return
        self._open()
        self._observer.on_next(value)

    def on_error(self, error: Exception) -> None:
        self._finish(lambda: self._observer.on_error(error))

    def on_completed(self) -> None:
        self._finish(self._observer.on_completed)

    def stop(self) -> None:
        """Deliver nothing more."""
        self._held = []
        cancel, self._cancel = self._cancel, None
        if cancel is not None:
            cancel()

    def _open(self) -> None:
        # Before the value is delivered, so that a listener that raises does not stop the clock.
        self._cancel = self._timer.call_later(self._length, self._end)

    def _end(self) -> None:
        self._cancel = None
        held, self._held = self._held, []
        if held:
            self._open()
            self._observer.on_next(held[0])

    def _finish(self, tell: Action) -> None:
        held = self._held
        self.stop()
        try:
            if held:
                self._observer.on_next(held[0])
        finally:
            tell()
