"""What a sidebar shows, and what wakes it."""

from __future__ import annotations

import anyio
import pytest

from partwise.errors import NotAllowedError
from partwise.primitives import ThreadListView
from partwise.reactive import record
from partwise.stream import TextDelta
from tests.runtimes.scenes import Script
from tests.runtimes.thread_list.scenes import Server, local, settled, stored, threads_of


async def test_a_list_shows_its_ids_and_wakes_only_when_a_row_comes_goes_or_moves() -> None:
    server = Server(stored("a"), stored("b"), stored("c", status="archived"), is_quick=True)
    async with threads_of(server) as threads:
        view = ThreadListView(threads)
        ids, archived = view.ids.pipe(record()), view.archived_ids.pipe(record())
        await threads.rename("a", "x")
        await threads.open("b")
        await threads.main.append("hello")
        await view.item("b").archive()

        assert ids.values == [("n1", "a", "b"), ("n1", "a")]
        assert archived.values == [("c",), ("b", "c")]


async def test_a_row_shows_what_goes_on_in_it_and_nothing_of_others() -> None:
    gate = anyio.Event()
    server = Server(stored("a"), stored("b"), is_quick=True)
    async with threads_of(server, local(Script([gate, TextDelta("ok")]))) as threads:
        view = ThreadListView(threads)
        item, other = view.item("a"), view.item("b")
        seen = [
            slice_.pipe(record()) for slice_ in (item.title, item.status, item.is_main, item.is_running, item.is_unread)
        ]
        of_other = [
            slice_.pipe(record()) for slice_ in (other.title, other.status, other.is_running, other.can_archive)
        ]
        await item.switch_to()
        operation = threads.main.append("hello")
        await settled()
        await view.new()
        gate.set()
        await operation
        await item.rename("x")
        await item.archive()
        await item.unarchive()

        assert [one.values for one in seen] == [
            ["A", "x"],
            ["regular", "archived", "regular"],
            [False, True, False],
            [False, True, False],
            [False, True],
        ]
        assert [len(one.values) for one in of_other] == [1, 1, 1, 1]
        await item.delete()
        assert seen[0].completed


async def test_what_a_row_can_do_follows_its_status() -> None:
    server = Server(stored("a"), stored("c", status="archived"), is_quick=True)
    async with threads_of(server) as threads:
        view = ThreadListView(threads)
        able = {
            id: (item.can_rename.value, item.can_archive.value, item.can_unarchive.value)
            for id in ("n1", "a", "c", "nowhere")
            for item in [view.item(id)]
        }
        assert able == {
            "n1": (False, False, False),
            "a": (True, True, False),
            "c": (True, False, True),
            "nowhere": (False, False, False),
        }
        with pytest.raises(NotAllowedError, match="'n1' is new"):
            view.item("n1").archive()


async def test_one_can_go_up_and_down_and_stops_at_the_ends() -> None:
    server = Server(stored("a"), stored("b"), is_quick=True)
    async with threads_of(server) as threads:
        view = ThreadListView(threads)
        main = view.main_id.pipe(record())
        for to in ("previous", "next", "next", "next", "previous"):
            await view.switch(to)

        assert main.values == ["n1", "a", "b", "a"]
        assert not view.is_new.value


async def test_more_can_be_asked_for_until_there_is_no_more() -> None:
    server = Server(*(stored(name) for name in "abc"), page_size=2)
    async with threads_of(server) as threads:
        view = ThreadListView(threads)
        can = view.can_load_more.pipe(record())
        more = view.load_more()
        await settled()
        server.call("list 2").succeed()
        await more

        assert can.values == [True, False]
        assert view.ids.value == ("n1", "a", "b", "c")
        assert not view.is_loading.value
