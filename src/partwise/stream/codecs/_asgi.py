"""Serving a stream: an ASGI response that writes an answer while it is being made."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import TypeAlias

from partwise.stream._chunks import Chunk
from partwise.stream._serving import Receive, Scope, Send, serve
from partwise.stream.writing import StreamController, stream_of

from ._codec import Encoder, encode

__all__ = ["StreamResponse"]

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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        failure: Exception | None = None
        async with stream_of(self._write) as chunks:

            async def body() -> AsyncGenerator[bytes, None]:
                nonlocal failure
                try:
                    async with aclosing(encode(chunks, self._encoder)) as pieces:
                        async for data in pieces:
                            yield data
                except Exception as error:  # the stream has told the client, and ended as its wire demands
                    failure = error

            try:
                await serve(self._status, self._headers, body(), receive, send)
            except Exception as error:
                failure = error
        if failure is not None:
            raise failure  # for the server's log

    async def _write(self, out: StreamController) -> None:
        if callable(self._source):
            await self._source(out)
        else:
            await out.merge(self._source)
