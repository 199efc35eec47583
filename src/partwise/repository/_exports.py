"""Exports made from plain lists."""

from collections.abc import Iterable

from partwise.repository._values import Entry, Export, M


def export_from_list(messages: Iterable[M]) -> Export[M]:
    """Describe a conversation without branches.

    Args:
        messages: The messages, first one first.

    Returns:
        An export in which each message hangs under the one before it, and the last one is the head.
    """
    entries: list[Entry[M]] = []
    above: str | None = None
    for message in messages:
        entries.append(Entry(above, message))
        above = message.id
    return Export(above, tuple(entries))


def export_from_branches(branches: Iterable[tuple[M, str | None]], head_id: str | None = None) -> Export[M]:
    """Describe a conversation with branches.

    Args:
        branches: Pairs of a message and the id of its parent (None at the root), in any order.
        head_id: The last visible message; None leaves the choice to the import, which takes the last entry.

    Returns:
        The export. Whether parents exist is checked by the tree that imports it.
    """
    return Export(head_id, tuple(Entry(parent_id or None, message) for message, parent_id in branches))
