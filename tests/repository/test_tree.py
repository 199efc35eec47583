"""The tree: what is visible after which operation, and what is refused."""

import pytest

from partwise.errors import CycleError, MessageNotFoundError, NotAllowedError, ParentNotFoundError
from partwise.repository import Place, Tree
from tests.repository._invariants import check_invariants
from tests.repository._messages import Message, new_tree, path, put


def test_a_chain_is_visible_from_the_root_to_the_last_message() -> None:
    tree = new_tree("a", "a/b", "b/c")
    assert path(tree) == "a b c"
    assert tree.head_id == "c"
    assert tree.get("c") == Place(Message("c"), "b", 2, visible=True)


def test_an_empty_tree_has_no_head_and_no_messages() -> None:
    tree = new_tree()
    assert (tree.head_id, tree.canonical_head_id, tree.messages, len(tree)) == (None, None, (), 0)
    assert tree.find("a") is None
    assert tree.children_of(None) == ()


def test_a_sibling_of_a_visible_message_stays_hidden_until_it_is_switched_to() -> None:
    tree = new_tree("a", "a/b", "b/c", "a/d")
    assert path(tree) == "a b c"
    assert tree.get("d") == Place(Message("d"), "a", 1, visible=False)
    assert tree.branches_of("b") == ("b", "d")
    tree.switch_to("d")
    assert path(tree) == "a d"


def test_an_update_keeps_the_order_of_siblings_and_the_choice_among_them() -> None:
    tree = new_tree("a", "a/b", "a/c", "a/d")
    tree.switch_to("c")
    put(tree, "a/b", "new")
    put(tree, "a/c", "new")
    assert tree.branches_of("b") == ("b", "c", "d")
    assert [message.text for message in tree.messages] == ["", "new"]


def test_the_path_is_one_object_until_something_on_it_changes() -> None:
    tree = new_tree("a", "a/b")
    before = tree.messages
    put(tree, "a/hidden")
    put(tree, "a/hidden", "new")
    assert tree.messages is before
    assert tree.path_to("b") is before
    put(tree, "a", "new")
    assert tree.messages is not before
    assert tree.messages[1] is before[1]


def test_the_branches_of_a_message_are_one_object_until_they_change() -> None:
    tree = new_tree("a", "a/b", "a/c")
    before = tree.branches_of("b")
    put(tree, "a/b", "new")
    assert tree.branches_of("c") is before
    put(tree, "a/d")
    assert tree.branches_of("c") == ("b", "c", "d")


def test_relinking_a_message_and_deleting_its_end_stays_on_the_branch() -> None:
    tree = new_tree("a", "a/m", "m/x", "b")
    put(tree, "b/m")
    assert path(tree) == "b m x"
    tree.delete("x")
    assert path(tree) == "b m"
    tree.switch_to("a")
    assert path(tree) == "a"
    tree.switch_to("b")
    assert path(tree) == "b m"
    check_invariants(tree)


def test_a_nested_choice_survives_the_selection_of_its_ancestor() -> None:
    tree = new_tree("r", "r/a", "a/x", "r/b", "b/y")
    tree.switch_to("y")
    assert path(tree) == "r b y"
    tree.switch_to("r")
    assert path(tree) == "r b y"


def test_switching_back_restores_the_choice_inside_the_branch() -> None:
    tree = new_tree("a", "a/b", "b/c", "b/d", "a/x")
    tree.switch_to("d")
    tree.switch_to("x")
    tree.switch_to("b")
    assert path(tree) == "a b d"


def test_a_hidden_message_that_moves_does_not_take_over_its_new_parent() -> None:
    tree = new_tree("a", "a/b", "b/c", "x", "x/y")
    put(tree, "b/y")
    assert path(tree) == "a b c"


def test_a_message_cannot_move_under_itself_or_its_descendants() -> None:
    tree = new_tree("a", "a/b", "b/c")
    for link in ("a/a", "c/a"):
        with pytest.raises(CycleError) as caught:
            put(tree, link, "new")
        assert (caught.value.message_id, caught.value.parent_id) == ("a", link[0])
    assert tree.messages == (Message("a"), Message("b"), Message("c"))


