"""The rule by which a run goes on after tool calls."""

from __future__ import annotations

from collections.abc import Collection

from ._messages import Message
from ._parts import ToolCallPart
from ._statuses import RequiresActionStatus

__all__ = ["should_continue"]


def should_continue(message: Message, human_tools: Collection[str] | None = None) -> bool:
    """Tell whether a message that stopped for tool calls waits for nobody any more.

    A result settles a call, whatever its approval says; an approval that was answered or has ended
    settles it too. A message that stopped for an interrupt never goes on by itself. A message that
    stopped for tool calls, but has none, waits for nothing: what bounds such a loop is the limit of
    roundtrips, not this rule.

    Args:
        message: The message; anything but an assistant's never goes on.
        human_tools: The tools that wait for a human; a call of any other tool does not hold the run.
            None: every call without a result or approval does.
    """
    status = message.status
    if not isinstance(status, RequiresActionStatus) or status.reason != "tool-calls":
        return False
    for part in message.content:
        if not isinstance(part, ToolCallPart) or part.has_result:
            continue
        approval = part.approval
        if approval is None:
            if human_tools is None or part.tool_name in human_tools:
                return False
        elif approval.is_open:
            return False
    return True
