"""Reading from a source of other people's making, which is closed by the task that read it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio

__all__ = ["reading"]

T = TypeVar("T")

# A source that does not let go must not hold up the end of an answer.
_CLOSE_SECONDS = 5


@asynccontextmanager
async def reading(source: AsyncIterable[T]) -> AsyncGenerator[AsyncIterator[T]]:
    """Iterate over a source; at the end of the block it is closed if it can be, however far the reading came.

    Left to the garbage collector, a generator would end late, in another task, and not at all on trio.
    """
    values: Any = aiter(source)
    try:
        yield values
    finally:
        aclose = getattr(values, "aclose", None)
        if aclose is not None:
            with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
                await aclose()
