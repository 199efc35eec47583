"""What tools that run here are doing, laid over the messages of their owner."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from partwise.messages import (
    MISSING,
    AssistantMessage,
    Message,
    RunningStatus,
    ToolCallPart,
    auto_status,
    with_content,
    with_status,
)
from partwise.tools import ToolState

__all__ = ["ToolMarks"]


@attrs.define(eq=False)
class _Mark:
    """One message with a call that runs: as its owner gave it, and as it is shown."""

    states: dict[str, ToolState]
    bare: Message | None = None
    shown: Message | None = None


class ToolMarks:
    """Marks calls that ask a human, or have told something, for as long as they run here."""

    def __init__(self) -> None:
        self._marks: dict[str, _Mark] = {}

    def __bool__(self) -> bool:
        return bool(self._marks)

    def use(self, states: Mapping[str, ToolState]) -> dict[str, Message | None]:
        """Take over what runs now; returns the messages to be shown anew, as their owner gave them if that is known."""
        before = self._marks
        by_message: dict[str, dict[str, ToolState]] = {}
        for tool_call_id, state in states.items():
            if state.interrupt is not None or state.progress is not MISSING:
                by_message.setdefault(state.message_id, {})[tool_call_id] = state
        self._marks = {
            message_id: known
            if (known := before.get(message_id)) is not None and known.states == of_message
            else _Mark(of_message, None if known is None else known.bare)
            for message_id, of_message in by_message.items()
        }
        changed = [id for id in {**before, **self._marks} if before.get(id) is not self._marks.get(id)]
        return {id: self._bare_of(id, before) for id in changed}

    def _bare_of(self, message_id: str, before: Mapping[str, _Mark]) -> Message | None:
        mark = before.get(message_id)
        return None if mark is None else mark.bare

    def of(self, message: Message) -> Message:
        """Return a message of its owner as it is shown."""
        mark = self._marks.get(message.id)
        if mark is None or not isinstance(message, AssistantMessage):
            return message
        if mark.bare is not message or mark.shown is None:
            mark.bare, mark.shown = message, _marked(message, mark.states)
        return mark.shown


def _marked(message: AssistantMessage, states: Mapping[str, ToolState]) -> Message:
    content = [
        _with_state(part, states[part.tool_call_id])
        if isinstance(part, ToolCallPart) and part.tool_call_id in states and not part.has_result
        else part
        for part in message.content
    ]
    marked = with_content(message, content)
    asks = any(state.interrupt is not None for state in states.values())
    if asks and marked.status.is_automatic and not isinstance(marked.status, RunningStatus):
        waits = auto_status(is_last=False, is_running=False, has_interrupted=True, has_pending=True)
        return with_status(marked, waits)
    return marked


def _with_state(part: ToolCallPart, state: ToolState) -> ToolCallPart:
    progress = part.preliminary if state.progress is MISSING else state.progress
    return attrs.evolve(part, interrupt=state.interrupt, preliminary=progress)
