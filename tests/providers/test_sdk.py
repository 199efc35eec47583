"""What holds for the chat models of all providers, over their real SDKs; only the network is replaced."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

import partwise as pw
from partwise.messages import COMPLETE_STOP, AssistantMessage, IncompleteStatus, TextPart, Usage
from partwise.providers.replay import replay
from partwise.stream import TextDelta
from partwise.tools import ModelContext

from .speaking import MESSAGES, PROVIDERS, Body, Spoken, connected, event

Ask = Callable[..., Awaitable[AssistantMessage]]

pytestmark = pytest.mark.anyio
each_provider = pytest.mark.parametrize("spoken", PROVIDERS, ids=[spoken.name for spoken in PROVIDERS])


def failure(message: AssistantMessage) -> Any:
    assert isinstance(message.status, IncompleteStatus)
    assert message.status.reason == "error"
    return message.status.error


@each_provider
async def test_it_asks_for_a_stream_and_gives_the_answer(spoken: Spoken, answer: Ask) -> None:
    requests: list[httpx2.Request] = []
    body = Body(*spoken.answer("Hel", "lo"))

    message = await answer(connected(spoken, body, requests=requests, defaults={"timeout": 7}))

    assert [part.text for part in message.content if isinstance(part, TextPart)] == ["Hello"]
    assert message.status == COMPLETE_STOP
    assert body.closed
    (request,) = requests
    sent = json.loads(request.content)
    assert request.url.path == spoken.path
    assert "key" in {request.headers.get("x-api-key"), request.headers.get("authorization", "").removeprefix("Bearer ")}
    assert (sent["model"], sent["stream"]) == ("m", True)
    assert request.extensions["timeout"]["read"] == 7


@each_provider
async def test_the_context_of_a_run_may_name_another_endpoint(spoken: Spoken, answer: Ask, make_run: Any) -> None:
    requests: list[httpx2.Request] = []
    config = {"base_url": "http://other.test", "api_key": "another", "model_name": "n"}
    run = make_run(context=ModelContext(config=config, call_settings={"headers": {"x-mark": "1"}}))

    await answer(connected(spoken, Body(*spoken.answer("a")), requests=requests), run)

    (request,) = requests
    assert request.url.host == "other.test"
    assert "another" in request.headers.get("authorization", "") + request.headers.get("x-api-key", "")
    assert request.headers["x-mark"] == "1"
    assert json.loads(request.content)["model"] == "n"


@each_provider
async def test_a_refused_request_is_the_error_of_the_answer(spoken: Spoken, answer: Ask) -> None:
    error = {"type": "error", "error": {"type": "authentication_error", "message": "Incorrect key"}}

    message = await answer(connected(spoken, status_code=401, json=error))

    assert message.content == ()
    assert failure(message)["code"] == "authentication_error"
    assert failure(message)["message"] == "Incorrect key"
    assert failure(message)["status_code"] == 401


@each_provider
async def test_of_a_page_that_comes_with_an_error_nothing_is_shown(spoken: Spoken, answer: Ask) -> None:
    for page in ("<html>boom</html>", "\n <!DOCTYPE html>" + "x" * 9999):
        message = await answer(connected(spoken, status_code=500, html=page))

        assert failure(message) == {"code": "500", "status_code": 500, "message": "Error code: 500"}


@each_provider
@pytest.mark.parametrize(
    ("said", "code", "message"),
    [
        ({"json": {"error": {"code": "quota", "message": "No money"}}}, "quota", "No money"),
        ({"json": {"id": "x", "hello": 1}}, "not-a-stream", "application/json in place of a stream: {"),
        ({"html": "<html>Log in</html>"}, "not-a-stream", "text/html in place of a stream"),
        ({"json": None, "headers": {"content-type": "application/json"}}, "not-a-stream", "application/json"),
    ],
)
async def test_a_page_in_place_of_a_stream_is_the_error_of_the_answer(
    spoken: Spoken, said: dict[str, Any], code: str, message: str, answer: Ask
) -> None:
    done = await answer(connected(spoken, status_code=200, **said))

    assert failure(done)["code"] == code
    assert message in failure(done)["message"]


@each_provider
@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (httpx2.ReadError("reset by peer"), "connection"),
        (httpx2.RemoteProtocolError("peer closed connection"), "connection"),
        (httpx2.ReadTimeout("silence"), "timeout"),
        (httpx2.ReadTimeout(""), "timeout"),
    ],
)
async def test_a_connection_that_fails_in_the_middle_keeps_what_arrived(
    spoken: Spoken, broken: Exception, code: str, answer: Ask
) -> None:
    body = Body(*spoken.begin, spoken.text("Half"), broken)

    message = await answer(connected(spoken, body))

    assert [part.text for part in message.content if isinstance(part, TextPart)] == ["Half"]
    assert failure(message) == {"code": code, "message": str(broken) or "ReadTimeout"}
    assert body.closed


@each_provider
@pytest.mark.parametrize(
    ("failing", "code"), [(httpx2.ConnectError("refused"), "connection"), (httpx2.ConnectTimeout("slow"), "timeout")]
)
async def test_a_server_that_is_not_there_is_the_error_of_the_answer(
    spoken: Spoken, failing: Exception, code: str, answer: Ask
) -> None:
    async def fail(request: httpx2.Request) -> httpx2.Response:
        raise failing

    http_client = httpx2.AsyncClient(transport=httpx2.MockTransport(fail))
    client = spoken.client(api_key="k", base_url="http://x.test", max_retries=0, http_client=http_client)

    message = await answer(spoken.model(client, model="m"))

    assert failure(message)["code"] == code
    assert str(failing) in failure(message)["message"]


@each_provider
async def test_an_error_in_the_middle_keeps_what_arrived_and_is_told_once(spoken: Spoken, answer: Ask) -> None:
    error = spoken.error("overloaded", "Too much")

    message = await answer(connected(spoken, Body(*spoken.begin, spoken.text("Half"), error, error)))

    assert [part.text for part in message.content if isinstance(part, TextPart)] == ["Half"]
    assert failure(message)["code"] == "overloaded"
    assert failure(message)["message"] == "Too much"


@each_provider
async def test_a_stream_that_just_stops_is_incomplete(spoken: Spoken, answer: Ask) -> None:
    message = await answer(connected(spoken, Body(*spoken.begin, spoken.text("Half"))))

    assert message.status == IncompleteStatus("other")


@each_provider
async def test_cancelling_closes_the_connection(spoken: Spoken, make_run: Any) -> None:
    body = Body(*spoken.begin, spoken.text("Half"), endless=True)
    chunks: list[object] = []

    async def ask() -> None:
        async with aclosing(connected(spoken, body).run(make_run())) as answer:
            while True:
                chunks.append(await anext(answer))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await body.waiting.wait()
        group.cancel_scope.cancel()

    assert body.closed
    assert [chunk.text for chunk in chunks if isinstance(chunk, TextDelta)] == ["Half"]


@each_provider
async def test_leaving_an_answer_early_closes_the_connection(spoken: Spoken, make_run: Any) -> None:
    body = Body(*spoken.answer("a", "b"))

    async with aclosing(connected(spoken, body).run(make_run())) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextDelta):
                break

    assert body.closed


@each_provider
async def test_a_wrong_parameter_is_raised_and_not_hidden(spoken: Spoken, answer: Ask) -> None:
    with pytest.raises(TypeError, match="no_such_parameter"):
        await answer(connected(spoken, Body(), defaults={"no_such_parameter": 1}))


@each_provider
async def test_it_connects_by_itself_and_closes_what_it_opened(spoken: Spoken, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "the user's key")
    local = spoken.model(model="m", base_url="http://localhost:1/v1")
    named = spoken.model(model="m", api_key="given")

    assert (local._client.api_key, str(local._client.base_url)) == ("none", "http://localhost:1/v1/")
    assert named._client.api_key == "given"
    for model in (local, named):
        await model.aclose()
        assert model._client.is_closed()


@each_provider
async def test_a_client_of_the_caller_stays_open(spoken: Spoken) -> None:
    model = connected(spoken, Body())
    await model.aclose()

    assert not model._client.is_closed()


@each_provider
async def test_a_missing_sdk_is_told_with_the_extra_to_install(
    spoken: Spoken, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, spoken.sdk, None)
    file = tmp_path / "a.sse"
    file.write_bytes(b"".join(spoken.answer("x")))

    for make in (lambda: spoken.model(model="m"), lambda: replay(file)):
        with pytest.raises(ImportError, match=rf"pip install 'partwise\[{spoken.sdk}\]'"):
            make()


# ---------------------------------------------------------------- an answer that the provider pauses


def paused(text: str, tokens: int) -> Body:
    delta = {"type": "message_delta", "delta": {"stop_reason": "pause_turn"}, "usage": {"output_tokens": tokens}}
    return Body(*MESSAGES.begin, MESSAGES.text(text), event(delta), event({"type": "message_stop"}))


async def test_a_paused_answer_goes_on_in_the_next_request(answer: Ask) -> None:
    requests: list[httpx2.Request] = []

    message = await answer(
        connected(MESSAGES, paused("One", 3), paused("Two", 4), Body(*MESSAGES.answer("Three")), requests=requests)
    )

    assert [part.text for part in message.content if isinstance(part, TextPart)] == ["One", "Two", "Three"]
    assert message.status == COMPLETE_STOP
    assert [step.usage for step in message.metadata.steps] == [Usage(output_tokens=3), Usage(output_tokens=4), None]
    assert len(requests) == 3


async def test_after_a_summary_of_the_history_the_answer_goes_on_with_it_in_its_place() -> None:
    summary = {"type": "compaction", "content": "We spoke of files.", "encrypted_content": "e"}
    requests: list[httpx2.Request] = []
    paused = (
        MESSAGES.begin[0],
        event({"type": "content_block_start", "index": 0, "content_block": {"type": "compaction", "content": None}}),
        event({"type": "content_block_delta", "index": 0, "delta": {**summary, "type": "compaction_delta"}}),
        event({"type": "content_block_stop", "index": 0}),
        event({"type": "message_delta", "delta": {"stop_reason": "compaction"}}),
        event({"type": "message_stop"}),
    )
    bodies = (Body(*paused), Body(*MESSAGES.answer("One.")), Body(*MESSAGES.answer("Two.")))
    model = connected(MESSAGES, *bodies, requests=requests, defaults={"betas": ["compact-2026-01-12"]})

    async with pw.LocalRuntime(model) as runtime:
        await runtime.thread.append("Hi")
        answer = runtime.thread.state.messages[-1]
        await runtime.thread.append("And?")

    first, again, later = (json.loads(request.content)["messages"] for request in requests)
    assert [message["role"] for message in first] == ["user"]
    assert again == [*first, {"role": "assistant", "content": [summary]}]
    assert later[1] == {"role": "assistant", "content": [summary, {"type": "text", "text": "One."}]}
    assert answer.status == COMPLETE_STOP
    assert "after" not in answer.metadata.custom["anthropic"]


async def test_a_request_for_nothing_but_a_summary_is_not_sent_again(answer: Ask) -> None:
    requests: list[httpx2.Request] = []
    start, *_ = MESSAGES.begin
    end = event({"type": "message_delta", "delta": {"stop_reason": "compaction"}}), event({"type": "message_stop"})
    defaults = {"betas": ["compact"], "compaction": {"type": "summary"}}

    await answer(connected(MESSAGES, Body(start, *end), Body(start, *end), requests=requests, defaults=defaults))

    assert len(requests) == 1


async def test_an_answer_that_never_ends_is_asked_for_a_limited_number_of_times(answer: Ask) -> None:
    for most in (0, 2):
        requests: list[httpx2.Request] = []
        bodies = [paused("…", 1) for _ in range(9)]

        message = await answer(connected(MESSAGES, *bodies, requests=requests, defaults={"max_pauses": most}))

        assert message.status == IncompleteStatus("other")
        assert len(requests) == most + 1


async def test_a_failure_after_a_pause_is_the_error_of_the_answer(answer: Ask) -> None:
    message = await answer(connected(MESSAGES, paused("One", 3), status_code=500, text="oh"))

    assert [part.text for part in message.content if isinstance(part, TextPart)] == ["One"]
    assert failure(message)["status_code"] == 500
