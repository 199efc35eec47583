"""Which calls of a message run, which wait for permission, and which were refused. Pure, but for predicates."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping

import attrs

from partwise.errors import ToolArgumentsError
from partwise.messages import MISSING, Approval, AssistantMessage, ToolCallPart, is_blank, new_id

from ._arguments import bind_arguments, parse_arguments
from ._context import Report, log_failure
from ._response import NO_RESULT, ToolResponse, error_response
from ._tool import Tool

__all__ = [
    "CallPlan",
    "calls_needing_approval",
    "calls_to_run",
    "needs_approval",
    "plan_calls",
    "refusal",
    "with_approval_request",
    "with_response",
]


@attrs.frozen(kw_only=True)
class CallPlan:
    """What is to happen with the open calls of a message.

    Attributes:
        to_run: Run these now.
        to_ask: A human must permit these first; see ``with_approval_request``.
        refused: These will not run, and this is what the model is told.
    """

    to_run: tuple[ToolCallPart, ...]
    to_ask: tuple[ToolCallPart, ...]
    refused: tuple[tuple[ToolCallPart, ToolResponse], ...]


async def plan_calls(message: AssistantMessage, tools: Mapping[str, Tool], *, report: Report = log_failure) -> CallPlan:
    """Sort the open calls of a message into those to run, to ask about, and refused ones.

    Calls that belong to nobody here (of human, backend and unknown tools) are in none of them,
    unless they were refused.

    Args:
        message: The answer that holds the calls.
        tools: The tools by name.
        report: Gets what a predicate on the need of an approval raised.
    """
    if not any(isinstance(part, ToolCallPart) and not part.has_result for part in message.content):
        return CallPlan(to_run=(), to_ask=(), refused=())
    to_ask = await calls_needing_approval(message, tools, report=report)
    waiting = {part.tool_call_id for part in to_ask}
    cleared = {part.tool_call_id for part, _ in _open_calls(message, tools)} - waiting
    refused = [
        (part, response)
        for part in message.content
        if isinstance(part, ToolCallPart) and (response := refusal(part)) is not None
    ]
    return CallPlan(to_run=calls_to_run(message, tools, cleared=cleared), to_ask=to_ask, refused=tuple(refused))


async def calls_needing_approval(
    message: AssistantMessage, tools: Mapping[str, Tool], *, report: Report = log_failure
) -> tuple[ToolCallPart, ...]:
    """Return the open calls of frontend tools that a human must permit and that nobody asked about yet.

    A call whose arguments do not fit is not among them: it is not going to run. A predicate that
    raises counts as yes and is reported.

    Args:
        message: The answer that holds the calls.
        tools: The tools by name.
        report: Gets what a predicate raised.
    """
    asked = [
        part
        for part, tool in _open_calls(message, tools)
        if part.approval is None and await needs_approval(tool, part, report)
    ]
    return tuple(asked)


def calls_to_run(
    message: AssistantMessage, tools: Mapping[str, Tool], *, cleared: Collection[str] = ()
) -> tuple[ToolCallPart, ...]:
    """Return the open calls of frontend tools that may run now, each id once.

    Without an approval a call runs only if its tool never needs one, or if it was cleared.

    Args:
        message: The answer that holds the calls.
        tools: The tools by name.
        cleared: The ids of calls whose tool decides by the arguments, and decided that nobody need be
            asked: all open ones that ``calls_needing_approval`` did not name.
    """
    return tuple(part for part, tool in _open_calls(message, tools) if _may_run(part, tool, cleared))


def refusal(part: ToolCallPart) -> ToolResponse | None:
    """Return what the model is told of an open call that was denied, cancelled or expired; else None."""
    approval = part.approval
    if part.has_result or approval is None:
        return None
    if approval.approved is False:
        reason = approval.reason
        return error_response("Tool approval denied" if reason is None or is_blank(reason) else reason)
    if approval.approved is None and approval.resolution is not None:
        return error_response(f"Tool approval {approval.resolution}")
    return None


def with_approval_request(part: ToolCallPart, tool: Tool, *, approval_id: str | None = None) -> ToolCallPart:
    """Return the call with a question to a human; one that has a result or was asked about comes back as it is.

    Args:
        part: The call.
        tool: Whose options are offered.
        approval_id: The id of the question; a fresh one if not given.
    """
    if part.has_result or part.approval is not None:
        return part
    return attrs.evolve(part, approval=Approval(id=approval_id or new_id(), options=tool.approval_options or None))


def with_response(part: ToolCallPart, response: ToolResponse) -> ToolCallPart:
    """Return the call with its response; a question that its tool was asking is gone."""
    return attrs.evolve(
        part,
        result=NO_RESULT if response.result is MISSING else response.result,
        artifact=response.artifact,
        is_error=response.is_error,
        model_content=response.model_content,
        messages=part.messages if response.messages is None else response.messages,
        timing=response.timing or part.timing,
        interrupt=None,
    )


def _open_calls(message: AssistantMessage, tools: Mapping[str, Tool]) -> Iterator[tuple[ToolCallPart, Tool]]:
    seen: set[str] = set()
    for part in message.content:
        if not isinstance(part, ToolCallPart) or part.tool_call_id in seen:
            continue
        seen.add(part.tool_call_id)
        tool = tools.get(part.tool_name)
        if tool is not None and tool.runs_here and not part.has_result:
            yield part, tool


def _may_run(part: ToolCallPart, tool: Tool, cleared: Collection[str]) -> bool:
    if part.approval is not None:
        return part.approval.approved is True and part.approval.resolution is None
    return tool.needs_approval is False or tool.disabled or part.tool_call_id in cleared


async def needs_approval(tool: Tool, part: ToolCallPart, report: Report) -> bool:
    """Whether a human must permit a call; a predicate that raises counts as yes and is reported."""
    if tool.disabled or tool.needs_approval is False:
        return False
    try:
        bind_arguments(tool, part)
        if tool.needs_approval is True:
            return True
        needed = tool.needs_approval(parse_arguments(part))
        return bool(await needed if inspect.isawaitable(needed) else needed)
    except ToolArgumentsError:
        return False
    # Whoever cannot tell whether a human must be asked, asks.
    except Exception as failure:
        failure.add_note(f"raised while deciding whether call {part.tool_call_id!r} of {tool.name!r} needs an approval")
        report(failure)
        return True
