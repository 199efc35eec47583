"""Connecting to OpenAI-compatible endpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partwise.providers.wire import SdkErrors

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from partwise.adapters import RunContext

__all__ = ["connect", "openai_errors", "with_config"]


def connect(base_url: str | None, api_key: str | None) -> AsyncOpenAI:
    """Return a client of the SDK, or tell what to install."""
    try:
        from openai import AsyncOpenAI
    except ImportError as cause:
        message = "The OpenAI chat models need the openai package: pip install 'partwise[openai]'"
        raise ImportError(message, name="openai") from cause
    if api_key is None and base_url is not None:
        api_key = "none"  # a local server asks for no key, and a foreign one must not be shown the user's
    return AsyncOpenAI(base_url=base_url, api_key=api_key)


def with_config(client: Any, run: RunContext) -> Any:
    """Return the client for a run, whose context may name another key or endpoint."""
    config = run.context.config
    options = {name: config[name] for name in ("api_key", "base_url") if config.get(name)}
    return client.with_options(**options) if options else client


def openai_errors() -> SdkErrors:
    """Return what the SDK raises."""
    from openai import APIConnectionError, APIError, APITimeoutError, OpenAIError

    return SdkErrors(OpenAIError, APIError, APIConnectionError, APITimeoutError)
