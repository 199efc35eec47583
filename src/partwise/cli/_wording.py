"""How both faces of the chat put things into words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, assert_never

from partwise.messages import (
    ApprovalOption,
    AssistantMessage,
    AudioPart,
    CompleteStatus,
    Confirm,
    DataPart,
    DocumentSourcePart,
    FilePart,
    GenerativeUIPart,
    ImagePart,
    IncompleteStatus,
    Message,
    MessageStatus,
    Part,
    PartStatus,
    ReasoningPart,
    RequiresActionStatus,
    Role,
    RunningStatus,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
    error_record,
    thaw,
)

__all__ = [
    "arguments_of",
    "as_line",
    "decides",
    "decision_of",
    "described",
    "finish_mark",
    "open_approvals",
    "open_questions",
    "pretty",
    "result_of",
    "second_question",
    "speaker_of",
    "state_of",
    "status_mark",
]

_LONGEST_LINE = 400


def speaker_of(role: Role) -> str:
    """Return who speaks, as the user reads it."""
    return "you" if role == "user" else role


def status_mark(status: MessageStatus) -> str:
    """Say in a heading how far an answer has come; nothing for one that is whole."""
    match status:
        case RunningStatus():
            return "● answering"
        case CompleteStatus():
            return ""
        case RequiresActionStatus():
            return "? waits for you"
        case IncompleteStatus(reason="cancelled"):
            return "■ cancelled"
        case IncompleteStatus(reason="error"):
            return f"✗ {finish_mark(status)}"
        case IncompleteStatus():
            return f"◌ {finish_mark(status)}"
        case _:
            assert_never(status)


def state_of(part: ToolCallPart, status: PartStatus) -> str:
    """Return the title of a call: its tool, and how far it has come."""
    if part.has_result:
        return f"✗ {part.tool_name} failed" if part.is_error else f"✓ {part.tool_name}"
    if status.type in {"requires-action", "running"}:
        if part.interrupt is not None:
            return f"? {part.tool_name} asks you"
        if part.approval is not None and part.approval.is_open:
            return f"? {part.tool_name} wants to run: allow?"
    match status:
        case RunningStatus():
            return f"● {part.tool_name} …"
        case RequiresActionStatus():
            return f"● {part.tool_name} waits for its result"
        case CompleteStatus():
            return f"○ {part.tool_name} has no result"
        case IncompleteStatus():
            return f"■ {part.tool_name} did not finish: {finish_mark(status)}"
        case _:
            assert_never(status)


def decision_of(part: ToolCallPart) -> str:
    """Say how a permission was decided; nothing while it is open or was never asked."""
    approval = part.approval
    if approval is None or approval.is_open:
        return ""
    if approval.resolution is not None:
        return f"permission {approval.resolution}"
    answer = "allowed" if approval.approved else "denied"
    return f"{answer}: {one_line(approval.reason)}" if approval.reason else answer


def decides(option: ApprovalOption) -> bool:
    """Whether an option says yes or no by itself."""
    return option.kind in {"allow-once", "allow-always", "reject-once", "reject-always"}


def second_question(option: ApprovalOption) -> str | None:
    """Return what is to be asked once more before an option is taken; None if nothing is."""
    match option.confirm:
        case None | False:
            return None
        case True:
            return f"{option.label or option.id}: are you sure?"
        case Confirm():
            return (
                " ".join(text for text in (option.confirm.title, option.confirm.description) if text) or "Are you sure?"
            )
        case _:
            assert_never(option.confirm)


def pretty(value: Any, *, lines: int) -> str:
    """Return any JSON value on a few lines; what is left out is counted."""
    text = value if isinstance(value, str) else json.dumps(thaw(value), ensure_ascii=False, indent=1, default=str)
    if not isinstance(value, str) and len(text) <= 200:
        text = json.dumps(thaw(value), ensure_ascii=False, default=str)
    shown = text[: lines * 200].split("\n")
    cut = "\n".join(shown[:lines])
    return cut if len(cut) == len(text) else f"{cut}\n… {len(text) - len(cut):,} more characters"


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


def described(part: Part) -> str:
    """Return a part that is neither text nor a call on one line."""
    match part:
        case UrlSourcePart():
            return f"[source] {as_line(part.title)} {part.url}" if part.title else f"[source] {part.url}"
        case DocumentSourcePart():
            return f"[source] {as_line(part.title)}"
        case FilePart():
            return f"[file] {part.filename or part.media_type}"
        case ImagePart():
            return f"[image] {as_line(part.filename or part.image)}"
        case AudioPart():
            return f"[audio] {part.format}"
        case DataPart():
            return f"[data] {part.name} {as_line(part.data)}"
        case GenerativeUIPart():
            return f"[ui] {as_line(part.spec)}"
        case TextPart() | ReasoningPart() | ToolCallPart():
            return ""
        case _:
            assert_never(part)


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
