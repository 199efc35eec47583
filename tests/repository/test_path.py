"""What an operation tells about the visible path."""

from partwise.repository import Appended, Entry, Export, Rebuilt, Replaced, Unchanged, export_from_list
from tests.repository._messages import Message, new_tree, put


def test_an_update_of_a_visible_message_tells_its_position() -> None:
    tree = new_tree("a", "a/b", "b/c")
    assert put(tree, "a/b", "new") == Replaced(1, Message("b", "new"))
    assert put(tree, "a/b", "new").branched == ()


def test_the_same_object_put_again_changes_nothing() -> None:
    tree = new_tree("a")
    assert tree.put(None, tree.messages[0]) == Unchanged()


def test_a_message_at_the_tail_is_appended() -> None:
    tree = new_tree("a")
    assert put(tree, "a/b") == Appended(Message("b"))


def test_a_hidden_message_names_the_visible_one_whose_alternatives_changed() -> None:
    tree = new_tree("a", "a/b", "b/c")
    assert put(tree, "a/x") == Unchanged(("b",))
    assert put(tree, "y") == Unchanged(("a",))
    assert put(tree, "y/z") == Unchanged()
    assert put(tree, "y/z", "new") == Unchanged()
    assert tree.delete("x") == Unchanged(("b",))


def test_a_switch_keeps_what_is_above_the_branch() -> None:
    tree = new_tree("a", "a/b", "b/c", "b/d")
    assert tree.switch_to("d") == Rebuilt(2, (Message("d"),))
    assert tree.switch_to("d") == Unchanged()


def test_a_reset_to_the_last_message_changes_nothing() -> None:
    tree = new_tree("a", "a/b")
    assert tree.reset_head("b") == Unchanged()
    assert tree.reset_head("a") == Rebuilt(1, ())


def test_a_deleted_message_leaves_the_path_and_what_follows_moves_up() -> None:
    tree = new_tree("a", "a/b", "b/c", "a/x")
    assert tree.delete("b") == Rebuilt(1, (Message("c"),))
    assert tree.delete("a") == Rebuilt(0, (Message("c"),))


def test_a_relinked_message_brings_the_path_below_it_along() -> None:
    tree = new_tree("a", "a/b", "b/c", "a/x")
    assert put(tree, "x/b", "new") == Rebuilt(1, (Message("x"), Message("b", "new"), Message("c")))


def test_an_import_of_what_is_there_changes_nothing() -> None:
    tree = new_tree("a", "a/b")
    export = tree.export()
    assert tree.import_(export) == Unchanged()
    assert tree.import_(export_from_list([*tree.messages, Message("c")])) == Appended(Message("c"), ())
    assert tree.clear() == Rebuilt(0, ())
    assert tree.clear() == Unchanged()


def test_an_import_that_updates_a_visible_message_rebuilds_from_there() -> None:
    tree = new_tree("a", "a/b", "b/c")
    export = export_from_list([tree.messages[0], Message("b", "new"), tree.messages[2]])
    assert tree.import_(export) == Rebuilt(1, (Message("b", "new"), Message("c")))


def test_an_import_beside_the_path_names_the_visible_message_whose_alternatives_changed() -> None:
    tree = new_tree("a", "a/b", "b/c")
    assert tree.import_(Export("c", (Entry("a", Message("x")),))) == Unchanged(("b",))
