"""Answers over resumable streams, with texts on three wires."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from partwise.messages import TextPart
from partwise.stream import Chunk, ErrorChunk, PartDelta, PartFinish, PartStart
from partwise.stream.codecs import CODECS, encode
from partwise.stream.resumable import ResumableResponse, ResumableStreams, produce_response, resume_response

Json = Any


async def answer(streams: ResumableStreams, step: Json) -> Json:
    """Answer as a server would, and read the answer to its end."""
    encoder = CODECS[step.get("encoder", "data-stream")].encoder()
    headers = (encoder.headers, step.get("headers", {}))
    if "createResponse" in step:
        response = await produce_response(
            streams, step["createResponse"], lambda: encode(_chunks(step), encoder), *headers
        )
    else:
        response = await resume_response(streams, step["resumeResponse"], *headers, missing=_missing(step))
    body = b"".join([data async for data in response.body])
    return {"status": response.status, "headers": dict(response.headers), "body": body.decode()}


def _missing(step: Json) -> ResumableResponse | None:
    if "missing" not in step:
        return None

    async def body() -> AsyncGenerator[bytes, None]:
        yield step["missing"]["body"].encode()

    return ResumableResponse(step["missing"]["status"], {"content-type": "text/plain;charset=UTF-8"}, body())


async def _chunks(step: Json) -> AsyncIterator[Chunk]:
    yield PartStart(TextPart(""))
    for text in step["texts"]:
        yield PartDelta((0,), text)
    if "throws" in step:
        yield ErrorChunk({"code": "unknown", "message": f"Error: {step['throws']}"})
    else:
        yield PartFinish((0,))
