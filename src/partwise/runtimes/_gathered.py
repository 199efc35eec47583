"""Several changes of a tree as one."""

from __future__ import annotations

from partwise.messages import Message
from partwise.repository import Appended, Change, Rebuilt, Replaced, Tree, Unchanged

__all__ = ["Gathered"]


class Gathered:
    """Adds up what became of the visible path of a tree over several steps.

    Args:
        tree: The tree.
        length: How long its visible path was before the first step.
    """

    def __init__(self, tree: Tree[Message], length: int) -> None:
        self._tree = tree
        self._before = length
        self._changes: list[Change[Message]] = []
        self._kept = length
        self._branched: dict[str, None] = {}

    def add(self, change: Change[Message]) -> None:
        """Take note of a step."""
        match change:
            case Unchanged():
                if not change.branched:
                    return
            case Replaced():
                self._kept = min(self._kept, change.index)
            case Rebuilt():
                self._kept = min(self._kept, change.kept)
            case Appended():
                pass
        self._branched.update(dict.fromkeys(change.branched))
        self._changes.append(change)

    def total(self) -> Change[Message]:
        """Return the steps as one change."""
        if len(self._changes) < 2:
            return self._changes[0] if self._changes else Unchanged()
        messages = self._tree.messages
        branched = tuple(filter(self._is_kept, self._branched))
        if self._kept == self._before == len(messages):
            return Unchanged(branched)
        return Rebuilt(self._kept, messages[self._kept :], branched)

    def _is_kept(self, message_id: str) -> bool:
        place = self._tree.find(message_id)
        return place is not None and place.visible and place.index < self._kept
