"""Long chains: no recursion, and work that does not grow with the tree."""

import sys
from collections.abc import Callable

import pytest

from partwise.repository import Appended, Replaced, Tree, export_from_list
from tests.repository._messages import Message

LENGTH = 30_000


@pytest.fixture
def chain() -> Tree[Message]:
    tree: Tree[Message] = Tree(lambda message: message.optimistic)
    tree.replace_all(export_from_list([Message(f"m{i}") for i in range(LENGTH)]))
    return tree


def lines_run(action: Callable[[], object]) -> int:
    """How many lines of Python an action runs: a measure of work that is the same on every machine."""
    count = 0

    def trace(frame: object, event: str, argument: object) -> object:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


def test_an_import_ten_times_as_long_is_ten_times_the_work() -> None:
    short, long = (export_from_list([Message(f"m{i}") for i in range(length)]) for length in (100, 1_000))
    few = lines_run(lambda: Tree().replace_all(short))
    assert lines_run(lambda: Tree().replace_all(long)) <= 10 * few


def test_a_long_chain_grows_relinks_and_shrinks(chain: Tree[Message]) -> None:
    assert len(chain.messages) == LENGTH
    chain.put(None, Message("top"))
    chain.put("top", Message("m0"))
    assert len(chain.messages) == LENGTH + 1
    chain.delete("m15000")
    assert chain.get(f"m{LENGTH - 1}").index == LENGTH - 1
    export = chain.export()
    chain.replace_all(export)
    chain.switch_to("top")
    assert chain.export() == export
    chain.reset_head("m9")
    assert len(chain) == len(chain.messages) == 11


def test_a_long_chain_of_optimistic_messages_is_left_behind(chain: Tree[Message]) -> None:
    chain.clear()
    chain.put(None, Message("a"))
    above = "a"
    for i in range(LENGTH):
        chain.put(above, Message(f"opt{i}", optimistic=True))
        above = f"opt{i}"
    chain.put("a", Message("b"))
    assert chain.canonical_head_id == "a"
    chain.switch_to("b")
    assert [message.id for message in chain] == ["a", "b"]


def test_a_reversed_import_of_a_long_chain_is_sorted(chain: Tree[Message]) -> None:
    export = chain.export()
    chain.clear()
    chain.import_(type(export)(export.head_id, tuple(reversed(export.entries))))
    assert chain.export() == export


def test_a_token_costs_the_same_in_a_long_chain_and_in_a_short_one(chain: Tree[Message]) -> None:
    short: Tree[Message] = Tree(lambda message: message.optimistic)
    short.replace_all(export_from_list([Message("m0"), Message(f"m{LENGTH - 1}")]))
    last = f"m{LENGTH - 1}"
    costs: list[int] = []
    for tree, above in ((short, "m0"), (chain, f"m{LENGTH - 2}")):
        update, child = Message(last, "token"), Message("next")
        costs.append(lines_run(lambda tree=tree, above=above, update=update: tree.put(above, update)))
        costs.append(lines_run(lambda tree=tree, child=child: tree.put(last, child)))
    assert costs[:2] == costs[2:]
    assert max(costs) < 60
    assert isinstance(chain.put(last, Message("next", "token")), Replaced)
    assert isinstance(chain.put("next", Message("after")), Appended)


def test_a_switch_at_the_tail_does_not_walk_the_whole_path(chain: Tree[Message]) -> None:
    chain.put(f"m{LENGTH - 2}", Message("other"))
    assert lines_run(lambda: chain.switch_to("other")) < 120
    assert lines_run(lambda: chain.delete("other")) < 120


def test_import_and_export_cost_grows_with_the_number_of_messages() -> None:
    costs: list[int] = []
    for length in (1_000, 2_000):
        tree: Tree[Message] = Tree(lambda message: message.optimistic)
        export = export_from_list([Message(f"m{i}", optimistic=i % 3 == 0) for i in range(length)])
        costs.append(lines_run(lambda tree=tree, export=export: tree.import_(export)) + lines_run(tree.export))
    assert costs[1] < costs[0] * 2.1
