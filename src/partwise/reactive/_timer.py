"""Clocks for operators that wait: the running event loop, or a scheduler of Rx."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import anyio
import anyio.lowlevel
from reactivex.abc import SchedulerBase

from partwise.errors import StoreError
from partwise.reactive._report import ErrorContext, log_error

Action = Callable[[], None]


class Timer(Protocol):
    """A monotonic clock that can call back."""

    def now(self) -> float:
        """Return the time in seconds since some fixed moment."""
        ...

    def call_later(self, seconds: float, action: Action) -> Action:
        """Call ``action`` once after a delay; return a function that cancels that."""
        ...


class LoopTimer:
    """The clock of the event loop that is running now: asyncio or trio.

    Raises:
        StoreError: No event loop is running.
    """

    def __init__(self) -> None:
        try:
            self._native = anyio.lowlevel.current_token().native_token
        except RuntimeError as error:
            text = "no event loop is running here to wait on; give per_frame a timer or a scheduler"
            raise StoreError(text) from error

    def now(self) -> float:
        """Return the loop's own time."""
        return anyio.current_time()

    def call_later(self, seconds: float, action: Action) -> Action:
        """Call ``action`` once after a delay; return a function that cancels that."""
        call_later = getattr(self._native, "call_later", None)
        if call_later is not None:
            cancel: Action = call_later(seconds, _guarded(action)).cancel
            return cancel
        return _sleep_in_system_task(seconds, _guarded(action))


class SchedulerTimer:
    """The clock of an Rx scheduler, for example one with virtual time."""

    def __init__(self, scheduler: SchedulerBase) -> None:
        self._scheduler = scheduler

    def now(self) -> float:
        """Return the scheduler's time in seconds."""
        return self._scheduler.to_seconds(self._scheduler.now)

    def call_later(self, seconds: float, action: Action) -> Action:
        """Call ``action`` once after a delay; return a function that cancels that."""

        def run(_scheduler: SchedulerBase, _state: object = None) -> None:
            action()

        return self._scheduler.schedule_relative(seconds, run).dispose


def _guarded(action: Action) -> Action:
    def run() -> None:
        try:
            action()
        except Exception as error:  # no caller is there to be told
            log_error(error, ErrorContext(culprit="timer"))

    return run


def _sleep_in_system_task(seconds: float, action: Action) -> Action:
    # trio has no timers that call back. Only trio's own loop gets here, so it is installed.
    from trio import lowlevel

    scope = anyio.CancelScope()

    async def sleep() -> None:
        with scope:
            await anyio.sleep(seconds)
            action()

    lowlevel.spawn_system_task(sleep)
    return scope.cancel
