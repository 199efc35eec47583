"""The index from what a selector read to the slices that read it: a tree of steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from partwise.reactive._bag import Bag, members, put, take

# One step from a value to something read of it. The three frequent ones are bare or nearly bare:
#   "name"             an attribute
#   3                  an index, not negative
#   (KEY, key)         an item by key: of a keyed sequence or a mapping
#   (HAS, key)         whether that key is there
# All others are few at any one node, and kept apart, so that a commit may look at each of them:
#   (AT, -1)           an index from the end
#   (CUT, (a, b, c))   a slice
#   (FIRST, (name, v)) the first item whose attribute has a value
#   (EACH, None)       every item, one shared node for all
#   (KEYS, None), (SIZE, None), (TRUTH, None), (TYPE, None), (PLACE, key)   facts about the value
Step = str | int | tuple[str, object]

KEY = "key"
HAS = "has"
AT = "at"
CUT = "cut"
FIRST = "first"
EACH = ("each", None)
KEYS = ("keys", None)
SIZE = ("size", None)
TRUTH = ("truth", None)
TYPE = ("type", None)
PLACE = "place"


class Missing:
    """Stands for a value that a path does not lead to."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


class Reader(Protocol):
    """Whoever is told that something it read has changed."""

    def __hash__(self) -> int: ...


class Node:
    """One place in the snapshot that somebody reads, or that lies on the way to one."""

    __slots__ = ("children", "facts", "parent", "readers", "step")

    def __init__(self, parent: Node | None = None, step: Step = "") -> None:
        self.parent = parent
        self.step = step
        self.children: dict[Step, Node] | None = None
        self.facts: dict[Step, Node] | None = None
        self.readers: Bag[Reader] = None

    def child(self, step: Step) -> Node:
        """Return the node one frequent step below, made if need be."""
        children = self.children
        if children is None:
            children = self.children = {}
        node = children.get(step)
        if node is None:
            node = children[step] = Node(self, step)
        return node

    def fact(self, step: Step) -> Node:
        """Return the node one rare step below, made if need be."""
        facts = self.facts
        if facts is None:
            facts = self.facts = {}
        node = facts.get(step)
        if node is None:
            node = facts[step] = Node(self, step)
        return node

    def below(self, step: Step) -> Node:
        """Return the node one step below, of whichever sort the step is."""
        if isinstance(step, tuple) and step[0] not in {KEY, HAS}:
            return self.fact(step)
        return self.child(step)

    def add(self, reader: Reader) -> None:
        """Register a reader of the value at this node; a second time changes nothing."""
        self.readers = put(self.readers, reader)

    def drop(self, reader: Reader) -> None:
        """Forget a reader, and every node that then serves nobody."""
        self.readers = take(self.readers, reader)
        node = self
        while node.readers is None and not node.children and not node.facts:
            parent = node.parent
            if parent is None:
                return
            for branch in (parent.children, parent.facts):
                if branch is not None and branch.get(node.step) is node:
                    del branch[node.step]
            node = parent

    def collect(self, found: dict[Reader, object], value: object = MISSING) -> None:
        """Add the readers of this node to ``found``, with the value that is now at this node if it is known."""
        for reader in members(self.readers):
            found[reader] = value

    def collect_all(self, found: dict[Reader, object]) -> None:
        """Add the readers of this node and of all nodes below it to ``found``."""
        for node in self.walk():
            node.collect(found)

    def walk(self) -> Iterator[Node]:
        """Iterate over this node and all below it."""
        pending: list[Node] = [self]
        while pending:
            node = pending.pop()
            yield node
            if node.children:
                pending.extend(node.children.values())
            if node.facts:
                pending.extend(node.facts.values())


def count_entries(root: Node) -> int:
    """Count the registrations in the tree, each a pair of node and reader."""
    return sum(len(members(node.readers)) for node in root.walk())
