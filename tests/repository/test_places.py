"""Showing a message without what is below it, cutting branches off, and giving a message its final id."""

import pytest

from partwise.errors import MessageNotFoundError, NotAllowedError
from partwise.repository import Rebuilt, Tree, Unchanged
from tests.repository._invariants import Mirror, check_invariants
from tests.repository._messages import Message, new_tree


def mirror_of(tree: Tree[Message]) -> Mirror:
    mirror = Mirror(tree)
    mirror.apply(Rebuilt(0, tree.messages))
    return mirror


def ids(tree: Tree[Message]) -> list[str]:
    return [message.id for message in tree.messages]


def test_showing_a_message_hides_what_is_below_it_and_deletes_nothing() -> None:
    tree = new_tree("a", "a/b", "b/c", "a/x")
    mirror = mirror_of(tree)
    mirror.apply(tree.show("b"))
    assert ids(tree) == ["a", "b"]
    assert {message.id for message in tree} == {"a", "b", "c", "x"}
    mirror.apply(tree.put("b", Message("d")))
    assert ids(tree) == ["a", "b", "d"]
    mirror.apply(tree.show("x"))
    assert ids(tree) == ["a", "x"]
    assert tree.show("x") == Unchanged()


def test_pruning_keeps_the_branches_that_it_is_told_to() -> None:
    tree = new_tree("a", "a/b", "b/c", "a/x", "x/y", "a/z")
    tree.switch_to("y")
    mirror = mirror_of(tree)
    mirror.apply(tree.prune("a", {"b"}))
    assert (ids(tree), tree.children_of("a")) == (["a"], ("b",))
    check_invariants(tree)
    mirror.apply(tree.prune(None))
    assert (ids(tree), len(tree)) == ([], 0)


def test_pruning_beside_the_visible_branch_tells_whose_alternatives_changed() -> None:
    tree = new_tree("a", "a/b", "b/c", "a/x")
    assert tree.prune("a", {"b"}) == Unchanged(("b",))
    assert ids(tree) == ["a", "b", "c"]


def test_a_renamed_message_keeps_its_place_and_what_is_below_it() -> None:
    tree = new_tree("a", "a/x", "a/b", "b/c", "a/z")
    tree.switch_to("c")
    change = tree.rename("b", Message("b2"))
    assert change == Rebuilt(1, (Message("b2"), Message("c")))
    assert tree.branches_of("b2") == ("x", "b2", "z")
    assert tree.find("b") is None
    assert tree.get("c").parent_id == "b2"
    assert tree.rename("z", Message("z2")) == Unchanged(("b2",))
    check_invariants(tree)


def test_a_message_cannot_take_an_id_that_is_taken_nor_be_one_that_is_not_there() -> None:
    tree = new_tree("a", "a/b")
    with pytest.raises(NotAllowedError) as caught:
        tree.rename("a", Message("b"))
    assert caught.value.code == "id-taken"
    for ask in (tree.show, tree.prune, lambda message_id: tree.rename(message_id, Message("n"))):
        with pytest.raises(MessageNotFoundError):
            ask("ghost")
    assert ids(tree) == ["a", "b"]
