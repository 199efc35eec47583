"""The context of resumable streams: what a server holds."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import anyio
from anyio.abc import TaskGroup

from partwise.errors import NotAllowedError, StreamNotFoundError

from ._clock import LoopClock, StreamClock
from ._events import ListenToStreams, StreamAcquired, announcer
from ._producer import MakeStream, Production
from ._reader import StreamReader
from ._store import ResumableStore
from ._values import StreamStatus, check_seconds, check_stream_id

__all__ = ["ResumableStreams"]


class ResumableStreams:
    """Streams that outlive the connection that asked for them.

    Whoever produces an id first is its producer: the source runs in a task of this context, whether
    anybody reads or not. All others, and all who come later, read the same chunks from the start.

    Enter it with ``async with`` and keep it as long as the server runs. Leaving it cancels what is still
    produced, and ends those streams as cancelled; `drain` first to let them finish.

    Args:
        store: Keeps the chunks.
        ttl: How long a stream lives after its last chunk, in seconds; the store's default if not given.
        lease: How long the store waits for a sign of life of a producer, in seconds; one is given
            three times as often, also while the source is silent.
        listener: Told what happens; what it raises is logged.
        clock: Tells when a sign of life is due; the clock of the event loop if not given.

    Raises:
        InvalidInputError: A time is no number of seconds.
    """

    def __init__(
        self,
        store: ResumableStore,
        *,
        ttl: float | None = None,
        lease: float = 30.0,
        listener: ListenToStreams | None = None,
        clock: StreamClock | None = None,
    ) -> None:
        check_seconds("lifetime", ttl, may_be_zero=True)
        check_seconds("lease", lease)
        self._store = store
        self._ttl = ttl
        self._lease = lease
        self._announce = announcer(listener)
        self._clock = clock or LoopClock()
        self._group: TaskGroup | None = None
        self._running = 0
        self._idle: anyio.Event | None = None

    @property
    def producing(self) -> int:
        """How many producers are at work here."""
        return self._running

    async def __aenter__(self) -> Self:
        self._group = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        group, self._group = self._group, None
        if group is None:
            return None
        group.cancel_scope.cancel()
        if isinstance(error, Exception):
            # What the block raised leaves as it is; a task group would put a group around it.
            await group.__aexit__(None, None, None)
            return None
        return await group.__aexit__(kind, error, trace)

    async def produce(self, stream_id: str, make: MakeStream) -> StreamReader:
        """Produce a stream, or join the one that has this id.

        Args:
            stream_id: 1 to 256 letters, digits, ``-``, ``_``, ``.`` and ``:`` of ASCII.
            make: Makes the source of bytes, and is only called if nobody produced this id before.

        Returns:
            A reader of the stream, from its start.

        Raises:
            StreamIdError: No stream can have this id.
            StreamLimitError: The store holds as many streams as it may.
            NotAllowedError: The context was not entered, or was left (code ``"closed"``).
        """
        check_stream_id(stream_id)
        group = self._group
        if group is None:
            text = f"Stream {stream_id!r} cannot be produced: enter the ResumableStreams with `async with` first."
            raise NotAllowedError(text, code="closed", id=stream_id)
        acquired = await self._store.acquire(stream_id, ttl=self._ttl, lease=self._lease)
        if acquired.is_producer:
            production = Production(
                self._store, acquired.edition, make, lease=self._lease, clock=self._clock, announce=self._announce
            )
            self._running += 1
            group.start_soon(self._produce, production)
        self._announce(StreamAcquired(stream_id, acquired.is_producer))
        return StreamReader(self._store.read(acquired.edition), stream_id, is_producer=acquired.is_producer, after=None)

    async def resume(self, stream_id: str, *, after: str | None = None) -> StreamReader:
        """Read a stream that somebody produces or produced.

        Args:
            stream_id: The stream.
            after: The cursor of the last chunk that the reader has; without one, it begins at the start.

        Raises:
            StreamIdError: No stream can have this id.
            StreamNotFoundError: It never existed, was deleted, or its time is over.
        """
        found = await self._store.find(check_stream_id(stream_id))
        if found is None:
            raise StreamNotFoundError(stream_id)
        return StreamReader(self._store.read(found.edition, after), stream_id, is_producer=False, after=after)

    async def status(self, stream_id: str) -> StreamStatus:
        """Tell whether a stream is ``"missing"``, ``"streaming"``, ``"done"`` or failed (``"error"``).

        Raises:
            StreamIdError: No stream can have this id.
        """
        found = await self._store.find(check_stream_id(stream_id))
        return "missing" if found is None else found.status

    async def delete(self, stream_id: str) -> None:
        """Forget a stream: its readers come to their end, and its producer with its next chunk or sign of life.

        Raises:
            StreamIdError: No stream can have this id.
        """
        await self._store.delete(check_stream_id(stream_id))

    async def drain(self) -> None:
        """Wait until nothing is produced here any more."""
        while self._running:
            if self._idle is None:
                self._idle = anyio.Event()
            await self._idle.wait()

    async def _produce(self, production: Production) -> None:
        try:
            await production.run()
        finally:
            self._running -= 1
            if not self._running and self._idle is not None:
                self._idle.set()
                self._idle = None
