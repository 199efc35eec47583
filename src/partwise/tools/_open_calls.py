"""Running the calls that a finished message has left open."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import attrs

from partwise.messages import AssistantMessage, ToolCallPart

from ._context import Report, ToolContext, log_failure
from ._decisions import plan_calls, with_response
from ._response import ToolResponse
from ._run import run_tools
from ._tool import Tool
from ._tool_stream import AskHuman

__all__ = ["run_open_calls"]


async def run_open_calls(
    message: AssistantMessage,
    tools: Mapping[str, Tool],
    *,
    ask_human: AskHuman | None = None,
    report: Report = log_failure,
    context: ToolContext | None = None,
) -> AssistantMessage:
    """Run the frontend tools of a message's open calls side by side, and return the message with their results.

    Calls that somebody was asked to permit, and those that need a permission, are left alone. A tool that fails
    gives an error result for its own call. Cancelling this cancels the tools.

    Args:
        message: A finished answer.
        tools: The tools by name.
        ask_human: Given a call's id and a payload when a tool asks a human.
        report: Given failures that change no result.
        context: What tools are told beside their call.

    Returns:
        The message itself if there was nothing to run.
    """
    plan = await plan_calls(message, tools, report=report)
    calls = [call for call in plan.to_run if call.approval is None]
    if not calls:
        return message
    responses: dict[str, ToolResponse] = {}

    def context_of(call: ToolCallPart) -> ToolContext:
        changes: dict[str, Any] = {"tool_call_id": call.tool_call_id, "tool_name": call.tool_name}
        if ask_human is not None:
            changes["ask_human"] = partial(ask_human, call.tool_call_id)
        base = context or ToolContext(tool_call_id=call.tool_call_id, message_id=message.id)
        return attrs.evolve(base, on_report=report, **changes)

    await run_tools(calls, tools, context_of, responses.__setitem__)
    content = tuple(
        with_response(part, responses[part.tool_call_id])
        if isinstance(part, ToolCallPart) and not part.has_result and part.tool_call_id in responses
        else part
        for part in message.content
    )
    return attrs.evolve(message, content=content)
