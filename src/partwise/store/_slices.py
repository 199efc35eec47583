"""Named slices of a thread: one message, one part."""

from __future__ import annotations

from partwise.messages import Message, Part, ReasoningPart, TextPart
from partwise.reactive import AddressStep, Slice, Store, attr, first, index, key

from ._state import ThreadState

__all__ = ["MessageSlice", "PartSlice"]


class MessageSlice(Slice[Message]):
    """One visible message; it completes when the message leaves the visible branch.

    Args:
        store: The store of the thread.
        message_id: The message.
    """

    def __init__(self, store: Store[ThreadState], message_id: str) -> None:
        super().__init__(*store.at(attr("messages"), key(message_id)).origin)
        self._store = store
        self.message_id = message_id

    def part(self, position: int | None = None, *, tool_call_id: str | None = None) -> PartSlice:
        """Return the slice of one part.

        Args:
            position: Which part; a negative number counts from the end. Not given: the first.
            tool_call_id: The call with this id, wherever it is in the message.
        """
        last = index(position or 0) if tool_call_id is None else first("tool_call_id", tool_call_id)
        return PartSlice(self._store, attr("messages"), key(self.message_id), attr("content"), last)


class PartSlice(Slice[Part]):
    """One part of a visible message; it completes when the message leaves the visible branch.

    Args:
        store: The store of the thread.
        address: Where the part is.
    """

    def __init__(self, store: Store[ThreadState], *address: AddressStep) -> None:
        super().__init__(*store.at(*address).origin)

    @property
    def text(self) -> Slice[str]:
        """The text of a text or reasoning part; empty for others."""
        return self.select(_text)


def _text(part: Part) -> str:
    return part.text if isinstance(part, (TextPart, ReasoningPart)) else ""
