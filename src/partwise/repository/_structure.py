"""The cells of a tree, its head and its visible path, and the steps that operations are made of."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Final, Generic

from partwise.repository._node import Fork, Node, downwards, upwards
from partwise.repository._path import Path
from partwise.repository._plan import Plan
from partwise.repository._values import Appended, Change, M, Replaced, Unchanged

_UNTOUCHED: Final = Unchanged()


class Structure(Generic[M]):
    """What a tree holds. Nothing is checked here: whoever calls has done that.

    `add` and `replace` are whole operations of constant cost. The other steps stand between `start`, which
    opens the account of the change, and `finish`, which makes the path follow the head and closes it.

    Attributes:
        nodes: All nodes by id, in the order in which they were first stored.
        root: The fork at the root.
        head: The last node of the visible path, or None if there are no nodes.
        path: The visible path.
        is_optimistic: Tells whether a message is optimistic.
    """

    __slots__ = ("_forks", "head", "is_optimistic", "nodes", "path", "root")

    def __init__(self, is_optimistic: Callable[[M], bool]) -> None:
        self.is_optimistic = is_optimistic
        self.root: Fork[M] = Fork()
        self.nodes: dict[str, Node[M]] = {}
        self.head: Node[M] | None = None
        self.path: Path[M] = Path()
        self._forks: list[Fork[M]] = []

    def replace(self, node: Node[M], message: M) -> Change[M]:
        """Store a newer version of a message where the message is."""
        if node.message is message:
            return _UNTOUCHED
        node.message = message
        if not self.path.holds(node):
            return _UNTOUCHED
        self.path.replace(node)
        return Replaced(node.position, message)

    def add(self, message: M, fork: Fork[M]) -> Change[M]:
        """Store a new message behind its siblings; it becomes the head if its parent was."""
        node = self._hang(message, fork)
        if node is self.head:
            self.path.append(node)
            return Appended(message)
        shown = fork.selected
        return Unchanged((shown.message.id,)) if shown and self.path.holds(shown) else _UNTOUCHED

    def start(self) -> None:
        """Begin a change."""
        self._forks.clear()
        self.path.start()

    def move(self, node: Node[M], fork: Fork[M]) -> None:
        """Hang a node behind the others of a fork; the head moves to it if it is now the way on from there."""
        if self.path.holds(node):
            self.path.truncate(node.position)
        self._forks += (node.above, fork)
        node.above.cut(node)
        fork.link(node)
        if fork.owner is self.head and fork.selected is node:
            self.head = node.last()

    def remove(self, node: Node[M], fork: Fork[M]) -> None:
        """Take a node out; what hangs under it moves behind the others of a fork."""
        if self.path.holds(node):
            self.path.truncate(node.position)
        self._forks += (node.above, fork)
        for child in tuple(node.children):
            fork.link(child)
        node.empty()
        node.above.cut(node)
        del self.nodes[node.message.id]

    def prune(self, fork: Fork[M], keep: Container[str] = ()) -> None:
        """Delete everything that hangs on a fork, but for some of the branches."""
        self._forks.append(fork)
        for node in [node for node in fork.children if node.message.id not in keep]:
            for below in downwards(node):
                del self.nodes[below.message.id]
            del self.nodes[node.message.id]
            fork.cut(node)

    def rename(self, node: Node[M], message: M) -> None:
        """Put a message of another id in the place of a node's."""
        old_id = node.message.id
        self.nodes = {(message.id if key == old_id else key): value for key, value in self.nodes.items()}
        node.message = message
        node.above.changed()
        self._forks.append(node.above)
        if self.path.holds(node):
            self.path.replace(node)

    def empty(self) -> None:
        """Delete everything."""
        self.nodes.clear()
        self.root.empty()
        self.head = None
        self.path.truncate(0)

    def merge(self, plan: Plan[M]) -> None:
        """Store the entries of an import."""
        if not self.nodes:
            self._grow(plan)
            return
        for entry in plan.entries:
            message = entry.message
            fork = self.root if entry.parent_id is None else self.nodes[entry.parent_id]
            node = self.nodes.get(message.id)
            if node is None:
                if fork.selected is not None:  # a first child has no siblings whose alternatives could change
                    self._forks.append(fork)
                self._hang(message, fork)
                continue
            if node.message is not message:
                node.message = message
                if self.path.holds(node):
                    self.path.replace(node)
            if node.above is not fork or message.id in plan.moved:
                self.move(node, fork)

    def _grow(self, plan: Plan[M]) -> None:
        """Store the entries of an import where there is nothing yet, so that every one of them is new."""
        nodes, root = self.nodes, self.root
        for entry in plan.entries:
            message, parent_id = entry.message, entry.parent_id
            fork = root if parent_id is None else nodes[parent_id]
            node = nodes[message.id] = Node(message, fork)
            if fork.selected is None:
                fork.selected = node
            else:
                fork.link(node)
        root.changed()
        self.head = root.last()

    def finish(self, head: Node[M] | None, leaving: Node[M] | None = None) -> Change[M]:
        """Show a head and tell what became of the path.

        Args:
            head: The head to be.
            leaving: The head whose branch is left; optimistic messages that are only on that branch are removed.
        """
        self.head = head
        self.path.follow(head)
        if leaving is not None and self.nodes.get(leaving.message.id) is leaving:
            for node in upwards(leaving):
                if self.path.holds(node):
                    break
                if self.is_optimistic(node.message):
                    self.remove(node, node.above)
        return self.path.finish(self._forks)

    def _hang(self, message: M, fork: Fork[M]) -> Node[M]:
        node = self.nodes[message.id] = Node(message, fork)
        fork.link(node)
        if fork is (self.head or self.root):
            self.head = fork.selected = node
        return node
