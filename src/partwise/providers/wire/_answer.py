"""From the SDK's stream to chunks, the same way for every SDK."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import aclosing
from typing import Any, Protocol

import anyio
import attrs

from partwise.messages import FrozenDict
from partwise.stream import Chunk

from ._fields import Json, Payload, error_of, fields_of, mapping
from ._payloads import PageReader, PayloadReader

__all__ = ["Decoder", "SdkErrors", "answer", "decoded"]

# A server that does not let go of a connection must not hold up the end of a run.
_CLOSE_SECONDS = 2
# How much of an error page is shown; a page of HTML is not.
_PLAIN_CHARACTERS = 200
# What a server says that does not stream, whatever it was asked for.
_PAGES = ("application/json", "application/problem+json", "text/html")


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
    """The exceptions of an SDK: the root of them all, the service's, and those of the connection and its waiting."""

    root: type[Exception]
    service: type[Exception]
    connection: type[Exception]
    timeout: tuple[type[Exception], ...]


async def answer(asked: Awaitable[Any], decoder: Decoder, errors: SdkErrors) -> AsyncGenerator[Chunk]:
    """Give the chunks of an answer; a failure of the service ends it and is no exception.

    Args:
        asked: The SDK's request for a stream.
        decoder: A fresh one.
        errors: What the SDK raises.
    """
    async with aclosing(decoded(asked, decoder, errors)) as chunks:
        async for chunk in chunks:
            yield chunk
    for chunk in decoder.close():
        yield chunk


async def decoded(asked: Awaitable[Any], decoder: Decoder, errors: SdkErrors) -> AsyncGenerator[Chunk]:
    """Give the chunks of one response without those for the end, for answers that take several responses."""
    try:
        response = await asked
    except errors.root as error:
        for chunk in decoder.fail(_record(error, errors)):
            yield chunk
        return
    try:
        async with aclosing(_payloads(response, errors)) as payloads:
            async for payload in payloads:
                for chunk in decoder.decode(payload) if isinstance(payload, Mapping) else decoder.fail(payload.record):
                    yield chunk
    finally:
        with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
            await _close(response)


@attrs.frozen
class _Failure:
    """What ended the stream, in place of a payload."""

    record: FrozenDict


async def _payloads(response: Any, errors: SdkErrors) -> AsyncGenerator[Json | _Failure]:
    """Give the payloads of the SDK's stream; what the SDK or its transport raises is the last of them."""
    try:
        async with aclosing(_read(response)) as payloads:
            async for payload in payloads:
                yield fields_of(payload)
    except Exception as error:  # an SDK lets through whatever its transport raises
        yield _Failure(_record(error, errors))


async def _read(response: Any) -> AsyncGenerator[Payload]:
    """Read the SDK's stream off its bytes, to their end.

    The SDK's own reading stops at the end mark, and does not see the errors that some gateways send
    outside of the data. What has no bytes (a wrapper, a fake in a test) is iterated.
    """
    body: Any = getattr(response, "response", None)
    if not hasattr(body, "aiter_bytes"):
        async for payload in response:
            yield payload
        return
    kind = str(body.headers.get("content-type", "")).partition(";")[0].strip().lower()
    reader = PayloadReader() if kind not in _PAGES else PageReader(kind)
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
        text = said.strip() if isinstance(said, str) else ""
        if text and message.startswith(text):  # an SDK that makes the whole page its message
            message = f"Error code: {status}"
        plain = f": {text[:_PLAIN_CHARACTERS]}" if text and not text.startswith("<") else ""
        return error_of({"code": status, "status_code": status, "message": message + plain})
    is_service = isinstance(error, errors.service) and not isinstance(error, errors.connection)
    return error_of({"code": "provider-error" if is_service else "connection", "message": message})
