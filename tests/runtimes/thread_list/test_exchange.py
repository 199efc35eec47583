"""The list is kept somewhere else from now on: nothing of one adapter reaches the threads of the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import pytest

from partwise.errors import AdapterChangedError, ThreadListError, ThreadNotFoundError, ThreadNotOpenError
from partwise.reactive import record
from partwise.runtimes import LocalRuntime, Operation, ThreadItem, ThreadListRuntime
from partwise.stream import TextDelta
from tests.runtimes.scenes import Script, shown, statuses
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

Action = Callable[[ThreadListRuntime], Operation]


async def test_the_list_of_the_other_adapter_takes_the_place_of_all_pages() -> None:
    first = Server(stored("a"), stored("b"), stored("c"), page_size=2, is_quick=True)
    second = Server(stored("c", "New C", status="archived"), stored("d"))
    async with threads_of(first) as threads:
        exchange = threads.exchange(second)
        await settled()
        assert (listed(threads), threads.state.is_loading, threads.state.has_more) == (["+n1*", "A", "B"], True, False)
        await threads.load_more()  # nothing: the first page is on its way
        second.call("list").succeed()
        await exchange

        assert listed(threads) == ["+n1*", "D", "-New C"]
        assert second.texts == ["list"]


async def test_what_the_list_can_do_is_what_its_adapter_can() -> None:
    class Plain:
        def __init__(self) -> None:
            self.list = Server(is_quick=True).list

    async with threads_of(Server(is_quick=True)) as threads:
        await threads.exchange(cast("Any", Plain()))
        assert threads.state.capabilities == frozenset()
        await threads.exchange(Server(is_quick=True))
        assert threads.state.capabilities == {"update_custom", "generate_title"}


async def test_the_adapter_that_is_in_use_already_changes_nothing() -> None:
    server = Server(stored("a"), is_quick=True)
    async with threads_of(server) as threads:
        rename = threads.rename("a", "x")
        await threads.exchange(server)
        await rename

        assert (listed(threads), server.texts) == (["+n1*", "x"], ["list", "rename a x"])


@pytest.mark.parametrize(
    "act",
    [
        lambda threads: threads.rename("a", "x"),
        lambda threads: threads.update_custom("a", {"v": 1}),
        lambda threads: threads.archive("a"),
        lambda threads: threads.unarchive("z"),
        lambda threads: threads.delete("a"),
        lambda threads: threads.switch_to("far"),
    ],
    ids=["rename", "update_custom", "archive", "unarchive", "delete", "switch_to"],
)
async def test_what_is_on_its_way_is_refused_taken_back_and_told_to_nobody_else(act: Action) -> None:
    first, second = Server(stored("a"), stored("z", status="archived")), Server(stored("a"), is_quick=True)
    async with threads_of(first) as threads:
        events = heard(threads)
        operation = act(threads)
        await settled()
        late = first.open_calls[-1]
        exchange = threads.exchange(second)
        assert listed(threads) == ["+n1*", "A", "-Z"]
        error = await raised(operation)
        await exchange
        late.succeed()
        await settled()

        assert isinstance(error, AdapterChangedError)
        assert listed(threads) == ["+n1*", "A"]
        assert (events, second.texts) == ([], ["list"])


@pytest.mark.parametrize(
    "act",
    [
        lambda threads: threads.rename("a", "x"),
        lambda threads: threads.update_custom("a", {"v": 1}),
        lambda threads: threads.archive("a"),
        lambda threads: threads.unarchive("z"),
        lambda threads: threads.delete("a"),
        lambda threads: threads.generate_title("a"),
        lambda threads: threads.open("a"),
        lambda threads: threads.restart("a"),
        lambda threads: threads.switch_to("a"),
        lambda threads: threads.switch_to("unknown"),
    ],
    ids=[
        "rename",
        "update_custom",
        "archive",
        "unarchive",
        "delete",
        "generate_title",
        "open",
        "restart",
        "switch_to",
        "switch_to_unknown",
    ],
)
async def test_until_the_list_is_loaded_its_threads_cannot_be_touched_and_new_ones_can(act: Action) -> None:
    first = Server(stored("a"), stored("b"), stored("z", status="archived"), is_quick=True)
    second = Server(stored("a"))
    async with threads_of(first) as threads:
        await threads.switch_to("b")
        exchange = threads.exchange(second)
        await settled()

        async def try_it() -> None:
            await act(threads)

        assert isinstance(await raised(try_it()), AdapterChangedError)
        assert listed(threads) == ["+n1", "A", "B*", "-Z"]
        await threads.switch_to_new()
        assert threads.state.main_id == "n1"
        second.call("list").succeed()
        await exchange
        assert await raised(threads.switch_to("a")) is None
        assert listed(threads) == ["+n1", "A*"]


async def test_a_load_that_fails_leaves_the_list_and_the_next_one_replaces_it() -> None:
    second = Server(stored("b"))
    async with threads_of(Server(stored("a"), is_quick=True)) as threads:
        exchange = threads.exchange(second)
        await settled()
        second.call("list").fail()
        assert isinstance(await raised(exchange), ThreadListError)
        assert listed(threads) == ["+n1*", "A"]
        with pytest.raises(AdapterChangedError):
            threads.rename("a", "x")

        again = threads.load()
        await settled()
        second.call("list").succeed()
        await again
        assert listed(threads) == ["+n1*", "B"]


async def test_of_two_exchanges_only_the_last_counts() -> None:
    second, third = Server(stored("b")), Server(stored("c"))
    async with threads_of(Server(stored("a"), is_quick=True)) as threads:
        first_load = threads.exchange(second)
        await settled()
        last_load = threads.exchange(third)
        await settled()
        third.call("list").succeed()
        await last_load

        assert isinstance(await raised(first_load), AdapterChangedError)
        assert listed(threads) == ["+n1*", "C"]


async def test_a_thread_in_view_that_the_other_adapter_does_not_have_makes_room_and_what_runs_there_ends() -> None:
    gate = anyio.Event()
    second = Server(stored("a"), is_quick=True)
    make = local(Script([TextDelta("x"), gate], [TextDelta("ok")]))
    async with threads_of(Server(stored("a"), is_quick=True), make) as threads:
        running = threads.main.append("hello")
        await settled()
        left = threads.main
        seen = threads.select(lambda state: state.main_id in state.rows).pipe(record())
        await threads.exchange(second)
        await raised(running)
        await settled()

        assert statuses(left) == ["incomplete/cancelled"]
        assert seen.values == [True]
        assert [row.status for row in threads.state.rows] == ["new", "regular"]
        assert threads.state.main_id == threads.state.new_ids[0]
        await threads.main.append("again")
        assert second.texts[-1].startswith("initialize")


async def test_a_new_thread_that_is_made_meanwhile_stays() -> None:
    second = Server(stored("b"), prefix="s")
    async with threads_of(Server(stored("a"), is_quick=True)) as threads:
        exchange = threads.exchange(second)
        sent = threads.main.append("hello")
        await settled()
        page = second.call("list")
        second.call("initialize n1").succeed()
        await sent
        page.succeed()
        await exchange

        assert listed(threads) == ["n1*", "B"]
        assert shown(threads.main) == ["u:hello", "a:ok"]
        assert threads.row("n1").value.remote_id == "s1"


async def test_a_thread_that_was_being_made_is_new_again_and_its_message_comes_back() -> None:
    second = Server(is_quick=True, prefix="s")
    async with threads_of(Server(stored("a"))) as threads:
        threads.main.composer.set_text("hello")
        sent = threads.main.composer.send()
        await settled()
        await threads.exchange(second)
        await raised(sent)
        await settled()
        assert listed(threads) == ["+n1*"]
        assert threads.main.state.composer.text == "hello"
        await threads.main.composer.send()

        assert shown(threads.main) == ["u:hello", "a:ok"]
        assert threads.row("n1").value.remote_id == "s1"


async def test_two_adapters_may_give_the_same_id_to_two_threads() -> None:
    second = Server()
    async with threads_of(Server(is_quick=True)) as threads:
        await threads.main.append("one")
        one = threads.main
        exchange = threads.exchange(second)
        await threads.switch_to_new()
        sent = threads.main.append("two")
        await settled()
        page = second.call("list")
        second.open_calls[-1].succeed()
        await sent
        page.succeed()
        await exchange

        assert [row.remote_id for row in threads.state.rows] == ["r1"]
        assert threads.main is not one
        assert shown(threads.main) == ["u:two", "a:ok"]


async def test_threads_may_be_opened_otherwise_from_then_on() -> None:
    made: list[str] = []

    def other(item: ThreadItem) -> LocalRuntime:
        made.append(item.id)
        return LocalRuntime(quick_model)

    async with threads_of(Server(stored("a"), is_quick=True)) as threads:
        await threads.switch_to("a")
        before = threads.main
        await threads.exchange(Server(stored("a"), stored("b"), is_quick=True), other)
        await threads.switch_to("b")

        assert (made, threads.thread("a")) == (["b"], before)


async def test_the_thread_that_the_owner_of_the_selection_asks_for_comes_back_into_view() -> None:
    first, second = Server(stored("a"), is_quick=True), Server(*(stored(id) for id in "bca"), page_size=1)
    told: list[str | None] = []
    async with threads_of(first, controlled_id="a", on_selected=told.append) as threads:
        exchange = threads.exchange(second)
        await settled()
        second.call("list").succeed()
        await exchange
        await settled()
        second.call("fetch a").succeed()
        await settled()

        assert listed(threads)[-1] == "A*"
        assert told == []


async def test_what_the_owner_asks_for_meanwhile_is_shown_after_the_load() -> None:
    second = Server(stored("b"))
    told: list[str | None] = []
    async with threads_of(Server(stored("a"), is_quick=True), controlled_id="a", on_selected=told.append) as threads:
        threads.exchange(second)
        await settled()
        asked = threads.control("b")
        assert threads.state.main_id == "a"
        second.call("list").succeed()
        await asked
        await settled()

        assert listed(threads)[-1] == "B*"
        assert told == []


async def test_without_an_owner_the_new_thread_that_takes_the_place_is_told() -> None:
    told: list[str | None] = []
    async with threads_of(Server(stored("a"), is_quick=True), start_id="a", on_selected=told.append) as threads:
        await threads.exchange(Server(is_quick=True))
        assert told == [None]


async def test_a_list_that_finds_no_room_for_another_one_stays_as_it_was() -> None:
    def make(item: ThreadItem) -> LocalRuntime:
        if item.id != "a":
            raise OSError("no room")
        return LocalRuntime(quick_model)

    async with threads_of(Server(stored("a"), is_quick=True), make, start_id="a") as threads:
        error = await raised(threads.exchange(Server(is_quick=True)))

        assert isinstance(error, ThreadNotOpenError)
        assert "A*" in listed(threads)
        assert shown(threads.main) == []


async def test_a_title_that_is_being_made_up_is_given_up() -> None:
    gate = anyio.Event()
    first, second = Server(stored("a"), is_quick=True), Server(stored("a", "Kept"), is_quick=True)
    first.titles["a"] = ["Half", gate]
    async with threads_of(first) as threads:
        await threads.switch_to("a")
        await threads.main.append("hello")
        title = threads.generate_title("a")
        await settled()
        assert listed(threads)[-1] == "Half*"
        await threads.exchange(second)
        gate.set()

        assert isinstance(await raised(title), AdapterChangedError)
        assert listed(threads)[-1] == "Kept*"


async def test_a_switch_to_a_thread_that_is_being_opened_is_refused() -> None:
    gate = anyio.Event()

    @asynccontextmanager
    async def make(item: ThreadItem) -> AsyncIterator[LocalRuntime]:
        if item.id == "a":
            await gate.wait()
        async with LocalRuntime(quick_model) as runtime:
            yield runtime

    async with threads_of(Server(stored("a"), is_quick=True), make) as threads:
        switch = threads.switch_to("a")
        await settled()
        await threads.exchange(Server(is_quick=True))
        gate.set()

        assert isinstance(await raised(switch), AdapterChangedError)
        assert listed(threads) == ["+n1*"]


async def test_leaving_does_not_wait_for_a_runtime_that_never_opens() -> None:
    ended: list[Any] = []

    @asynccontextmanager
    async def make(item: ThreadItem) -> AsyncIterator[LocalRuntime]:
        try:
            if item.id != "n1":
                await anyio.sleep_forever()
            async with LocalRuntime(quick_model) as runtime:
                yield runtime
        finally:
            ended.append(item.id)

    async with threads_of(Server(stored("a"), stored("b"), is_quick=True), make) as threads:
        switch = threads.switch_to("a")
        await settled()
        await threads.delete("a")
        assert isinstance(await raised(switch), ThreadNotFoundError)
        assert ended == ["a"]
        threads.open("b")
        await settled()
    assert sorted(ended) == ["a", "b", "n1"]
