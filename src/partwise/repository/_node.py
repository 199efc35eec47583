"""The cells that a tree is made of, and walks over them. None of the walks recurses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic

from partwise.repository._values import M


class Fork(Generic[M]):
    """The place below a message (or at the root) where its alternatives hang.

    Attributes:
        owner: The node above, or None at the root.
        children: The alternatives by id, oldest first.
        selected: The alternative that is shown when the owner is; None only if there are no children.
    """

    __slots__ = ("_ids", "children", "owner", "selected")

    def __init__(self, owner: Node[M] | None) -> None:
        self.owner = owner
        self.children: dict[str, Node[M]] = {}
        self.selected: Node[M] | None = None
        self._ids: tuple[str, ...] | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the alternatives; the same tuple until they change."""
        if self._ids is None:
            self._ids = tuple(self.children)
        return self._ids

    def link(self, node: Node[M]) -> None:
        """Hang a node here, after its siblings; it is selected only if it is the first."""
        node.above = self
        self.children[node.message.id] = node
        self._ids = None
        if self.selected is None:
            self.selected = node

    def cut(self, node: Node[M]) -> None:
        """Take a node away; if it was selected, the newest of its siblings is selected instead."""
        del self.children[node.message.id]
        self._ids = None
        if self.selected is node:
            self.selected = next(reversed(self.children.values()), None)

    def rename(self, old_id: str, new_id: str) -> None:
        """Give an alternative another id; its place among its siblings stays."""
        self.children = {(new_id if key == old_id else key): node for key, node in self.children.items()}
        self._ids = None

    def empty(self) -> None:
        """Take all nodes away."""
        self.children = {}
        self.selected = None
        self._ids = None

    def last(self) -> Node[M] | None:
        """The end of the selected chain that starts here, or the owner if nothing hangs here."""
        node = self.owner
        below = self.selected
        while below is not None:
            node = below
            below = node.below.selected
        return node


class Node(Generic[M]):
    """A message in its place.

    Attributes:
        message: The message.
        above: The fork on which it hangs.
        below: The fork that hangs under it.
        position: Its index on the visible path, meaningful only while the path holds it there.
    """

    __slots__ = ("above", "below", "message", "position")

    def __init__(self, message: M, above: Fork[M]) -> None:
        self.message = message
        self.above = above
        self.below: Fork[M] = Fork(self)
        self.position = -1

    @property
    def parent_id(self) -> str | None:
        """The id of the message above, or None at the root."""
        owner = self.above.owner
        return None if owner is None else owner.message.id


def upwards(node: Node[M] | None) -> Iterator[Node[M]]:
    """Walk from a node to the root, the node itself first; links may be changed behind the walk."""
    while node is not None:
        above = node.above.owner
        yield node
        node = above


def downwards(fork: Fork[M]) -> Iterator[Node[M]]:
    """Walk over everything below a fork, parents before children, branches in order."""
    open_forks = [iter(fork.children.values())]
    while open_forks:
        node = next(open_forks[-1], None)
        if node is None:
            open_forks.pop()
        else:
            yield node
            open_forks.append(iter(node.below.children.values()))
