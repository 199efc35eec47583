"""Whole runs against a server on this machine: the SDK, its connections, and the local runtime."""

from __future__ import annotations

import base64
import json

import pytest

import partwise as pw
from partwise.messages import (
    COMPLETE_STOP,
    AssistantMessage,
    FileContent,
    ImagePart,
    IncompleteStatus,
    TextContent,
    TextPart,
    ToolCallPart,
    UserPart,
)
from partwise.tools import ToolResponse

from .serving import Server, serving
from .speaking import CHAT, MESSAGES, PROVIDERS, RESPONSES, Spoken
from .typed import check_blocks, check_chat, check_items

pytestmark = pytest.mark.anyio
each_provider = pytest.mark.parametrize("spoken", PROVIDERS, ids=[spoken.name for spoken in PROVIDERS])

PICTURE = f"data:image/png;base64,{base64.b64encode(b'own').decode()}"
tools = pw.Toolkit()


@tools.frontend(needs_approval=False)
async def double(number: int) -> int:
    """Double a number."""
    return number * 2


@tools.frontend(needs_approval=False)
async def draw(name: str) -> ToolResponse:
    """Draw something."""
    picture = FileContent(data=base64.b64encode(name.encode()).decode(), media_type="image/png")
    return ToolResponse({"drawn": name}, model_content=[TextContent(f"This is {name}."), picture])


async def asked(spoken: Spoken, server: Server, *said: UserPart) -> AssistantMessage:
    """Ask once through a runtime with two tools, and return the answer."""
    model = spoken.model(model="m", base_url=server.base(spoken))
    try:
        async with pw.LocalRuntime(model, tools=tools, max_steps=4) as runtime:
            await runtime.thread.append({"role": "user", "content": said or "Double 21"})
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
    assert spoken.tools(before) == ["double", "draw"]
    assert (spoken.results(before), spoken.results(after)) == ({}, {"c1": "42"})


CHECKS = {
    CHAT.name: lambda body: check_chat(body["messages"]),
    RESPONSES.name: lambda body: check_items(body["input"]),
    MESSAGES.name: lambda body: check_blocks(body["messages"]),
}


@each_provider
async def test_pictures_of_the_user_and_of_several_calls_at_once_reach_the_model(spoken: Spoken) -> None:
    names = ["a circle", "a square"]
    calls = [spoken.call(f"c{at}", "draw", json.dumps({"name": name}), at) for at, name in enumerate(names)]
    bodies = ((*spoken.begin, *(event for call in calls for event in call), *spoken.end(True)), spoken.answer("Nice."))
    with serving(*bodies) as server:
        message = await asked(spoken, server, TextPart("Draw both, like this"), ImagePart(image=PICTURE))

    assert message.status == COMPLETE_STOP
    drawn = [part for part in message.content if isinstance(part, ToolCallPart)]
    assert [(call.args, call.result) for call in drawn] == [({"name": name}, {"drawn": name}) for name in names]
    before, after = (body for _, body in server.requests)
    for body in (before, after):
        CHECKS[spoken.name](body)
    own, *data = (base64.b64encode(name.encode()).decode() for name in ("own", *names))
    assert [one in json.dumps(before) for one in (own, *data)] == [True, False, False]
    sent = json.dumps(after)
    assert [sent.count(one) for one in (own, *data)] == [1, 1, 1]
    assert sent.index(own) < sent.index(data[0]) < sent.index(data[1])
    assert all(f"This is {name}." in sent for name in names)


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
