"""The tree of messages."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from enum import Enum
from typing import Final, Generic, Literal, TypeAlias

from partwise.errors import CycleError, MessageNotFoundError, NotAllowedError, ParentNotFoundError
from partwise.repository._exports import canonical_id, export_cells
from partwise.repository._node import Fork, Node, upwards
from partwise.repository._plan import Plan, plan_import
from partwise.repository._structure import Structure
from partwise.repository._values import Change, Export, M, Place


class _Unset(Enum):
    UNSET = "UNSET"

    def __repr__(self) -> str:
        return self.value


UNSET: Final = _Unset.UNSET
Unset: TypeAlias = Literal[_Unset.UNSET]


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

    __slots__ = ("_cells",)

    def __init__(self, is_optimistic: Callable[[M], bool] | None = None) -> None:
        self._cells: Structure[M] = Structure(is_optimistic or _never)

    # -- reading

    @property
    def messages(self) -> tuple[M, ...]:
        """The visible path, root first; the same tuple until something on it changes."""
        return self._cells.path.messages

    @property
    def head_id(self) -> str | None:
        """The id of the last visible message, or None if the tree is empty."""
        return None if self._cells.head is None else self._cells.head.message.id

    @property
    def canonical_head_id(self) -> str | None:
        """The id of the last visible message that is not optimistic, or None if there is none."""
        return canonical_id(self._cells.head, self._cells.is_optimistic)

    def __len__(self) -> int:
        return len(self._cells.nodes)

    def __contains__(self, message_id: object) -> bool:
        return message_id in self._cells.nodes

    def __iter__(self) -> Iterator[M]:
        """All messages, hidden ones too, in the order in which they were first stored."""
        return (node.message for node in self._cells.nodes.values())

    def message(self, message_id: str) -> M | None:
        """A message as it is stored now, or None if it is unknown; cheaper than asking where it is, too."""
        node = self._cells.nodes.get(message_id)
        return None if node is None else node.message

    def find(self, message_id: str) -> Place[M] | None:
        """Where a message is, or None if it is unknown."""
        node = self._cells.nodes.get(message_id)
        if node is None:
            return None
        hidden = 0
        for above in upwards(node):
            if self._cells.path.holds(above):
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
        if node is self._cells.head:
            return self._cells.path.messages
        return tuple(reversed([above.message for above in upwards(node)]))

    def branches_of(self, message_id: str) -> tuple[str, ...]:
        """Ids of a message and its alternatives, oldest first; the same tuple until they change.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        return self._node(message_id).above.ids

    def alternatives_among(self, message_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Those of some messages that have alternatives, each with the ids of all of them, oldest first.

        Raises:
            MessageNotFoundError: An id is unknown.
        """
        nodes = self._cells.nodes
        found: dict[str, tuple[str, ...]] = {}
        for message_id in message_ids:
            fork = (nodes.get(message_id) or self._node(message_id)).above
            if fork.is_branched:
                found[message_id] = fork.ids
        return found

    def alternatives_from(self, index: int) -> dict[str, tuple[str, ...]]:
        """Those visible messages from a position on that have alternatives, each with the ids of all, oldest first."""
        return {
            node.message.id: node.above.ids for node in self._cells.path.nodes_from(index) if node.above.is_branched
        }

    def children_of(self, message_id: str | None) -> tuple[str, ...]:
        """Ids of the messages right under a message (None: at the root), oldest first.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        return (self._cells.root if message_id is None else self._node(message_id)).ids

    def export(self) -> Export[M]:
        """Everything but optimistic messages.

        Messages below an optimistic one are given its nearest stored ancestor as parent. Parents come
        before their children, and alternatives in their order. If the head is optimistic, the exported
        head is the end of an alternative next to it, or its nearest stored ancestor if there is none.
        """
        return export_cells(self._cells.root, self._cells.head, self._cells.is_optimistic)

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
        cells = self._cells
        node = cells.nodes.get(message.id)
        if node is not None and node.parent_id == (parent_id or None):
            return cells.replace(node, message)
        fork = self._fork(parent_id, message)
        if node is None:
            return cells.add(message, fork)
        if _is_below(fork, node):
            raise CycleError(message.id, parent_id)
        cells.start()
        node.message = message
        cells.move(node, fork)
        return cells.finish(cells.head)

    def replace(self, message: M) -> Change[M]:
        """Store a newer version of a message where the message is.

        Raises:
            MessageNotFoundError: The tree has no message of this id.
        """
        return self._cells.replace(self._node(message.id), message)

    def delete(self, message_id: str, replacement_id: str | Unset | None = UNSET) -> Change[M]:
        """Remove one message; what hangs under it moves under a replacement, in order.

        If it was the head, the end of the branch chosen below the replacement becomes the head.

        Args:
            message_id: The message to remove.
            replacement_id: The new parent of its children; its own parent if not given, None for the root.

        Raises:
            MessageNotFoundError: The message or the replacement is unknown.
            NotAllowedError: The replacement lies at or below the message (code ``"invalid-replacement"``).
        """
        cells = self._cells
        node = self._node(message_id)
        fork = self._replacement(node, replacement_id)
        cells.start()
        follows = node is cells.head or (fork.owner is cells.head and not fork.children)
        cells.remove(node, fork)
        return cells.finish(fork.last() if follows else cells.head)

    def switch_to(self, message_id: str) -> Change[M]:
        """Show a message, down to the end of the branch chosen last below it.

        Optimistic messages of the branch that is left are removed.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        node = self._node(message_id)
        self._cells.start()
        return self._cells.finish(node.last(), leaving=self._cells.head)

    def reset_head(self, message_id: str | None) -> Change[M]:
        """Make a message the last one: everything below it is deleted, on all branches.

        Optimistic messages of the branch that is left are removed. None clears the tree.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        if message_id is None:
            return self.clear()
        node = self._node(message_id)
        self._cells.start()
        self._cells.prune(node)
        return self._cells.finish(node, leaving=self._cells.head)

    def show(self, message_id: str) -> Change[M]:
        """Make a message the last visible one; what is below it stays stored, and is not shown.

        Optimistic messages of the branch that is left are removed.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        node = self._node(message_id)
        self._cells.start()
        return self._cells.finish(node, leaving=self._cells.head)

    def prune(self, message_id: str | None, keep: Container[str] = ()) -> Change[M]:
        """Delete what is below a message (None: everything), on all branches, but for some of the branches.

        If the head was deleted, the message becomes the head.

        Args:
            message_id: The message.
            keep: Ids of messages right under it that stay, with all that is below them.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        fork = self._cells.root if message_id is None else self._node(message_id)
        self._cells.start()
        self._cells.prune(fork, keep)
        head = self._cells.head
        is_gone = head is None or self._cells.nodes.get(head.message.id) is not head
        return self._cells.finish(fork.owner if is_gone else head)

    def rename(self, message_id: str, message: M) -> Change[M]:
        """Put a message that has another id exactly where a message is; what is below it stays there.

        Raises:
            MessageNotFoundError: The old id is unknown.
            NotAllowedError: The new id is taken (code ``"id-taken"``).
        """
        node = self._node(message_id)
        if message.id in self._cells.nodes:
            text = f"Message {message_id!r} cannot become {message.id!r}: there is a message of that id already."
            raise NotAllowedError(text, code="id-taken", id=message.id)
        self._cells.start()
        self._cells.rename(node, message)
        return self._cells.finish(self._cells.head)

    def clear(self) -> Change[M]:
        """Remove everything."""
        self._cells.start()
        self._cells.empty()
        return self._cells.finish(None)

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
        plan = plan_import(export, self._cells.nodes)
        if plan.head_id is None:
            return self.clear()
        self._cells.start()
        return self._carry_out(plan)

    def replace_all(self, export: Export[M]) -> Change[M]:
        """Put an export in the place of everything that is stored.

        Raises:
            ParentNotFoundError: A parent is not in the export.
            CycleError: A message would become its own ancestor.
            MessageNotFoundError: The head is not in the export.
        """
        plan = plan_import(export, {})
        self._cells.start()
        self._cells.empty()
        return self._carry_out(plan)

    def _node(self, message_id: str) -> Node[M]:
        node = self._cells.nodes.get(message_id)
        if node is None:
            raise MessageNotFoundError(message_id)
        return node

    def _fork(self, parent_id: str | None, message: M) -> Fork[M]:
        if not parent_id:
            return self._cells.root
        parent = self._cells.nodes.get(parent_id)
        if parent is None:
            raise ParentNotFoundError(parent_id, where=f"the tree, for message {message.id!r}")
        return parent

    def _replacement(self, node: Node[M], replacement_id: str | Unset | None) -> Fork[M]:
        if replacement_id is UNSET:
            return node.above
        if replacement_id is None:
            return self._cells.root
        fork = self._node(replacement_id)
        if _is_below(fork, node):
            text = (
                f"Message {node.message.id!r} cannot be replaced by {replacement_id!r}, which lies at or below it. "
                "Choose a replacement outside of its own branch."
            )
            raise NotAllowedError(text, code="invalid-replacement", id=replacement_id)
        return fork

    def _carry_out(self, plan: Plan[M]) -> Change[M]:
        cells = self._cells
        cells.merge(plan)
        head = None if plan.head_id is None else cells.nodes[plan.head_id]
        return cells.finish(head, leaving=cells.head)


def _is_below(fork: Fork[M], node: Node[M]) -> bool:
    return any(above is node for above in upwards(fork.owner))


def _never(message: object) -> bool:
    del message
    return False
