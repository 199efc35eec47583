"""Exports, imports, and what an import refuses."""

from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from partwise.errors import CycleError, MessageNotFoundError, ParentNotFoundError, PartwiseError
from partwise.repository import Entry, Export, _plan, export_from_branches, export_from_list
from tests.repository._invariants import check_invariants
from tests.repository._messages import Message, new_tree, path, put


def branches(*links: str, head: str | None = None) -> Export[Message]:
    pairs = [link.rpartition("/") for link in links]
    return export_from_branches([(Message(message_id), parent_id) for parent_id, _, message_id in pairs], head)


def links(export: Export[Message]) -> list[str]:
    return ["/".join(filter(None, (entry.parent_id, entry.message.id))) for entry in export.entries]


def test_a_list_becomes_a_chain_with_its_last_message_as_head() -> None:
    assert export_from_list([]) == Export(None, ())
    assert export_from_list([Message("a"), Message("b")]) == Export(
        "b", (Entry(None, Message("a")), Entry("a", Message("b")))
    )


def test_an_export_keeps_branches_and_their_order() -> None:
    tree = new_tree("a", "a/b", "a/c", "c/d", "b/e")
    tree.switch_to("d")
    export = tree.export()
    assert export.head_id == "d"
    assert links(export) == ["a", "a/b", "b/e", "a/c", "c/d"]
    copy = new_tree()
    copy.replace_all(export)
    assert path(copy) == "a c d"
    assert copy.export() == export


def test_an_optimistic_message_is_left_out_and_its_children_hang_under_its_ancestor() -> None:
    tree = new_tree("a")
    put(tree, "a/b", optimistic=True)
    put(tree, "b/c")
    put(tree, "c/d", optimistic=True)
    assert tree.export() == Export("c", (Entry(None, Message("a")), Entry("a", Message("c"))))


def test_an_optimistic_head_gives_way_to_an_alternative_next_to_it() -> None:
    tree = new_tree("a", "a/b", "b/c")
    put(tree, "a/opt", optimistic=True)
    tree.switch_to("opt")
    assert tree.canonical_head_id == "a"
    assert tree.export().head_id == "c"


def test_an_export_with_messages_always_names_one_of_them_as_head() -> None:
    tree = new_tree()
    put(tree, "a", optimistic=True)
    put(tree, "b", optimistic=True)
    put(tree, "b/c", optimistic=True)
    put(tree, "b/d")
    assert tree.head_id == "a"
    assert tree.export() == Export("d", (Entry(None, Message("d")),))


def test_a_tree_of_optimistic_messages_exports_nothing() -> None:
    tree = new_tree()
    put(tree, "a", optimistic=True)
    put(tree, "a/b", optimistic=True)
    assert tree.export() == Export(None, ())


def test_importing_an_own_export_twice_changes_nothing() -> None:
    tree = new_tree("u1", "u1/a1", "a1/u2", "u2/a2")
    export = tree.export()
    tree.import_(export)
    tree.import_(export)
    assert path(tree) == "u1 a1 u2 a2"
    assert len(tree) == 4
    assert tree.export() == export


def test_the_head_of_an_export_decides_which_branch_is_shown() -> None:
    entries = ("u1", "u1/a1", "a1/p", "a1/u2", "u2/a2")
    tree = new_tree()
    tree.replace_all(branches(*entries, head="a2"))
    assert path(tree) == "u1 a1 u2 a2"
    tree.replace_all(branches(*entries, head="p"))
    assert path(tree) == "u1 a1 p"


def test_without_a_head_the_last_entry_is_shown() -> None:
    tree = new_tree()
    tree.replace_all(branches("a", "a/b", "a/c"))
    assert path(tree) == "a c"
    tree.replace_all(branches("a", "a/b", "a"))
    assert path(tree) == "a"


def test_a_head_above_other_messages_keeps_them() -> None:
    tree = new_tree()
    tree.import_(branches("a", "a/b", "b/c", "a/d", head="b"))
    assert path(tree) == "a b"
    assert len(tree) == 4
    put(tree, "b/e")
    assert path(tree) == "a b e"
    check_invariants(tree)


def test_a_child_may_be_listed_before_its_parent() -> None:
    tree = new_tree()
    tree.import_(branches("c/d", "b/c", "a/b", "a/x", "a", head="d"))
    assert path(tree) == "a b c d"
    assert tree.children_of("a") == ("b", "x")


def test_a_child_listed_early_does_not_move_its_parent_before_older_siblings() -> None:
    tree = new_tree()
    tree.import_(branches("q", "s2/x", "q/s1", "q/s2"))
    assert tree.children_of("q") == ("s1", "s2")


def test_an_id_listed_twice_ends_where_its_last_entry_says() -> None:
    tree = new_tree()
    tree.import_(branches("a", "a/b", "a/c", "b/c"))
    assert path(tree) == "a b c"
    assert len(tree) == 3


def test_an_import_may_turn_stored_messages_upside_down() -> None:
    tree = new_tree("a", "a/b", "b/c")
    tree.import_(branches("c", "c/b", "b/a"))
    assert path(tree) == "c b a"
    check_invariants(tree)


def test_an_import_merges_and_an_empty_one_clears() -> None:
    tree = new_tree("a", "a/b")
    tree.import_(branches("a/c"))
    assert path(tree) == "a c"
    assert tree.branches_of("c") == ("b", "c")
    tree.import_(branches(head="b"))
    assert path(tree) == "a b"
    tree.import_(branches())
    assert len(tree) == 0


REFUSED = [
    (branches("x", "ghost/y"), ParentNotFoundError),
    (branches("x", head="ghost"), MessageNotFoundError),
    (branches("x", "x/x"), CycleError),
    (branches("y/x", "x/y"), CycleError),
    (branches("b/a"), CycleError),
    (branches("b/x", "x/a"), CycleError),
    (branches("c/x", "d/y", "x/a"), CycleError),
]


@pytest.mark.parametrize(("export", "error"), REFUSED)
def test_a_refused_import_changes_nothing(export: Export[Message], error: type[Exception]) -> None:
    tree = new_tree("a", "a/b", "b/c", "b/d")
    before, shown = tree.export(), tree.messages
    with pytest.raises(error):
        tree.import_(export)
    assert tree.export() == before
    assert tree.messages is shown
    check_invariants(tree)


def test_a_refused_replacement_of_everything_changes_nothing() -> None:
    tree = new_tree("a", "a/b")
    with pytest.raises(ParentNotFoundError):
        tree.replace_all(branches("a/c"))
    with pytest.raises(MessageNotFoundError):
        tree.replace_all(branches("c", head="b"))
    assert path(tree) == "a b"


SOME_IDS = st.sampled_from(["", "a", "b", "c", "d"])


def planned(export: Export[Message], nodes: dict) -> object:
    try:
        return _plan.plan_import(export, nodes)
    except PartwiseError as error:
        return type(error), str(error)


@given(st.lists(st.tuples(SOME_IDS, st.none() | SOME_IDS), max_size=6), st.none() | SOME_IDS)
@example([("a", None), ("b", "a"), ("c", "b"), ("d", "a")], None)
@example([("a", None), ("b", "a"), ("c", "b"), ("d", "a")], "c")
def test_an_export_in_order_is_taken_as_a_closer_look_would_take_it(links, head_id) -> None:
    export = Export(head_id, tuple(Entry(parent_id, Message(message_id)) for message_id, parent_id in links))
    nodes = new_tree("x", "x/b")._cells.nodes
    with mock.patch.object(_plan, "ids_in_order", return_value=None):
        expected = planned(export, nodes)
    assert planned(export, nodes) == expected
