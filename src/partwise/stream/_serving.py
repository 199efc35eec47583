"""Answering a request over ASGI with bytes that are still being made."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import aclosing
from typing import Any, TypeAlias

import anyio

__all__ = ["Receive", "Scope", "Send", "serve"]

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]


async def serve(
    status: int, headers: Mapping[str, str], body: AsyncGenerator[bytes, None], receive: Receive, send: Send
) -> None:
    """Send a response until its body or the client is at its end; the body is closed then.

    Args:
        status: The HTTP status.
        headers: The headers, in ASCII.
        body: Yields the bytes. What it raises is raised alone, and not in a group of a task group; the
            response breaks off, as the client should see.
        receive: ASGI's function.
        send: ASGI's function.
    """
    named = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": named})
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks, aclosing(body) as pieces:
        tasks.start_soon(_watch, receive, tasks.cancel_scope)
        try:
            async for data in pieces:
                if not await _sent(send, data, more=True):
                    break
            else:
                await _sent(send, b"", more=False)
        except Exception as error:
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _sent(send: Send, data: bytes, *, more: bool) -> bool:
    """Send a piece; returns False if the client has hung up."""
    try:
        await send({"type": "http.response.body", "body": data, "more_body": more})
    except OSError:
        return False
    return True


async def _watch(receive: Receive, work: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    work.cancel()
