"""The chat model over the real SDK; only the network is replaced."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import anyio
import httpx2
import pytest
from openai import AsyncOpenAI

from partwise.messages import COMPLETE_STOP, AssistantMessage, IncompleteStatus, TextPart, UserMessage
from partwise.providers.openai import OpenAIChat
from partwise.providers.replay import replay
from partwise.stream import TextDelta
from partwise.tools import ModelContext

from .speaking import Body

Ask = Callable[..., Awaitable[AssistantMessage]]


def event(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'id': 'x', 'choices': [choice]})}\n\n".encode()


def connect(body: Body | None = None, *, requests: list[httpx2.Request] | None = None, **answer: Any) -> AsyncOpenAI:
    async def handle(request: httpx2.Request) -> httpx2.Response:
        if requests is not None:
            requests.append(request)
        if body is None:
            return httpx2.Response(**answer)
        return httpx2.Response(200, stream=body, headers={"content-type": "text/event-stream"})

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(handle))
    return AsyncOpenAI(api_key="key", base_url="http://model.test/v1", max_retries=0, http_client=client)


@pytest.mark.anyio
async def test_it_asks_for_a_stream_with_usage_and_gives_the_answer(answer: Ask, make_run: Callable[..., Any]) -> None:
    requests: list[httpx2.Request] = []
    body = Body(event("Hel"), event("lo"), event("", "stop"), b"data: [DONE]\n\n")
    run = make_run(UserMessage(id="u", created_at=datetime(2026, 1, 1, tzinfo=UTC), content=(TextPart("Hi"),)))

    message = await answer(OpenAIChat(connect(body, requests=requests), model="m", temperature=0), run)

    assert message.content == (TextPart("Hello"),)
    assert message.status == COMPLETE_STOP
    assert body.closed
    (request,) = requests
    assert str(request.url) == "http://model.test/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer key"
    assert json.loads(request.content) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


@pytest.mark.anyio
async def test_the_context_of_a_run_may_name_another_endpoint(answer: Ask, make_run: Callable[..., Any]) -> None:
    requests: list[httpx2.Request] = []
    context = ModelContext(config={"base_url": "http://other.test/v1", "api_key": "another", "model_name": "n"})

    await answer(OpenAIChat(connect(Body(), requests=requests), model="m"), make_run(context=context))

    (request,) = requests
    assert str(request.url).startswith("http://other.test/v1/")
    assert request.headers["authorization"] == "Bearer another"
    assert json.loads(request.content)["model"] == "n"


@pytest.mark.anyio
async def test_a_refused_request_is_the_error_of_the_answer(answer: Ask) -> None:
    error = {"error": {"message": "Incorrect API key", "type": "invalid_request_error", "code": "invalid_api_key"}}

    message = await answer(OpenAIChat(connect(status_code=401, json=error), model="m"))

    assert message.content == ()
    assert isinstance(message.status, IncompleteStatus)
    assert message.status.error == {
        "code": "invalid_api_key",
        "message": "Incorrect API key",
        "type": "invalid_request_error",
        "status_code": 401,
    }


@pytest.mark.anyio
async def test_an_error_page_is_the_error_of_the_answer(answer: Ask) -> None:
    for page, shown in [("Bad Gateway", "Error code: 502: Bad Gateway"), ("<html>", "Error code: 502")]:
        message = await answer(OpenAIChat(connect(status_code=502, text=page), model="m"))

        assert isinstance(message.status, IncompleteStatus)
        assert message.status.error == {"code": "502", "message": shown, "status_code": 502}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("failure", "code"),
    [(httpx2.ConnectError("refused"), "connection"), (httpx2.ReadTimeout("slow"), "timeout")],
)
async def test_a_failing_connection_is_the_error_of_the_answer(answer: Ask, failure: Exception, code: str) -> None:
    async def fail(request: httpx2.Request) -> httpx2.Response:
        raise failure

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(fail))
    model = OpenAIChat(AsyncOpenAI(api_key="k", max_retries=0, http_client=client), model="m")

    message = await answer(model)

    assert isinstance(message.status, IncompleteStatus)
    assert message.status.error["code"] == code
    assert str(failure) in message.status.error["message"]


@pytest.mark.anyio
async def test_a_connection_that_breaks_in_the_middle_keeps_what_arrived(answer: Ask) -> None:
    body = Body(event("Half"), httpx2.ReadError("reset by peer"))

    message = await answer(OpenAIChat(connect(body), model="m"))

    assert message.content == (TextPart("Half"),)
    assert message.status == IncompleteStatus("error", error={"code": "connection", "message": "reset by peer"})
    assert body.closed


@pytest.mark.anyio
async def test_cancelling_closes_the_connection(make_run: Callable[..., Any]) -> None:
    body = Body(event("Half"), endless=True)
    chunks: list[object] = []

    async def ask() -> None:
        async with aclosing(OpenAIChat(connect(body), model="m").run(make_run())) as answer:
            chunks.extend([chunk async for chunk in answer])

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await body.waiting.wait()
        group.cancel_scope.cancel()

    assert body.closed
    assert chunks == []


@pytest.mark.anyio
async def test_leaving_an_answer_early_closes_the_connection(make_run: Callable[..., Any]) -> None:
    body = Body(event("a"), event("b"), event("c", "stop"))

    async with aclosing(OpenAIChat(connect(body), model="m").run(make_run())) as chunks:
        assert await anext(chunks) == TextDelta("a")

    assert body.closed


@pytest.mark.anyio
async def test_a_wrong_parameter_is_raised_and_not_hidden(answer: Ask) -> None:
    with pytest.raises(TypeError, match="no_such_parameter"):
        await answer(OpenAIChat(connect(Body()), model="m", no_such_parameter=1))


@pytest.mark.anyio
async def test_any_client_whose_stream_can_be_iterated_will_do(answer: Ask) -> None:
    async def create(**_: object) -> AsyncIterator[dict[str, Any]]:
        async def stream() -> AsyncIterator[dict[str, Any]]:
            yield {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}

        return stream()

    client: Any = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))

    message = await answer(OpenAIChat(client, model="m"))

    assert message.content == (TextPart("Hi"),)


@pytest.mark.anyio
async def test_it_connects_by_itself_and_closes_what_it_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "the user's key")
    local = OpenAIChat(model="m", base_url="http://localhost:1/v1")
    named = OpenAIChat(model="m", api_key="given")

    assert (local._client.api_key, str(local._client.base_url)) == ("none", "http://localhost:1/v1/")  # type: ignore[union-attr]  # made here
    assert named._client.api_key == "given"  # type: ignore[union-attr]  # made here
    for model in (local, named):
        await model.aclose()
        assert model._client.is_closed()  # type: ignore[union-attr]  # made here


@pytest.mark.anyio
async def test_a_client_of_the_caller_stays_open() -> None:
    client = connect(Body())
    await OpenAIChat(client, model="m").aclose()

    assert not client.is_closed()


def _without_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)


def test_a_missing_sdk_is_told_with_the_extra_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    _without_openai(monkeypatch)
    file = tmp_path / "a.sse"
    file.write_bytes(event("x"))

    makers: Sequence[Callable[[], object]] = (lambda: OpenAIChat(model="m"), lambda: replay(file))
    for make in makers:
        with pytest.raises(ImportError, match=r"pip install 'partwise\[openai\]'"):
            make()
