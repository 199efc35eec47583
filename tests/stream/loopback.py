"""A small HTTP/1.1 server on the loopback interface, for an ASGI application and a real client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

Application = Callable[..., Awaitable[None]]


@asynccontextmanager
async def served(app: Application) -> AsyncIterator[str]:
    """Serve an application, one request for each connection; gives its URL."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, lambda stream: _answer(app, stream))
        yield f"http://127.0.0.1:{port}/"
        tasks.cancel_scope.cancel()
    await listener.aclose()


async def _answer(app: Application, stream: SocketStream) -> None:
    async with stream:
        reading = BufferedByteReceiveStream(stream)
        head = (await reading.receive_until(b"\r\n\r\n", 65536)).decode("latin-1").split("\r\n")
        names = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        length = int(names.get("content-length", "0"))
        messages: list[MutableMapping[str, Any]] = [
            {"type": "http.request", "body": await reading.receive_exactly(length) if length else b""}
        ]

        async def receive() -> MutableMapping[str, Any]:
            if messages:
                return messages.pop()
            try:
                while True:
                    await reading.receive(1)
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return {"type": "http.disconnect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                lines = [name + b": " + value for name, value in message["headers"]]
                lines += [b"transfer-encoding: chunked", b"connection: close"]
                status = f"HTTP/1.1 {message['status']} OK".encode()
                await stream.send(b"\r\n".join([status, *lines, b"", b""]))
                return
            body = message.get("body", b"")
            if body:
                await stream.send(f"{len(body):x}\r\n".encode() + body + b"\r\n")
            if not message.get("more_body", False):
                await stream.send(b"0\r\n\r\n")

        method, target = head[0].split(" ")[:2]
        scope = {"type": "http", "method": method, "path": target, "headers": []}
        await app(scope, receive, send)
