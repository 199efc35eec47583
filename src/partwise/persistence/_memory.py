"""A history that lives as long as its object."""

from __future__ import annotations

import attrs

from partwise.adapters import HistoryItem, LoadedHistory
from partwise.repository import Entry, ids_in_order

from ._mending import StoredMessage, mend, surviving_parents

__all__ = ["MemoryHistory"]


class MemoryHistory:
    """Keeps a thread's messages as values, by the same rules as ``SqliteHistory``; for tests and examples.

    Args:
        items: What is stored from the start, oldest first.
        head_id: The end of the branch that was shown; None: the last item's.
    """

    def __init__(self, items: tuple[HistoryItem, ...] = (), head_id: str | None = None) -> None:
        self._items = {item.message.id: item for item in items}
        self._head_id = head_id or (items[-1].message.id if items else None)
        self._head_is_told = False
        self._coming_head: str | None = None

    @property
    def items(self) -> tuple[HistoryItem, ...]:
        """What is stored, oldest first."""
        return tuple(self._items.values())

    @property
    def head_id(self) -> str | None:
        """The end of the branch that was shown."""
        return self._head_id

    async def load(self) -> LoadedHistory | None:
        """Return what is stored, or None for nothing."""
        entries = tuple([Entry(item.parent_id, item.message) for item in self.items])
        if self._head_id in self._items and ids_in_order(entries) is not None:
            return LoadedHistory(entries=entries, head_id=self._head_id)
        stored = [StoredMessage(id=one.message.id, parent_id=one.parent_id, message=one.message) for one in entries]
        return mend(stored, self._head_id, "memory")[0]

    async def append(self, item: HistoryItem, /) -> None:
        """Store a message; one that is stored already is replaced in its place."""
        id_ = item.message.id
        extends = not self._head_is_told or id_ == self._coming_head or self._head_id == item.parent_id
        if id_ not in self._items and extends:
            self._head_id = id_
        self._items[id_] = item

    async def update(self, item: HistoryItem, /) -> None:
        """Store a message again; one that is not stored yet is added."""
        await self.append(item)

    async def delete(self, items: tuple[HistoryItem, ...], /) -> None:
        """Delete messages; the children of each come under the parent that its item names."""
        heirs = surviving_parents(items)
        self._items = {
            id_: attrs.evolve(item, parent_id=heirs[item.parent_id]) if item.parent_id in heirs else item
            for id_, item in self._items.items()
            if id_ not in heirs
        }
        if self._head_id in heirs:
            self._head_id = self._newest_below(heirs[self._head_id])

    async def set_head(self, message_id: str | None, /) -> None:
        """Remember the end of the branch that is shown; a message not stored yet becomes it when it is."""
        self._head_is_told = True
        self._coming_head = message_id if message_id not in self._items else None
        if message_id is None or message_id in self._items:
            self._head_id = message_id

    def _newest_below(self, id_: str | None) -> str | None:
        while True:
            children = [item.message.id for item in self._items.values() if item.parent_id == id_]
            if not children:
                return id_
            id_ = children[-1]
