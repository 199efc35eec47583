"""A transport that answers every request with the same recorded bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import anyio
import httpx2

__all__ = ["ReplayTransport"]


class _ReplayStream(httpx2.AsyncByteStream):
    def __init__(self, pieces: Sequence[bytes], pause: float) -> None:
        self._pieces = pieces
        self._pause = pause

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            await anyio.sleep(self._pause)
            yield piece


class ReplayTransport(httpx2.AsyncBaseTransport):
    """Answers with recorded pieces, one event after the other.

    Args:
        pieces: The response body.
        pause: Seconds before each piece; 0 still lets other tasks run in between.
    """

    def __init__(self, pieces: Sequence[bytes], pause: float) -> None:
        self._pieces = pieces
        self._pause = pause

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer; what is asked makes no difference."""
        await request.aread()
        return httpx2.Response(
            200,
            headers={"content-type": "text/event-stream"},
            stream=_ReplayStream(self._pieces, self._pause),
            request=request,
        )
