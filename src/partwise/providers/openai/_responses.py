"""A chat model over the Responses API, through the official SDK."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from partwise.providers.wire import answer, endpoint_of
from partwise.stream import Chunk

from ._connect import connect, openai_errors
from ._responses_decoder import ResponsesDecoder
from ._responses_request import responses_request

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from partwise.adapters import RunContext

__all__ = ["OpenAIResponses"]


class OpenAIResponses:
    """A chat model that asks OpenAI's Responses API, or a server that speaks it, and streams its answer.

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
        api_key: The key, without a client. Nothing is read from the environment here; the SDK reads
            ``OPENAI_API_KEY`` if neither a key nor an endpoint is given.
        defaults: Parameters of every request, as the SDK calls them. With ``store=False`` and
            ``include=["reasoning.encrypted_content"]`` nothing is kept at the provider, and reasoning
            goes on from turn to turn all the same.

    Raises:
        ImportError: The SDK is not installed.

    ```python
    model = OpenAIResponses(model="gpt-5-mini", api_key=key, tools=[{"type": "web_search"}])
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
        **defaults: Any,
    ) -> None:
        self.model = model
        self._own = connect(base_url, api_key) if client is None else None
        self._client = client if self._own is None else self._own
        self._defaults = defaults

    async def run(self, run: RunContext, /) -> AsyncGenerator[Chunk]:
        """Ask for the next answer of the conversation, and give its chunks."""
        client, defaults = endpoint_of(run, self._client, self._defaults, connect)
        asked = client.responses.create(**{**responses_request(run, self.model, defaults), "stream": True})
        async with aclosing(answer(asked, ResponsesDecoder(), openai_errors())) as chunks:
            async for chunk in chunks:
                yield chunk

    async def aclose(self) -> None:
        """Close the connections of a client that was made here."""
        if self._own is not None:
            await self._own.close()
