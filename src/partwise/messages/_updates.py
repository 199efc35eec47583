"""Messages with one thing changed: direct constructor calls, for they run once a token."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from partwise.errors import PartNotFoundError

from ._messages import AssistantMessage, AssistantMetadata
from ._parts import AssistantPart
from ._statuses import MessageStatus

__all__ = ["with_content", "with_metadata", "with_part", "with_status"]

_PartT = TypeVar("_PartT")


def with_part(message: AssistantMessage, index: int, part: AssistantPart) -> AssistantMessage:
    """Return ``message`` with the part at ``index`` replaced; the index behind the last one appends.

    All other parts, and everything else, keep their identity.

    Args:
        message: The message.
        index: From 0 to the number of parts; negative positions count from the end.
        part: The new part.

    Raises:
        PartNotFoundError: There is no such place in the message.
    """
    content = message.content
    count = len(content)
    if index < 0:
        index += count
    if not 0 <= index <= count:
        raise PartNotFoundError(str(index), where=f"message {message.id!r}, which has {count} parts")
    return AssistantMessage(
        id=message.id,
        created_at=message.created_at,
        content=(*content[:index], part, *content[index + 1 :]),
        status=message.status,
        metadata=message.metadata,
    )


def with_content(message: AssistantMessage, content: Iterable[AssistantPart]) -> AssistantMessage:
    """Return ``message`` with other content; parts that equal the present ones keep their identity."""
    return AssistantMessage(
        id=message.id,
        created_at=message.created_at,
        content=_kept(message.content, tuple(content)),
        status=message.status,
        metadata=message.metadata,
    )


def _kept(old: tuple[_PartT, ...], new: tuple[_PartT, ...]) -> tuple[_PartT, ...]:
    kept = tuple(
        old[index] if index < len(old) and type(old[index]) is type(part) and old[index] == part else part
        for index, part in enumerate(new)
    )
    return old if len(kept) == len(old) and all(a is b for a, b in zip(kept, old, strict=True)) else kept


def with_status(message: AssistantMessage, status: MessageStatus) -> AssistantMessage:
    """Return ``message`` with another status."""
    return AssistantMessage(
        id=message.id,
        created_at=message.created_at,
        content=message.content,
        status=status,
        metadata=message.metadata,
    )


def with_metadata(message: AssistantMessage, metadata: AssistantMetadata) -> AssistantMessage:
    """Return ``message`` with other metadata."""
    return AssistantMessage(
        id=message.id,
        created_at=message.created_at,
        content=message.content,
        status=message.status,
        metadata=metadata,
    )
