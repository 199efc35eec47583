"""Changes are shown at once, confirmed later in whatever order, and taken back alone when they fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from partwise.errors import (
    NotAllowedError,
    RuntimeClosedError,
    ThreadListError,
    ThreadNotFoundError,
    UnsupportedError,
)
from partwise.reactive import record
from partwise.runtimes import Operation, ThreadListRuntime
from tests.runtimes.thread_list.scenes import Server, heard, listed, local, raised, settled, stored, threads_of

Act = Callable[[ThreadListRuntime], Operation]


async def test_a_rename_is_shown_at_once_and_stays_when_it_is_confirmed() -> None:
    server = Server(stored("a"))
    async with threads_of(server) as threads:
        operation = threads.rename("a", "x")
        assert listed(threads) == ["+n1*", "x"]

        await settled()
        server.call("rename a x").succeed()
        await operation

        assert listed(threads) == ["+n1*", "x"]
        assert server.threads["a"].title == "x"


async def test_a_rename_that_fails_brings_the_old_title_back_and_is_told() -> None:
    server = Server(stored("a"))
    async with threads_of(server) as threads:
        events = heard(threads)
        operation = threads.rename("a", "x")
        await settled()
        server.call("rename a x").fail()
        error = await raised(operation)

        assert isinstance(error, ThreadListError)
        assert (error.operation, error.thread_id) == ("rename", "a")
        assert isinstance(error.__cause__, OSError)
        assert listed(threads) == ["+n1*", "A"]
        assert events == ["rename a: The thread list adapter could not rename thread 'a': offline"]


async def test_of_three_renames_only_the_failed_one_disappears() -> None:
    server = Server(stored("a"))
    async with threads_of(server) as threads:
        operations = [threads.rename("a", title) for title in ("one", "two", "three")]
        assert listed(threads) == ["+n1*", "three"]
        for outcome in ("succeed", "succeed", "fail"):
            await settled()
            (call,) = server.open_calls
            getattr(call, outcome)()
        errors = [await raised(operation) for operation in operations]

        assert [type(error) for error in errors] == [type(None), type(None), ThreadListError]
        assert listed(threads) == ["+n1*", "two"]
        assert server.threads["a"].title == "two"


async def test_calls_about_one_thread_wait_for_each_other_and_those_about_others_do_not() -> None:
    server = Server(stored("a"), stored("b"))
    async with threads_of(server) as threads:
        threads.rename("a", "one")
        threads.archive("a")
        threads.rename("b", "two")
        await settled()
        assert {call.text for call in server.open_calls} == {"rename a one", "rename b two"}

        server.call("rename a one").fail()
        await settled()

        assert [call.text for call in server.open_calls] == ["rename b two", "archive a"]
        for waiting in server.open_calls:
            waiting.succeed()


CHANGES: dict[str, tuple[Act, str, list[str], list[str]]] = {
    "archive": (lambda threads: threads.archive("a"), "archive a", ["+n1*", "-A", "-C"], ["+n1*", "A", "-C"]),
    "unarchive": (lambda threads: threads.unarchive("c"), "unarchive c", ["+n1*", "C", "A"], ["+n1*", "A", "-C"]),
    "delete": (lambda threads: threads.delete("a"), "delete a", ["+n1*", "-C"], ["+n1*", "A", "-C"]),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("outcome", ["succeed", "fail"])
async def test_moving_and_deleting_are_shown_at_once_and_taken_back_when_they_fail(name: str, outcome: str) -> None:
    act, call, after, before = CHANGES[name]
    server = Server(stored("a"), stored("c", status="archived"))
    async with threads_of(server) as threads:
        assert listed(threads) == before
        operation = act(threads)
        assert listed(threads) == after

        await settled()
        getattr(server.call(call), outcome)()
        error = await raised(operation)

        assert listed(threads) == (after if outcome == "succeed" else before)
        assert (error is None) == (outcome == "succeed")


async def test_archive_and_unarchive_may_overlap() -> None:
    server = Server(stored("a"), stored("b"))
    async with threads_of(server) as threads:
        operations = [threads.archive("b"), threads.unarchive("b")]
        assert listed(threads) == ["+n1*", "B", "A"]
        await settled()
        server.call("archive b").succeed()
        await settled()
        server.call("unarchive b").succeed()
        for operation in operations:
            await operation

        assert listed(threads) == ["+n1*", "B", "A"]
        assert server.threads["b"].status == "regular"


async def test_custom_values_are_replaced_and_cannot_be_changed_from_outside() -> None:
    server = Server(stored("a"), is_quick=True)
    async with threads_of(server) as threads:
        custom = {"pinned": True, "tags": ["x"]}
        await threads.update_custom("a", custom)
        custom["tags"] = []

        assert threads.row("a").value.custom == {"pinned": True, "tags": ["x"]}
        assert server.threads["a"].custom == {"pinned": True, "tags": ["x"]}


async def test_an_adapter_that_keeps_no_custom_values_says_so_and_shows_nothing() -> None:
    class Plain:
        def __init__(self) -> None:
            server = Server(stored("a"), is_quick=True)
            for name in ("list", "fetch", "initialize", "rename", "archive", "unarchive", "delete"):
                setattr(self, name, getattr(server, name))

    async with threads_of(Plain()) as threads:
        assert threads.state.capabilities == frozenset()
        with pytest.raises(UnsupportedError, match="'update_custom'"):
            threads.update_custom("a", {})
        with pytest.raises(UnsupportedError, match="'generate_title'"):
            threads.generate_title("a")
        await threads.main.append("hello")
        await settled()

        assert listed(threads) == ["n1*", "A"]


REFUSED: dict[str, tuple[Act, str]] = {
    "rename new": (lambda threads: threads.rename("n1", "x"), "'n1' is new, so it cannot be renamed"),
    "archive new": (lambda threads: threads.archive("n1"), "'n1' is new, so it cannot be archived"),
    "archive archived": (lambda threads: threads.archive("c"), "'c' is archived, so it cannot be archived"),
    "unarchive regular": (lambda threads: threads.unarchive("a"), "'a' is regular, so it cannot be unarchived"),
    "custom new": (lambda threads: threads.update_custom("n1", {}), "'n1' is new, so it cannot have custom values"),
    "title new": (lambda threads: threads.generate_title("n1"), "'n1' is new, so it cannot have a title made up"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_status_that_does_not_allow_something_is_named(name: str) -> None:
    act, text = REFUSED[name]
    server = Server(stored("a"), stored("c", status="archived"))
    async with threads_of(server) as threads:
        with pytest.raises(NotAllowedError, match=text) as caught:
            act(threads)

        assert caught.value.code == "thread-status"
        assert server.texts == ["list"]


ACTIONS: dict[str, Callable[[ThreadListRuntime, str], Any]] = {
    "rename": lambda threads, id: threads.rename(id, "y"),
    "update_custom": lambda threads, id: threads.update_custom(id, {}),
    "archive": lambda threads, id: threads.archive(id),
    "unarchive": lambda threads, id: threads.unarchive(id),
    "delete": lambda threads, id: threads.delete(id),
    "close": lambda threads, id: threads.close(id),
    "open": lambda threads, id: threads.open(id),
    "generate_title": lambda threads, id: threads.generate_title(id),
    "initialize": lambda threads, id: threads.initialize(id),
    "set_unread": lambda threads, id: threads.set_unread(id, True),
    "thread": lambda threads, id: threads.thread(id),
}


@pytest.mark.parametrize("name", ACTIONS)
async def test_an_unknown_thread_is_named(name: str) -> None:
    async with threads_of(Server(stored("a"))) as threads:
        before = threads.state
        with pytest.raises(ThreadNotFoundError, match="'x'"):
            ACTIONS[name](threads, "x")

        assert threads.state is before


async def test_a_deleted_thread_cannot_be_changed_while_its_deletion_is_on_its_way() -> None:
    server = Server(stored("a"))
    async with threads_of(server) as threads:
        threads.delete("a")
        with pytest.raises(ThreadNotFoundError):
            threads.rename("a", "x")
        await settled()
        server.call("delete a").fail()
        await settled()

        threads.rename("a", "x")
        assert listed(threads) == ["+n1*", "x"]
        await settled()
        server.call("rename a x").succeed()


async def test_an_adapter_that_hangs_fails_after_its_time_and_the_next_call_goes_on() -> None:
    server = Server(stored("a"))
    async with threads_of(server, adapter_timeout=0.01) as threads:
        first, second = threads.rename("a", "one"), threads.rename("a", "two")
        error = await raised(first)

        assert isinstance(error, ThreadListError)
        assert "did not answer rename of thread 'a' within 0.01 seconds" in str(error)
        assert await raised(second) is not None
        assert listed(threads) == ["+n1*", "A"]


@pytest.mark.parametrize("answer", [None, "r1", 7])
async def test_a_thread_that_was_made_without_an_id_is_an_error_that_names_it(answer: Any) -> None:
    class Broken(Server):
        async def initialize(self, local_id: str) -> Any:
            return answer

    async with threads_of(Broken(is_quick=True)) as threads:
        error = await raised(threads.main.append("hello"))

        assert isinstance(error.__cause__, ThreadListError)
        assert "initialize of thread 'n1'" in str(error)
        assert listed(threads) == ["+n1*"]


async def test_one_renamed_row_wakes_one_widget() -> None:
    server = Server(*(stored(f"t{number}") for number in range(100)), page_size=100, is_quick=True)
    async with threads_of(server) as threads:
        rows = [threads.row(f"t{number}").pipe(record()) for number in range(100)]
        ids = threads.select(lambda state: state.regular_ids).pipe(record())
        evaluations = threads._board.store.statistics().evaluations

        await threads.rename("t7", "x")

        assert [len(row.values) for row in rows] == [2 if number == 7 else 1 for number in range(100)]
        assert len(ids.values) == 1
        assert threads._board.store.statistics().evaluations - evaluations == 1


async def test_a_row_that_leaves_the_list_completes_its_slice() -> None:
    server = Server(stored("a"), is_quick=True)
    async with threads_of(server) as threads:
        row = threads.row("a").pipe(record())
        await threads.delete("a")

        assert row.completed


async def test_leaving_waits_for_what_the_adapter_is_doing() -> None:
    server = Server(stored("a"))
    async with anyio.create_task_group() as tasks:
        async with threads_of(server) as threads:
            operation = threads.rename("a", "x")
            await settled()
            call = server.call("rename a x")
            server.calls.clear()  # so that the scene does not fail it

            async def answer() -> None:
                await settled()
                call.succeed()

            tasks.start_soon(answer)

        assert operation.is_done
        assert operation.error is None
        assert server.threads["a"].title == "x"


async def test_what_was_still_on_its_way_when_the_list_was_left_is_told() -> None:
    server = Server(stored("a"))
    async with threads_of(server, exit_timeout=0) as threads:
        events = heard(threads)
        operation = threads.rename("a", "x")
        await settled()
        server.calls.clear()

    assert isinstance(operation.error, RuntimeClosedError)
    assert events == ["rename a: The runtime was left before this had settled."]


async def test_nothing_can_be_done_before_and_after_the_list_is_open() -> None:
    threads = ThreadListRuntime(local(), Server(is_quick=True))
    with pytest.raises(RuntimeClosedError, match="not open yet"):
        threads.load()
    with pytest.raises(RuntimeClosedError, match="Enter the list"):
        _ = threads.main
    async with threads:
        pass
    with pytest.raises(RuntimeClosedError, match="was left"):
        threads.switch_to_new()
