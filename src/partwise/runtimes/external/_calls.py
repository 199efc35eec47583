"""The tool calls of a message of a feed: each of them once, and none without what it had before."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from partwise.messages import AssistantMessage, AssistantPart, Message, ToolCallPart, with_content

__all__ = ["with_whole_calls"]


def with_whole_calls(message: Message, before: Message | None, tell: Callable[[str], None]) -> Message:
    """Return a message in which each call stands once, with the arguments that an earlier version told.

    Args:
        message: A message as its source gives it.
        before: What was shown under its id.
        tell: Told the id of each call that is there more than once; the last of them counts, where the first stood.
    """
    if not isinstance(message, AssistantMessage):
        return message
    calls = [part for part in message.content if isinstance(part, ToolCallPart)]
    if not calls:
        return message
    last = {call.tool_call_id: call for call in calls}
    known = {part.tool_call_id: part for part in before.content if isinstance(part, ToolCallPart)} if before else {}
    if len(last) == len(calls) and not any(_lacks_args(call, known) for call in calls):
        return message
    parts: list[AssistantPart] = []
    for part in message.content:
        if not isinstance(part, ToolCallPart):
            parts.append(part)
        elif part.tool_call_id in last:
            call = last.pop(part.tool_call_id)
            if call is not part:
                tell(call.tool_call_id)
            parts.append(_with_args(call, known))
    return with_content(message, parts)


def _lacks_args(call: ToolCallPart, known: dict[str, ToolCallPart]) -> bool:
    before = known.get(call.tool_call_id)
    return before is not None and not call.args and not call.args_text and bool(before.args_text)


def _with_args(call: ToolCallPart, known: dict[str, ToolCallPart]) -> ToolCallPart:
    if not _lacks_args(call, known):
        return call
    before = known[call.tool_call_id]
    return attrs.evolve(call, args=before.args, args_text=before.args_text)
