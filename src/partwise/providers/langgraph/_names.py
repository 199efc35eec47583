"""The ids under which messages of a graph are shown: always the same ones, however often a thread is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import attrs

from ._reading import Group, id_of

__all__ = ["Names"]

Above = Callable[[str], str | None]


@attrs.frozen
class _Holder:
    """What was shown last under a name: which checkpoint's, and the ids of its messages."""

    checkpoint_id: str
    ids: tuple[str, ...]


class Names:
    """A group goes by the id of its first message.

    Where a branch begins in the middle of an answer, two answers begin with one message; the one that came later
    gets another name. The same goes for messages that a graph remembers twice under one id.
    """

    def __init__(self) -> None:
        self._holders: dict[str, _Holder] = {}

    def of(self, groups: Iterable[Group], parent_id: str | None, above: Above) -> list[tuple[str, Group]]:
        """Tell the names of groups that follow on a checkpoint."""
        taken: set[str] = set()
        named: list[tuple[str, Group]] = []
        for group in groups:
            ids, name = tuple(map(id_of, group)), id_of(group[0])
            while name in taken or not self._fits(name, ids, parent_id, above):
                name += "~"
            taken.add(name)
            named.append((name, group))
        return named

    def take(
        self, groups: Iterable[Group], checkpoint_id: str, parent_id: str | None, above: Above
    ) -> list[tuple[str, Group]]:
        """Tell the names of the groups of a checkpoint, and remember them."""
        named = self.of(groups, parent_id, above)
        for name, group in named:
            holder, ids = self._holders.get(name), tuple(map(id_of, group))
            if holder is None or len(ids) > len(holder.ids) or not _begins_with(holder.ids, ids):
                self._holders[name] = _Holder(checkpoint_id, ids)
        return named

    def _fits(self, name: str, ids: tuple[str, ...], parent_id: str | None, above: Above) -> bool:
        holder = self._holders.get(name)
        if holder is None or _begins_with(ids, holder.ids) or _begins_with(holder.ids, ids):
            return True
        while parent_id is not None and parent_id > holder.checkpoint_id:
            parent_id = above(parent_id)
        return parent_id == holder.checkpoint_id


def _begins_with(ids: tuple[str, ...], start: tuple[str, ...]) -> bool:
    return ids[: len(start)] == start
