"""What must hold of a tree after every operation."""

from partwise.repository import Change, Rebuilt, Replaced, Tree
from partwise.repository._node import Fork
from tests.repository._messages import Message


def check_invariants(tree: Tree[Message]) -> None:
    """Look at the cells of a tree and assert that they agree with each other."""
    cells = tree._cells
    seen: list[str] = []
    open_forks: list[tuple[Fork[Message], int]] = [(cells.root, 0)]
    while open_forks:
        fork, level = open_forks.pop()
        assert (fork.selected is None) == (not fork.children)
        assert fork.selected is None or fork.selected in fork.children
        assert fork.ids == tuple(node.message.id for node in fork.children)
        assert fork.is_branched == (len(fork.children) > 1)
        for node in fork.children:
            message_id = node.message.id
            assert cells.nodes[message_id] is node
            assert node.above is fork
            assert node.owner is node
            assert tree.get(message_id).index == level
            seen.append(message_id)
            open_forks.append((node, level + 1))
    for index in (0, len(tree.messages) // 2):
        shown = [message.id for message in tree.messages[index:]]
        assert tree.alternatives_from(index) == tree.alternatives_among(shown)
    assert len(seen) == len(cells.nodes) == len(tree), "every node hangs on the root, exactly once"
    _check_path(tree)


def _check_path(tree: Tree[Message]) -> None:
    cells = tree._cells
    assert (cells.head is None) == (not cells.nodes)
    node = cells.root.selected
    walked: list[Message] = []
    while node is not None:
        assert cells.path.holds(node)
        walked.append(node.message)
        if node is cells.head:
            break
        node = node.selected
    assert node is cells.head, "the selected branches lead from the root to the head"
    assert len(walked) == len(tree.messages)
    assert all(one is other for one, other in zip(walked, tree.messages, strict=True))
    assert tree.messages is tree.messages


class Mirror:
    """Keeps a copy of the visible path and its branches by following changes only."""

    def __init__(self, tree: Tree[Message]) -> None:
        self.tree = tree
        self.messages: list[Message] = []
        self.branches: dict[str, tuple[str, ...]] = {}

    def apply(self, change: Change[Message]) -> None:
        """Follow a change, then assert that nothing was missed."""
        before = list(self.messages)
        match change:
            case Replaced(index, message):
                assert self.messages[index].id == message.id
                self.messages[index] = message
            case Rebuilt(kept, messages):
                for gone in self.messages[kept:]:
                    del self.branches[gone.id]
                self.messages[kept:] = messages
                self._read(message.id for message in messages)
            case _:
                added = getattr(change, "message", None)
                if added is not None:
                    self.messages.append(added)
                    self._read([added.id])
        self._read(change.branched)
        assert all(one is other for one, other in zip(self.messages, self.tree.messages, strict=True))
        assert self.branches == {m.id: self.tree.branches_of(m.id) for m in self.tree.messages}
        if isinstance(change, Rebuilt):
            assert change.kept <= len(before)
            assert set(change.branched) <= {message.id for message in before[: change.kept]}

    def _read(self, message_ids: object) -> None:
        for message_id in message_ids:
            self.branches[message_id] = self.tree.branches_of(message_id)
