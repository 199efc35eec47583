"""Producing a stream: from its source into the store, with the lease kept until the end."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, Awaitable, Callable
from typing import Any, Final, TypeAlias

import anyio

from partwise.errors import AdapterError, StreamError, StreamLimitError, StreamLostError, StreamNotFoundError

from ._clock import StreamClock
from ._events import ListenToStreams, StreamAppended, StreamFinalized, StreamTrouble
from ._store import ResumableStore
from ._values import Edition, StreamFailure

__all__ = ["ByteSource", "MakeStream", "Production"]

ByteSource: TypeAlias = AsyncIterable[bytes]
MakeStream: TypeAlias = Callable[[], ByteSource | Awaitable[ByteSource]]

_RENEWALS_PER_LEASE: Final = 3
_CLEAN_UP_SECONDS: Final = 5.0
_CANCELLED: Final = StreamFailure("cancelled", "The producer of this stream was cancelled before it was complete.")


class Production:
    """One producer at work.

    Args:
        store: Where the chunks go.
        edition: What was acquired.
        make: Makes the source.
        lease: Seconds that the store waits for a sign of life.
    """

    def __init__(
        self,
        store: ResumableStore,
        edition: Edition,
        make: MakeStream,
        *,
        lease: float,
        clock: StreamClock,
        announce: ListenToStreams,
    ) -> None:
        self._store = store
        self._edition = edition
        self._make = make
        self._lease = lease
        self._clock = clock
        self._announce = announce
        self._failure: StreamFailure | None = _CANCELLED
        self._is_lost = False

    async def run(self) -> None:
        """Produce until the source ends, fails, or may write no more.

        Nothing is raised: what goes wrong is announced, and becomes the failure of the stream. Cancelled,
        it still ends the stream, as cancelled.
        """
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._keep_lease, group.cancel_scope)
                await self._pump()
                group.cancel_scope.cancel()
        finally:
            if not self._is_lost:
                with anyio.move_on_after(_CLEAN_UP_SECONDS, shield=True):
                    await self._finalize()

    async def _pump(self) -> None:
        source: ByteSource | None = None
        try:
            made = self._make()
            source = await made if inspect.isawaitable(made) else made
            await self._copy(source)
            self._failure = None
        except Exception as error:
            self._note(error)
        finally:
            await self._close(source)

    async def _copy(self, source: ByteSource) -> None:
        index = 0
        async for data in source:
            if not isinstance(data, (bytes, bytearray, memoryview)):  # pyright: ignore[reportUnnecessaryIsInstance] -- sources are other people's code
                adapter, text = "resumable stream's source", f"yielded {type(data).__name__}, not bytes."
                raise AdapterError(adapter, text)
            if not data:
                continue  # nothing to read, and nothing that a reader would miss
            index += 1
            chunk = bytes(data)
            await self._store.append(self._edition, index, chunk)
            self._announce(StreamAppended(self._edition.stream_id, len(chunk)))

    def _note(self, error: Exception) -> None:
        self._announce(StreamTrouble(self._edition.stream_id, error))
        if isinstance(error, (StreamNotFoundError, StreamLostError)):
            self._is_lost = True
        code = error.code if isinstance(error, StreamLimitError) else "failed"
        self._failure = StreamFailure(code, str(error) or type(error).__name__)

    async def _close(self, source: Any) -> None:
        """Close a generator in the task that ran it, finished or not."""
        aclose = getattr(source, "aclose", None)
        if aclose is None:
            return
        try:
            with anyio.move_on_after(_CLEAN_UP_SECONDS, shield=True):
                await aclose()
        except Exception as error:
            self._announce(StreamTrouble(self._edition.stream_id, error))

    async def _keep_lease(self, work: anyio.CancelScope) -> None:
        """Renew the lease while the source is silent; end the work when the stream is not ours any more."""
        never = anyio.Event()
        while True:
            await self._clock.wait(never, self._clock.now() + self._lease / _RENEWALS_PER_LEASE)
            try:
                await self._store.renew(self._edition)
            except (StreamNotFoundError, StreamError) as error:
                self._note(error)
                work.cancel()
                return
            except Exception as error:  # the store may be back in time for the next one
                self._announce(StreamTrouble(self._edition.stream_id, error))

    async def _finalize(self) -> None:
        try:
            await self._store.finalize(self._edition, self._failure)
        except Exception as error:
            # A failure was announced already; that a stream which is gone cannot take note of it is no news.
            if self._failure is None or not isinstance(error, (StreamNotFoundError, StreamLostError)):
                self._announce(StreamTrouble(self._edition.stream_id, error))
        else:
            self._announce(StreamFinalized(self._edition.stream_id, self._failure))