def test_an_unknown_parent_is_refused_and_nothing_is_stored() -> None:
    tree = new_tree("a")
    with pytest.raises(ParentNotFoundError, match="ghost") as caught:
        put(tree, "ghost/b")
    assert caught.value.id == "ghost"
    assert "b" not in tree
    with pytest.raises(ParentNotFoundError):
        put(tree, "ghost/a", "new")
    assert tree.messages == (Message("a"),)


def test_every_question_about_an_unknown_message_is_refused() -> None:
    tree = new_tree("a")
    asks = (tree.get, tree.path_to, tree.branches_of, tree.children_of, tree.switch_to, tree.reset_head, tree.delete)
    for ask in asks:
        with pytest.raises(MessageNotFoundError) as caught:
            ask("ghost")
        assert caught.value.id == "ghost"
    with pytest.raises(MessageNotFoundError):
        tree.delete("a", "ghost")
    assert path(tree) == "a"


def test_deleting_the_head_shows_its_last_sibling_or_its_parent() -> None:
    tree = new_tree("a", "a/b", "a/c", "a/d")
    tree.delete("b")
    assert path(tree) == "a d"
    tree.delete("d")
    tree.delete("c")
    assert path(tree) == "a"
    tree.delete("a")
    assert tree.head_id is None


def test_deleting_a_message_hands_its_children_up_behind_their_new_siblings() -> None:
    tree = new_tree("a", "a/b", "a/x", "b/c", "b/d")
    tree.delete("b")
    assert path(tree) == "a c"
    assert tree.branches_of("c") == ("x", "c", "d")


def test_deleting_with_a_replacement_moves_the_children_there() -> None:
    tree = new_tree("a", "a/b", "b/c", "x")
    tree.delete("b", "x")
    assert path(tree) == "x c"
    tree.delete("x", None)
    assert path(tree) == "c"
    assert tree.children_of(None) == ("a", "c")


@pytest.mark.parametrize("replacement", ["b", "c", "d"])
def test_a_replacement_at_or_below_the_message_is_refused_and_nothing_changes(replacement: str) -> None:
    tree = new_tree("a", "a/b", "b/c", "c/d")
    with pytest.raises(NotAllowedError, match="b") as caught:
        tree.delete("b", replacement)
    assert (caught.value.code, caught.value.id) == ("invalid-replacement", replacement)
    assert path(tree) == "a b c d"


def test_resetting_the_head_deletes_what_is_below_it_on_every_branch() -> None:
    tree = new_tree("a", "a/b", "b/c", "b/d", "d/e", "a/x")
    tree.reset_head("b")
    assert path(tree) == "a b"
    assert {message.id for message in tree} == {"a", "b", "x"}


def test_resetting_the_head_to_nothing_clears_the_tree() -> None:
    tree = new_tree("a", "a/b")
    tree.reset_head(None)
    assert (tree.head_id, len(tree)) == (None, 0)
    put(tree, "b")
    assert path(tree) == "b"


def test_a_stored_message_replaces_its_optimistic_stand_in() -> None:
    tree = new_tree("a")
    put(tree, "a/opt-1", optimistic=True)
    assert (tree.head_id, tree.canonical_head_id) == ("opt-1", "a")
    put(tree, "a/m-9")
    tree.reset_head("m-9")
    assert tree.branches_of("m-9") == ("m-9",)


def test_an_optimistic_message_that_is_left_hands_its_children_up() -> None:
    tree = new_tree("a")
    put(tree, "a/opt", optimistic=True)
    put(tree, "opt/c")
    put(tree, "a/x")
    tree.switch_to("x")
    assert "opt" not in tree
    assert tree.branches_of("x") == ("x", "c")
    check_invariants(tree)


def test_an_optimistic_message_on_the_new_path_stays() -> None:
    tree = new_tree("a")
    put(tree, "a/opt", optimistic=True)
    put(tree, "opt/c")
    put(tree, "opt/d")
    tree.switch_to("d")
    assert path(tree) == "a opt d"


def test_without_a_predicate_no_message_is_optimistic() -> None:
    tree: Tree[Message] = Tree()
    tree.put(None, Message("a", optimistic=True))
    assert tree.canonical_head_id == "a"


def test_all_messages_are_listed_in_the_order_in_which_they_came() -> None:
    tree = new_tree("b", "b/c", "a")
    put(tree, "a/b")
    assert [message.id for message in tree] == ["b", "c", "a"]
    assert "c" in tree
    assert "ghost" not in tree
