"""What keeps resumable streams: the protocol that stores implement."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from ._values import Acquired, Edition, Entry, Found, StreamFailure

__all__ = ["ResumableStore"]


class ResumableStore(Protocol):
    """Keeps the chunks of streams, in order, for as many readers as there are.

    A stream has two clocks. Its lifetime, ``ttl``, begins anew with each chunk and with its end; when it
    is over, the stream is gone. Its lease begins anew with each chunk and each renewal; when it runs out,
    the producer counts as dead, and the stream has failed.
    """

    async def acquire(self, stream_id: str, *, ttl: float | None, lease: float) -> Acquired:
        """Make the stream if nobody has, which makes the caller its producer.

        Args:
            stream_id: An id that was checked.
            ttl: Seconds; None: the store's own default.
            lease: Seconds.

        Raises:
            StreamLimitError: The store holds as many streams as it may.
        """
        ...

    async def append(self, edition: Edition, index: int, data: bytes) -> None:
        """Store a chunk.

        Args:
            edition: What the producer acquired.
            index: The number of the chunk. One that is stored already is not stored again, so an append
                may be repeated when nobody knows what became of it.
            data: The chunk.

        Raises:
            StreamNotFoundError: The stream is gone.
            StreamLostError: It is not the caller's any more, or has ended.
            StreamLimitError: It would be too large; it goes on without this chunk.
            InvalidInputError: A chunk before this one is missing.
        """
        ...

    async def renew(self, edition: Edition) -> None:
        """Begin the lease anew.

        Raises:
            StreamNotFoundError: The stream is gone.
            StreamLostError: It is not the caller's any more, or has ended.
        """
        ...

    async def finalize(self, edition: Edition, failure: StreamFailure | None) -> None:
        """End the stream: complete, or with a failure. To end it again in the same way does nothing.

        Raises:
            StreamNotFoundError: The stream is gone.
            StreamLostError: It is not the caller's any more, or has ended in another way.
        """
        ...

    def read(self, edition: Edition, after: str | None = None) -> AsyncGenerator[Entry, None]:
        """Read the stream, and wait for more of it until it ends.

        It ends when the stream is complete, and also when it is deleted.

        Args:
            edition: The stream.
            after: The cursor of the last chunk that the reader has; None: it has none.

        Raises:
            StreamNotFoundError: The stream was gone from the start.
            CursorError: The stream has no such place.
            StreamFailedError: It failed, it expired, or chunks that the reader does not have were trimmed.
        """
        ...

    async def find(self, stream_id: str) -> Found | None:
        """Return the stream of an id, or None."""
        ...

    async def trim(self, stream_id: str, keep: int) -> None:
        """Forget the oldest chunks; nothing happens if there is no such stream.

        Readers that do not have them yet are told so.

        Args:
            stream_id: The stream.
            keep: How many of the newest stay.
        """
        ...

    async def delete(self, stream_id: str) -> None:
        """Forget a stream; its readers come to their end. Nothing happens if there is none."""
        ...
