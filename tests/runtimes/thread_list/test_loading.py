"""Pages come late, twice, or broken; what happened meanwhile stays."""

from __future__ import annotations

from typing import Any

import pytest

from partwise.adapters import StoredThread, ThreadPage
from partwise.errors import ThreadListError
from partwise.reactive import record
from tests.runtimes.thread_list.scenes import Server, heard, listed, raised, settled, stored, threads_of


async def test_loading_is_shown_and_asked_for_once() -> None:
    server = Server(stored("a"))
    async with threads_of(server, loads=False) as threads:
        loading = threads.select(lambda state: state.is_loading).pipe(record())
        first, second = threads.load(), threads.load()
        await settled()
        server.call("list").succeed()
        await first

        assert first is second
        assert loading.values == [False, True, False]
        assert server.texts == ["list"]
        assert listed(threads) == ["+n1*", "A"]
        assert threads.load().is_done


async def test_a_load_that_fails_is_told_and_may_be_tried_again() -> None:
    server = Server(stored("a"))
    async with threads_of(server, loads=False) as threads:
        events = heard(threads)
        operation = threads.load()
        await settled()
        server.call("list").fail()
        error = await raised(operation)
        assert isinstance(error, ThreadListError)
        assert events == ["list None: The thread list adapter could not list: offline"]
        assert (threads.state.is_loading, listed(threads)) == (False, ["+n1*"])

        again = threads.load()
        await settled()
        server.call("list").succeed()
        await again

        assert listed(threads) == ["+n1*", "A"]


async def test_of_overlapping_reloads_only_the_last_counts_in_whatever_order_they_answer() -> None:
    server = Server(stored("a"))
    async with threads_of(server) as threads:
        events = heard(threads)
        first = threads.reload()
        await settled()
        server.threads["b"] = stored("b")
        second = threads.reload()
        await settled()
        early, late = server.open_calls
        late.succeed()
        await second
        early.fail()
        await first

        assert listed(threads) == ["+n1*", "A", "B"]
        assert events == []
        assert threads.load() is second


async def test_a_stale_page_never_replaces_a_newer_one() -> None:
    server = Server(stored("a"))
    async with threads_of(server) as threads:
        first = threads.reload()
        await settled()
        del server.threads["a"]
        second = threads.reload()
        await settled()
        early, late = server.open_calls
        late.succeed()
        await second
        early.succeed()
        await first

        assert listed(threads) == ["+n1*"]


async def test_more_pages_are_added_once_and_the_last_one_ends_it() -> None:
    server = Server(*(stored(name) for name in "abcde"), page_size=2)
    async with threads_of(server) as threads:
        assert (listed(threads), threads.state.has_more) == (["+n1*", "A", "B"], True)
        first, second = threads.load_more(), threads.load_more()
        assert threads.state.is_loading_more
        await settled()
        server.call("list 2").succeed()
        await first
        assert first is second
        third = threads.load_more()
        await settled()
        server.call("list 4").succeed()
        await third

        assert listed(threads) == ["+n1*", "A", "B", "C", "D", "E"]
        assert (threads.state.has_more, threads.state.is_loading_more) == (False, False)
        assert threads.load_more().is_done
        assert server.texts == ["list", "list 2", "list 4"]


async def test_another_page_after_a_reload_is_not_looked_at() -> None:
    server = Server(*(stored(name) for name in "abcd"), page_size=2)
    async with threads_of(server) as threads:
        more = threads.load_more()
        await settled()
        again = threads.reload()
        await settled()
        server.call("list 2").succeed()
        await more
        server.call("list").succeed()
        await again

        assert listed(threads) == ["+n1*", "A", "B"]
        assert threads.state.has_more


async def test_another_page_that_fails_keeps_its_place() -> None:
    server = Server(*(stored(name) for name in "abc"), page_size=2)
    async with threads_of(server) as threads:
        more = threads.load_more()
        await settled()
        server.call("list 2").fail()
        assert isinstance(await raised(more), ThreadListError)
        assert threads.state.has_more

        again = threads.load_more()
        await settled()
        server.call("list 2").succeed()
        await again

        assert listed(threads) == ["+n1*", "A", "B", "C"]


