"""Known failures of thread lists, each as the script of operations that shows it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from partwise.adapters import HistoryItem, RunContext, ThreadPage
from partwise.errors import ThreadNotFoundError
from partwise.messages import message_text
from partwise.persistence import MemoryHistory, MemoryThreadList
from partwise.reactive import record
from partwise.runtimes import LocalRuntime, ThreadItem, ThreadListRuntime
from partwise.stream import TextDelta
from tests.runtimes.scenes import Script, question, shown, statuses, until
from tests.runtimes.thread_list.scenes import (
    Server,
    listed,
    local,
    quick_model,
    raised,
    settled,
    stored,
    threads_of,
)


async def test_a_thread_left_before_its_first_token_is_not_running_when_one_comes_back() -> None:
    gate = anyio.Event()
    server = Server(stored("b"), is_quick=True)
    async with threads_of(server, local(Script([gate, OSError("lost")], [TextDelta("ok")]))) as threads:
        operation = threads.main.append("hello")
        await settled()
        await threads.switch_to("b")
        gate.set()
        assert await raised(operation) is not None
        await threads.switch_to("n1")

        assert not threads.main.state.is_running
        assert not threads.row("n1").value.is_running
        assert statuses(threads.main) == ["incomplete/error"]
        await threads.main.append("again")
        assert statuses(threads.main) == ["incomplete/error", "complete/unknown"]


async def test_a_reload_and_a_switch_back_find_the_runtime_that_is_streaming() -> None:
    gate = anyio.Event()
    server, make = Server(stored("b"), is_quick=True), local(Script([TextDelta("a"), gate, TextDelta("b")]))
    async with threads_of(server, make) as threads:
        thread = threads.main
        operation = thread.append("hello")
        await settled()
        await threads.reload()
        await threads.switch_to("b")
        await threads.switch_to("r1")
        gate.set()
        await operation

        assert threads.main is thread
        assert shown(threads.main) == ["u:hello", "a:ab"]
        assert make.made == ["n1", "b"]


async def test_a_thread_that_is_deleted_while_a_switch_fetches_it_never_comes_into_view() -> None:
    server = Server()
    async with threads_of(server) as threads:
        server.threads["t"] = stored("t")
        switch = threads.switch_to("t")
        await settled()
        page = threads.reload()
        await settled()
        server.call("list").succeed()
        await page
        deletion = threads.delete("t")
        await settled()
        server.call("delete t").succeed()
        await deletion
        server.call("fetch t").succeed()
        error = await raised(switch)

        assert isinstance(error, ThreadNotFoundError)
        assert listed(threads) == ["+n1*"]
        assert shown(threads.main) == []


async def test_a_thread_that_is_deleted_while_it_is_being_opened_never_comes_into_view() -> None:
    gate = anyio.Event()

    @asynccontextmanager
    async def make(item: ThreadItem) -> AsyncIterator[LocalRuntime]:
        if item.id == "t":
            await gate.wait()
        async with LocalRuntime(quick_model) as runtime:
            yield runtime

    server = Server(stored("t"))
    async with threads_of(server, make) as threads:
        switch = threads.switch_to("t")
        await settled()
        deletion = threads.delete("t")
        gate.set()
        await settled()
        server.call("delete t").succeed()
        await deletion

        assert isinstance(await raised(switch), ThreadNotFoundError)
        assert listed(threads) == ["+n1*"]


async def test_a_new_list_can_be_used_at_once() -> None:
    async with ThreadListRuntime(local(), Server(is_quick=True)) as threads:
        texts = threads.follow(lambda thread: thread.select(lambda state: state.composer.text)).pipe(record())
        threads.main.composer.set_text("hello")
        operation = threads.main.composer.send()
        await operation

        assert texts.values == ["", "hello", ""]
        assert shown(threads.main) == ["u:hello", "a:ok"]


async def test_a_page_that_comes_late_reverts_nothing_that_happened_meanwhile() -> None:
    server = Server(stored("a"), stored("b"))
    async with threads_of(server) as threads:
        page = threads.reload()
        await settled()
        late = server.call("list")
        archived, deleted = threads.archive("a"), threads.delete("b")
        sent = threads.main.append("hello")
        for call in ("archive a", "delete b", "initialize n1"):
            await settled()
            server.call(call).succeed()
        for operation in (archived, deleted, sent):
            await operation
        late.succeed(page_from_before(server, "r1", "a", "b"))
        await page

        assert listed(threads) == ["n1*", "-A"]
        assert threads.row("n1").value.remote_id == "r1"
        assert threads.state.regular_ids == ("n1",)


def page_from_before(server: Server, *ids: str) -> Any:
    """A page as it was before anything happened, with the thread that was made meanwhile."""
    return ThreadPage(threads=[server.threads.get(id, stored(id)) if id == "r1" else stored(id) for id in ids])


async def test_a_page_that_lists_a_thread_before_its_making_is_confirmed_makes_no_second_one() -> None:
    server = Server()
    async with threads_of(server) as threads:
        sent = threads.main.append("hello")
        await settled()
        made = server.call("initialize n1")
        made.do()
        page = threads.reload()
        await settled()
        server.call("list").succeed()
        await page
        await threads.switch_to("r1")
        twin = threads.main
        made.succeed()
        await sent

        assert listed(threads) == ["n1*"]
        assert threads.state.main_id == "n1"
        assert threads.main is not twin
        assert shown(threads.main) == ["u:hello", "a:ok"]
        assert [row.id for row in threads.state.rows if row.is_live] == ["n1"]


async def test_a_listener_of_the_list_that_raises_is_reported_and_nobody_else_notices() -> None:
    errors: list[str] = []
    server = Server(stored("a"), is_quick=True)
    async with threads_of(server, on_error=lambda error, context: errors.append(str(error))) as threads:

        def raises(value: object) -> None:
            raise ValueError(f"listener of {type(value).__name__}")

        threads.row("a").subscribe(raises)
        threads.events.subscribe(raises)
        titles = threads.row("a").select(lambda row: row.title).pipe(record())
        await threads.rename("a", "x")
        await threads.rename("a", "y")
        threads._board.report("something")

        assert titles.values == ["A", "x", "y"]
        assert errors == ["listener of ThreadRow"] * 3 + ["listener of ThreadListReport"]


class Slow(MemoryHistory):
    """A history whose loads wait."""

    def __init__(self, *items: HistoryItem) -> None:
        super().__init__(items)
        self.gate = anyio.Event()
        self.loads = 0

    async def load(self) -> Any:
        self.loads += 1
        await self.gate.wait()
        return await super().load()


async def test_a_history_that_loads_late_stays_in_its_own_thread_and_is_loaded_once() -> None:
    history = Slow(HistoryItem(parent_id=None, message=question("u1", "from before")))

    def make(item: ThreadItem) -> LocalRuntime:
        return LocalRuntime(quick_model, history=history if item.id == "a" else None, initialize=item.initialize)

    async with threads_of(Server(stored("a"), stored("b"), is_quick=True), make) as threads:
        await threads.switch_to("a")
        await threads.switch_to("b")
        await threads.switch_to("a")
        sent = threads.main.append("meanwhile")
        await threads.switch_to("b")
        history.gate.set()
        await sent

        assert shown(threads.thread("a")) == ["u:from before", "u:meanwhile", "a:ok"]
        assert shown(threads.main) == []
        assert history.loads == 1


async def test_a_draft_and_a_send_on_its_way_stay_in_their_own_thread() -> None:
    server = Server()
    async with threads_of(server) as threads:
        first = threads.main
        first.composer.set_text("first")
        sent = first.composer.send()
        first.composer.set_text("second")
        await settled()
        await threads.switch_to_new()
        assert threads.main.state.composer.text == ""
        server.call("initialize n1").succeed()
        await sent

        assert shown(first) == ["u:first", "a:ok"]
        assert first.state.composer.text == "second"
        assert shown(threads.main) == []
        assert threads.row(threads.state.main_id or "").value.status == "new"


async def test_a_send_on_its_way_goes_with_the_thread_that_is_deleted() -> None:
    server = Server()
    asked: list[str] = []

    async def model(run: RunContext) -> AsyncIterator[TextDelta]:
        asked.append(message_text(run.messages[-1]))
        yield TextDelta("ok")

    async with threads_of(server, local(model)) as threads:
        threads.main.composer.set_text("first")
        sent = threads.main.composer.send()
        await settled()
        deletion = threads.delete("n1")
        await settled()
        server.call("initialize n1").succeed()
        await settled()
        server.call("delete r1").succeed()
        await deletion
        await raised(sent)

        assert server.threads == {}
        assert asked == []
        assert threads.state.regular_ids == ()
        assert threads.main.state.composer.text == ""


async def test_opening_a_stored_conversation_twice_holds_it_once() -> None:
    memory = MemoryThreadList([stored("a")])
    await memory.history("a").append(HistoryItem(parent_id=None, message=question("u1")))

    def make(item: ThreadItem) -> LocalRuntime:
        return LocalRuntime(quick_model, history=memory.history(item.id), initialize=item.initialize)

    async with threads_of(memory, make) as threads:
        for _ in range(2):
            await threads.switch_to("a")
            await until(lambda: not threads.main.state.is_loading)
            assert shown(threads.main) == ["u:u1"]
            await threads.close("a")


async def test_a_reconnect_keeps_the_runtime_of_a_thread_that_is_streaming_and_every_view_of_it() -> None:
    gate = anyio.Event()
    make = local(Script([TextDelta("a"), gate, TextDelta("b")]))
    async with threads_of(Server(stored("t"), is_quick=True), make) as threads:
        await threads.switch_to("t")
        thread = threads.main
        texts = threads.follow(
            lambda it: it.select(lambda state: message_text(state.messages[-1]) if state.messages else "")
        ).pipe(record())
        operation = thread.append("hello")
        await settled()
        await threads.exchange(Server(stored("t"), is_quick=True), make)
        await threads.switch_to("t")
        gate.set()
        await operation

        assert threads.main is thread
        assert make.made == ["n1", "t"]
        assert texts.values == ["", "hello", "", "a", "ab"]


async def test_a_reconnect_after_which_the_thread_is_gone_ends_its_run_and_stores_what_came() -> None:
    gate = anyio.Event()
    history = MemoryHistory()

    def make(item: ThreadItem) -> LocalRuntime:
        return LocalRuntime(Script([TextDelta("a"), gate]), history=history if item.id == "t" else None)

    async with threads_of(Server(stored("t"), is_quick=True), make) as threads:
        await threads.switch_to("t")
        await until(lambda: not threads.main.state.is_loading)
        orphan = threads.main
        operation = orphan.append("hello")
        await settled()
        await threads.exchange(Server(is_quick=True))
        await raised(operation)
        await settled()

        assert statuses(orphan) == ["incomplete/cancelled"]
        kept = await history.load()
        assert kept is not None
        assert [message_text(item.message) for item in kept.entries] == ["hello", "a"]
        assert shown(threads.main) == []


async def test_a_restart_under_a_running_stream_leaves_one_writer() -> None:
    gate = anyio.Event()
    make = local(Script([TextDelta("a"), gate, TextDelta("lost")], [TextDelta("new")]))
    async with threads_of(Server(stored("t"), is_quick=True), make) as threads:
        await threads.switch_to("t")
        orphan = threads.main
        operation = orphan.append("hello")
        await settled()
        await threads.restart("t")
        gate.set()
        await raised(operation)
        await threads.main.append("again")

        assert statuses(orphan) == ["incomplete/cancelled"]
        assert shown(threads.main) == ["u:again", "a:new"]
