"""One thread is in view; switching moves a pointer, the last request wins, and the others go on living."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from partwise.adapters import HistoryItem
from partwise.errors import RuntimeClosedError, ThreadListError, ThreadNotFoundError, ThreadNotOpenError
from partwise.messages import message_text
from partwise.persistence import MemoryThreadList
from partwise.reactive import record
from partwise.runtimes import LocalRuntime, ThreadItem, ThreadListRuntime
from partwise.stream import TextDelta
from tests.runtimes.scenes import Script, chain, question, shown, until
from tests.runtimes.thread_list.scenes import (
    Server,
    heard,
    listed,
    local,
    quick_model,
    raised,
    settled,
    stored,
    threads_of,
)


async def test_a_list_begins_with_a_new_thread_that_can_be_used_at_once() -> None:
    async with ThreadListRuntime(local(), Server()) as threads:
        assert len(threads.state.new_ids) == 1
        assert threads.state.main_id == threads.state.new_ids[0]
        threads.main.composer.set_text("hello")
        assert threads.main.state.composer.text == "hello"


async def test_a_list_may_begin_with_a_thread_that_is_stored() -> None:
    server = Server(stored("a"), is_quick=True)
    async with threads_of(server, start_id="a", loads=False) as threads:
        assert listed(threads) == ["A*"]
        assert server.texts == ["fetch a"]


@pytest.mark.parametrize("trouble", ["unknown", "offline", "closed"])
async def test_a_list_that_cannot_begin_says_why_and_leaves_nothing_open(trouble: str) -> None:
    class Offline(Server):
        async def fetch(self, thread_id: str) -> Any:
            raise OSError("offline")

    def refuse(item: ThreadItem) -> LocalRuntime:
        raise OSError("no room")

    server = (Offline if trouble == "offline" else Server)(stored("a"), is_quick=True)
    make = refuse if trouble == "closed" else local()
    start_id = "x" if trouble == "unknown" else "a"
    expected = {"unknown": ThreadNotFoundError, "offline": ThreadListError, "closed": ThreadNotOpenError}[trouble]

    threads = ThreadListRuntime(make, server, start_id=start_id)
    with pytest.raises(expected):
        async with threads:
            raise AssertionError
    with pytest.raises(RuntimeClosedError):
        threads.load()


async def test_switching_moves_the_pointer_and_opens_each_thread_once() -> None:
    make = local()
    async with threads_of(Server(stored("a"), stored("b")), make) as threads:
        main = threads.select(lambda state: state.main_id).pipe(record())
        await threads.switch_to("a")
        await threads.switch_to("b")
        threads.switch_to("a")  # it is open already: at once

        assert listed(threads) == ["+n1", "A*", "B"]
        assert main.values == ["n1", "a", "b", "a"]
        assert make.made == ["n1", "a", "b"]


async def test_the_old_thread_stays_in_view_until_the_new_one_is_open() -> None:
    gate = anyio.Event()

    @asynccontextmanager
    async def slowly(item: ThreadItem) -> AsyncIterator[LocalRuntime]:
        if item.id == "a":
            await gate.wait()
        async with LocalRuntime(quick_model) as runtime:
            yield runtime

    async with threads_of(Server(stored("a")), slowly) as threads:
        operation = threads.switch_to("a")
        await settled()
        assert listed(threads) == ["+n1*", "A"]
        threads.main.composer.set_text("still here")

        gate.set()
        await operation

        assert listed(threads) == ["+n1", "A*"]
        assert threads.main.state.composer.text == ""


async def test_the_last_of_two_switches_wins_in_whatever_order_they_end() -> None:
    server = Server()
    async with threads_of(server) as threads:
        server.threads = {"x": stored("x"), "y": stored("y")}
        main = threads.select(lambda state: state.main_id).pipe(record())
        first, second = threads.switch_to("x"), threads.switch_to("y")
        await settled()
        server.call("fetch y").succeed()
        await second
        server.call("fetch x").succeed()
        await first

        assert main.values == ["n1", "y"]
        assert listed(threads) == ["+n1", "Y*", "X"]


async def test_a_thread_that_is_asked_for_twice_is_fetched_and_opened_once() -> None:
    server, make = Server(), local()
    async with threads_of(server, make) as threads:
        server.threads["x"] = stored("x")
        operations = [threads.switch_to("x"), threads.switch_to("x")]
        await settled()
        server.call("fetch x").succeed()
        for operation in operations:
            await operation

        assert server.texts == ["list", "fetch x"]
        assert make.made == ["n1", "x"]
        assert listed(threads) == ["+n1", "X*"]


@pytest.mark.parametrize("trouble", ["offline", "unknown"])
async def test_a_fetch_that_fails_leaves_the_view_as_it_is(trouble: str) -> None:
    server = Server(stored("a"))
    async with threads_of(server) as threads:
        operation = threads.switch_to("x")
        await settled()
        if trouble == "offline":
            server.call("fetch x").fail()
        else:
            server.call("fetch x").succeed()
        error = await raised(operation)

        assert isinstance(error, ThreadListError if trouble == "offline" else ThreadNotFoundError)
        assert listed(threads) == ["+n1*", "A"]
        await threads.switch_to("a")
        assert listed(threads) == ["+n1", "A*"]


async def test_a_fetched_thread_that_a_page_listed_meanwhile_keeps_its_place_unless_its_status_says_otherwise() -> None:
    server = Server(*(stored(name) for name in "abc"))
    async with threads_of(server, loads=False) as threads:
        switch = threads.switch_to("a")
        fetch_b = threads._loading.fetch("b")
        await settled()
        page = threads.load()
        await settled()
        server.call("list").succeed()
        await page
        server.call("fetch a").succeed()
        server.call("fetch b").succeed(stored("b", status="archived"))
        await switch
        await fetch_b

        assert listed(threads) == ["+n1", "A*", "C", "-B"]


async def test_a_thread_that_was_put_away_is_taken_back_when_it_comes_into_view() -> None:
    server = Server(stored("c", status="archived"))
    async with threads_of(server) as threads:
        await threads.switch_to("c", unarchive=False)
        assert listed(threads) == ["+n1", "-C*"]
        threads.switch_to("c")
        assert listed(threads) == ["+n1", "C*"]
        await settled()
        server.call("unarchive c").fail()
        await settled()

        # It is no regular thread after all, so it does not stay in view.
        assert listed(threads) == ["+n1*", "-C"]


async def test_a_new_thread_is_used_again_until_it_has_a_message() -> None:
    server = Server(is_quick=True)
    async with threads_of(server) as threads:
        await threads.switch_to_new()
        assert listed(threads) == ["+n1*"]
        await threads.main.append("hello")
        await threads.switch_to_new()

        assert len(threads.state.new_ids) == 1
        assert threads.state.new_ids != ("n1",)
        assert threads.state.regular_ids == ("n1",)


async def test_a_second_new_thread_while_the_first_is_being_made_is_another_one() -> None:
    server = Server()
    async with threads_of(server) as threads:
        first = threads.main
        sent = first.append("hello")
        await settled()
        await threads.switch_to_new()
        second_id = threads.state.main_id
        threads.main.composer.set_text("other")
        assert threads.state.regular_ids == ("n1",)
        assert threads.state.new_ids == (second_id,)

        server.call("initialize n1").fail()
        await raised(sent)

        # Nothing was typed in vain: both are new threads now, each with its own draft.
        assert threads.state.new_ids == (second_id, "n1")
        assert threads.main.state.composer.text == "other"
        assert threads.thread("n1").state.messages.keys() == ()


async def test_the_first_message_makes_the_thread_once_and_keeps_its_id() -> None:
    server = Server(stored("a"))
    async with threads_of(server) as threads:
        rows = threads.row("n1").select(lambda row: (row.status, row.remote_id)).pipe(record())
        remote = threads.select(lambda state: state.rows.by_key(state.main_id or "").remote_id).pipe(record())
        thread = threads.main
        first = thread.append("hello")
        second = thread.append("again")
        assert listed(threads) == ["n1*", "A"]
        await settled()
        assert [call.text for call in server.open_calls] == ["initialize n1"]
        server.call("initialize n1").succeed()
        await first
        await second

        assert rows.values == [("new", None), ("regular", None), ("regular", "r1")]
        assert remote.values == [None, "r1"]
        assert threads.row("n1").value.remote_id == "r1"
        assert threads.initialize("n1") is None
        assert threads.initialize("r1") is None
        assert server.texts == ["list", "initialize n1"]


async def test_a_thread_that_could_not_be_made_is_new_again_and_the_next_message_tries_again() -> None:
    server = Server()
    async with threads_of(server) as threads:
        composer = threads.main.composer
        composer.set_text("hello")
        operation = composer.send()
        await settled()
        server.call("initialize n1").fail()
        assert await raised(operation) is not None
        await settled()
        assert listed(threads) == ["+n1*"]
        assert (threads.main.state.composer.text, len(threads.main.state.messages)) == ("hello", 0)

        again = composer.send()
        await settled()
        server.call("initialize n1").succeed()
        await again

        assert [message_text(message) for message in threads.main.state.messages] == ["hello", "ok"]
        assert listed(threads) == ["n1*"]


async def test_a_runtime_that_cannot_be_opened_leaves_the_view_and_is_told() -> None:
    def make(item: ThreadItem) -> LocalRuntime:
        if item.id == "a":
            raise OSError("no room")
        return LocalRuntime(quick_model)

    async with threads_of(Server(stored("a")), make) as threads:
        events = heard(threads)
        error = await raised(threads.switch_to("a"))

        assert isinstance(error, ThreadNotOpenError)
        assert "'a' is not open: its runtime could not be opened: no room" in str(error)
        assert events == ["open a: no room"]
        assert listed(threads) == ["+n1*", "A"]
        assert threads.main.state.messages.keys() == ()


async def test_a_runtime_that_ends_by_itself_makes_room_for_a_new_thread() -> None:
    broken = anyio.Event()

    @asynccontextmanager
    async def make(item: ThreadItem) -> AsyncIterator[LocalRuntime]:
        async with LocalRuntime(quick_model) as runtime, anyio.create_task_group() as tasks:
            if item.id == "a":

                async def breaks() -> None:
                    await broken.wait()
                    raise OSError("lost")

                tasks.start_soon(breaks)
            yield runtime

    async with threads_of(Server(stored("a")), make) as threads:
        events = heard(threads)
        await threads.switch_to("a")
        broken.set()
        await until(lambda: threads.state.main_id == "n1")

        assert listed(threads) == ["+n1*", "A"]
        assert not threads.row("a").value.is_live
        assert len(events) == 1
        assert events[0].startswith("run a: ")
        assert await raised(threads.open("a")) is None


@pytest.mark.parametrize("act", ["delete", "archive", "close"])
async def test_what_is_in_view_makes_room_before_it_goes(act: str) -> None:
    server = Server(stored("a"), stored("b"), is_quick=True)
    async with threads_of(server) as threads:
        await threads.switch_to("a")
        main = threads.select(lambda state: (state.main_id, state.regular_ids, state.archived_ids)).pipe(record())
        await getattr(threads, act)("a")

        regular, archived = {"delete": (("b",), ()), "archive": (("b",), ("a",)), "close": (("a", "b"), ())}[act]
        steps = [("a", ("a", "b"), ()), ("n1", ("a", "b"), ()), ("n1", regular, archived)]
        assert main.values == (steps if act != "close" else steps[:2])
        assert threads.main.state.messages.keys() == ()


async def test_a_deletion_that_fails_brings_the_thread_back_but_not_into_view() -> None:
    server = Server(stored("a"))
    async with threads_of(server) as threads:
        await threads.switch_to("a")
        operation = threads.delete("a")
        await settled()
        assert listed(threads) == ["+n1*"]
        server.call("delete a").fail()
        assert await raised(operation) is not None

        assert listed(threads) == ["+n1*", "A"]
        await threads.switch_to("a")
        assert listed(threads) == ["+n1", "A*"]


async def test_deleting_what_is_in_view_waits_for_a_switch_that_is_under_way() -> None:
    server = Server(stored("a"))
    async with threads_of(server) as threads:
        await threads.switch_to("a")
        server.threads["x"] = stored("x")
        switch = threads.switch_to("x")
        deletion = threads.delete("a")
        await settled()
        assert [call.text for call in server.open_calls] == ["fetch x"]
        server.call("fetch x").succeed()
        await switch
        await settled()
        server.call("delete a").succeed()
        await deletion

        assert listed(threads) == ["+n1", "X*"]


async def test_deleting_what_is_in_view_goes_on_when_the_switch_it_waited_for_fails() -> None:
    server = Server(stored("a"))
    async with threads_of(server) as threads:
        await threads.switch_to("a")
        switches = [threads.switch_to("x"), threads.switch_to("y")]
        deletion = threads.delete("a")
        await settled()
        server.call("fetch x").fail()
        await settled()
        server.call("fetch y").fail()
        for switch in switches:
            await raised(switch)
        await settled()
        server.call("delete a").succeed()
        await deletion

        assert listed(threads) == ["+n1*"]


async def test_a_thread_in_view_stays_when_no_new_one_can_be_opened() -> None:
    is_full = False

    def make(item: ThreadItem) -> LocalRuntime:
        if is_full:
            raise OSError("no room")
        return LocalRuntime(quick_model, initialize=item.initialize)

    server = Server(stored("a"), is_quick=True)
    async with threads_of(server, make, start_id="a") as threads:
        is_full = True
        error = await raised(threads.delete("a"))

        assert isinstance(error, ThreadNotOpenError)
        assert threads.state.main_id == "a"
        assert "delete a" not in server.texts


async def test_a_new_thread_can_be_thrown_away_and_another_one_takes_its_place() -> None:
    server = Server()
    async with threads_of(server) as threads:
        await threads.delete("n1")

        assert len(threads.state.new_ids) == 1
        assert threads.state.main_id == threads.state.new_ids[0] != "n1"
        assert server.texts == ["list"]


async def test_what_is_followed_moves_with_the_view() -> None:
    server = Server(stored("a"), is_quick=True)
    async with threads_of(server, local(messages=["from before"])) as threads:
        counts = threads.follow(lambda thread: thread.select(lambda state: len(state.messages))).pipe(record())
        events = threads.follow(lambda thread: thread.events).pipe(record())
        old = threads.main
        await old.append("hello")
        assert counts.values == [1, 2, 3]
        await threads.switch_to("a")
        await threads.rename("a", "x")
        assert counts.values == [1, 2, 3, 1]
        before = len(events.values)
        await old.append("unseen")
        assert (counts.values, len(events.values)) == ([1, 2, 3, 1], before)
        await threads.main.append("seen")

        assert counts.values == [1, 2, 3, 1, 2, 3]
        assert [event.type for event in events.values[before:]] == ["initialize", "run_start", "run_end"]


async def test_drafts_and_messages_belong_to_their_thread() -> None:
    memory = MemoryThreadList()
    async with threads_of(memory) as threads:
        threads.main.composer.set_text("draft of n1")
        await memory.initialize("a")
        await threads.switch_to("a")
        threads.main.composer.set_text("draft of a")
        await threads.main.append("hello")

        assert threads.thread("n1").state.composer.text == "draft of n1"
        assert shown(threads.thread("n1")) == []
        assert shown(threads.main) == ["u:hello", "a:ok"]
        assert threads.main.state.composer.text == "draft of a"


async def test_a_run_goes_on_in_the_background_and_its_row_tells() -> None:
    gate = anyio.Event()
    server = Server(stored("a"), is_quick=True)
    make = local(Script([TextDelta("par"), gate, TextDelta("tial")]))
    async with threads_of(server, make) as threads:
        row = threads.row("n1").select(lambda row: (row.is_running, row.is_unread)).pipe(record())
        running = threads.main.append("hello")
        await settled()
        await threads.switch_to("a")
        gate.set()
        await running
        assert shown(threads.thread("n1"))[-1] == "a:partial"
        assert row.values == [(False, False), (True, False), (False, True)]
        await threads.switch_to("n1")

        assert row.values[3:] == [(False, False)]
        threads.set_unread("n1", True)
        assert threads.row("n1").value.is_unread


async def test_tokens_of_a_background_thread_reach_nobody_who_looks_at_the_list() -> None:
    steps = [TextDelta(str(number)) for number in range(500)]
    server = Server(*(stored(f"t{number}") for number in range(200)), page_size=200, is_quick=True)
    async with threads_of(server, local(Script(steps))) as threads:
        await threads.open("t7")
        whole = threads.select(lambda state: state).pipe(record())
        other = threads.row("t8").pipe(record())
        commits = threads._board.store.statistics().commits
        await threads.thread("t7").append("go")

        assert len(whole.values) == 3  # now, running, not running
        assert threads._board.store.statistics().commits - commits == 2
        assert len(other.values) == 1


async def test_closing_a_thread_stores_what_runs_there_and_a_reopened_one_has_it() -> None:
    memory = MemoryThreadList()
    opened: list[str] = []

    def make(item: ThreadItem) -> LocalRuntime:
        opened.append(item.id)
        model = Script([TextDelta("half"), anyio.Event()])
        return LocalRuntime(model, history=memory.history(item.id), initialize=item.initialize)

    async with threads_of(memory, make) as threads:
        running = threads.main.append("hello")
        await settled()
        assert threads.row("n1").value.is_running
        first = threads.main
        closed = threads.close("n1")
        await closed
        assert running.is_done
        row = threads.row("n1").value
        assert (row.is_live, row.is_running, row.status) == (False, False, "regular")
        with pytest.raises(ThreadNotOpenError, match="'n1' is not open"):
            threads.thread("n1")
        await threads.switch_to("n1")
        await until(lambda: not threads.main.state.is_loading)

        assert threads.main is not first
        assert shown(threads.main) == ["u:hello", "a:half"]
        assert opened.count("n1") == 2


async def test_closing_and_opening_in_one_turn_gives_a_new_runtime_after_the_old_one_has_ended() -> None:
    order: list[str] = []

    @asynccontextmanager
    async def make(item: ThreadItem) -> AsyncIterator[LocalRuntime]:
        order.append(f"open {item.id}")
        async with LocalRuntime(quick_model) as runtime:
            yield runtime
        order.append(f"closed {item.id}")

    async with threads_of(Server(stored("a")), make) as threads:
        await threads.open("a")
        first = threads.thread("a")
        closed, opened = threads.close("a"), threads.open("a")
        await opened
        await closed

        assert threads.thread("a") is not first
        assert order == ["open n1", "open a", "closed a", "open a"]


async def test_the_oldest_idle_threads_are_closed_beyond_those_that_are_kept() -> None:
    gate = anyio.Event()
    server = Server(*(stored(name) for name in "abcdef"), is_quick=True)
    async with threads_of(server, local(Script([gate, TextDelta("x")])), keep_alive=1) as threads:
        await threads.switch_to("a")
        running = threads.main.append("hello")
        await threads.switch_to("b")
        threads.main.composer.set_text("unsent")
        for name in "cdef":
            await threads.switch_to(name)
        live = [row.id for row in threads.state.rows if row.is_live]
        assert live == ["a", "b", "e", "f"]  # running, unsent, kept, in view

        gate.set()
        await running
        await threads.switch_to("e")
        await settled()

        assert [row.id for row in threads.state.rows if row.is_live] == ["b", "e", "f"]


async def test_the_history_of_a_thread_is_loaded_when_it_opens_and_stays_where_it_belongs() -> None:
    memory = MemoryThreadList([stored("a"), stored("b")])
    for name in ("a", "b"):
        for place in chain(question(f"u-{name}")).entries:
            await memory.history(name).append(HistoryItem(parent_id=None, message=place.message))

    def make(item: ThreadItem) -> LocalRuntime:
        return LocalRuntime(quick_model, history=memory.history(item.id), initialize=item.initialize)

    async with threads_of(memory, make) as threads:
        await threads.switch_to("a")
        await threads.switch_to("b")
        await settled()

        assert shown(threads.thread("a")) == ["u:u-a"]
        assert shown(threads.thread("b")) == ["u:u-b"]
        assert shown(threads.thread("n1")) == []


async def test_leaving_closes_every_thread_and_completes_every_slice() -> None:
    closed: list[str] = []

    @asynccontextmanager
    async def make(item: ThreadItem) -> AsyncIterator[LocalRuntime]:
        try:
            async with LocalRuntime(quick_model) as runtime:
                yield runtime
        finally:
            closed.append(item.id)

    async with threads_of(Server(stored("a"), stored("b")), make) as threads:
        await threads.switch_to("a")
        await threads.open("b")
        ids = threads.select(lambda state: state.main_id).pipe(record())

    assert sorted(closed) == ["a", "b", "n1"]
    assert ids.completed


async def test_a_cancelled_block_closes_everything_too() -> None:
    closed: list[str] = []

    @asynccontextmanager
    async def make(item: ThreadItem) -> AsyncIterator[LocalRuntime]:
        try:
            async with LocalRuntime(quick_model) as runtime:
                yield runtime
        finally:
            closed.append(item.id)

    with anyio.CancelScope() as scope:
        async with ThreadListRuntime(make, Server(stored("a"))) as threads:
            threads.load()
            await settled()
            scope.cancel()
            await anyio.sleep_forever()

    assert len(closed) == 1


async def test_what_the_block_raises_leaves_as_it_is() -> None:
    with pytest.raises(KeyError, match="mine"):
        async with ThreadListRuntime(local(), Server()):
            raise KeyError("mine")