async def test_pages_that_shifted_hold_nothing_twice() -> None:
    server = Server(*(stored(name) for name in "abc"), page_size=2)
    async with threads_of(server) as threads:
        server.threads = {"z": stored("z"), **server.threads}
        more = threads.load_more()
        await settled()
        server.call("list 2").succeed()
        await more

        assert listed(threads) == ["+n1*", "A", "B", "C"]


BAD_PAGES: dict[str, tuple[Any, str]] = {
    "no page": ([stored("a")], "a list; it has to return a ThreadPage"),
    "nothing": ("nothing", "a str; it has to return a ThreadPage"),
    "no thread": (ThreadPage(threads=["a"]), "a str in place of a StoredThread"),
    "no id": (ThreadPage(threads=[stored("a"), StoredThread(id="")]), "a thread whose id is ''"),
    "a number as id": (ThreadPage(threads=[StoredThread(id=7)]), "a thread whose id is 7"),
    "a status": (
        ThreadPage(threads=[stored("b"), StoredThread(id="a", status="lost")], cursor="9"),
        "the status 'lost' of thread 'a'",
    ),
    "a cursor": (ThreadPage(threads=[stored("b")], cursor=7), "a cursor of type int"),
}


@pytest.mark.parametrize("name", BAD_PAGES)
@pytest.mark.parametrize("which", ["first", "more"])
async def test_a_page_that_is_wrong_is_refused_as_a_whole(name: str, which: str) -> None:
    page, text = BAD_PAGES[name]
    server = Server(*(stored(name) for name in "xyz"), page_size=2)
    async with threads_of(server) as threads:
        before = listed(threads)
        operation = threads.reload() if which == "first" else threads.load_more()
        await settled()
        server.open_calls[0].succeed(page)
        error = await raised(operation)

        assert isinstance(error, ThreadListError)
        assert text in str(error)
        assert listed(threads) == before
        assert threads.state.has_more


async def test_an_empty_cursor_ends_paging() -> None:
    server = Server()
    async with threads_of(server, loads=False) as threads:
        operation = threads.load()
        await settled()
        server.open_calls[0].succeed(ThreadPage(threads=[stored("a")], cursor=""))
        await operation

        assert not threads.state.has_more


async def test_a_thread_that_a_page_holds_twice_is_listed_once_and_told() -> None:
    server = Server()
    async with threads_of(server, loads=False) as threads:
        events = heard(threads)
        operation = threads.load()
        await settled()
        server.open_calls[0].succeed(ThreadPage(threads=[stored("a", "first"), stored("a", "second")]))
        await operation

        assert listed(threads) == ["+n1*", "first"]
        assert events == ["a page holds thread 'a' more than once; the first one counts"]


async def test_threads_that_are_open_or_being_changed_stay_listed_when_a_page_does_not_have_them() -> None:
    server = Server(*(stored(name) for name in "abcd"))
    async with threads_of(server) as threads:
        await threads.switch_to("c")
        threads.rename("b", "x")
        operation = threads.reload()
        await settled()
        server.call("list").succeed(ThreadPage(threads=[stored("d")]))
        await operation

        assert listed(threads) == ["+n1", "D", "x", "C*"]


async def test_an_open_thread_that_is_on_a_later_page_hears_from_that_page() -> None:
    server = Server(*(stored(name) for name in "abc"), page_size=2)
    async with threads_of(server) as threads:
        switch = threads.switch_to("c")
        await settled()
        server.call("fetch c").succeed()
        await switch
        server.threads["c"] = stored("c", "theirs")
        reload = threads.reload()
        await settled()
        server.call("list").succeed()
        await reload
        assert listed(threads) == ["+n1", "A", "B", "C*"]
        more = threads.load_more()
        await settled()
        server.call("list 2").succeed()
        await more

        assert listed(threads) == ["+n1", "A", "B", "theirs*"]
