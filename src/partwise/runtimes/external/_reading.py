"""Reading one item of a feed as a message."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, cast

import attrs

from partwise.errors import MessageLikeError
from partwise.messages import (
    AssistantMessage,
    LikeIssue,
    Message,
    MessageStatus,
    SystemMessage,
    ToolCallPart,
    UserMessage,
    auto_status,
    message_from_like,
    with_content,
    with_status,
)

from ._remarks import Remarks

__all__ = [
    "FALLBACK_PREFIX",
    "has_own_id",
    "is_current",
    "is_message",
    "is_mutable",
    "own_id",
    "read_like",
    "shared",
    "with_derived_status",
]

FALLBACK_PREFIX: Final = "position-"
_PARTS_AT_FAULT: Final = frozenset({"unsupported-part", "part", "args"})
_MESSAGES: Final = (UserMessage, AssistantMessage, SystemMessage)


def is_message(value: object) -> bool:
    """Tell whether something is a message already."""
    return isinstance(value, _MESSAGES)


def is_mutable(item: object) -> bool:
    """Tell whether an item may have changed though it is the same object; what is hashed as a value does not."""
    return type(item).__hash__ in {None, object.__hash__}


def own_id(like: object) -> str | None:
    """Return the id that a message-like value says, or None."""
    if isinstance(like, _MESSAGES):
        return like.id
    if not isinstance(like, Mapping):
        return None
    given = cast("Mapping[str, object]", like).get("id")
    return str(given) if given else None


def has_own_id(like: object) -> bool:
    """Tell whether a message-like value says its id."""
    return own_id(like) is not None


def read_like(
    like: object, *, fallback_id: str, fallback_time: datetime | None, is_last: bool, is_running: bool, remarks: Remarks
) -> Message | None:
    """Make a message of what a converter returned; what cannot be read of it is told and left out.

    Returns:
        The message, or None if nothing of it can be shown.
    """
    if isinstance(like, _MESSAGES):
        return with_derived_status(like, is_last=is_last, is_running=is_running)
    marker = auto_status(is_last=False, is_running=False, has_interrupted=False, has_pending=False)

    def tell(issue: LikeIssue) -> None:
        remarks.tell(issue.code, (issue.message_id, issue.part_index), issue.text)

    while True:
        try:
            message = message_from_like(
                like, fallback_id=fallback_id, fallback_status=marker, fallback_time=fallback_time, report=tell
            )
        except MessageLikeError as error:
            remarks.tell(error.code, (error.message_id or fallback_id, error.part_index), f"{error} It is left out.")
            like = _without_part(like, error)
            if like is None:
                return None
        else:
            return with_derived_status(message, is_last=is_last, is_running=is_running)


def _without_part(like: object, error: MessageLikeError) -> object:
    if error.part_index is None or error.code not in _PARTS_AT_FAULT or not isinstance(like, Mapping):
        return None
    fields = cast("Mapping[str, Any]", like)
    content = fields.get("content")
    if not isinstance(content, (list, tuple)):
        return None
    parts = list(cast("list[Any]", content))
    del parts[error.part_index]
    return {**fields, "content": parts}


def with_derived_status(message: Message, *, is_last: bool, is_running: bool) -> Message:
    """Give a message whose source tells no status the one that its place and content tell."""
    if not isinstance(message, AssistantMessage) or not message.status.is_automatic:
        return message
    status = _derived_status(message, is_last=is_last, is_running=is_running)
    return message if status == message.status else with_status(message, status)


def _derived_status(message: AssistantMessage, *, is_last: bool, is_running: bool) -> MessageStatus:
    """Tell the status of an answer from its place in the feed and from its calls."""
    calls = [part for part in message.content if isinstance(part, ToolCallPart) and not part.has_result]
    return auto_status(
        is_last=is_last,
        is_running=is_running,
        has_interrupted=any(
            part.interrupt is not None or (part.approval is not None and part.approval.is_open) for part in calls
        ),
        has_pending=bool(calls),
    )


def is_current(message: Message, *, is_last: bool, is_running: bool) -> bool:
    """Tell whether a message has the status that it would get now."""
    if not isinstance(message, AssistantMessage) or not message.status.is_automatic:
        return True
    return message.status == _derived_status(message, is_last=is_last, is_running=is_running)


def shared(old: Message | None, new: Message) -> Message:
    """Return a message with everything kept that an older version of it has as well."""
    if old is None or old is new:
        return new
    if isinstance(old, AssistantMessage) and isinstance(new, AssistantMessage):
        if old == new and old.status.is_automatic == new.status.is_automatic:
            return old
        kept = with_content(old, new.content).content
        return attrs.evolve(new, content=kept)
    return old if old == new else new
