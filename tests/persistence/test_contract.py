"""What every history of this room does, in memory or in a file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import attrs
import pytest

from partwise.adapters import HistoryItem
from partwise.messages import AssistantMessage
from partwise.persistence import MemoryHistory, SqliteHistory
from tests.persistence.conversations import assistant, chain, item, tree

AnyHistory = MemoryHistory | SqliteHistory


@pytest.fixture(params=["memory", "sqlite"])
async def history(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[AnyHistory]:
    if request.param == "memory":
        yield MemoryHistory()
        return
    async with SqliteHistory(tmp_path / "chat.db", report=lambda problem: pytest.fail(str(problem))) as opened:
        yield opened


async def append(history: AnyHistory, *items: HistoryItem) -> None:
    for one in items:
        await history.append(one)


async def test_an_empty_history_loads_as_nothing(history: AnyHistory) -> None:
    assert await history.load() is None


async def test_what_was_appended_loads_in_order_with_its_parents_and_the_last_one_as_head(history: AnyHistory) -> None:
    items = chain("u1", "a1", "u2", "a2")
    await append(history, *items)

    loaded = await history.load()

    assert loaded is not None
    assert [entry.message for entry in loaded.entries] == [one.message for one in items]
    assert tree(loaded) == {"u1": None, "a1": "u1", "u2": "a1", "a2": "u2"}
    assert (loaded.head_id, loaded.resume) == ("a2", False)


async def test_importing_the_same_conversation_twice_keeps_it_once(history: AnyHistory) -> None:
    await append(history, *chain("u1", "a1", "u2", "a2"))
    await append(history, *chain("u1", "a1", "u2", "a2"))

    assert tree(await history.load()) == {"u1": None, "a1": "u1", "u2": "a1", "a2": "u2"}


async def test_appending_a_known_message_replaces_it_in_its_place(history: AnyHistory) -> None:
    await append(history, *chain("u1", "a1", "u2"))
    newer = assistant("a1", "better")
    await history.append(HistoryItem(parent_id="u1", message=newer))

    loaded = await history.load()

    assert loaded is not None
    assert loaded.entries[1].message == newer
    assert loaded.head_id == "u2"


async def test_an_update_replaces_and_an_update_of_something_unknown_adds(history: AnyHistory) -> None:
    await append(history, *chain("u1"))
    await history.update(HistoryItem(parent_id="u1", message=assistant("a1", "paused")))
    await history.update(HistoryItem(parent_id="u1", message=assistant("a1", "done")))

    loaded = await history.load()

    assert loaded is not None
    assert [entry.message for entry in loaded.entries][1:] == [assistant("a1", "done")]
    assert loaded.head_id == "a1"


async def test_deleting_gives_the_children_to_the_parent_that_the_item_names(history: AnyHistory) -> None:
    await append(history, *chain("u1", "a1", "u2", "a2"))
    await history.delete((item("a1", "u1"), item("u2", "a1")))

    loaded = await history.load()

    assert tree(loaded) == {"u1": None, "a2": "u1"}
    assert loaded is not None
    assert loaded.head_id == "a2"


async def test_deleting_the_head_shows_the_newest_leaf_of_its_parent(history: AnyHistory) -> None:
    await append(history, *chain("u1", "a1", "u2"), item("a2", "u1"), item("a3", "u1"))
    await history.set_head("a3")
    await history.delete((item("a3", "u1"),))

    loaded = await history.load()

    assert loaded is not None
    assert loaded.head_id == "a2"


async def test_deleting_everything_leaves_nothing(history: AnyHistory) -> None:
    await append(history, *chain("u1", "a1"))
    await history.delete(chain("u1", "a1"))

    assert await history.load() is None


async def test_deleting_nothing_or_something_unknown_changes_nothing(history: AnyHistory) -> None:
    await append(history, *chain("u1", "a1"))
    await history.delete(())
    await history.delete((item("a7", "u1"),))

    assert tree(await history.load()) == {"u1": None, "a1": "u1"}


async def test_items_that_name_each_other_as_parents_are_deleted_all_the_same(history: AnyHistory) -> None:
    await append(history, *chain("u1", "a1", "u2"))
    await history.delete((item("u1", "a1"), item("a1", "u1")))

    assert tree(await history.load()) == {"u2": None}


async def test_the_branch_that_was_set_is_shown_again(history: AnyHistory) -> None:
    await append(history, *chain("u1", "a1"), item("a2", "u1"))
    await history.set_head("a1")

    loaded = await history.load()

    assert loaded is not None
    assert loaded.head_id == "a1"


async def test_without_a_word_about_heads_the_last_new_message_is_shown(history: AnyHistory) -> None:
    await append(history, *chain("u1", "a1"), item("a2", "u1"))

    loaded = await history.load()

    assert loaded is not None
    assert loaded.head_id == "a2"


async def test_a_message_written_to_a_hidden_branch_leaves_the_shown_one_alone(history: AnyHistory) -> None:
    await append(history, *chain("u1", "a1"), item("a2", "u1"))
    await history.set_head("a1")
    await append(history, item("u3", "a2"))

    loaded = await history.load()

    assert loaded is not None
    assert loaded.head_id == "a1"


async def test_a_message_that_extends_the_shown_branch_becomes_its_end(history: AnyHistory) -> None:
    await append(history, *chain("u1", "a1"), item("a2", "u1"))
    await history.set_head("a1")
    await append(history, item("u2", "a1"))

    loaded = await history.load()

    assert loaded is not None
    assert loaded.head_id == "u2"


async def test_a_head_that_is_still_being_made_takes_over_once_it_is_stored(history: AnyHistory) -> None:
    await append(history, *chain("u1", "a1"))
    await history.set_head("a2")
    before = await history.load()
    await append(history, item("a2", "u1"))
    after = await history.load()

    assert before is not None
    assert after is not None
    assert (before.head_id, after.head_id) == ("a1", "a2")


async def test_a_child_stored_before_its_parent_finds_it(history: AnyHistory) -> None:
    await append(history, item("a1", "u1"), item("u1", None))

    assert tree(await history.load()) == {"a1": "u1", "u1": None}


async def test_a_loaded_message_is_as_good_as_the_one_that_was_stored(history: AnyHistory) -> None:
    odd = assistant("a1", "zéro \u0000 \ud83d half \U0001f600 \u2028 end\n")
    odd = attrs.evolve(odd, metadata=attrs.evolve(odd.metadata, custom={"deep": [1, None, {"x": 2.5}]}))
    await append(history, *chain("u1"), HistoryItem(parent_id="u1", message=odd))

    loaded = await history.load()

    assert loaded is not None
    assert isinstance(loaded.entries[1].message, AssistantMessage)
    assert loaded.entries[1].message == odd
