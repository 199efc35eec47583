"""Serve an answer over ASGI while it is being made, and read it back: no network, the same bytes."""

from collections.abc import AsyncIterator
from typing import Any

import anyio

from partwise.messages import TextPart, ToolCallPart
from partwise.stream import Finish, accumulate
from partwise.stream.codecs import CODECS, StreamResponse, decode
from partwise.stream.writing import StreamController


async def answer(out: StreamController) -> None:
    """Write an answer; everything is sent as it is written."""
    out.text("Let me look. ")
    call = out.call("search")
    call.append_args('{"q": ')
    call.append_args('"sun"}')
    call.respond({"hits": 1})
    out.text("It is a star.")
    out.write(Finish("stop"))


async def app(scope: Any, receive: Any, send: Any) -> None:
    """An ASGI application; in Starlette, return the StreamResponse from a route."""
    wire = CODECS[scope["path"].removeprefix("/")]
    await StreamResponse(answer, wire.encoder())(scope, receive, send)


async def post(path: str) -> AsyncIterator[bytes]:
    """What an HTTP client does: send a request, and give the bytes of the answer."""
    pieces: list[bytes] = []

    async def send(message: Any) -> None:
        pieces.append(message.get("body", b""))

    await app({"type": "http", "path": path}, anyio.sleep_forever, send)
    for piece in pieces:
        yield piece


async def main() -> None:
    """Ask for the answer over each wire."""
    for name in ("data-stream", "assistant-transport", "ui-message-stream"):
        chunks = decode(post(f"/{name}"), CODECS[name].decoder())
        *_, message = [message async for message in accumulate(chunks)]
        print(f"{name}: {message.status.type}")
        for part in message.content:
            match part:
                case TextPart(text):
                    print(f"  text  {text!r}")
                case ToolCallPart():
                    print(f"  call  {part.tool_name}({part.args_text}) -> {dict(part.result)}")
                case _:
                    pass


anyio.run(main)
