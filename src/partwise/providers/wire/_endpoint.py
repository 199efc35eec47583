"""Which endpoint a run asks, and what that endpoint is shown of the user's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from partwise.adapters import RunContext

__all__ = ["Connect", "endpoint_of", "named_endpoint"]

# The parameters of every request that may carry a credential of the endpoint they were meant for.
_CARRIERS = ("extra_headers", "extra_query")

_Client = TypeVar("_Client")


class Connect(Protocol):
    """Makes a client of an SDK."""

    def __call__(self, base_url: str | None, api_key: str | None, /, **options: Any) -> Any:
        """Return a client for an endpoint; what else is given are options of the SDK."""
        ...


def named_endpoint(
    sdk: Callable[..., _Client], base_url: str | None, api_key: str | None, options: Mapping[str, Any]
) -> _Client:
    """Return a client of an SDK.

    An endpoint that is named is shown the key that was given for it, or none (a local server asks for
    no key), and nothing that the SDK finds in the environment. Without one the SDK looks for all itself.

    Args:
        sdk: The class of the client.
        base_url: The endpoint.
        api_key: Its key.
        options: Further options of the client.
    """
    if base_url is None:
        return sdk(api_key=api_key, **options)
    made = sdk(base_url=base_url, api_key="none" if api_key is None else api_key, **options)
    client: Any = made
    for name in ("organization", "project"):
        if isinstance(getattr(client, name, None), str):  # of OpenAI's; Anthropic's SDK has an API under such a name
            setattr(client, name, None)
    # What the environment says here too is sent along; the SDKs have no other way to leave it out.
    client._custom_headers = {}  # noqa: SLF001  # no public name
    return made


def endpoint_of(
    run: RunContext, client: Any, defaults: Mapping[str, Any], connect: Connect
) -> tuple[Any, Mapping[str, Any]]:
    """Return the client and the parameters of every request for a run, whose context may name a key and an endpoint.

    An endpoint at another origin (scheme, host, port) than the client's is a foreign one: of the client
    it gets the connections, the timeout and the retries, but no credential, header or query.

    Args:
        run: What is asked.
        client: The chat model's own.
        defaults: The chat model's own.
        connect: Makes a client that knows nothing of the user's.
    """
    key, url = run.context.config.get("api_key") or None, run.context.config.get("base_url") or None
    given = {"api_key": key} if key else {}
    if url is None:
        return client.with_options(**given) if given else client, defaults
    http_client = client._client  # noqa: SLF001  # as the SDK's own copies do
    shared = {"http_client": http_client, "timeout": client.timeout, "max_retries": client.max_retries}
    named = connect(url, key, **shared)
    if _origin(named) == _origin(client):
        return client.with_options(base_url=url, **given), defaults
    return named, {name: value for name, value in defaults.items() if name not in _CARRIERS}


def _origin(client: Any) -> tuple[str, str, int | None]:
    url = client.base_url
    return url.scheme, url.host, url.port
