"""A tiny run loop: call the model, run its tools, call it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs

from partwise.adapters import CancelSignal, RunContext
from partwise.cli._rules import folder_tools, rules_model
from partwise.messages import (
    COMPLETE_STOP,
    RUNNING,
    AssistantMessage,
    AssistantPart,
    Message,
    TextPart,
    ToolCallPart,
    UserMessage,
)
from partwise.stream import Chunk, Finish, TextDelta, ToolArgsDelta, ToolArgsFinish, ToolCallStart
from partwise.tools import (
    ModelContext,
    Tool,
    ToolContext,
    error_response,
    run_tool,
    with_approval_request,
    with_response,
)

WHEN = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
Decide = Callable[[ToolCallPart], tuple[bool, str | None]]


def allow(_part: ToolCallPart) -> tuple[bool, str | None]:
    return True, None


def deny(_part: ToolCallPart) -> tuple[bool, str | None]:
    return False, None


@attrs.define
class Conversation:
    """A chat with the rules over a folder; ``say`` gives the calls and the final text of the answer."""

    root: Path
    decide: Decide = allow
    tools: Mapping[str, Tool] | None = None
    delay: float = 0
    messages: tuple[Message, ...] = ()
    chunks: list[list[Chunk]] = attrs.field(factory=list)

    async def say(self, text: str) -> tuple[list[tuple[str, dict[str, Any]]], str]:
        number = len(self.messages)
        self.messages += (UserMessage(id=f"u{number}", created_at=WHEN, content=(TextPart(text),)),)
        answer = AssistantMessage(id=f"a{number}", created_at=WHEN, status=RUNNING)
        tools = dict(folder_tools(self.root).get_model_context().tools) if self.tools is None else self.tools
        self.chunks = []
        while True:
            assert len(self.chunks) < 10
            answer, goes_on = await self._roundtrip(answer, tools)
            if not goes_on:
                break
            answer = attrs.evolve(answer, content=tuple([await self._served(part, tools) for part in answer.content]))
        self.messages += (attrs.evolve(answer, status=COMPLETE_STOP),)
        calls = [(part.tool_name, dict(part.args)) for part in answer.content if isinstance(part, ToolCallPart)]
        last = answer.content[-1] if answer.content else None
        return calls, last.text if isinstance(last, TextPart) else ""

    async def _roundtrip(self, answer: AssistantMessage, tools: Mapping[str, Tool]) -> tuple[AssistantMessage, bool]:
        run = RunContext(
            messages=self.messages,
            assistant_message_id=answer.id,
            parent_id=self.messages[-1].id,
            thread_id=None,
            run_id="r",
            roundtrip=len(self.chunks),
            context=ModelContext(tools=dict(tools)),
            run_config={},
            signal=CancelSignal(),
            current_message=lambda: answer,
        )
        chunks = [chunk async for chunk in rules_model(run, delay=self.delay, clock=lambda: WHEN)]
        self.chunks.append(chunks)
        assert isinstance(chunks[-1], Finish)
        return attrs.evolve(answer, content=answer.content + _folded(chunks)), chunks[-1].reason == "tool-calls"

    async def _served(self, part: AssistantPart, tools: Mapping[str, Tool]) -> AssistantPart:
        if not isinstance(part, ToolCallPart) or part.has_result:
            return part
        tool = tools[part.tool_name]
        if tool.needs_approval is True:
            part = with_approval_request(part, tool, approval_id="p")
            assert part.approval is not None
            approved, reason = self.decide(part)
            part = attrs.evolve(part, approval=attrs.evolve(part.approval, approved=approved, reason=reason))
            if not approved:
                return with_response(part, error_response(reason or "Tool approval denied"))
        return with_response(part, await run_tool(tool, part, ToolContext(tool_call_id=part.tool_call_id)))


def _folded(chunks: list[Chunk]) -> tuple[AssistantPart, ...]:
    text = ""
    calls: dict[str, ToolCallPart] = {}
    for chunk in chunks:
        match chunk:
            case TextDelta():
                assert not calls, "text after a call belongs to the next roundtrip"
                text += chunk.text
            case ToolCallStart():
                assert chunk.tool_call_id not in calls
                calls[chunk.tool_call_id] = ToolCallPart(tool_call_id=chunk.tool_call_id, tool_name=chunk.tool_name)
            case ToolArgsDelta():
                call = calls[chunk.tool_call_id]
                calls[chunk.tool_call_id] = attrs.evolve(call, args_text=call.args_text + chunk.text)
            case ToolArgsFinish():
                call = calls[chunk.tool_call_id]
                calls[chunk.tool_call_id] = attrs.evolve(call, args=json.loads(call.args_text))
            case _:
                assert isinstance(chunk, Finish)
    return (TextPart(text), *calls.values())
