"""An agent elsewhere stops to ask a human; once all permissions are given or denied, its model is called again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from partwise.adapters import RunContext
from partwise.runtimes import LocalThread
from partwise.stream import Finish, TextDelta
from partwise.stream.codecs import AgUiDecoder

from .scenes import last, talking, tool_call

RUN = {"threadId": "t", "runId": "r"}
ASKED = {
    "permission": {"id": "i1", "reason": "tool_call", "message": "May I?", "toolCallId": "c0"},
    "question": {"id": "i2", "reason": "input_required", "message": "Which name?"},
}


class Agent:
    """Asks what it is told to ask, and then answers."""

    def __init__(self, *asked: str) -> None:
        self.calls = 0
        events = [
            {"type": "RUN_STARTED", **RUN},
            {"type": "TOOL_CALL_START", "toolCallId": "c0", "toolCallName": "delete"},
            {"type": "TOOL_CALL_END", "toolCallId": "c0"},
        ]
        if "permission" not in asked:
            events.append({"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "c0", "content": "1"})
        outcome = {"type": "interrupt", "interrupts": [ASKED[name] for name in asked]}
        self.events = [*events, {"type": "RUN_FINISHED", **RUN, "outcome": outcome}]

    async def run(self, run: RunContext) -> AsyncIterator[Any]:
        self.calls += 1
        if self.calls > 1:
            yield TextDelta("Done.")
            yield Finish("stop")
            return
        decoder = AgUiDecoder()
        for chunk in decoder.feed("".join(f"data: {json.dumps(event)}\n\n" for event in self.events).encode()):
            yield chunk
        for chunk in decoder.close():
            yield chunk


async def answered(thread: LocalThread, name: str, *, approved: bool = True) -> None:
    if name == "permission":
        await thread.respond_to_approval("i1", approved=approved)
    else:
        await thread.add_tool_result(last(thread).id, "i2", "Ada")


@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize("asked", [("permission",), ("question", "permission")], ids=" and ".join)
async def test_an_interrupted_agent_goes_on_with_the_last_permission(asked: tuple[str, ...], approved: bool) -> None:
    agent = Agent(*asked)
    async with talking(agent) as thread:
        await thread.append("Clean up.")
        assert (last(thread).status.type, last(thread).status.reason) == ("requires-action", "interrupt")

        for name in asked:
            assert agent.calls == 1
            await answered(thread, name, approved=approved)

        assert agent.calls == 2
        assert last(thread).status.type == "complete"
        assert last(thread).content[-1].text == "Done."
        assert tool_call(thread).approval.approved is approved


@pytest.mark.parametrize("asked", [("question",), ("permission", "question")], ids=" and ".join)
async def test_an_answer_to_a_question_waits_for_who_resumes_the_run(asked: tuple[str, ...]) -> None:
    agent = Agent(*asked)
    async with talking(agent) as thread:
        await thread.append("Clean up.")
        for name in asked:
            await answered(thread, name)

        assert agent.calls == 1
        assert (last(thread).status.type, last(thread).status.reason) == ("requires-action", "interrupt")
        assert tool_call(thread, "i2").result == "Ada"
