"""The protocol of a history: where a thread's messages live when nobody shows them."""

from __future__ import annotations

from collections.abc import AsyncIterable, Mapping
from typing import Any, Protocol

import attrs

from partwise.messages import FrozenDict, Message, freeze
from partwise.repository import Entry

from ._chat_model import ModelOutput, RunContext

__all__ = [
    "DeletableHistory",
    "HeadHistory",
    "History",
    "HistoryItem",
    "LoadedHistory",
    "ResumableHistory",
    "UpdatableHistory",
]


@attrs.frozen(kw_only=True)
class HistoryItem:
    """One message to be stored, and where it hangs."""

    parent_id: str | None
    message: Message
    run_config: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=freeze)


@attrs.frozen(kw_only=True)
class LoadedHistory:
    """What a history had stored.

    Attributes:
        entries: Messages with their parents; a child may come before its parent.
        head_id: The message at the end of the branch to show; None: the last entry's.
        resume: Whether the last answer was still being made and can be resumed.
    """

    entries: tuple[Entry[Message], ...] = ()
    head_id: str | None = None
    resume: bool = False


class History(Protocol):
    """Stores what a thread says. Further abilities are further methods, found by their names."""

    async def load(self) -> LoadedHistory | None:
        """Return what is stored, or None for nothing."""
        ...

    async def append(self, item: HistoryItem, /) -> None:
        """Store a message for the first time."""
        ...


class UpdatableHistory(History, Protocol):
    """A history that can also keep a paused answer and overwrite it when it is finished."""

    async def update(self, item: HistoryItem, /) -> None:
        """Store a message again; its append may not have arrived yet."""
        ...


class DeletableHistory(History, Protocol):
    """A history from which messages can be deleted."""

    async def delete(self, items: tuple[HistoryItem, ...], /) -> None:
        """Delete messages; the thread keeps them when this fails."""
        ...


class HeadHistory(History, Protocol):
    """A history that remembers which branch was shown."""

    async def set_head(self, message_id: str | None, /) -> None:
        """Remember the end of the visible branch."""
        ...


class ResumableHistory(History, Protocol):
    """A history that can go on with an answer that was being made when it was left."""

    def resume(self, run: RunContext, /) -> AsyncIterable[ModelOutput]:
        """Yield the rest of the answer, as a chat model does."""
        ...
