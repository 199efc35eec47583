"""Named slices of a thread: one message, one part."""

from __future__ import annotations

from typing import cast

from partwise.messages import Message, Part
from partwise.reactive import Slice, Store, attr, first, index, key

from ._state import ThreadState

__all__ = ["MessageSlice"]


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

    def part(self, position: int | None = None, *, tool_call_id: str | None = None) -> Slice[Part]:
        """Return the slice of one part.

        Args:
            position: Which part; a negative number counts from the end. Not given: the first.
            tool_call_id: The call with this id, wherever it is in the message.
        """
        last = index(position or 0) if tool_call_id is None else first("tool_call_id", tool_call_id)
        address = (attr("messages"), key(self.message_id), attr("content"), last)
        return cast("Slice[Part]", self._store.at(*address))
