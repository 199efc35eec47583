"""Random operations: the tree agrees with its plainest description, and each change tells the whole truth."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from partwise.errors import PartwiseError
from partwise.repository import UNSET, Entry, Export, Tree
from tests.repository._invariants import Mirror, check_invariants
from tests.repository._messages import Message
from tests.repository._model import Model, RefusedError

IDS = [f"m{i}" for i in range(9)]
ids = st.sampled_from(IDS)
parents = st.one_of(st.none(), ids)
messages = st.builds(Message, ids, st.text("ab", max_size=2), st.booleans())


class TreeMachine(RuleBasedStateMachine):
    """Does the same to a tree, to its plainest description and to a mirror that reads changes only."""

    def __init__(self) -> None:
        super().__init__()
        self.tree: Tree[Message] = Tree(lambda message: message.optimistic)
        self.model = Model()
        self.mirror = Mirror(self.tree)

    def both(self, name: str, *arguments: object, model_arguments: tuple[object, ...] | None = None) -> None:
        before = (self.tree.messages, self.tree.export())
        try:
            change = getattr(self.tree, name)(*arguments)
        except PartwiseError:
            assert (self.tree.messages, self.tree.export()) == before
            self.refused(name, *(model_arguments or arguments))
            return
        getattr(self.model, name)(*(model_arguments or arguments))
        self.mirror.apply(change)

    def refused(self, name: str, *arguments: object) -> None:
        known = self.model.messages
        if name == "put" or all(argument is None or argument in known for argument in arguments):
            try:
                getattr(self.model, name)(*arguments)
            except RefusedError:
                return
            raise AssertionError("only the tree refused")

    @rule(parent_id=parents, message=messages)
    def put(self, parent_id: str | None, message: Message) -> None:
        self.both("put", parent_id, message)

    @rule(message=messages)
    def append(self, message: Message) -> None:
        if message.id not in self.model.messages:
            self.both("put", self.model.head, message)

    @rule(message=messages)
    def update(self, message: Message) -> None:
        if message.id in self.model.messages:
            self.both("put", self.model.parent[message.id], message)

    @rule(message_id=ids)
    def delete(self, message_id: str) -> None:
        self.both("delete", message_id, UNSET, model_arguments=(message_id, self.model.parent.get(message_id)))

    @rule(message_id=ids, replacement_id=parents)
    def delete_with_replacement(self, message_id: str, replacement_id: str | None) -> None:
        self.both("delete", message_id, replacement_id)

    @rule(message_id=ids)
    def switch_to(self, message_id: str) -> None:
        self.both("switch_to", message_id)

    @rule(message_id=ids)
    def reset_head(self, message_id: str) -> None:
        self.both("reset_head", message_id)

    @rule(chain=st.lists(messages, min_size=1, max_size=5, unique_by=lambda message: message.id), root=parents)
    def import_a_chain(self, chain: list[Message], root: str | None) -> None:
        known = self.model.messages
        if (root is not None and root not in known) or {m.id for m in chain} & set(self.model.line(root)):
            return
        above = [root, *(message.id for message in chain[:-1])]
        if any(m.id in self.model.line(parent) for m, parent in zip(chain, above, strict=True) if parent in known):
            return
        export = Export(None, tuple(Entry(p, m) for p, m in zip(above, chain, strict=True)))
        change = self.tree.import_(export)
        self.model.add_all(zip(above, chain, strict=True), chain[-1].id)
        self.mirror.apply(change)

    @rule(entries=st.lists(st.tuples(messages, parents), max_size=6), head=parents)
    def import_anything(self, entries: list[tuple[Message, str | None]], head: str | None) -> None:
        copy: Tree[Message] = Tree(lambda message: message.optimistic)
        mirror = Mirror(copy)
        mirror.apply(copy.replace_all(self.tree.export()))
        before = (copy.messages, copy.export())
        try:
            change = copy.import_(Export(head, tuple(Entry(parent, message) for message, parent in entries)))
        except PartwiseError:
            assert (copy.messages, copy.export()) == before
        else:
            mirror.apply(change)
            last = {message.id: message for message, _ in entries}
            assert {message.id for message in last.values() if not message.optimistic} <= {m.id for m in copy}
        check_invariants(copy)

    @rule()
    def clear(self) -> None:
        self.mirror.apply(self.tree.clear())
        self.model = Model()

    @invariant()
    def agrees(self) -> None:
        check_invariants(self.tree)
        model, tree = self.model, self.tree
        assert tree.head_id == model.head
        assert tree.canonical_head_id == model.stored_above(model.head)
        assert [message.id for message in tree.messages] == model.line(model.head)
        assert {message.id: message for message in tree} == model.messages
        for parent_id, children in model.children.items():
            assert list(tree.children_of(parent_id)) == children
        export = tree.export()
        assert [(entry.message.id, entry.parent_id) for entry in export.entries] == model.export()
        assert (export.head_id is None) == (not export.entries)

    @invariant()
    def survives_a_round_trip(self) -> None:
        export = self.tree.export()
        copy: Tree[Message] = Tree(lambda message: message.optimistic)
        copy.replace_all(export)
        assert copy.export() == export
        check_invariants(copy)


TestTree = TreeMachine.TestCase
TestTree.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
