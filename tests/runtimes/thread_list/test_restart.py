"""The runtime of a thread begins anew: what was before it is over, and the thread stays where it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from partwise.adapters import HistoryItem
from partwise.errors import PartwiseError, RuntimeClosedError, ThreadNotOpenError
from partwise.persistence import MemoryHistory, MemoryThreadList
from partwise.reactive import record
from partwise.runtimes import ExternalStoreRuntime, LocalRuntime, ThreadItem
from partwise.store import Quote
from partwise.stream import TextDelta
from tests.runtimes.scenes import Script, answer, question, shown, statuses, until
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


async def test_a_restart_gives_a_new_runtime_and_the_old_one_can_do_nothing_any_more() -> None:
    gate = anyio.Event()
    server = Server(stored("a"), is_quick=True)
    async with threads_of(server, local(Script([TextDelta("x"), gate, TextDelta("y")]))) as threads:
        await threads.switch_to("a")
        old = threads.main
        main = threads.select(lambda state: state.main_id).pipe(record())
        running = old.append("hello")
        await settled()
        await threads.restart("a")
        gate.set()
        await raised(running)
        await settled()

        assert threads.main is not old
        assert shown(threads.main) == []
        assert main.values == ["a"]
        assert statuses(old) == ["incomplete/cancelled"]
        assert not threads.row("a").value.is_running
        with pytest.raises(RuntimeClosedError):
            old.append("late")
        assert shown(threads.main) == []


async def test_what_is_followed_moves_to_the_new_runtime() -> None:
    async with threads_of(Server(stored("a"), is_quick=True)) as threads:
        await threads.switch_to("a")
        counts = threads.follow(lambda thread: thread.select(lambda state: len(state.messages))).pipe(record())
        await threads.main.append("hello")
        await threads.restart("a")
        await threads.main.append("again")

        assert counts.values == [0, 1, 2, 0, 1, 2]


async def test_what_was_typed_is_there_after_a_restart() -> None:
    async with threads_of(Server(stored("a"), is_quick=True)) as threads:
        await threads.switch_to("a")
        threads.main.composer.set_text("half a sen")
        threads.main.composer.set_quote(Quote(text="so", message_id="m"))
        await threads.restart("a")

        draft = threads.main.state.composer
        assert (draft.text, draft.quote) == ("half a sen", Quote(text="so", message_id="m"))


async def test_while_the_thread_in_view_restarts_an_empty_one_that_takes_nothing_is_there() -> None:
    gate = anyio.Event()
    gate.set()

    @asynccontextmanager
    async def slowly(item: ThreadItem) -> AsyncIterator[LocalRuntime]:
        await gate.wait()
        async with LocalRuntime(quick_model) as runtime:
            yield runtime

    async with threads_of(Server(stored("a"), is_quick=True), slowly) as threads:
        await threads.switch_to("a")
        gate = anyio.Event()
        restart = threads.restart("a")
        await settled()
        empty = threads.main
        states = empty.select(lambda state: state).pipe(record())
        events = empty.events.pipe(record())

        assert threads.main is empty
        assert (empty.state.is_loading, shown(empty), empty.capabilities) == (True, [], frozenset())
        assert (empty.find("m"), empty.export().entries) == (None, ())
        empty.cancel_run()
        empty.detach()
        empty.reset()
        await empty.load()
        await empty.composer.send()
        await empty.composer.reset()
        for refused in (
            lambda: empty.append("hello"),
            lambda: empty.start_run(None),
            lambda: empty.resume_run(None),
            lambda: empty.reload("m"),
            lambda: empty.add_tool_result("m", "c", 1),
            lambda: empty.respond_to_approval("p", approved=True),
            lambda: empty.resume_tool_call("c", 1),
            lambda: empty.switch_to_branch("m"),
            lambda: empty.switch_branch("m", "next"),
            lambda: empty.delete_message("m"),
            lambda: empty.begin_edit("m"),
            lambda: empty.submit_feedback("m", "positive"),
            empty.refetch,
            lambda: empty.import_(empty.export()),
            lambda: empty.reset(["hello"]),
            lambda: empty.composer.set_text("typed"),
        ):
            with pytest.raises(ThreadNotOpenError, match="'a'"):
                refused()
        gate.set()
        await restart

        assert (len(states.values), events.values) == (1, [])
        assert threads.main is not empty
        await threads.main.append("hello")
        assert shown(threads.main) == ["u:hello", "a:ok"]


async def test_a_thread_that_is_closed_or_opening_is_opened_once() -> None:
    make = local()
    async with threads_of(Server(stored("a"), is_quick=True), make) as threads:
        switch = threads.switch_to("a")
        await threads.restart("a")
        await switch
        await threads.close("a")
        await threads.restart("a")

        assert make.made == ["n1", "a", "a"]
        assert threads.row("a").value.is_live


async def test_a_restart_that_fails_makes_room_for_a_new_thread_and_is_told() -> None:
    is_broken = False

    def make(item: ThreadItem) -> LocalRuntime:
        if is_broken and item.id == "a":
            raise OSError("no room")
        return LocalRuntime(quick_model)

    async with threads_of(Server(stored("a"), is_quick=True), make) as threads:
        events = heard(threads)
        await threads.switch_to("a")
        is_broken = True
        error = await raised(threads.restart("a"))
        await settled()

        assert isinstance(error, ThreadNotOpenError)
        assert listed(threads) == ["+n1*", "A"]
        assert len(events) == 1


async def test_reloading_shows_what_is_stored_now() -> None:
    memory = MemoryThreadList([stored("a")])
    items = [HistoryItem(parent_id=None, message=question("u1")), HistoryItem(parent_id="u1", message=answer("a1"))]
    for item in items:
        await memory.history("a").append(item)

    def make(item: ThreadItem) -> LocalRuntime:
        return LocalRuntime(quick_model, history=memory.history(item.id), initialize=item.initialize)

    async with threads_of(memory, make) as threads:
        await threads.reload_main()  # a new thread: nothing to do
        await threads.switch_to("a")
        await until(lambda: not threads.main.state.is_loading)
        before = threads.main
        await memory.history("a").append(HistoryItem(parent_id="a1", message=question("u2")))
        await threads.reload_main()

        assert threads.main is not before
        assert shown(threads.main) == ["u:u1", "a:a1", "u:u2"]


async def test_reloading_asks_the_owner_of_the_messages_where_there_is_one() -> None:
    asked: list[str] = []
    gate = anyio.Event()

    async def refetch() -> None:
        asked.append("refetch")
        await gate.wait()
        raise OSError("offline")

    def make(item: ThreadItem) -> ExternalStoreRuntime:
        return ExternalStoreRuntime([question("u1")], on_refetch=refetch)

    async with threads_of(Server(stored("a"), stored("b"), is_quick=True), make) as threads:
        await threads.switch_to("a")
        before = threads.main
        left = threads.reload_main()
        await threads.switch_to("b")
        gate.set()
        await left  # it failed, but nobody looks at it any more
        error = await raised(threads.reload_main())

        assert asked == ["refetch", "refetch"]
        assert threads.thread("a") is before
        assert isinstance(error, (OSError, PartwiseError))


async def test_the_runtime_of_a_stored_thread_goes_on_from_what_the_old_one_kept() -> None:
    history = MemoryHistory()
    gate = anyio.Event()

    def make(item: ThreadItem) -> LocalRuntime:
        model = Script([TextDelta("half"), gate])
        return LocalRuntime(model, history=history if item.id == "a" else None)

    async with threads_of(Server(stored("a"), is_quick=True), make) as threads:
        await threads.switch_to("a")
        await until(lambda: not threads.main.state.is_loading)
        operation = threads.main.append("hello")
        await settled()
        await threads.restart("a")
        await raised(operation)
        await until(lambda: not threads.main.state.is_loading)

        assert shown(threads.main) == ["u:hello", "a:half"]
        assert statuses(threads.main) == ["incomplete/cancelled"]
