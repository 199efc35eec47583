"""The cells that a tree is made of, and walks over them. None of the walks recurses."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Generic

from partwise.repository._values import M


class Fork(Generic[M]):
    """The place below a message (or at the root) where its alternatives hang.

    Most forks have one alternative, which is the selected one; only those that have several keep a table of them.

    Attributes:
        selected: The alternative that is shown when the owner is; None only if there are no children.
    """

    __slots__ = ("_ids", "_several", "selected")

    def __init__(self) -> None:
        self.selected: Node[M] | None = None
        self._several: dict[Node[M], None] | None = None
        self._ids: tuple[str, ...] | None = None

    @property
    def owner(self) -> Node[M] | None:
        """The node above, or None at the root."""
        return None

    @property
    def children(self) -> Collection[Node[M]]:
        """The alternatives, oldest first."""
        if self._several is not None:
            return self._several
        return () if self.selected is None else (self.selected,)

    @property
    def is_branched(self) -> bool:
        """Whether there is more than one alternative."""
        return self._several is not None and len(self._several) > 1

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the alternatives; the same tuple until they change."""
        if self._ids is None:
            self._ids = tuple([node.message.id for node in self.children])
        return self._ids

    def link(self, node: Node[M]) -> None:
        """Hang a node here, after its siblings; it is selected only if it is the first."""
        node.above = self
        self._ids = None
        if self.selected is None:
            self.selected = node
            return
        if self._several is None:
            self._several = {self.selected: None}
        self._several[node] = None

    def cut(self, node: Node[M]) -> None:
        """Take a node away; if it was selected, the newest of its siblings is selected instead."""
        self._ids = None
        if self._several is None:
            self.selected = None
            return
        del self._several[node]
        if self.selected is node:
            self.selected = next(reversed(self._several), None)
        if len(self._several) < 2:
            self._several = None

    def changed(self) -> None:
        """Take note that the ids of the alternatives are others now."""
        self._ids = None

    def empty(self) -> None:
        """Take all nodes away."""
        self._several = None
        self.selected = None
        self._ids = None

    def last(self) -> Node[M] | None:
        """The end of the selected chain that starts here, or the owner if nothing hangs here."""
        node = self.owner
        below = self.selected
        while below is not None:
            node = below
            below = node.selected
        return node


class Node(Fork[M]):
    """A message in its place, and the fork below it: one object for both, as a thread has many of them.

    Attributes:
        message: The message.
        above: The fork on which it hangs.
        position: Its index on the visible path, meaningful only while the path holds it there.
    """

    __slots__ = ("above", "message", "position")

    def __init__(self, message: M, above: Fork[M]) -> None:
        self.message = message
        self.above = above
        self.position = -1
        self.selected = None
        self._several = None
        self._ids = None

    @property
    def owner(self) -> Node[M] | None:
        """The node itself: what hangs on it as a fork is below it."""
        return self

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
    open_forks = [iter(fork.children)]
    while open_forks:
        node = next(open_forks[-1], None)
        if node is None:
            open_forks.pop()
        else:
            yield node
            open_forks.append(iter(node.children))
