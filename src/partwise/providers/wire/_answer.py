"""From the SDK's stream to chunks, the same way for every SDK."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from typing import Any, Protocol

import anyio
import attrs

from partwise.messages import FrozenDict
from partwise.stream import Chunk, ErrorChunk

from ._fields import Payload, error_of, mapping
from ._payloads import PayloadReader

__all__ = ["Decoder", "SdkErrors", "answer"]

# A server that does not let go of a connection must not hold up the end of a run.
_CLOSE_SECONDS = 2
# How much of an error page is shown; a page of HTML is not.
_PLAIN_CHARACTERS = 200


class Decoder(Protocol):
    """Turns the payloads of one answer into chunks, without knowing where they come from."""

    def decode(self, payload: Payload) -> list[Chunk]:
        """Return the chunks that a payload gives."""
        ...

    def fail(self, error: object) -> list[Chunk]:
        """Return the chunks for a failure of the stream."""
        ...

    def close(self) -> list[Chunk]:
        """Return the chunks for the end of the stream."""
        ...


@attrs.frozen
class SdkErrors:
    """The exceptions of an SDK: the root of them all, the service's, and those of the connection."""

    root: type[Exception]
    service: type[Exception]
    connection: type[Exception]
    timeout: type[Exception]


async def answer(asked: Awaitable[Any], decoder: Decoder, errors: SdkErrors) -> AsyncGenerator[Chunk]:
    """Give the chunks of an answer; a failure of the service ends it and is no exception.

    Args:
        asked: The SDK's request for a stream.
        decoder: A fresh one.
        errors: What the SDK raises.
    """
    try:
        response = await asked
    except errors.root as error:
        yield ErrorChunk(_record(error, errors))
        return
    try:
        async with aclosing(_payloads(response)) as payloads:
            async for payload in payloads:
                for chunk in decoder.decode(payload):
                    yield chunk
    except Exception as error:  # whatever the SDK or its transport raises ends the answer, not the program
        for chunk in decoder.fail(_record(error, errors)):
            yield chunk
    finally:
        with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
            await _close(response)
    for chunk in decoder.close():
        yield chunk


async def _payloads(response: Any) -> AsyncGenerator[Payload]:
    """Give the payloads of the SDK's stream.

    They are read off its bytes, to their end: the SDK's own reading stops at the end mark, and does not
    see the errors that some gateways send outside of the data. What has no bytes (a wrapper, a fake in
    a test) is iterated.
    """
    body: Any = getattr(response, "response", None)
    if not hasattr(body, "aiter_bytes"):
        async for payload in response:
            yield payload
        return
    reader = PayloadReader()
    async with aclosing(body.aiter_bytes()) as pieces:
        async for piece in pieces:
            for payload in reader.feed(piece):
                yield payload
    for payload in reader.close():
        yield payload


async def _close(response: Any) -> None:
    close = getattr(response, "close", None)
    if close is not None:
        await close()


def _record(error: Exception, errors: SdkErrors) -> FrozenDict:
    """Describe what the SDK raised: the server's own error if there is one."""
    said = getattr(error, "body", None)
    body = mapping(said)
    status = getattr(error, "status_code", None)
    if isinstance(error, errors.service) and body:
        nested = mapping(body.get("error"))
        message = getattr(error, "message", str(error))
        return error_of({"message": message, **({"status_code": status} if status else {}), **(nested or body)})
    cause = f" ({error.__cause__})" if error.__cause__ is not None and str(error.__cause__) else ""
    message = (str(error) or type(error).__name__) + cause
    if isinstance(error, errors.timeout):
        return error_of({"code": "timeout", "message": message})
    if status:
        plain = f": {said[:_PLAIN_CHARACTERS]}" if isinstance(said, str) and said and not said.startswith("<") else ""
        return error_of({"code": status, "status_code": status, "message": message + plain})
    is_service = isinstance(error, errors.service) and not isinstance(error, errors.connection)
    return error_of({"code": "provider-error" if is_service else "connection", "message": message})
