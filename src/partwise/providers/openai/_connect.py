"""Connecting to OpenAI-compatible endpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwise.providers.wire import SdkErrors, key_for

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["connect", "openai_errors"]


def connect(base_url: str | None, api_key: str | None) -> AsyncOpenAI:
    """Return a client of the SDK, or tell what to install."""
    try:
        from openai import AsyncOpenAI
    except ImportError as cause:
        message = "The OpenAI chat models need the openai package: pip install 'partwise[openai]'"
        raise ImportError(message, name="openai") from cause
    return AsyncOpenAI(base_url=base_url, api_key=key_for(base_url, api_key))


def openai_errors() -> SdkErrors:
    """Return what the SDK raises."""
    import httpx2  # both SDKs come with it, and let its exceptions through once an answer has begun
    from openai import APIConnectionError, APIError, APITimeoutError, OpenAIError

    return SdkErrors(OpenAIError, APIError, APIConnectionError, (APITimeoutError, httpx2.TimeoutException))
