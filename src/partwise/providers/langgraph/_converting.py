"""From items to messages; what did not change stays the object that it was."""

from __future__ import annotations

from datetime import UTC, datetime

from partwise.messages import Message, auto_status, message_from_like

from ._reading import Item

__all__ = ["Converted"]


class Converted:
    """Remembers the message of each item, and when it was first seen: a graph does not say when."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Item, Message]] = {}

    def of(self, item: Item) -> Message:
        """Return the message of an item."""
        known = self._known.get(item["id"])
        if known is not None and (known[0] is item or known[0] == item):
            return known[1]
        message = message_from_like(
            item,
            fallback_id=item["id"],
            fallback_status=auto_status(is_last=False, is_running=False, has_interrupted=False, has_pending=False),
            fallback_time=datetime.now(UTC) if known is None else known[1].created_at,
        )
        self._known[item["id"]] = (item, message)
        return message
