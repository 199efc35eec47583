"""Connecting to OpenAI-compatible endpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partwise.providers.wire import SdkErrors, named_endpoint

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["connect", "openai_errors"]


def connect(base_url: str | None, api_key: str | None, /, **options: Any) -> AsyncOpenAI:
    """Return a client of the SDK for an endpoint, or tell what to install."""
    try:
        from openai import AsyncOpenAI
    except ImportError as cause:
        message = "The OpenAI chat models need the openai package: pip install 'partwise[openai]'"
        raise ImportError(message, name="openai") from cause
    return named_endpoint(AsyncOpenAI, base_url, api_key, options)


def openai_errors() -> SdkErrors:
    """Return what the SDK raises."""
    import httpx2  # both SDKs come with it, and let its exceptions through once an answer has begun
    from openai import APIConnectionError, APIError, APITimeoutError, OpenAIError

    return SdkErrors(OpenAIError, APIError, APIConnectionError, (APITimeoutError, httpx2.TimeoutException))
