"""The checkpoints of a graph as a tree of answers and questions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from ._reading import Item, items_of

__all__ = ["Checkpoints", "Place"]


@attrs.frozen
class Place:
    """An item, and the one above it."""

    parent_id: str | None
    item: Item


@attrs.define(eq=False)
class Checkpoints:
    """What a graph remembers: every message that any checkpoint has, and where each path can go on.

    Attributes:
        entries: Items with their parents, oldest first.
        configs: For the last item of a path, the newest checkpoint that ends there; None: before the first.
    """

    entries: dict[str, Place] = attrs.field(factory=dict[str, Place])
    configs: dict[str | None, Any] = attrs.field(factory=dict[str | None, Any])

    def take(self, snapshots: Iterable[Any]) -> None:
        """Read a history again, newest snapshot first."""
        self.configs = {}
        found: list[list[Item]] = []
        for snapshot in snapshots:
            items = items_of(snapshot.values.get("messages", ()))
            self.configs.setdefault(items[-1]["id"] if items else None, snapshot.config)
            found.append(items)
        entries: dict[str, Place] = {}
        for items in reversed(found):
            self._put(entries, items)
        self.entries = entries

    def with_path(self, items: list[Item]) -> tuple[Place, ...]:
        """Return all entries, with a newer version of one path laid over them."""
        entries = dict(self.entries)
        self._put(entries, items)
        return tuple(entries.values())

    def path_to(self, id: str | None) -> list[Item]:
        """Return the items from the first one to this one."""
        path: list[Item] = []
        while id is not None:
            entry = self.entries[id]
            path.append(entry.item)
            id = entry.parent_id
        return path[::-1]

    def _put(self, entries: dict[str, Place], items: list[Item]) -> None:
        parent_id: str | None = None
        for item in items:
            entries[item["id"]] = Place(parent_id, item)
            parent_id = item["id"]
