"""Resumable streams in the memory of one process."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import AsyncGenerator
from typing import Final

import anyio
import anyio.lowlevel
import attrs

from partwise.errors import CursorError, InvalidInputError, StreamLimitError, StreamNotFoundError

from ._clock import LoopClock, StreamClock
from ._refusals import ABANDONED, DAY, check_size, expired, failure_raised, lost, trimmed
from ._values import (
    Acquired,
    Edition,
    Entry,
    Found,
    StreamFailure,
    StreamLimits,
    StreamStatus,
    check_seconds,
    index_of,
)

__all__ = ["MemoryStreamStore"]

_FEW: Final = 16


@attrs.define(eq=False)
class _Stream:
    """One edition: its chunks, its times, and who waits for more of it."""

    edition: Edition
    ttl: float
    lease: float
    expires_at: float
    lease_until: float
    chunks: list[bytes] = attrs.field(factory=list[bytes])
    trimmed: int = 0
    size: int = 0
    status: StreamStatus = "streaming"
    failure: StreamFailure | None = None
    is_gone: bool = False
    waiting: set[anyio.Event] = attrs.field(factory=set[anyio.Event])

    @property
    def count(self) -> int:
        return self.trimmed + len(self.chunks)

    def wake(self) -> None:
        for event in self.waiting:
            event.set()
        self.waiting.clear()

    def end(self, status: StreamStatus, failure: StreamFailure | None) -> None:
        self.status, self.failure = status, failure
        self.wake()


class MemoryStreamStore:
    """Keeps resumable streams in memory, on asyncio and on trio.

    Chunks are kept once, however many readers there are, and a reader holds nothing but its place.

    Args:
        default_ttl: How long a stream lives after its last chunk, in seconds, unless it is told.
        limits: How much is kept.
        clock: Tells the time; that of the event loop if not given.

    Raises:
        InvalidInputError: The time is no number of seconds.
    """

    def __init__(
        self, *, default_ttl: float = DAY, limits: StreamLimits | None = None, clock: StreamClock | None = None
    ) -> None:
        check_seconds("lifetime", default_ttl, may_be_zero=True)
        self._default_ttl = default_ttl
        self._limits = limits or StreamLimits()
        self._clock = clock or LoopClock()
        self._streams: dict[str, _Stream] = {}
        self._deadlines: list[tuple[float, int, _Stream]] = []
        self._numbers = itertools.count(1)

    async def acquire(self, stream_id: str, *, ttl: float | None, lease: float) -> Acquired:
        """Make the stream if nobody has; see `ResumableStore`."""
        await anyio.lowlevel.checkpoint()
        self._sweep()
        known = self._look(stream_id)
        if known is not None:
            return Acquired(known.edition, is_producer=False)
        most = self._limits.streams
        if most is not None and len(self._streams) >= most:
            text = f"The store holds {most} streams, which is its limit; delete some, or give streams a shorter ttl."
            raise StreamLimitError(stream_id, text, code="too-many-streams")
        number, now, ttl = next(self._numbers), self._clock.now(), self._default_ttl if ttl is None else ttl
        stream = _Stream(Edition(stream_id, f"{number}"), ttl, lease, now + ttl, now + lease)
        self._streams[stream_id] = stream
        heapq.heappush(self._deadlines, (stream.expires_at, number, stream))
        return Acquired(stream.edition, is_producer=True)

    async def append(self, edition: Edition, index: int, data: bytes) -> None:
        """Store a chunk; see `ResumableStore`."""
        await anyio.lowlevel.checkpoint()
        stream = self._writable(edition)
        if index <= stream.count:
            return
        if index != stream.count + 1:
            text = f"Chunk {index} of stream {edition.stream_id!r} cannot be stored: it has {stream.count} chunks."
            raise InvalidInputError(text)
        check_size(edition.stream_id, self._limits, entries=stream.count, size=stream.size, data=data)
        stream.chunks.append(bytes(data))
        stream.size += len(data)
        self._refresh(stream)
        stream.wake()

    async def renew(self, edition: Edition) -> None:
        """Begin the lease anew; see `ResumableStore`."""
        await anyio.lowlevel.checkpoint()
        stream = self._writable(edition)
        stream.lease_until = self._clock.now() + stream.lease

    async def finalize(self, edition: Edition, failure: StreamFailure | None) -> None:
        """End the stream; see `ResumableStore`."""
        await anyio.lowlevel.checkpoint()
        status: StreamStatus = "done" if failure is None else "error"
        stream = self._look(edition.stream_id)
        if stream is not None and stream.edition == edition and (stream.status, stream.failure) == (status, failure):
            return
        stream = self._writable(edition)
        self._refresh(stream)
        stream.end(status, failure)

    async def read(self, edition: Edition, after: str | None = None) -> AsyncGenerator[Entry, None]:
        """Read the stream, and wait for more of it; see `ResumableStore`."""
        index = index_of(edition.stream_id, after)
        stream = self._look(edition.stream_id)
        if stream is None or stream.edition != edition:
            raise StreamNotFoundError(edition.stream_id)
        if index > stream.count:
            raise CursorError(edition.stream_id, after or "")
        while True:
            self._judge(stream)
            if stream.is_gone:
                if self._clock.now() >= stream.expires_at:
                    raise expired(edition.stream_id)
                return
            if index < stream.trimmed:
                raise trimmed(edition.stream_id, index + 1, stream.trimmed)
            if index < stream.count:
                data = stream.chunks[index - stream.trimmed]
                index += 1
                yield Entry(index, data)
            elif stream.failure is not None:
                raise failure_raised(edition.stream_id, stream.failure)
            elif stream.status == "done":
                return
            else:
                await self._wait(stream)

    async def find(self, stream_id: str) -> Found | None:
        """Return the stream of an id; see `ResumableStore`."""
        await anyio.lowlevel.checkpoint()
        stream = self._look(stream_id)
        return None if stream is None else Found(stream.edition, stream.status)

    async def trim(self, stream_id: str, keep: int) -> None:
        """Forget the oldest chunks; see `ResumableStore`."""
        await anyio.lowlevel.checkpoint()
        stream = self._look(stream_id)
        surplus = 0 if stream is None else len(stream.chunks) - max(keep, 0)
        if stream is not None and surplus > 0:
            stream.size -= sum(len(data) for data in stream.chunks[:surplus])
            del stream.chunks[:surplus]
            stream.trimmed += surplus
            stream.wake()

    async def delete(self, stream_id: str) -> None:
        """Forget a stream; see `ResumableStore`."""
        await anyio.lowlevel.checkpoint()
        stream = self._look(stream_id)
        if stream is not None:
            self._forget(stream)

    async def _wait(self, stream: _Stream) -> None:
        event = anyio.Event()
        stream.waiting.add(event)
        try:
            await self._clock.wait(event, min(stream.expires_at, stream.lease_until))
        finally:
            stream.waiting.discard(event)

    def _refresh(self, stream: _Stream) -> None:
        now = self._clock.now()
        stream.expires_at, stream.lease_until = now + stream.ttl, now + stream.lease

    def _judge(self, stream: _Stream) -> None:
        """Let a stream go whose time is over, and fail one whose producer is dead."""
        now = self._clock.now()
        if stream.is_gone:
            return
        if now >= stream.expires_at:
            self._forget(stream)
        elif stream.status == "streaming" and now >= stream.lease_until:
            stream.end("error", ABANDONED)

    def _look(self, stream_id: str) -> _Stream | None:
        stream = self._streams.get(stream_id)
        if stream is not None:
            self._judge(stream)
        return self._streams.get(stream_id)

    def _forget(self, stream: _Stream) -> None:
        self._streams.pop(stream.edition.stream_id, None)
        stream.is_gone = True
        stream.chunks, stream.trimmed = [], stream.count
        stream.wake()
        # What is gone would lie there until its time comes; at most as much of it is kept as there is of the rest.
        if len(self._deadlines) > 2 * len(self._streams) + _FEW:
            self._deadlines = [deadline for deadline in self._deadlines if not deadline[2].is_gone]
            heapq.heapify(self._deadlines)

    def _sweep(self) -> None:
        """Let go of what nobody asked for since its time was over."""
        now = self._clock.now()
        while self._deadlines and self._deadlines[0][0] <= now:
            _, number, stream = heapq.heappop(self._deadlines)
            self._judge(stream)
            if not stream.is_gone:
                heapq.heappush(self._deadlines, (stream.expires_at, number, stream))

    def _writable(self, edition: Edition) -> _Stream:
        stream = self._look(edition.stream_id)
        if stream is None:
            raise StreamNotFoundError(edition.stream_id)
        if stream.edition != edition:
            raise lost(edition.stream_id, "superseded")
        if stream.status != "streaming":
            raise lost(edition.stream_id, "abandoned" if stream.failure == ABANDONED else "finalized")
        return stream
