"""What people answer: results of tool calls and decisions on approvals. Values in, values out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from partwise.errors import ApprovalError, ApprovalNotFoundError, ToolCallNotFoundError
from partwise.messages import (
    REQUIRES_INTERRUPT,
    REQUIRES_TOOL_CALLS,
    Approval,
    AssistantMessage,
    Decision,
    Message,
    ModelContent,
    RequiresActionStatus,
    ToolCallPart,
    apply_decision,
    resolve_approval,
    with_part,
)

__all__ = ["check_answerable", "find_approval", "with_decision", "with_tool_result"]


def with_tool_result(
    message: AssistantMessage,
    tool_call_id: str,
    *,
    result: Any,
    is_error: bool | None,
    artifact: Any,
    model_content: tuple[ModelContent, ...] | None,
) -> tuple[AssistantMessage, bool]:
    """Write a result to every call with that id.

    Returns:
        The message, and whether any of the calls had no result before.

    Raises:
        ToolCallNotFoundError: The message has no such call.
    """
    is_new = False
    is_found = False
    for index, part in enumerate(message.content):
        if isinstance(part, ToolCallPart) and part.tool_call_id == tool_call_id:
            is_found = True
            is_new = is_new or not part.has_result
            answered = attrs.evolve(
                part, result=result, is_error=is_error, artifact=artifact, model_content=model_content
            )
            message = with_part(message, index, answered)
    if not is_found:
        raise ToolCallNotFoundError(tool_call_id, where=f"message {message.id!r}")
    return message, is_new


def find_approval(
    messages: Iterable[Message], approval_id: str, tool_call_id: str | None = None
) -> tuple[AssistantMessage, int]:
    """Find the call that asks for an approval, the latest message first.

    Args:
        messages: The visible messages, last one first.
        approval_id: The approval.
        tool_call_id: Which call, where several of one message share the approval's id.

    Returns:
        The message and the position of the call in it.

    Raises:
        ApprovalNotFoundError: No visible assistant message asks for it.
        ApprovalError: Several open calls of one message share the id (code ``"approval-ambiguous"``).
    """
    for message in messages:
        if not isinstance(message, AssistantMessage):
            continue
        found = [
            index
            for index, part in enumerate(message.content)
            if isinstance(part, ToolCallPart)
            and part.approval is not None
            and part.approval.id == approval_id
            and tool_call_id in {None, part.tool_call_id}
        ]
        if found:
            still_open = [index for index in found if _asking(message, index)[1].is_open]
            calls = list(dict.fromkeys(_asking(message, index)[0].tool_call_id for index in still_open))
            if len(calls) > 1:
                text = (
                    f"Approval {approval_id!r} is asked by several calls of message {message.id!r}: {calls}. "
                    "Give tool_call_id as well."
                )
                raise ApprovalError(text, code="approval-ambiguous", id=approval_id)
            return message, still_open[0] if still_open else found[0]
    raise ApprovalNotFoundError(approval_id, where="the visible messages")


def check_answerable(
    message: AssistantMessage, index: int, *, is_head: bool, is_busy: bool, is_executing: bool
) -> None:
    """Check that an approval can still be answered.

    Args:
        message: The message that asks.
        index: The position of the call that asks.
        is_head: Whether it is the last visible message.
        is_busy: Whether a run is listening to its model.
        is_executing: Whether the message's own run is executing other calls of it meanwhile.

    Raises:
        ApprovalError: It cannot; ``code`` says why.
    """
    _, approval = _asking(message, index)
    name = f"Approval {approval.id!r} of message {message.id!r}"
    if is_busy:
        msg = f"{name} cannot be answered while a run is in progress."
        raise ApprovalError(msg, code="run-in-progress", id=approval.id)
    if not is_executing and not isinstance(message.status, RequiresActionStatus):
        msg = f"{name} is not waited for: the message is {message.status.type}."
        raise ApprovalError(msg, code="not-requires-action", id=approval.id)
    if not is_head:
        msg = f"{name} is on a turn that later messages follow."
        raise ApprovalError(msg, code="not-head", id=approval.id)


def with_decision(
    message: AssistantMessage, index: int, *, approved: bool | None, option_id: str | None, reason: str | None
) -> AssistantMessage:
    """Write a decision to a call, wherever it is listed; a denied one gets an error result that the model sees.

    Raises:
        OptionNotFoundError: The approval does not offer that option.
        ApprovalError: Neither a yes or no nor an option that decides by itself was given.
    """
    part, approval = _asking(message, index)
    if approved is not None and option_id is not None and not approval.options:
        # The choice was offered elsewhere; what it means was said beside it.
        decision = Decision(approval_id=approval.id, approved=approved, option_id=option_id, reason=reason)
    else:
        decision = resolve_approval(approval, approved=approved, option_id=option_id, reason=reason)
    for place, other in enumerate(message.content):
        if isinstance(other, ToolCallPart) and other.tool_call_id == part.tool_call_id and other.approval == approval:
            message = with_part(message, place, apply_decision(other, decision))
    return _released(message)


def _released(message: AssistantMessage) -> AssistantMessage:
    """Let a message that was interrupted for permissions wait for its calls, once all of them are answered."""
    calls = [part for part in message.content if isinstance(part, ToolCallPart) and not part.has_result]
    is_asking = any(part.interrupt is not None or part.approval is None or part.approval.is_open for part in calls)
    if message.status != REQUIRES_INTERRUPT or is_asking:
        return message
    return attrs.evolve(message, status=REQUIRES_TOOL_CALLS)


def _asking(message: AssistantMessage, index: int) -> tuple[ToolCallPart, Approval]:
    part = message.content[index]
    if not isinstance(part, ToolCallPart) or part.approval is None:
        raise ApprovalNotFoundError(str(index), where=f"the parts of message {message.id!r}")
    return part, part.approval
