"""A chat model over the Messages API, through the official SDK."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from partwise.providers.wire import SdkErrors, decoded, endpoint_of, named_endpoint
from partwise.stream import Chunk

from ._decoder import MessagesDecoder
from ._request import messages_request

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

    from partwise.adapters import RunContext

__all__ = ["AnthropicMessages"]


class AnthropicMessages:
    """A chat model that asks Anthropic's Messages API, or a server that speaks it, and streams its answer.

    Tools that the provider runs are given as ``tools`` of the defaults; their calls are shown with
    their results, and nobody is asked to run them. A failure of the service is no exception: the
    answer ends as incomplete with the error in its status, and what had arrived stays. Cancelling a
    run closes the connection.

    Args:
        client: The SDK's client, for anything that is not covered here. It stays the caller's to close.
        model: The model to ask, unless the model context of a run names another (``model_name``, and
            also ``api_key`` and ``base_url``; an endpoint of another origin is shown no credential of
            the client, only the key that is named with it).
        base_url: The endpoint, without a client.
        api_key: The key, without a client. Nothing is read from the environment here; the SDK looks
            for credentials if neither a key nor an endpoint is given.
        max_pauses: How often an answer that the provider pauses, in the middle of a long turn of its own
            tools or after it made a summary of the history, is sent back so that it goes on; with 0 such
            an answer stays incomplete.
        defaults: Parameters of every request, as the SDK calls them: ``max_tokens=32_000``,
            ``thinking={...}``. With ``betas`` the request goes to the API's beta.

    Raises:
        ImportError: The SDK is not installed.

    ```python
    model = AnthropicMessages(model="claude-sonnet-4-5", api_key=key)
    async with LocalRuntime(model, tools=tools) as runtime:
        ...
    ```
    """

    def __init__(
        self,
        client: AsyncAnthropic | None = None,
        *,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        max_pauses: int = 4,
        **defaults: Any,
    ) -> None:
        self.model = model
        self._own = _connect(base_url, api_key) if client is None else None
        self._client = client if self._own is None else self._own
        self._max_pauses = max_pauses
        self._defaults = defaults

    async def run(self, run: RunContext, /) -> AsyncGenerator[Chunk]:
        """Ask for the next answer of the conversation, and give its chunks."""
        client, defaults = endpoint_of(run, self._client, self._defaults, _connect)
        decoder = MessagesDecoder()
        for pauses_left in range(self._max_pauses, -1, -1):
            request = messages_request(run, self.model, defaults)
            resource = client.beta.messages if "betas" in request else client.messages
            asked = resource.create(**{**request, "stream": True})
            async with aclosing(decoded(asked, decoder, _errors())) as chunks:
                async for chunk in chunks:
                    yield chunk
            if (
                not (decoder.is_paused and pauses_left) or "compaction" in request
            ):  # which asks for nothing but a summary
                break
            for chunk in decoder.pause():
                yield chunk
        for chunk in decoder.close():
            yield chunk

    async def aclose(self) -> None:
        """Close the connections of a client that was made here."""
        if self._own is not None:
            await self._own.close()


def _connect(base_url: str | None, api_key: str | None, /, **options: Any) -> AsyncAnthropic:
    try:
        from anthropic import AsyncAnthropic
    except ImportError as cause:
        message = "The Anthropic chat model needs the anthropic package: pip install 'partwise[anthropic]'"
        raise ImportError(message, name="anthropic") from cause
    return named_endpoint(AsyncAnthropic, base_url, api_key, options)


def _errors() -> SdkErrors:
    import httpx2  # both SDKs come with it, and let its exceptions through once an answer has begun
    from anthropic import AnthropicError, APIConnectionError, APIError, APITimeoutError

    return SdkErrors(AnthropicError, APIError, APIConnectionError, (APITimeoutError, httpx2.TimeoutException))
