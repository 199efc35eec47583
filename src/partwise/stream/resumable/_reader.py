"""Reading a stream: every chunk exactly once, from the start or from a place."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from types import TracebackType
from typing import Self

from ._values import Entry

__all__ = ["StreamReader"]


class StreamReader(AsyncIterator[bytes]):
    """The chunks of a resumable stream, as they were written; waits for more until the stream ends.

    One task reads it. Close it when you leave it early: ``async with`` does, and so does a cancellation.

    Raises:
        StreamFailedError: From the iteration: the stream failed or expired, or chunks are missing.
        StreamNotFoundError: From the iteration: the stream went away before it began.
        CursorError: From the iteration: the stream does not have the place to begin at.
    """

    def __init__(
        self, entries: AsyncGenerator[Entry, None], stream_id: str, *, is_producer: bool, after: str | None
    ) -> None:
        self._entries = entries
        self._stream_id = stream_id
        self._is_producer = is_producer
        self._cursor = after

    @property
    def stream_id(self) -> str:
        """The stream."""
        return self._stream_id

    @property
    def is_producer(self) -> bool:
        """Whether the call that gave this reader started the producer, too."""
        return self._is_producer

    @property
    def cursor(self) -> str | None:
        """The place after the last chunk that was read, to go on from later; None: nothing was read."""
        return self._cursor

    def __aiter__(self) -> StreamReader:
        return self

    async def __anext__(self) -> bytes:
        entry = await anext(self._entries)
        self._cursor = entry.cursor
        return entry.data

    async def aclose(self) -> None:
        """Stop reading; the stream and its other readers go on."""
        await self._entries.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
