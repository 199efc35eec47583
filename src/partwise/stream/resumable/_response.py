"""Answers of a server over resumable streams, for any framework: a status, headers, and a body of bytes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Final

import attrs

from partwise.errors import StreamNotFoundError
from partwise.stream._serving import Receive, Scope, Send, serve

from ._producer import MakeStream
from ._reader import StreamReader
from ._streams import ResumableStreams

__all__ = ["STREAM_ID_HEADER", "ResumableResponse", "produce_response", "resume_response"]

STREAM_ID_HEADER: Final = "x-resumable-stream-id"
_NOT_FOUND: Final = b'{"error":"stream not found"}'


@attrs.frozen
class ResumableResponse:
    """What a server answers; as an ASGI application it answers one request, so Starlette takes it as a response.

    A client that hangs up ends the reading, and not the producer.

    Attributes:
        status: The HTTP status.
        headers: Their names are in small letters.
        body: Yields bytes; breaks off with a `StreamError` if the stream fails, and so does the response.
    """

    status: int
    headers: Mapping[str, str]
    body: AsyncGenerator[bytes, None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await serve(self.status, self.headers, self.body, receive, send)


async def produce_response(
    streams: ResumableStreams, stream_id: str, make: MakeStream, *headers: Mapping[str, str]
) -> ResumableResponse:
    """Produce a stream, or join the one of this id, as an answer.

    Args:
        streams: The context.
        stream_id: The id; the client needs it to resume, and finds it in the header `STREAM_ID_HEADER`.
        make: Makes the source; see `ResumableStreams.produce`, which also says what is raised.
        headers: Those of the wire's format, and your own, which are laid over them.
    """
    return _answer(await streams.produce(stream_id, make), stream_id, headers)


async def resume_response(
    streams: ResumableStreams, stream_id: str, *headers: Mapping[str, str], missing: ResumableResponse | None = None
) -> ResumableResponse:
    """Answer with a stream from its start; with a 404, or `missing`, if it is not there.

    Raises:
        StreamIdError: No stream can have this id.
    """
    try:
        reader = await streams.resume(stream_id)
    except StreamNotFoundError:
        return missing or ResumableResponse(404, {"content-type": "application/json"}, _whole(_NOT_FOUND))
    return _answer(reader, stream_id, headers)


def _answer(reader: StreamReader, stream_id: str, headers: tuple[Mapping[str, str], ...]) -> ResumableResponse:
    laid = {name.lower(): value for some in headers for name, value in some.items()}
    return ResumableResponse(200, {**laid, STREAM_ID_HEADER: stream_id}, _chunks(reader))


async def _chunks(reader: StreamReader) -> AsyncGenerator[bytes, None]:
    async with reader:
        async for data in reader:
            yield data


async def _whole(data: bytes) -> AsyncGenerator[bytes, None]:
    yield data
