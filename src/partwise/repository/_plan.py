"""Checking an export before anything of it is stored."""

from collections.abc import Mapping
from typing import Generic

import attrs

from partwise.errors import CycleError, MessageNotFoundError, ParentNotFoundError
from partwise.repository._exports import ids_in_order
from partwise.repository._node import Node, upwards
from partwise.repository._values import Entry, Export, M


@attrs.frozen
class Plan(Generic[M]):
    """What an import will do.

    Attributes:
        entries: One entry for each id, parents before their children, otherwise in the order of the export.
        moved: Ids that were listed under more than one parent; they go behind their siblings.
        head_id: The head to be, or None if the export is empty and names none.
    """

    entries: tuple[Entry[M], ...]
    moved: frozenset[str]
    head_id: str | None


def plan_import(export: Export[M], nodes: Mapping[str, Node[M]]) -> Plan[M]:
    """Check and sort an export; nothing is changed.

    Args:
        export: What is to be imported. An id that occurs twice ends where its last entry says.
        nodes: What the tree holds already.

    Raises:
        ParentNotFoundError: An entry names a parent that is neither in the tree nor in the export.
        CycleError: The entries would make a message its own ancestor.
        MessageNotFoundError: The head is neither in the tree nor in the export.
    """
    placed = ids_in_order(export.entries)
    if placed and (export.head_id is None or export.head_id in placed):
        last_id = export.entries[-1].message.id
        return Plan(tuple(export.entries), frozenset(), last_id if export.head_id is None else export.head_id)
    merged, moved = _last_entries(export)
    for entry in export.entries:
        parent_id = entry.parent_id or None
        if parent_id is not None and parent_id not in merged and parent_id not in nodes:
            raise ParentNotFoundError(parent_id, where=f"the tree or the import, for message {entry.message.id!r}")
    entries = _parents_first(merged, nodes)
    head_id = export.head_id
    if head_id is None:
        head_id = _last_id(export, merged, entries)
    elif head_id not in merged and head_id not in nodes:
        raise MessageNotFoundError(head_id, where="the tree or the import, whose head it should be")
    return Plan(entries, moved, head_id)


def _last_id(export: Export[M], merged: dict[str, Entry[M]], entries: tuple[Entry[M], ...]) -> str | None:
    if not entries:
        return None
    last_id = export.entries[-1].message.id
    is_repeated = last_id != next(reversed(merged))
    return last_id if is_repeated else entries[-1].message.id


def _last_entries(export: Export[M]) -> tuple[dict[str, Entry[M]], frozenset[str]]:
    merged: dict[str, Entry[M]] = {}
    moved: set[str] = set()
    for entry in export.entries:
        message_id, parent_id = entry.message.id, entry.parent_id or None
        earlier = merged.get(message_id)
        if earlier is not None and earlier.parent_id != parent_id:
            del merged[message_id]
            moved.add(message_id)
        merged[message_id] = entry if entry.parent_id == parent_id else Entry(parent_id, entry.message)
    return merged, frozenset(moved)


def _parents_first(merged: Mapping[str, Entry[M]], nodes: Mapping[str, Node[M]]) -> tuple[Entry[M], ...]:
    anchors: dict[str, str | None] = {}
    placed: dict[str, Entry[M]] = {}
    waiting: dict[str, list[str]] = {}
    for message_id, entry in merged.items():
        parent_id = entry.parent_id
        if (parent_id is None or parent_id in placed) and not waiting:  # as in nearly every export
            placed[message_id] = entry
            continue
        anchor = _anchor(parent_id, merged, nodes, anchors)
        if anchor is not None and anchor not in placed:
            waiting.setdefault(anchor, []).append(message_id)
            continue
        ready = [message_id]
        while ready:
            released = ready.pop()
            placed[released] = merged[released]
            ready.extend(reversed(waiting.pop(released, ())))
    for message_id, entry in merged.items():
        if message_id not in placed:
            raise CycleError(message_id, entry.parent_id)
    return tuple(placed.values())


def _anchor(
    parent_id: str | None,
    merged: Mapping[str, Entry[M]],
    nodes: Mapping[str, Node[M]],
    anchors: dict[str, str | None],
) -> str | None:
    """The nearest message at or above a parent that the import itself puts in place."""
    if parent_id is None or parent_id in merged:
        return parent_id
    walked: list[str] = []
    found: str | None = None
    for node in upwards(nodes[parent_id]):
        message_id = node.message.id
        if message_id in merged:
            found = message_id
            break
        if message_id in anchors:
            found = anchors[message_id]
            break
        walked.append(message_id)
    anchors.update(dict.fromkeys(walked, found))
    return found
