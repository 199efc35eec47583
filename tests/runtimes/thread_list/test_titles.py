"""Titles are made once there is something to make them of, are shown as they come, and never win over a user."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from partwise.errors import ThreadListError
from partwise.messages import message_text
from partwise.reactive import record
from partwise.runtimes import LocalRuntime, ThreadItem
from partwise.stream import TextDelta
from tests.runtimes.scenes import Script
from tests.runtimes.thread_list.scenes import Server, heard, local, raised, settled, stored, threads_of


async def test_a_title_is_made_of_the_question_while_the_answer_is_still_coming() -> None:
    gate = anyio.Event()
    server = Server(is_quick=True)
    server.titles["r1"] = ["Ti", "des"]
    async with threads_of(server, local(Script([TextDelta("a"), gate]))) as threads:
        title = threads.row("n1").select(lambda row: row.title).pipe(record())
        operation = threads.main.append("tell me of tides")
        await settled()

        assert threads.main.state.is_running
        assert title.values == [None, "Ti", "Tides"]
        assert server.threads["r1"].title == "Tides"
        assert [(id, [message_text(one) for one in messages]) for id, messages in server.asked_titles] == [
            ("r1", ["tell me of tides"])
        ]
        gate.set()
        await operation
        await threads.main.append("more")
        await settled()
        assert len(server.asked_titles) == 1


async def test_a_title_that_fails_half_way_goes_and_is_told() -> None:
    server = Server(is_quick=True)
    server.titles["r1"] = ["Half ", OSError("no model")]
    async with threads_of(server) as threads:
        events = heard(threads)
        title = threads.row("n1").select(lambda row: row.title).pipe(record())
        await threads.main.append("hello")
        await settled()

        assert title.values == [None, "Half ", None]
        text = "The thread list adapter could not generate_title thread 'n1': no model"
        assert events == [f"generate_title n1: {text}"]


async def test_no_title_leaves_the_thread_as_it_is() -> None:
    server = Server(is_quick=True)
    async with threads_of(server) as threads:
        events = heard(threads)
        await threads.main.append("hello")
        await settled()

        assert threads.row("n1").value.title is None
        assert (events, threads._board.ledger.entries) == ([], ())


async def test_a_rename_during_a_made_up_title_wins_here_and_there() -> None:
    gate = anyio.Event()
    server = Server(is_quick=True)
    server.titles["r1"] = ["Made ", gate, "up"]
    async with threads_of(server) as threads:
        title = threads.row("n1").select(lambda row: row.title).pipe(record())
        await threads.main.append("hello")
        await settled()
        renamed = threads.rename("n1", "mine")
        gate.set()
        await renamed

        assert title.values == [None, "Made ", "mine"]
        assert server.threads["r1"].title == "mine"


async def test_a_made_up_title_stays_when_an_older_rename_is_confirmed_beside_it() -> None:
    server = Server(stored("a"), stored("b"))
    server.titles["a"] = ["Generated"]
    async with threads_of(server) as threads:
        await threads.switch_to("a")
        pending = threads.archive("b")
        renamed = threads.rename("a", "instant")
        await settled()
        server.call("rename a instant").succeed()
        await renamed
        await threads.generate_title("a")
        assert threads.row("a").value.title == "Generated"
        server.call("archive b").succeed()
        await pending

        assert threads.row("a").value.title == "Generated"


async def test_a_thread_that_has_a_title_by_then_keeps_it() -> None:
    server = Server()
    server.titles["r1"] = ["Made up"]
    async with threads_of(server) as threads:
        operation = threads.main.append("hello")
        threads.rename("n1", "mine")
        await settled()
        server.call("initialize n1").succeed()
        await operation
        await settled()

        assert server.asked_titles == []
        assert threads.row("n1").value.title == "mine"
        server.call("rename r1 mine").succeed()


async def test_a_title_that_ends_after_the_deletion_brings_nothing_back() -> None:
    gate = anyio.Event()
    server = Server(stored("a"), is_quick=True)
    server.titles["a"] = ["One", gate, " two"]
    async with threads_of(server) as threads:
        await threads.open("a")
        made = threads.generate_title("a")
        await settled()
        deleted = threads.delete("a")
        gate.set()
        await raised(made)
        await deleted

        assert threads.state.regular_ids == ()
        assert "a" not in server.threads


async def test_a_closed_thread_has_nothing_to_make_a_title_of() -> None:
    server = Server(stored("a"), is_quick=True)
    server.titles["a"] = ["New"]
    async with threads_of(server) as threads:
        assert threads.generate_title("a").is_done
        assert server.asked_titles == []


async def test_a_title_that_hangs_fails_after_its_time_and_its_stream_is_closed() -> None:
    closed: list[str] = []

    class Hanging(Server):
        async def generate_title(self, thread_id: str, messages: Any) -> AsyncIterator[str]:
            try:
                yield "never "
                await anyio.sleep_forever()
            finally:
                closed.append(thread_id)

    async with threads_of(Hanging(stored("a"), is_quick=True), adapter_timeout=0.01) as threads:
        await threads.open("a")
        error = await raised(threads.generate_title("a"))

        assert isinstance(error, ThreadListError)
        assert (threads.row("a").value.title, closed) == ("A", ["a"])


@pytest.mark.parametrize("has_barrier", [True, False])
async def test_a_runtime_that_does_not_wait_for_the_thread_has_it_made_all_the_same(has_barrier: bool) -> None:
    def make(item: ThreadItem) -> LocalRuntime:
        return LocalRuntime(Script([TextDelta("ok")]), initialize=item.initialize if has_barrier else None)

    server = Server(is_quick=True)
    server.titles["r1"] = ["Title"]
    async with threads_of(server, make) as threads:
        await threads.main.append("hello")
        await settled()

        assert threads.row("n1").value.title == "Title"
        assert [text for text in server.texts if text != "list"] == ["initialize n1"]
