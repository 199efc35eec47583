"""Serving a stream: an ASGI response that writes an answer while it is being made."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeAlias

import anyio

from partwise.stream._chunks import Chunk
from partwise.stream.writing import StreamController, stream_of

from ._codec import Encoder, encode

__all__ = ["StreamResponse"]

_Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_Source: TypeAlias = Callable[[StreamController], Awaitable[object]] | AsyncIterable[Chunk]


class StreamResponse:
    """An ASGI application that answers one request with a stream; Starlette takes it as a response.

    What makes the answer is cancelled as soon as the client hangs up. What it raises becomes an error in the
    stream, which still ends as its wire demands.

    Args:
        source: A function that writes with a controller, or chunks.
        encoder: The wire format; a new one for each response.
        status: The HTTP status.
        headers: More headers, laid over those of the wire.
    """

    def __init__(
        self,
        source: _Source,
        encoder: Encoder,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._source = source
        self._encoder = encoder
        self._status = status
        self._headers = {**encoder.headers, **(headers or {})}

    async def __call__(self, scope: MutableMapping[str, Any], receive: _Receive, send: _Send) -> None:
        """Answer a request."""
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in self._headers.items()]
        await send({"type": "http.response.start", "status": self._status, "headers": headers})
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            async with stream_of(self._write) as chunks:
                async for data in encode(chunks, self._encoder):
                    await send({"type": "http.response.body", "body": data, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            tasks.cancel_scope.cancel()

    async def _write(self, out: StreamController) -> None:
        if callable(self._source):
            await self._source(out)
        else:
            await out.merge(self._source)
