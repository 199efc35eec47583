"""The branches of a graph as a tree of messages, and what is new in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress, count
from operator import is_not

import attrs
from langchain_core.messages import AIMessage

from partwise.messages import INCOMPLETE_CANCELLED, Message, MessageStatus
from partwise.repository import Entry, Export

from ._asking import Asking, IsApproval
from ._checkpoints import Checkpoint, Checkpoints
from ._converting import NOTHING, Converted
from ._reading import Group, broken_off

__all__ = ["View", "news"]


class View:
    """Makes what is shown of checkpoints.

    Args:
        checkpoints: What the graph remembers.
        is_approval: Whether an interrupt asks for a permission.
    """

    def __init__(self, checkpoints: Checkpoints, is_approval: IsApproval) -> None:
        self._checkpoints = checkpoints
        self._is_approval = is_approval
        self.converted = Converted()

    def asking(self, end: Checkpoint | None) -> Asking:
        """Return what a branch waits for."""
        return NOTHING if end is None else Asking.of(end.waiting, self._is_approval)

    def path(self, end: Checkpoint | None, asking: Asking) -> list[Message]:
        """Return the messages of a branch."""
        return [] if end is None else self.messages(end.groups or (), asking, _status(end), f"error-{end.id}")

    def groups(self, base: Checkpoint | None) -> list[tuple[str, Group]]:
        """Return what a run begins with, as far as it is known; the graph will say what it really is."""
        known = dict(pair for end in self._checkpoints.ends for pair in end.groups or ())
        return [(name, known[name]) for name in self._checkpoints.path(base) if name in known]

    def messages(
        self, groups: Iterable[tuple[str, Group]], asking: Asking, status: MessageStatus | None = None, name: str = ""
    ) -> list[Message]:
        """Return the messages of a branch.

        Args:
            groups: What the graph remembers of it.
            asking: What is asked at its end.
            status: How its last step broke off.
            name: The id of an answer that has failed before it said anything.
        """
        return [self._message(row) for row in _rows(groups, asking, status, name)]

    def export(self, path: Sequence[Message], continued: Checkpoint | None = None) -> Export[Message]:
        """Return all branches, with one path laid over them as the one to be shown.

        Args:
            path: The one to be shown.
            continued: What that path goes on from; it is no end any more.
        """
        parents: dict[str, str | None] = {}
        rows: dict[str, _Row] = {}
        for end in self._checkpoints.ends:
            if end is not continued:
                found = _rows(end.groups or (), self.asking(end), _status(end), f"error-{end.id}")
                rows |= {row.name: row for row in found}
                _lay([row.name for row in found], parents)
        _lay([message.id for message in path], parents)
        shown = {message.id: message for message in path}
        entries = tuple(
            Entry(parents[name], shown[name] if name in shown else self._message(rows[name]))
            for name in self._downward(parents)
        )
        return Export(path[-1].id if path else None, entries)

    def _message(self, row: _Row) -> Message:
        seen = self._checkpoints.first_seen.get(row.name)
        return self.converted.of(row.name, row.group, seen, asking=row.asking, status=row.status)

    def _downward(self, parents: dict[str, str | None]) -> Iterable[str]:
        children: dict[str | None, list[str]] = {}
        for name in self._checkpoints.ordered(parents):
            children.setdefault(parents[name], []).append(name)
        waiting = children.get(None, [])[::-1]
        while waiting:
            name = waiting.pop()
            yield name
            waiting += children.get(name, [])[::-1]


@attrs.frozen
class _Row:
    """One message of a branch, before it is made."""

    name: str
    group: Group
    asking: Asking = NOTHING
    status: MessageStatus | None = None


def _rows(groups: Iterable[tuple[str, Group]], asking: Asking, status: MessageStatus | None, name: str) -> list[_Row]:
    rows = [_Row(*pair) for pair in groups]
    if rows and isinstance(rows[-1].group[0], AIMessage):
        rows[-1] = attrs.evolve(rows[-1], asking=asking, status=status)
    elif asking.asks:
        rows.append(_Row(f"interrupt-{asking.asks[0].interrupt_id}", (), asking))
    elif status is not None and status != INCOMPLETE_CANCELLED:
        rows.append(_Row(name, (), status=status))
    return rows


def _lay(names: Iterable[str], parents: dict[str, str | None]) -> None:
    above: str | None = None
    for name in names:
        parents[name] = above
        above = name


def _status(end: Checkpoint) -> MessageStatus | None:
    if end.failure is None or end.is_input:
        return None
    return broken_off(None if end.failure.startswith("CancelledError") else end.failure)


def news(before: Sequence[Message], after: Sequence[Message]) -> Sequence[Message] | None:
    """Return what is new at the end of a path; None if it is another path, or something before the end is new."""
    same = next(compress(count(), map(is_not, before, after)), min(len(before), len(after)))
    is_patch = len(after) >= len(before) and same >= len(before) - 1
    if not is_patch or (same < len(before) and before[same].id != after[same].id):
        return None
    return after[same:]
