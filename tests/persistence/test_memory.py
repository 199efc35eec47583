from __future__ import annotations

from partwise.persistence import MemoryHistory
from tests.persistence.conversations import chain, item


async def test_a_history_in_memory_can_start_filled() -> None:
    history = MemoryHistory(chain("u1", "a1", "u2"), head_id="a1")

    loaded = await history.load()

    assert loaded is not None
    assert loaded.head_id == "a1"
    assert MemoryHistory(chain("u1", "a1")).head_id == "a1"


async def test_what_it_holds_can_be_read_without_loading() -> None:
    history = MemoryHistory()
    await history.append(item("u1", None))

    assert history.items == (item("u1", None),)
