"""What to do when an endpoint refuses the key that it was sent, or wants one."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from partwise.adapters import ChatModelFunction, RunContext
from partwise.messages import FrozenDict, error_record
from partwise.stream import Chunk, ErrorChunk

from ._options import ChatOptions

__all__ = ["telling_about_keys"]

_UNAUTHORIZED = 401


class _Streaming(Protocol):
    def run(self, run: RunContext, /) -> AsyncGenerator[Chunk]: ...


def telling_about_keys(model: _Streaming, options: ChatOptions) -> ChatModelFunction:
    """Return a chat model whose errors say what to do about the key, if it is the key that the endpoint minds.

    Args:
        model: Asks the endpoint.
        options: Which endpoint, and where its key was read from.
    """

    async def answer(run: RunContext) -> AsyncGenerator[Chunk]:
        async with aclosing(model.run(run)) as chunks:
            async for chunk in chunks:
                yield _told(chunk, options) if isinstance(chunk, ErrorChunk) else chunk

    return answer


def _told(chunk: ErrorChunk, options: ChatOptions) -> ErrorChunk:
    error = error_record(chunk.error)
    if error.get("status_code") != _UNAUTHORIZED:
        return chunk
    return ErrorChunk(FrozenDict({**error, "message": f"{_advice(options)} The answer was: {error['message']}"}))


def _advice(options: ChatOptions) -> str:
    where = options.base_url or "The provider"
    if options.key_variable is None:
        return f"{where} wants a key, and was sent none: name the variable that holds it with --api-key-env VARIABLE."
    return f"{where} does not accept the key in {options.key_variable}."
