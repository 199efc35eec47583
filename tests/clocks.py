"""A clock that moves when it is told to."""

from __future__ import annotations

import anyio
import anyio.lowlevel


class ManualClock:
    """Time in whole milliseconds, so that nothing is rounded; nobody sleeps."""

    def __init__(self) -> None:
        self._milliseconds = 0
        self._sleeping: dict[anyio.Event, float] = {}

    def now(self) -> float:
        return self._milliseconds / 1000

    def advance(self, milliseconds: int) -> None:
        """Let time pass, and wake who waited for it."""
        self._milliseconds += milliseconds
        for event in [event for event, until in self._sleeping.items() if until <= self.now()]:
            del self._sleeping[event]
            event.set()

    async def wait(self, event: anyio.Event, until: float) -> None:
        """Return as soon as the event is set, or the time has come."""
        await anyio.lowlevel.checkpoint()
        if event.is_set() or until <= self.now():
            return
        due = anyio.Event()
        self._sleeping[due] = until
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_first, due, group.cancel_scope)
                await event.wait()
                group.cancel_scope.cancel()
        finally:
            self._sleeping.pop(due, None)


async def _first(due: anyio.Event, rest: anyio.CancelScope) -> None:
    await due.wait()
    rest.cancel()
