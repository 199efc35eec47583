"""Small conversations for the tests of histories."""

from __future__ import annotations

from datetime import UTC, datetime

from partwise.adapters import HistoryItem, LoadedHistory
from partwise.messages import (
    COMPLETE_STOP,
    AssistantMessage,
    Message,
    MessageStatus,
    TextPart,
    UserMessage,
)

WHEN = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)


def user(id_: str, text: str = "question") -> UserMessage:
    return UserMessage(id=id_, created_at=WHEN, content=(TextPart(text),))


def assistant(id_: str, text: str = "answer", status: MessageStatus = COMPLETE_STOP) -> AssistantMessage:
    return AssistantMessage(id=id_, created_at=WHEN, content=(TextPart(text),), status=status)


def message(id_: str) -> Message:
    return user(id_) if id_.startswith("u") else assistant(id_)


def item(id_: str, parent_id: str | None) -> HistoryItem:
    return HistoryItem(parent_id=parent_id, message=message(id_))


def chain(*ids: str) -> tuple[HistoryItem, ...]:
    return tuple(item(id_, parent_id) for id_, parent_id in zip(ids, (None, *ids), strict=False))


def tree(loaded: LoadedHistory | None) -> dict[str, str | None]:
    assert loaded is not None
    return {entry.message.id: entry.parent_id for entry in loaded.entries}
