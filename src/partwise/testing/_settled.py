"""The moment in which nothing more happens by itself."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import anyio
import anyio.lowlevel

__all__ = ["settled"]

_TURNS: Final = 20_000


async def settled() -> None:
    """Wait until every other task waits for something: an event, a lock, time, a thread, the network.

    What threads and timers will bring is not waited for. No time passes by this, so a test that calls it between its
    steps says exactly what happened before each of them, and is quick on asyncio as well, where
    `anyio.wait_all_tasks_blocked` sleeps. Only one task at a time may wait like this.

    Raises:
        AssertionError: Somebody never stops: there was something to do for 20,000 turns of the event loop.
    """
    ready = _ready_of(anyio.lowlevel.current_token().native_token)
    if ready is None:
        await anyio.wait_all_tasks_blocked()
        return
    for _ in range(_TURNS):
        # A turn begins with what the network and the timers brought. It queues up behind this task, so that an empty
        # queue means that nothing is left.
        await anyio.lowlevel.checkpoint()
        if not ready:
            return
    text = f"The tasks never came to rest: something was left to do after {_TURNS:,} turns of the event loop."
    raise AssertionError(text)


def _ready_of(loop: object) -> Collection[Any] | None:
    """Return the queue of what an asyncio loop does next; other loops have none that can be seen."""
    return getattr(loop, "_ready", None)
