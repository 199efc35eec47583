"""What stands between the one who writes chunks and the one who reads them."""

from __future__ import annotations

from collections import deque
from typing import Self

import anyio
from anyio.lowlevel import checkpoint

from partwise.errors import NotAllowedError, WireError
from partwise.messages import error_record
from partwise.stream._chunk_json import WireChunk
from partwise.stream._chunks import ErrorChunk
from partwise.stream._report import Report

from ._parts import PartWriter

__all__ = ["Outlet", "Reader"]


class Outlet:
    """A queue of chunks with one reader, and the parts that are written into it.

    Args:
        is_strict: Whether adding to what is closed raises; otherwise it is reported.
        report: Told about what is dropped.
        room: How many chunks may wait before a writer that asks for room has to wait.
    """

    def __init__(self, *, is_strict: bool, report: Report, room: int) -> None:
        self.parts = PartWriter(self._put, late=_raise_late if is_strict else None, report=report)
        self.report = report
        self.is_closed = False
        self.is_cancelled = False
        self.has_failed = False
        self._room = room
        self._waiting: deque[WireChunk] = deque()
        self._merging = 0
        self._is_read = False
        self._changed = anyio.Event()

    @property
    def has_ended(self) -> bool:
        """Whether no chunk can come any more, besides those that wait."""
        return self.is_closed and not self._merging and not self.parts.open_parts

    @property
    def has_waiting(self) -> bool:
        """Whether chunks wait to be read."""
        return bool(self._waiting)

    def require_open(self) -> None:
        """Check that parts may begin.

        Raises:
            NotAllowedError: The stream is closed.
        """
        if self.is_closed:
            text = "The stream is closed; nothing can begin in it."
            raise NotAllowedError(text, code="stream-closed")

    def close(self) -> None:
        """Let no further part begin; the stream ends once the open ones are closed."""
        self.is_closed = True
        self.parts.end_current()
        self._notify()

    def fail(self, error: BaseException) -> None:
        """Say that the answer broke off, and end the stream: what was written stays."""
        if self.is_closed and self.has_ended:
            self.report(WireError(f"A stream that was closed has failed: {error!r}.", code="failed"))
            return
        self.is_closed, self.has_failed, self._merging = True, True, 0
        self._put(ErrorChunk(error_record(error)))
        self.parts.close_texts()
        self.parts.abandon()
        self._notify()

    def begin_merge(self) -> None:
        """Another stream is being written into this one."""
        self._merging += 1

    def end_merge(self) -> None:
        """It has ended."""
        self._merging = max(0, self._merging - 1)
        self._notify()

    async def room(self) -> None:
        """Wait until few enough chunks wait to be read, or nobody reads any more."""
        while len(self._waiting) > self._room and not self.is_cancelled:
            await self._changed.wait()

    async def next(self) -> WireChunk | None:
        """Wait for the next chunk, and take it; None at the end."""
        await checkpoint()
        while not self._waiting:
            if self.has_ended or self.is_cancelled:
                return None
            await self._changed.wait()
        chunk = self._waiting.popleft()
        self._notify()
        return chunk

    def claim(self) -> None:
        """Become the one reader.

        Raises:
            NotAllowedError: Somebody reads already.
        """
        if self._is_read:
            text = "The stream is being read already; it has one reader."
            raise NotAllowedError(text, code="stream-locked")
        self._is_read = True

    def cancel(self) -> None:
        """Nobody reads any more: what is written from now on goes nowhere."""
        if self.has_ended and not self._waiting:
            return
        self.is_cancelled = True
        self._waiting.clear()
        self._notify()

    def _put(self, chunk: WireChunk) -> None:
        if not self.is_cancelled:
            self._waiting.append(chunk)
        self._notify()

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


class Reader:
    """The chunks of an outlet, as they are written. No generator, so that one may stop reading anywhere."""

    __slots__ = ("_outlet",)

    def __init__(self, outlet: Outlet) -> None:
        outlet.claim()
        self._outlet = outlet

    def __aiter__(self) -> Self:
        """Return the reader."""
        return self

    async def __anext__(self) -> WireChunk:
        """Return the next chunk."""
        chunk = await self._outlet.next()
        if chunk is None:
            raise StopAsyncIteration
        return chunk

    async def aclose(self) -> None:
        """Stop reading: what is written from now on goes nowhere."""
        self._outlet.cancel()


def _raise_late(why: str) -> None:
    text = f"Too late: {why}."
    raise NotAllowedError(text, code="append-after-close")
