"""Answers over resumable streams, with texts on three wires."""

import json
from collections.abc import AsyncIterator
from typing import Any

from partwise.stream.resumable import ResumableStreams, StreamResponse, produce_response, resume_response

Json = Any

HEADERS = {
    "data-stream": {"Content-Type": "text/plain; charset=utf-8", "x-vercel-ai-data-stream": "v1"},
    "assistant-transport": {
        "Content-Type": "text/event-stream",
        "Cache-Control": "no-cache",
        "Connection": "keep-alive",
    },
    "plain-text": {"Content-Type": "text/plain; charset=utf-8"},
}


async def answer(streams: ResumableStreams, step: Json) -> Json:
    """Answer as a server would, and read the answer to its end."""
    wire = step.get("encoder", "data-stream")
    headers = (HEADERS[wire], step.get("headers", {}))
    if "createResponse" in step:
        response = await produce_response(streams, step["createResponse"], lambda: _frames(wire, step), *headers)
    else:
        response = await resume_response(streams, step["resumeResponse"], *headers, missing=_missing(step))
    body = b"".join([data async for data in response.body])
    return {"status": response.status, "headers": dict(response.headers), "body": body.decode()}


def _missing(step: Json) -> StreamResponse | None:
    if "missing" not in step:
        return None

    async def body() -> AsyncIterator[bytes]:
        yield step["missing"]["body"].encode()

    return StreamResponse(step["missing"]["status"], {"content-type": "text/plain;charset=UTF-8"}, body())


async def _frames(wire: str, step: Json) -> AsyncIterator[bytes]:
    match wire:
        case "data-stream":
            for text in step["texts"]:
                yield f"0:{json.dumps(text)}\n".encode()
            if "throws" in step:
                yield f"3:{json.dumps('Error: ' + step['throws'])}\n".encode()
        case "plain-text":
            for text in step["texts"]:
                yield text.encode()
        case _:
            yield _event({"type": "part-start", "part": {"type": "text"}, "path": []})
            for text in step["texts"]:
                yield _event({"type": "text-delta", "path": [0], "textDelta": text})
            yield _event({"type": "part-finish", "path": [0]})
            yield b"data: [DONE]\n\n"


def _event(value: Json) -> bytes:
    return f"data: {json.dumps(value, separators=(',', ':'))}\n\n".encode()
