"""What an endpoint is shown of the user's: requests as the real SDKs send them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest

from partwise.messages import AssistantMessage
from partwise.tools import ModelContext

from .serving import serving
from .speaking import PROVIDERS, Body, Spoken

Ask = Callable[..., Awaitable[AssistantMessage]]

pytestmark = pytest.mark.anyio
each_provider = pytest.mark.parametrize("spoken", PROVIDERS, ids=[spoken.name for spoken in PROVIDERS])

OWN = "http://own.test/v1"
SECRET = "secret-of-the-user"
ENVIRONMENT = {
    "OPENAI_API_KEY": SECRET,
    "OPENAI_ADMIN_KEY": SECRET,
    "OPENAI_ORG_ID": SECRET,
    "OPENAI_PROJECT_ID": SECRET,
    "OPENAI_CUSTOM_HEADERS": f"Authorization: Bearer {SECRET}\nx-env: {SECRET}",
    "ANTHROPIC_API_KEY": SECRET,
    "ANTHROPIC_AUTH_TOKEN": SECRET,
    "ANTHROPIC_CUSTOM_HEADERS": f"authorization: Bearer {SECRET}\nx-env: {SECRET}",
}
DEFAULTS = {"extra_headers": {"x-default": SECRET, "Authorization": SECRET}, "extra_query": {"key": SECRET}}


def own_clients(spoken: Spoken) -> dict[str, dict[str, Any]]:
    """The credentials that a client of the SDK can have."""
    headers = {"authorization": f"Bearer {SECRET}", "X-Api-Key": SECRET, "api-key": SECRET, "cookie": SECRET}
    query = {"default_query": {"key": SECRET}}
    kinds: dict[str, dict[str, Any]] = {
        "key": {"api_key": SECRET},
        "headers": {"api_key": SECRET, "default_headers": headers, **query},
    }
    if spoken.sdk == "openai":
        return {**kinds, "organization": {"api_key": SECRET, "organization": SECRET, "project": SECRET}}
    return {**kinds, "token": {"auth_token": SECRET}}


def client_of(spoken: Spoken, requests: list[httpx2.Request], **options: Any) -> Any:
    async def handle(request: httpx2.Request) -> httpx2.Response:
        await request.aread()
        requests.append(request)
        stream = Body(*spoken.answer("a"))
        return httpx2.Response(200, stream=stream, headers={"content-type": "text/event-stream"})

    http_client = httpx2.AsyncClient(transport=httpx2.MockTransport(handle))
    return spoken.client(base_url=OWN, max_retries=0, http_client=http_client, **options)


def shown(request: httpx2.Request) -> str:
    """All that an endpoint reads before the body."""
    return f"{request.url} " + " ".join(f"{name}={value}" for name, value in request.headers.items())


def keys(request: httpx2.Request) -> set[str]:
    """What stands where a key may stand."""
    said = (request.headers.get("authorization", "").removeprefix("Bearer "), request.headers.get("x-api-key", ""))
    return {key for key in said if key}


CASES = [(spoken, kind, options) for spoken in PROVIDERS for kind, options in own_clients(spoken).items()]
each_client = pytest.mark.parametrize(
    ("spoken", "options"),
    [(spoken, options) for spoken, _, options in CASES],
    ids=[f"{s.name}-{k}" for s, k, _ in CASES],
)


@each_client
@pytest.mark.parametrize("named", [None, "key-of-the-run"])
@pytest.mark.parametrize("url", ["http://foreign.test/v1", "https://own.test/v1", "http://own.test:81/v1"])
async def test_a_foreign_endpoint_is_shown_nothing_of_the_users(
    spoken: Spoken,
    options: dict[str, Any],
    url: str,
    named: str | None,
    answer: Ask,
    make_run: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    requests: list[httpx2.Request] = []
    model = spoken.model(client_of(spoken, requests, **options), model="m", **DEFAULTS)
    config = {"base_url": url, **({"api_key": named} if named else {})}
    context = ModelContext(config=config, call_settings={"headers": {"x-run": "of the run"}})

    await answer(model, make_run(context=context))

    (request,) = requests
    assert str(request.url).startswith(url)
    assert SECRET not in shown(request)
    assert keys(request) == {named or "none"}
    assert request.headers["x-run"] == "of the run"


@each_client
async def test_another_path_of_the_own_endpoint_is_not_foreign(
    spoken: Spoken, options: dict[str, Any], answer: Ask, make_run: Any
) -> None:
    requests: list[httpx2.Request] = []
    model = spoken.model(client_of(spoken, requests, **options), model="m", extra_headers={"x-default": "d"})

    await answer(model, make_run(context=ModelContext(config={"base_url": "http://OWN.test:80/v2"})))
    await answer(model, make_run())

    for request, path in zip(requests, ("/v2/", "/v1/"), strict=True):
        assert request.url.path.startswith(path)
        assert SECRET in shown(request)
        assert request.headers["x-default"] == "d"
    own, plain = ({**request.headers} for request in requests)
    assert own == plain


@each_provider
async def test_a_key_alone_goes_to_the_own_endpoint(spoken: Spoken, answer: Ask, make_run: Any) -> None:
    requests: list[httpx2.Request] = []
    model = spoken.model(client_of(spoken, requests, api_key=SECRET), model="m")

    await answer(model, make_run(context=ModelContext(config={"api_key": "key-of-the-run"})))

    (request,) = requests
    assert str(request.url).startswith(OWN)
    assert keys(request) == {"key-of-the-run"}


@each_provider
async def test_what_the_environment_holds_is_not_shown_to_an_endpoint_that_is_named(
    spoken: Spoken, answer: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    for key in (None, "given"):
        with serving(spoken.answer("a")) as server:
            model = spoken.model(model="m", base_url=server.base(spoken), api_key=key)
            await answer(model)
            await model.aclose()

        (headers,) = server.headers
        assert SECRET not in str(headers)
        assert (key or "none") in str(headers)
