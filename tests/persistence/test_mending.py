from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from partwise.persistence import HistoryProblem
from partwise.persistence._mending import StoredMessage, mend
from tests.persistence.conversations import message, tree


def stored(id_: str, parent_id: str | None, *, readable: bool = True) -> StoredMessage:
    return StoredMessage(id=id_, parent_id=parent_id, message=message(id_) if readable else None)


def subjects(problems: tuple[HistoryProblem, ...]) -> list[str | None]:
    return [problem.message_id for problem in problems]


def test_a_whole_thread_comes_back_as_it_was() -> None:
    loaded, problems = mend([stored("u1", None), stored("a1", "u1"), stored("a2", "u1")], "a1", "t")

    assert tree(loaded) == {"u1": None, "a1": "u1", "a2": "u1"}
    assert loaded is not None
    assert loaded.head_id == "a1"
    assert problems == ()


def test_nothing_readable_is_nothing() -> None:
    assert mend([], None, "t") == (None, ())
    assert mend([stored("u1", None, readable=False)], "u1", "t") == (None, ())


def test_children_of_unreadable_messages_come_under_the_nearest_readable_ancestor() -> None:
    rows = [
        stored("u1", None),
        stored("a1", "u1", readable=False),
        stored("u2", "a1", readable=False),
        stored("a2", "u2"),
        stored("u3", "a1"),
    ]

    loaded, problems = mend(rows, "a2", "t")

    assert tree(loaded) == {"u1": None, "a2": "u1", "u3": "u1"}
    assert problems == ()


def test_a_child_of_an_unreadable_first_message_comes_to_the_root() -> None:
    loaded, _ = mend([stored("u1", None, readable=False), stored("a1", "u1")], "a1", "t")

    assert tree(loaded) == {"a1": None}


def test_a_message_whose_parent_is_not_stored_follows_the_one_stored_before_it() -> None:
    loaded, problems = mend([stored("u1", None), stored("u2", "a1"), stored("a2", "u2")], "a2", "t")

    assert tree(loaded) == {"u1": None, "u2": "u1", "a2": "u2"}
    assert subjects(problems) == ["u2"]
    assert "'a1'" in problems[0].what


def test_a_child_may_be_stored_before_its_parent() -> None:
    loaded, problems = mend([stored("a1", "u1"), stored("u1", None)], "a1", "t")

    assert tree(loaded) == {"a1": "u1", "u1": None}
    assert problems == ()


def test_a_circle_is_opened_where_it_was_stored_first() -> None:
    loaded, problems = mend([stored("u1", None), stored("a3", "u2"), stored("u2", "a2"), stored("a2", "u2")], "a3", "t")

    assert tree(loaded) == {"u1": None, "a3": "u2", "u2": "u1", "a2": "u2"}
    assert subjects(problems) == ["u2"]


def test_a_message_that_is_its_own_parent_is_kept() -> None:
    loaded, problems = mend([stored("u1", "u1"), stored("a1", "u1")], "a1", "t")

    assert tree(loaded) == {"u1": None, "a1": "u1"}
    assert "its own ancestor" in problems[0].what


def test_a_missing_head_gives_the_newest_leaf_and_a_report() -> None:
    rows = [stored("u1", None), stored("a1", "u1"), stored("u2", "a1"), stored("a2", "u1"), stored("a3", "u2")]

    for head_id in (None, "gone"):
        loaded, problems = mend(rows, head_id, "t")

        assert loaded is not None
        assert loaded.head_id == "a3"
        assert subjects(problems) == [head_id]


def test_an_unreadable_head_gives_the_newest_leaf_of_its_branch_without_another_report() -> None:
    rows = [
        stored("u1", None),
        stored("a1", "u1"),
        stored("u2", "a1"),
        stored("a2", "u2", readable=False),
        stored("u9", None),
    ]

    loaded, problems = mend(rows, "a2", "t")

    assert loaded is not None
    assert loaded.head_id == "u2"
    assert problems == ()


ids = st.sampled_from([f"u{n}" for n in range(8)])
rows = st.lists(st.tuples(ids, st.none() | ids, st.booleans()), max_size=8, unique_by=lambda row: row[0])


@given(rows=rows, head_id=st.none() | ids)
def test_whatever_is_stored_loads_as_one_tree_of_all_that_is_readable(
    rows: list[tuple[str, str | None, bool]], head_id: str | None
) -> None:
    readable = [id_ for id_, _, good in rows if good]

    loaded, _ = mend([stored(id_, parent, readable=good) for id_, parent, good in rows], head_id, "t")

    if not readable:
        assert loaded is None
        return
    parents = tree(loaded)
    assert list(parents) == readable
    assert loaded is not None
    assert loaded.head_id in parents
    for id_ in parents:
        steps = 0
        at: str | None = id_
        while at is not None:
            at = parents[at]
            steps += 1
            assert steps <= len(parents)


def test_ten_thousand_orphans_and_unreadables_cost_linear_time() -> None:
    def cost(size: int) -> int:
        rows = [stored(f"u{n}", f"x{n}" if n % 3 else f"u{n - 1}", readable=bool(n % 2)) for n in range(size)]
        calls = 0

        def count(*_: object) -> None:
            nonlocal calls
            calls += 1

        sys.setprofile(count)
        try:
            mend(rows, None, "t")
        finally:
            sys.setprofile(None)
        return calls

    assert cost(10_000) < 11 * cost(1_000)


def test_a_long_chain_needs_no_recursion() -> None:
    rows = [stored(f"u{n}", f"u{n - 1}" if n else None, readable=n == 0 or n > 15_000) for n in range(30_000)]

    loaded, problems = mend(rows, "u29999", "t")

    assert tree(loaded)["u15001"] == "u0"
    assert problems == ()
