"""Exports: made from plain lists, and from the cells of a tree."""

from collections.abc import Callable, Iterable

from partwise.repository._node import Fork, Node, downwards, upwards
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


def ids_in_order(entries: Iterable[Entry[M]]) -> set[str] | None:
    """Return the ids of entries that form whole trees as they are, or None if they have to be looked at more closely.

    They do if each comes after its parent and no id comes twice, as in nearly every export and history.
    """
    placed: set[str] = set()
    for entry in entries:
        parent_id, message_id = entry.parent_id, entry.message.id
        if message_id in placed or not (parent_id is None or (parent_id and parent_id in placed)):
            return None
        placed.add(message_id)
    return placed


def export_cells(root: Fork[M], head: Node[M] | None, is_optimistic: Callable[[M], bool]) -> Export[M]:
    """Describe a tree without its optimistic messages; what hangs under one goes to the nearest kept ancestor."""
    kept_above: dict[str, str | None] = {}
    entries: list[Entry[M]] = []
    for node in downwards(root):
        owner = node.above.owner
        parent_id = None if owner is None else kept_above[owner.message.id]
        if is_optimistic(node.message):
            kept_above[node.message.id] = parent_id
        else:
            kept_above[node.message.id] = node.message.id
            entries.append(Entry(parent_id, node.message))
    head_id = _exported_head_id(head, is_optimistic)
    if head_id is None and entries:
        head_id = entries[-1].message.id
    return Export(head_id, tuple(entries))


def canonical_id(node: Node[M] | None, is_optimistic: Callable[[M], bool], top: Fork[M] | None = None) -> str | None:
    """The id of the first message that is not optimistic, from a node upwards.

    Args:
        node: Where to begin.
        is_optimistic: Tells whether a message is optimistic.
        top: The fork at which to stop; the root if not given.
    """
    for above in upwards(node):
        if not is_optimistic(above.message):
            return above.message.id
        if above.above is top:
            break
    return None


def _exported_head_id(head: Node[M] | None, is_optimistic: Callable[[M], bool]) -> str | None:
    """The head itself, or else the end of the branch that takes the place of the optimistic one."""
    for node in upwards(head):
        if not is_optimistic(node.message):
            return node.message.id
        siblings = tuple(node.above.children)
        at = siblings.index(node)
        for other in (node, *reversed(siblings[:at]), *reversed(siblings[at + 1 :])):
            found = canonical_id(other.last(), is_optimistic, other.above)
            if found is not None:
                return found
    return None
