"""Whole runs against a server on this machine: the SDK, its connections, and the local runtime."""

from __future__ import annotations

import pytest

import partwise as pw
from partwise.messages import COMPLETE_STOP, AssistantMessage, IncompleteStatus, TextPart, ToolCallPart

from .serving import Server, serving
from .speaking import PROVIDERS, Spoken

pytestmark = pytest.mark.anyio
each_provider = pytest.mark.parametrize("spoken", PROVIDERS, ids=[spoken.name for spoken in PROVIDERS])

tools = pw.Toolkit()


@tools.frontend(needs_approval=False)
async def double(number: int) -> int:
    """Double a number."""
    return number * 2


async def asked(spoken: Spoken, server: Server) -> AssistantMessage:
    """Ask once through a runtime with a tool, and return the answer."""
    model = spoken.model(model="m", base_url=server.base(spoken))
    try:
        async with pw.LocalRuntime(model, tools=tools, max_steps=4) as runtime:
            await runtime.thread.append("Double 21")
            message = runtime.thread.state.messages[-1]
    finally:
        await model.aclose()
    assert isinstance(message, AssistantMessage)
    return message


@each_provider
async def test_a_run_with_a_tool_takes_two_requests_and_the_second_carries_the_result(spoken: Spoken) -> None:
    first = (*spoken.begin, spoken.text("Let me see. "), *spoken.call("c1", "double", '{"number": 21}'))
    with serving((*first, *spoken.end(True)), spoken.answer("It is 42 \N{SLIGHTLY SMILING FACE}")) as server:
        message = await asked(spoken, server)

    assert message.status == COMPLETE_STOP
    texts = [part.text for part in message.content if isinstance(part, TextPart)]
    assert texts == ["Let me see. ", "It is 42 \N{SLIGHTLY SMILING FACE}"]
    (call,) = [part for part in message.content if isinstance(part, ToolCallPart)]
    assert (call.tool_name, call.args, call.result) == ("double", {"number": 21}, 42)
    assert [path for path, _ in server.requests] == [
        spoken.path if spoken.sdk == "anthropic" else f"/v1{spoken.path}"
    ] * 2
    before, after = (body for _, body in server.requests)
    assert spoken.tools(before) == ["double"]
    assert (spoken.results(before), spoken.results(after)) == ({}, {"c1": "42"})


@each_provider
async def test_bytes_that_arrive_one_by_one_give_the_same_answer(spoken: Spoken) -> None:
    data = b"".join(spoken.answer("Größe \N{SLIGHTLY SMILING FACE}"))
    with serving([data[at : at + 1] for at in range(len(data))]) as server:
        message = await asked(spoken, server)

    assert [part.text for part in message.content if isinstance(part, TextPart)] == ["Größe \N{SLIGHTLY SMILING FACE}"]
    assert message.status == COMPLETE_STOP


@each_provider
async def test_a_server_that_hangs_up_leaves_what_arrived_and_an_error(spoken: Spoken) -> None:
    with serving((*spoken.begin, spoken.text("Half"), None)) as server:
        message = await asked(spoken, server)

    assert [part.text for part in message.content if isinstance(part, TextPart)] == ["Half"]
    assert isinstance(message.status, IncompleteStatus)
    assert message.status.reason == "error"
    assert message.status.error["code"] == "connection"
