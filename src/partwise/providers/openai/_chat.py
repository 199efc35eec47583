"""A chat model over the Chat Completions API, through the official SDK."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import anyio

from partwise.messages import FrozenDict
from partwise.stream import Chunk, ErrorChunk

from ._decoder import ChatDecoder, ChatPayload
from ._fields import error_of, mapping
from ._payloads import PayloadReader
from ._request import chat_request

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from partwise.adapters import RunContext

__all__ = ["OpenAIChat"]

# A server that does not let go of a connection must not hold up the end of a run.
_CLOSE_SECONDS = 2
# How much of an error page is shown; a page of HTML is not.
_PLAIN_CHARACTERS = 200


class OpenAIChat:
    """A chat model that asks an OpenAI-compatible endpoint, and streams its answer.

    A failure of the service is no exception: the answer ends as incomplete with the error in its
    status, and what had arrived stays. Cancelling a run closes the connection.

    Args:
        client: The SDK's client, for anything that is not covered here. It stays the caller's to close.
        model: The model to ask, unless the model context of a run names another (``model_name``, and
            also ``api_key`` and ``base_url``).
        base_url: The endpoint, without a client.
        api_key: The key, without a client. Nothing is read from the environment here; the SDK reads
            ``OPENAI_API_KEY`` if neither a key nor an endpoint is given.
        think_tags: Whether text between ``<think>`` and ``</think>`` is reasoning.
        defaults: Parameters of every request, as the SDK calls them: ``temperature=0``, ``extra_body={...}``.

    Raises:
        ImportError: The SDK is not installed.

    ```python
    model = OpenAIChat(model="gpt-5-mini", api_key=key)
    async with LocalRuntime(model, tools=tools) as runtime:
        ...
    ```
    """

    def __init__(
        self,
        client: AsyncOpenAI | None = None,
        *,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        think_tags: bool = False,
        **defaults: Any,
    ) -> None:
        self.model = model
        self._own = _connect(base_url, api_key) if client is None else None
        self._client = client if self._own is None else self._own
        self._think_tags = think_tags
        self._defaults = defaults

    async def run(self, run: RunContext, /) -> AsyncGenerator[Chunk]:
        """Ask for the next answer of the conversation, and give its chunks."""
        from openai import OpenAIError  # the SDK is there, or there would be no client

        client: Any = self._client
        config = run.context.config
        options = {name: config[name] for name in ("api_key", "base_url") if config.get(name)}
        if options:
            client = client.with_options(**options)
        request = chat_request(run, self.model, self._defaults)
        try:
            response: Any = await client.chat.completions.create(
                **{"stream_options": {"include_usage": True}, **request, "stream": True}
            )
        except OpenAIError as error:
            yield ErrorChunk(_record(error))
            return
        decoder = ChatDecoder(think_tags=self._think_tags)
        try:
            async with aclosing(_payloads(response)) as payloads:
                async for payload in payloads:
                    for chunk in decoder.decode(payload):
                        yield chunk
        except Exception as error:  # whatever the SDK or its transport raises ends the answer, not the program
            for chunk in decoder.fail(_record(error)):
                yield chunk
        finally:
            with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
                await _close(response)
        for chunk in decoder.close():
            yield chunk

    async def aclose(self) -> None:
        """Close the connections of a client that was made here."""
        if self._own is not None:
            await self._own.close()


def _connect(base_url: str | None, api_key: str | None) -> AsyncOpenAI:
    try:
        from openai import AsyncOpenAI
    except ImportError as cause:
        message = "The OpenAI chat model needs the openai package: pip install 'partwise[openai]'"
        raise ImportError(message, name="openai") from cause
    if api_key is None and base_url is not None:
        api_key = "none"  # a local server asks for no key, and a foreign one must not be shown the user's
    return AsyncOpenAI(base_url=base_url, api_key=api_key)


async def _payloads(response: Any) -> AsyncGenerator[ChatPayload]:
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


def _record(error: Exception) -> FrozenDict:
    """Describe what the SDK raised: the server's own error if there is one."""
    from openai import APIConnectionError, APIError, APITimeoutError

    said = getattr(error, "body", None)
    body = mapping(said)
    status = getattr(error, "status_code", None)
    if isinstance(error, APIError) and body:
        return error_of({"message": error.message, **({"status_code": status} if status else {}), **body})
    cause = f" ({error.__cause__})" if error.__cause__ is not None and str(error.__cause__) else ""
    message = (str(error) or type(error).__name__) + cause
    if isinstance(error, APITimeoutError):
        return error_of({"code": "timeout", "message": message})
    if status:
        plain = f": {said[:_PLAIN_CHARACTERS]}" if isinstance(said, str) and said and not said.startswith("<") else ""
        return error_of({"code": status, "status_code": status, "message": message + plain})
    is_sdk = isinstance(error, APIError) and not isinstance(error, APIConnectionError)
    return error_of({"code": "provider-error" if is_sdk else "connection", "message": message})
