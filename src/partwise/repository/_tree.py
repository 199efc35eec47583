"""The tree of messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Final, Generic, Literal, TypeAlias

from partwise.errors import CycleError, MessageNotFoundError, NotAllowedError, ParentNotFoundError
from partwise.repository._node import Fork, Node, downwards, upwards
from partwise.repository._path import Path
from partwise.repository._plan import Plan, plan_import
from partwise.repository._values import Appended, Change, Entry, Export, M, Place, Replaced, Unchanged


class _Unset(Enum):
    UNSET = "UNSET"

    def __repr__(self) -> str:
        return self.value


UNSET: Final = _Unset.UNSET
Unset: TypeAlias = Literal[_Unset.UNSET]

_UNTOUCHED: Final = Unchanged()


class Tree(Generic[M]):
    """Messages and their alternatives, with one visible path from a root to the head.

    Each message hangs under a parent (or at the root); messages with one parent are alternatives of each
    other. Every fork remembers which alternative was chosen last, also inside branches that are not shown.
    Every operation either does all of its work or raises and changes nothing, and answers what became of
    the visible path, so that whoever mirrors the path need not read it again.

    A message is *optimistic* while it stands for one that somebody else will confirm. Such a message is
    not exported, and it is removed when the head leaves its branch.

    Args:
        is_optimistic: Tells whether a message is optimistic; without it, none is.
    """

    __slots__ = ("_forks", "_head", "_is_optimistic", "_nodes", "_path", "_root")

    def __init__(self, is_optimistic: Callable[[M], bool] | None = None) -> None:
        self._is_optimistic: Callable[[M], bool] = is_optimistic or _never
        self._root: Fork[M] = Fork(None)
        self._nodes: dict[str, Node[M]] = {}
        self._head: Node[M] | None = None
        self._path: Path[M] = Path()
        self._forks: list[Fork[M]] = []

    # -- reading

    @property
    def messages(self) -> tuple[M, ...]:
        """The visible path, root first; the same tuple until something on it changes."""
        return self._path.messages

    @property
    def head_id(self) -> str | None:
        """The id of the last visible message, or None if the tree is empty."""
        return None if self._head is None else self._head.message.id

    @property
    def canonical_head_id(self) -> str | None:
        """The id of the last visible message that is not optimistic, or None if there is none."""
        return self._canonical_id(self._head)

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, message_id: object) -> bool:
        return message_id in self._nodes

    def __iter__(self) -> Iterator[M]:
        """All messages, hidden ones too, in the order in which they were first stored."""
        return (node.message for node in self._nodes.values())

    def find(self, message_id: str) -> Place[M] | None:
        """Where a message is, or None if it is unknown."""
        node = self._nodes.get(message_id)
        if node is None:
            return None
        hidden = 0
        for above in upwards(node):
            if self._path.holds(above):
                return Place(node.message, node.parent_id, above.position + hidden, visible=hidden == 0)
            hidden += 1
        return Place(node.message, node.parent_id, hidden - 1, visible=False)

    def get(self, message_id: str) -> Place[M]:
        """Where a message is.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        place = self.find(message_id)
        if place is None:
            raise MessageNotFoundError(message_id)
        return place

    def path_to(self, message_id: str) -> tuple[M, ...]:
        """The messages from the root to a message, that one included.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        node = self._node(message_id)
        if node is self._head:
            return self._path.messages
        return tuple(reversed([above.message for above in upwards(node)]))

    def branches_of(self, message_id: str) -> tuple[str, ...]:
        """Ids of a message and its alternatives, oldest first; the same tuple until they change.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        return self._node(message_id).above.ids

    def children_of(self, message_id: str | None) -> tuple[str, ...]:
        """Ids of the messages right under a message (None: at the root), oldest first.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        return (self._root if message_id is None else self._node(message_id).below).ids

    def export(self) -> Export[M]:
        """Everything but optimistic messages.

        Messages below an optimistic one are given its nearest stored ancestor as parent. Parents come
        before their children, and alternatives in their order.
        """
        entries = tuple(
            Entry(self._canonical_id(node.above.owner), node.message)
            for node in downwards(self._root)
            if not self._is_optimistic(node.message)
        )
        return Export(self.canonical_head_id, entries)

    # -- changing

    def put(self, parent_id: str | None, message: M) -> Change[M]:
        """Store a message, or replace the stored one of the same id.

        A new message hangs after its siblings. It becomes the head if its parent was the head, and stays
        hidden otherwise. A known message keeps its place under the same parent; under another one it moves
        there with everything below it, and the head moves along (or to it, if the parent was the head).

        Args:
            parent_id: The message above it; None (or an empty text) for the root.
            message: The message.

        Raises:
            ParentNotFoundError: The parent is unknown.
            CycleError: The parent lies at or below the message itself.
        """
        node = self._nodes.get(message.id)
        if node is not None and node.parent_id == (parent_id or None):
            return self._replace(node, message)
        fork = self._fork(parent_id, message)
        if node is None:
            return self._add(message, fork)
        if any(above is node for above in upwards(fork.owner)):
            raise CycleError(message.id, parent_id)
        self._start()
        node.message = message
        head = node.below.last() if fork.owner is self._head else self._head
        self._move(node, fork)
        return self._finish(head)

    def delete(self, message_id: str, replacement_id: str | None | Unset = UNSET) -> Change[M]:
        """Remove one message; what hangs under it moves under a replacement, in order.

        If it was the head, the end of the branch chosen below the replacement becomes the head.

        Args:
            message_id: The message to remove.
            replacement_id: The new parent of its children; its own parent if not given, None for the root.

        Raises:
            MessageNotFoundError: The message or the replacement is unknown.
            NotAllowedError: The replacement lies at or below the message (code ``"invalid-replacement"``).
        """
        node = self._node(message_id)
        if replacement_id is UNSET:
            fork = node.above
        elif replacement_id is None:
            fork = self._root
        else:
            fork = self._node(replacement_id).below
            if any(above is node for above in upwards(fork.owner)):
                text = (
                    f"Message {message_id!r} cannot be replaced by {replacement_id!r}, which lies at or below it. "
                    "Choose a replacement outside of its own branch."
                )
                raise NotAllowedError(text, code="invalid-replacement", id=replacement_id)
        self._start()
        self._remove(node, fork)
        return self._finish(fork.last() if node is self._head else self._head)

    def switch_to(self, message_id: str) -> Change[M]:
        """Show a message, down to the end of the branch chosen last below it.

        Optimistic messages of the branch that is left are removed.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        node = self._node(message_id)
        self._start()
        return self._finish(node.below.last(), leaving=self._head)

    def reset_head(self, message_id: str | None) -> Change[M]:
        """Make a message the last one: everything below it is deleted, on all branches.

        Optimistic messages of the branch that is left are removed. None clears the tree.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        if message_id is None:
            return self.clear()
        node = self._node(message_id)
        self._start()
        if node.below.children:
            for below in downwards(node.below):
                del self._nodes[below.message.id]
            self._forks.append(node.below)
            node.below.empty()
        return self._finish(node, leaving=self._head)

    def clear(self) -> Change[M]:
        """Remove everything."""
        self._start()
        self._empty()
        return self._finish(None)

    def import_(self, export: Export[M]) -> Change[M]:
        """Add or update the messages of an export, then show its head.

        Nothing else is removed, except that an empty export without a head clears the tree. A child may
        be listed before its parent. An id that is listed twice ends where its last entry says. Without
        a head, the last entry is shown.

        Raises:
            ParentNotFoundError: A parent is neither in the tree nor in the export.
            CycleError: A message would become its own ancestor.
            MessageNotFoundError: The head is neither in the tree nor in the export.
        """
        plan = plan_import(export, self._nodes)
        if plan.head_id is None:
            return self.clear()
        self._start()
        return self._carry_out(plan)

    def replace_all(self, export: Export[M]) -> Change[M]:
        """Put an export in the place of everything that is stored.

        Raises:
            ParentNotFoundError: A parent is not in the export.
            CycleError: A message would become its own ancestor.
            MessageNotFoundError: The head is not in the export.
        """
        plan = plan_import(export, {})
        self._start()
        self._empty()
        return self._carry_out(plan)

    # -- steps

    def _node(self, message_id: str) -> Node[M]:
        node = self._nodes.get(message_id)
        if node is None:
            raise MessageNotFoundError(message_id)
        return node

    def _fork(self, parent_id: str | None, message: M) -> Fork[M]:
        if not parent_id:
            return self._root
        parent = self._nodes.get(parent_id)
        if parent is None:
            raise ParentNotFoundError(parent_id, where=f"the tree, for message {message.id!r}")
        return parent.below

    def _canonical_id(self, node: Node[M] | None) -> str | None:
        for above in upwards(node):
            if not self._is_optimistic(above.message):
                return above.message.id
        return None

    def _replace(self, node: Node[M], message: M) -> Change[M]:
        if node.message is message:
            return _UNTOUCHED
        node.message = message
        if not self._path.holds(node):
            return _UNTOUCHED
        self._path.replace(node)
        return Replaced(node.position, message)

    def _add(self, message: M, fork: Fork[M]) -> Change[M]:
        node = Node(message, fork)
        self._nodes[message.id] = node
        fork.link(node)
        if fork.owner is self._head:
            fork.selected = node
            self._head = node
            self._path.append(node)
            return Appended(message)
        shown = fork.selected
        return Unchanged((shown.message.id,)) if shown and self._path.holds(shown) else _UNTOUCHED

    def _move(self, node: Node[M], fork: Fork[M]) -> None:
        if self._path.holds(node):
            self._path.truncate(node.position)
        self._forks += (node.above, fork)
        node.above.cut(node)
        fork.link(node)

    def _remove(self, node: Node[M], fork: Fork[M]) -> None:
        if self._path.holds(node):
            self._path.truncate(node.position)
        self._forks += (node.above, fork)
        for child in node.below.children.values():
            fork.link(child)
        node.below.empty()
        node.above.cut(node)
        del self._nodes[node.message.id]

    def _empty(self) -> None:
        self._nodes.clear()
        self._root.empty()
        self._head = None
        self._path.truncate(0)

    def _carry_out(self, plan: Plan[M]) -> Change[M]:
        for entry in plan.entries:
            message = entry.message
            node = self._nodes.get(message.id)
            fork = self._fork(entry.parent_id, message)
            if node is None:
                self._nodes[message.id] = node = Node(message, fork)
                fork.link(node)
                self._forks.append(fork)
                if fork.owner is self._head:
                    self._head = fork.selected = node
                continue
            if node.message is not message:
                node.message = message
                if self._path.holds(node):
                    self._path.replace(node)
            if node.above is not fork:
                if fork.owner is self._head:
                    self._head = node.below.last()
                self._move(node, fork)
        head = None if plan.head_id is None else self._nodes[plan.head_id]
        return self._finish(head, leaving=self._head)

    def _start(self) -> None:
        self._forks.clear()
        self._path.start()

    def _finish(self, head: Node[M] | None, leaving: Node[M] | None = None) -> Change[M]:
        """Show a head, and drop the optimistic messages on the way down to the one that is left."""
        self._head = head
        self._path.follow(head)
        if leaving is not None and self._nodes.get(leaving.message.id) is leaving:
            for node in upwards(leaving):
                if self._path.holds(node):
                    break
                if self._is_optimistic(node.message):
                    self._remove(node, node.above)
        return self._path.finish(self._forks)


def _never(message: object) -> bool:
    del message
    return False
