"""From messages of LangChain to a thread's: an answer is everything between two questions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias, cast

import attrs
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage, convert_to_messages

from partwise.messages import (
    INCOMPLETE_CANCELLED,
    AssistantMessage,
    AssistantPart,
    IncompleteStatus,
    Message,
    MessageStatus,
    ReasoningPart,
    SystemMessage,
    TextPart,
    ToolCallPart,
    UserMessage,
    auto_status,
    error_record,
)

from ._blocks import answer_parts, parts_of, result_fields

__all__ = [
    "AUTOMATIC",
    "CUT",
    "FAILED",
    "Group",
    "as_message",
    "broken_off",
    "dangling_calls",
    "groups_of",
    "id_of",
    "message_of",
]

# Messages that are shown as one; each has an id.
Group: TypeAlias = tuple[BaseMessage, ...]

# Mark an answer that is not whole, in what the graph remembers.
CUT = "partwise_cancelled"
FAILED = "partwise_failed"
# The status that the place in the thread and the calls tell.
AUTOMATIC = auto_status(is_last=False, is_running=False, has_interrupted=False, has_pending=False)


def as_message(value: Any) -> BaseMessage | None:
    """Read a message, also one that was written as JSON; None for what is no message."""
    if isinstance(value, BaseMessage):
        return value
    if not isinstance(value, Mapping):
        return None
    given = cast("Mapping[str, Any]", value)
    fields = {**given, **given.get("kwargs", {})}
    name = given["id"][-1] if given.get("type") == "constructor" else str(given.get("type", ""))
    if name == "AIMessageChunk":
        known = ("content", "id", "tool_call_chunks", "additional_kwargs", "response_metadata")
        return AIMessageChunk(**{key: fields[key] for key in known if fields.get(key) is not None})
    kind = {"HumanMessage": "human", "AIMessage": "ai", "ToolMessage": "tool", "SystemMessage": "system"}.get(
        name, name
    )
    try:
        return convert_to_messages([{**fields, "type": kind} if kind else fields])[0]
    except (ValueError, KeyError, TypeError, NotImplementedError):
        return None


def groups_of(values: Iterable[Any]) -> list[Group]:
    """Put a row of messages into groups, one for each that is shown.

    Answers and results of tools that follow each other become one answer. A result before any answer is
    left out, and so is what is no message.
    """
    groups: list[list[BaseMessage]] = []
    for index, value in enumerate(values):
        message = as_message(value)
        if message is None:
            continue
        is_result = isinstance(message, ToolMessage)
        follows = bool(groups) and isinstance(groups[-1][0], AIMessage)
        if follows and (is_result or isinstance(message, AIMessage)):
            groups[-1].append(_with_id(message, index))
        elif not is_result:
            groups.append([_with_id(message, index)])
    return [tuple(group) for group in groups]


def _with_id(message: BaseMessage, index: int) -> BaseMessage:
    """Give a message without an id one that it will have again the next time that it is read."""
    if message.id:
        return message
    said = f"{message.type} {message.content!r} {getattr(message, 'tool_calls', None)!r}"
    return message.model_copy(update={"id": f"{index}-{hashlib.sha256(said.encode()).hexdigest()[:12]}"})


def id_of(message: BaseMessage) -> str:
    """Return the id of a message of a group."""
    return str(message.id)


def message_of(name: str, group: Group, created_at: datetime) -> Message:
    """Make the message that shows a group.

    Args:
        name: Its id.
        group: The messages that are shown as one.
        created_at: When it was first seen.
    """
    first = group[0]
    if isinstance(first, AIMessage):
        return _answer(name, group, created_at)
    if first.type == "system":
        parts = tuple(part for part in parts_of(first) if isinstance(part, TextPart))
        return SystemMessage(id=name, created_at=created_at, content=parts)
    said = tuple(part for part in parts_of(first) if not isinstance(part, ReasoningPart))
    return UserMessage(id=name, created_at=created_at, content=said)


def _answer(name: str, group: Group, created_at: datetime) -> AssistantMessage:
    parts: list[AssistantPart] = []
    status: MessageStatus = AUTOMATIC
    for message in group:
        if isinstance(message, ToolMessage):
            _put_result(parts, message)
        elif isinstance(message, AIMessage):
            parts += answer_parts(message)
    marks: Mapping[str, Any] = group[-1].response_metadata
    if marks.get(CUT) or marks.get(FAILED):
        status = broken_off(marks.get(FAILED))
    return AssistantMessage(id=name, created_at=created_at, content=tuple(parts), status=status)


def broken_off(failure: str | None) -> MessageStatus:
    """Return the status of an answer that failed; that was cancelled, if nothing is said."""
    return IncompleteStatus("error", error_record(failure)) if failure else INCOMPLETE_CANCELLED


def _put_result(parts: list[AssistantPart], message: ToolMessage) -> None:
    for index, part in reversed(tuple(enumerate(parts))):
        if isinstance(part, ToolCallPart) and part.tool_call_id == message.tool_call_id:
            parts[index] = attrs.evolve(part, **result_fields(message))
            return


def dangling_calls(groups: Sequence[Group]) -> list[str]:
    """Return the ids of the last answer's calls that have no result."""
    messages = groups[-1] if groups else ()
    called = [str(call["id"]) for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    settled = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    return [id for id in called if id not in settled]
