"""How both faces of the chat put things into words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, assert_never

from partwise.messages import (
    AssistantMessage,
    CompleteStatus,
    IncompleteStatus,
    Message,
    MessageStatus,
    RequiresActionStatus,
    RunningStatus,
    ToolCallPart,
    error_record,
    thaw,
)

__all__ = ["arguments_of", "as_line", "finish_mark", "open_approvals", "open_questions", "result_of", "speaker"]

_LONGEST_LINE = 400


def speaker(message: Message) -> str:
    """Return who speaks, as the user reads it."""
    return {"user": "you", "assistant": "assistant", "system": "system"}[message.role]


def finish_mark(status: MessageStatus) -> str | None:
    """Say how an answer ended, or why it stands still; None where nothing needs saying."""
    match status:
        case RunningStatus() | CompleteStatus():
            return None
        case RequiresActionStatus():
            return f"requires-action: {status.reason}"
        case IncompleteStatus(reason="cancelled"):
            return "cancelled"
        case IncompleteStatus(reason="error"):
            return f"error: {one_line(error_record(status.error)['message'])}"
        case IncompleteStatus():
            return f"incomplete: {status.reason}"
        case _:
            assert_never(status)


def arguments_of(part: ToolCallPart) -> str:
    """Return the arguments of a call as far as they have come, on one line."""
    if part.args_text or not part.args:
        return part.args_text.replace("\r", " ").replace("\n", " ")
    return json.dumps(thaw(part.args), ensure_ascii=False)


def result_of(part: ToolCallPart) -> str:
    """Return the result of a call on one line; of a failed one, what went wrong."""
    result: Any = part.result
    if part.is_error and isinstance(result, Mapping) and isinstance(result.get("error"), str):  # pyright: ignore[reportUnknownMemberType]  # any JSON
        return as_line(result["error"])
    return as_line(result)


def as_line(value: Any) -> str:
    """Return any JSON value on one line of bounded length."""
    text = value if isinstance(value, str) else json.dumps(thaw(value), ensure_ascii=False, default=str)
    return one_line(text)


def one_line(text: str, longest: int = _LONGEST_LINE) -> str:
    """Return a text on one line, and say how much of it was left out."""
    flat = " ".join(text[: longest * 4].split())
    if len(flat) <= longest and len(text) <= longest * 4:
        return flat
    return f"{flat[:longest]}… ({len(text):,} characters)"


def open_approvals(message: Message | None) -> tuple[ToolCallPart, ...]:
    """Return the calls of a message that wait for a permission."""
    return tuple(
        part for part in _calls(message) if part.approval is not None and part.approval.is_open and not part.has_result
    )


def open_questions(message: Message | None) -> tuple[ToolCallPart, ...]:
    """Return the calls of a message whose running tool asks a human something."""
    return tuple(part for part in _calls(message) if part.interrupt is not None and not part.has_result)


def _calls(message: Message | None) -> tuple[ToolCallPart, ...]:
    if not isinstance(message, AssistantMessage):
        return ()
    return tuple(part for part in message.content if isinstance(part, ToolCallPart))
