"""The visible path, kept up to date step by step, and the account of what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Generic

from partwise.repository._node import Fork, Node
from partwise.repository._values import Appended, Change, M, Rebuilt, Unchanged


class Path(Generic[M]):
    """The nodes from the root to the head.

    The nodes always form a chain that starts at the root, so a node is on the path exactly if the path
    holds it at the position that the node remembers. `start` and `finish` bracket a change of structure.
    """

    __slots__ = ("_before", "_kept", "_messages", "_nodes", "_snapshot")

    def __init__(self) -> None:
        self._nodes: list[Node[M]] = []
        self._messages: list[M] = []
        self._snapshot: tuple[M, ...] | None = ()
        self._before = 0
        self._kept = 0

    @property
    def messages(self) -> tuple[M, ...]:
        """The messages on the path; the same tuple until one of them changes."""
        if self._snapshot is None:
            self._snapshot = tuple(self._messages)
        return self._snapshot

    def __len__(self) -> int:
        return len(self._nodes)

    def holds(self, node: Node[M]) -> bool:
        """Whether a node is on the path."""
        position = node.position
        return 0 <= position < len(self._nodes) and self._nodes[position] is node

    def nodes_from(self, index: int) -> Iterator[Node[M]]:
        """The nodes on the path from a position on."""
        return islice(self._nodes, index, None)

    def replace(self, node: Node[M]) -> None:
        """Take over the new message of a node on the path."""
        self._messages[node.position] = node.message
        self._kept = min(self._kept, node.position)
        self._snapshot = None

    def append(self, node: Node[M]) -> None:
        """Add a node whose parent is the last node."""
        node.position = len(self._nodes)
        self._nodes.append(node)
        self._messages.append(node.message)
        self._snapshot = None

    def truncate(self, length: int) -> None:
        """Keep only the first nodes."""
        if length < len(self._nodes):
            del self._nodes[length:]
            del self._messages[length:]
            self._kept = min(self._kept, length)
            self._snapshot = None

    def start(self) -> None:
        """Begin to note how much of the path stays as it is."""
        self._before = self._kept = len(self._nodes)

    def follow(self, head: Node[M] | None) -> None:
        """Make the path end at a head, and select it in every fork on the way.

        The cost is the number of nodes that enter or leave the path.
        """
        entering: list[Node[M]] = []
        node = head
        while node is not None and not self.holds(node):
            above = node.above
            above.selected = node
            entering.append(node)
            node = above.owner
        length = 0 if node is None else node.position + 1
        self.truncate(length)
        if not entering:
            return
        entering.reverse()
        for position, node in enumerate(entering, length):
            node.position = position
        self._nodes += entering
        self._messages += [node.message for node in entering]
        self._snapshot = None

    def finish(self, forks: Iterable[Fork[M]]) -> Change[M]:
        """Tell what became of the path since `start`.

        Args:
            forks: The forks whose alternatives changed meanwhile.
        """
        branched = self._branched(forks)
        kept, length = self._kept, len(self._nodes)
        if kept == self._before == length:
            return Unchanged(branched)
        if kept == self._before == length - 1:
            return Appended(self._messages[-1], branched)
        return Rebuilt(kept, tuple(self._messages[kept:]), branched)

    def _branched(self, forks: Iterable[Fork[M]]) -> tuple[str, ...]:
        kept = min(self._kept, len(self._nodes))
        if not kept:
            return ()
        ids: dict[str, None] = {}
        for fork in forks:
            owner = fork.owner
            if owner is None or self.holds(owner):
                index = 0 if owner is None else owner.position + 1
                if index < kept:
                    ids[self._messages[index].id] = None
        return tuple(ids)
