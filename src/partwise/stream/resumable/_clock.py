"""The clock of leases and lifetimes."""

from __future__ import annotations

from typing import Protocol

import anyio

__all__ = ["LoopClock", "StreamClock"]


class StreamClock(Protocol):
    """A monotonic clock that can be waited on."""

    def now(self) -> float:
        """Return the time in seconds since some fixed moment."""
        ...

    async def wait(self, event: anyio.Event, until: float) -> None:
        """Return as soon as the event is set, or the time has come."""
        ...


class LoopClock:
    """The clock of the event loop that is running: asyncio or trio."""

    def now(self) -> float:
        """Return the loop's own time."""
        return anyio.current_time()

    async def wait(self, event: anyio.Event, until: float) -> None:
        """Return as soon as the event is set, or the time has come."""
        with anyio.CancelScope(deadline=until):
            await event.wait()
