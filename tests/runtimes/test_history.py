"""What is stored, when, in which order, and what a history that fails does not spoil."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

import partwise as pw
from partwise.adapters import HistoryItem, LoadedHistory, RunContext
from partwise.errors import HistoryError, MessageNotFoundError, NotSentError
from partwise.messages import REQUIRES_TOOL_CALLS, RUNNING, TextPart
from partwise.persistence import MemoryHistory, SqliteHistory
from partwise.repository import Entry
from partwise.stream import TextDelta
from tests.runtimes.scenes import (
    Log,
    Script,
    Shelf,
    Slow,
    answer,
    called,
    calls,
    heard,
    last,
    question,
    reports,
    settled,
    shown,
    statuses,
    stored,
    talking,
)


async def test_one_more_turn_in_a_long_thread_is_two_appends() -> None:  # B47
    messages = [make(f"{kind}{number}") for number in range(25) for make, kind in ((question, "u"), (answer, "a"))]
    history = Shelf(stored(*messages))
    async with talking(Script([TextDelta("x")]), history=history) as thread:
        await thread.load()
        await thread.append("more")
        assert history.order == ["append u:more", "append a:x"]
        assert len(thread.state.messages) == 52


async def test_a_write_that_failed_is_made_again_before_the_next_one() -> None:  # B46
    history = Log()
    history.failing = ["a:x"]
    async with talking(Script([TextDelta("x")], [TextDelta("y")]), history=history) as thread:
        found = reports(thread)
        with pytest.raises(HistoryError) as caught:
            await thread.append("one")
        assert (caught.value.operation, caught.value.message_id) == ("append", last(thread).id)
        assert isinstance(caught.value.__cause__, OSError)
        assert statuses(thread) == ["complete/unknown"]
        await thread.append("two")
        assert history.order == ["append u:one", "append a:x", "append u:two", "append a:y"]
        assert found == ["history: append"]


async def test_nothing_is_stored_under_a_parent_that_is_not() -> None:  # B46
    history = Log()
    history.failing = ["u:one", "u:one"]
    async with talking(Script([TextDelta("x")]), history=history) as thread:
        with pytest.raises(HistoryError):
            await thread.append("one")
        assert statuses(thread) == ["complete/unknown"]
        assert history.order == []
        await thread.append("two")
        assert history.order == ["append u:one", "append a:x", "append u:two", "append a:x"]
        known: set[str | None] = {None}
        for item in history.items.values():
            assert item.parent_id in known
            known.add(item.message.id)


async def test_the_error_of_the_model_is_told_before_that_of_the_history() -> None:
    history = Log()
    history.failing = ["u:one", "a:"]
    async with talking(Script([ValueError("model")]), history=history) as thread:
        with pytest.raises(ValueError, match="model"):
            await thread.append("one")
        assert last(thread).status.error["message"] == "model"


async def test_a_message_that_was_deleted_is_not_stored_by_a_later_retry() -> None:
    history = Shelf()
    history.failing = ["u:one"]
    async with talking(Script([TextDelta("x")]), history=history) as thread:
        with pytest.raises(HistoryError):
            await thread.append("one", starts_run=False)
        await thread.delete_message(thread.state.messages[0].id)
        await thread.append("two", starts_run=False)
        assert history.order == ["append u:two"]


async def test_a_history_that_hangs_holds_up_neither_the_answer_nor_the_end() -> None:
    history = Log()
    history.gate = anyio.Event()
    async with talking(Script([TextDelta("x")]), history=history, cancel_timeout=0) as thread:
        thread.append("one")
        await settled()
        assert shown(thread) == ["u:one", "a:x"]
        assert statuses(thread) == ["complete/unknown"]
        assert not thread.state.is_running
        second = thread.append("two")
        await settled()
        assert shown(thread) == ["u:one", "a:x", "u:two", "a:x"]
        assert statuses(thread) == ["complete/unknown", "complete/unknown"]
        assert not second.is_done
        thread.cancel_run()
        await settled()
        assert statuses(thread) == ["complete/unknown", "complete/unknown"]


async def test_leaving_waits_until_all_is_stored() -> None:
    history = MemoryHistory()
    async with talking(Script([TextDelta("x")]), history=history) as thread:
        thread.append("one", starts_run=False)
        thread.append("two", starts_run=False)
    assert len(history.items) == 2


async def test_the_history_may_be_exchanged_while_a_write_is_under_way() -> None:
    one, two = Log(), Log()
    async with talking(Script([TextDelta("x")]), history=one) as thread:
        thread.append("hi", starts_run=False)
        thread.set_options(history=None)
        await settled()
        assert one.order == ["append u:hi"]
        thread.set_options(history=two)
        await thread.append("ho", starts_run=False)
        assert two.order[-1] == "append u:ho"


async def test_what_was_sent_while_loading_follows_what_was_loaded_in_the_order_of_sending() -> None:  # B101
    for _ in range(10):
        history = Log(stored(question("u1"), answer("a1")))
        history.load_gate = anyio.Event()
        async with talking(Script([TextDelta("x")]), history=history) as thread:
            load = thread.load()
            assert thread.state.is_loading
            operations = [thread.append(f"m{number}", starts_run=False) for number in range(5)]
            nine = thread.append("u9")
            assert shown(thread) == []
            history.load_gate.set()
            await load
            for operation in (*operations, nine):
                await operation
            assert shown(thread) == ["u:u1", "a:a1", *(f"u:m{number}" for number in range(5)), "u:u9", "a:x"]
            assert not thread.state.is_loading
            assert next(iter(history.items.values())).parent_id == "a1"


async def test_a_message_sent_right_after_a_load_does_not_overtake_those_that_waited() -> None:
    history = Log(stored(question("u1")))
    history.load_gate = anyio.Event()
    async with talking(Script([TextDelta("x")]), history=history) as thread:
        load = thread.load()
        first = thread.append("first", starts_run=False)
        sent: list[Any] = []

        def send(is_loading: bool) -> None:
            if not is_loading and thread.state.messages:
                sent.append(thread.append("second", starts_run=False))

        thread.select(lambda s: s.is_loading).subscribe(send)
        history.load_gate.set()
        await load
        await first
        await sent[0]
        assert shown(thread) == ["u:u1", "u:first", "u:second"]


async def test_who_waits_for_the_load_does_not_overtake_those_that_sent_before() -> None:  # B101
    history = Log(stored(question("u1")))
    history.load_gate = anyio.Event()
    async with talking(Script([TextDelta("x")]), history=history) as thread, anyio.create_task_group() as group:
        load = thread.load()

        async def wait_and_send() -> None:
            await load
            thread.append("second", starts_run=False)

        group.start_soon(wait_and_send)
        await settled()
        thread.append("first", starts_run=False)
        await settled()
        history.load_gate.set()
        await settled()
        assert shown(thread) == ["u:u1", "u:first", "u:second"]


async def test_a_load_that_fails_is_told_may_be_repeated_and_loses_nothing() -> None:
    history = Log(stored(question("u1")))
    history.failing = ["load"]
    async with talking(Script([TextDelta("x")]), history=history) as thread:
        found = reports(thread)
        load = thread.load()
        sent = thread.append("hi", starts_run=False)
        with pytest.raises(HistoryError):
            await load
        await sent
        assert shown(thread) == ["u:hi"]
        assert not thread.state.is_loading
        await thread.load()
        assert history.loads == 2
        assert found == ["history: load"]
        assert {m.message.id for m in thread.export().entries} >= {"u1"}


async def test_a_thread_is_loaded_once_however_often_it_is_asked_for() -> None:
    history = Log(stored(question("u1")))
    async with talking(Script([]), history=history) as thread:
        events = heard(thread)
        assert thread.load() is thread.load()
        await thread.load()
        assert history.loads == 1
        assert events == ["initialize"]


async def test_a_history_that_comes_late_is_loaded_if_a_load_was_wished_for() -> None:
    async with talking(Script([])) as thread:
        await thread.load()
        thread.set_options(history=Log(stored(question("u1"))))
        await thread.load()
        assert shown(thread) == ["u:u1"]


async def test_bad_rows_are_left_out_and_reported_and_the_rest_is_shown() -> None:
    loaded = LoadedHistory(
        entries=(
            Entry("missing", question("lost")),
            Entry("lost", question("lost too")),
            Entry("loop", question("loop")),
            Entry("a1", question("u2")),
            Entry(None, question("u1")),
            Entry("u1", answer("a1", TextPart("cut"), status=RUNNING)),
        ),
        head_id="nowhere",
    )
    async with talking(Script([TextDelta("x")]), history=Log(loaded)) as thread:
        found = reports(thread)
        await thread.load()
        assert shown(thread) == ["u:u1", "a:cut", "u:u2"]
        assert statuses(thread) == ["incomplete/other"]
        assert len(found) == 4
        assert not thread.state.is_running
        await thread.append("on")
        assert shown(thread)[-1] == "a:x"


@pytest.mark.parametrize("given", [5, "rows", [1]])
async def test_a_history_that_loads_nonsense_fails_the_load_only(given: Any) -> None:
    history = Log(given)
    async with talking(Script([TextDelta("x")]), history=history) as thread:
        with pytest.raises(HistoryError):
            await thread.load()
        await thread.append("hi")
        assert shown(thread) == ["u:hi", "a:x"]


async def test_an_answer_that_was_being_made_is_resumed_on_load() -> None:
    class Resumable(Shelf):
        async def resume(self, run: RunContext) -> AsyncIterator[Any]:
            yield TextDelta("rest")

    history = Resumable(stored(question("u1"), resume=True))
    async with talking(Script([]), history=history) as thread:
        await thread.load()
        await settled()
        assert shown(thread) == ["u:u1", "a:rest"]
        assert history.order == ["append a:rest"]


async def test_the_branch_that_is_shown_is_remembered() -> None:
    history = Shelf()
    async with talking(Script([TextDelta("x")]), history=history) as thread:
        await thread.append("one")
        first = last(thread).id
        await thread.reload(first)
        second = last(thread).id
        thread.switch_to_branch(first)
        await settled()
        assert [head for head in history.heads if head in {first, second}][-2:] == [second, first]
        history.failing = ["set_head"]
        found = reports(thread)
        thread.switch_to_branch(second)
        await settled()
        assert found == ["history: set_head"]


async def test_a_paused_answer_that_was_loaded_is_rewritten_when_it_goes_on() -> None:  # T-C14
    for history, verb in ((Shelf(), "update"), (Log(), "append")):
        paused = answer("a1", called("c0", "human"), status=REQUIRES_TOOL_CALLS)
        history.loaded = stored(question("u1"), paused)
        async with talking(Script([TextDelta("x")]), history=history) as thread:
            await thread.load()
            await thread.add_tool_result("a1", "c0", 1)
            assert history.order == [f"{verb} a:x"]


async def test_a_pause_that_was_answered_by_half_is_kept() -> None:  # T-D5
    history = Shelf()
    async with talking(Script(calls("human", "human"), [TextDelta("x")]), history=history) as thread:
        await thread.append("hi")
        await thread.add_tool_result(last(thread).id, "c0", 1)
        await settled()
        assert history.items[last(thread).id].message == last(thread)
        assert history.order == ["append u:hi", "append a:", "update a:"]


async def test_deleting_asks_the_history_first() -> None:  # trace 8
    history = Shelf()
    async with talking(Script([TextDelta("x")]), history=history) as thread:
        await thread.append("one")
        await thread.append("two")
        middle = thread.state.messages[1].id
        history.failing = ["delete"]
        before = thread.state
        with pytest.raises(HistoryError) as caught:
            await thread.delete_message(middle)
        assert (caught.value.operation, caught.value.message_id) == ("delete", middle)
        assert thread.state is before
        await thread.delete_message(middle)
        assert history.deleted == [middle]
        assert shown(thread) == ["u:one", "u:two", "a:x"]
        with pytest.raises(MessageNotFoundError):
            thread.delete_message(middle)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("is_slow", [False, True])
async def test_what_is_deleted_while_it_is_being_stored_stays_deleted(which: int, is_slow: bool) -> None:
    class QuickToDelete(Slow):
        async def delete(self, items: tuple[HistoryItem, ...], /) -> None:
            await MemoryHistory.delete(self, items)

    history = QuickToDelete()
    model = Script([TextDelta("x"), anyio.Event()], [TextDelta("y")])
    async with talking(model, history=history) as thread:
        if is_slow:
            history.be_slow()
        first = thread.append("one")
        await settled()
        second = thread.append("note", starts_run=False)
        deletion = thread.delete_message(thread.state.messages[which].id)
        third = thread.append("two")
        await settled()
        history.open()
        for operation in (first, second, deletion, third):
            await operation
        await settled()
        loaded = await history.load()
        assert {entry.message.id: (entry.parent_id, entry.message) for entry in loaded.entries} == {
            entry.message.id: (entry.parent_id, entry.message) for entry in thread.export().entries
        }
        assert loaded.head_id == thread.state.head_id
        assert shown(thread) == [["a:x", "u:note", "u:two", "a:y"], ["u:one", "u:note", "u:two", "a:y"]][which]


async def test_a_message_that_comes_back_after_it_was_deleted_is_stored_again() -> None:
    history = Slow()
    async with talking(Script([TextDelta("x")]), history=history) as thread:
        await thread.append("one")
        export = thread.export()
        await thread.delete_message(last(thread).id)
        thread.import_(export)
        await thread.append("two")
        loaded = await history.load()
        assert [entry.message for entry in loaded.entries] == list(thread.state.messages)


async def test_a_result_that_overwrites_another_is_stored() -> None:
    history = Shelf()
    async with talking(Script(calls("human"), [TextDelta("x")]), history=history) as thread:
        await thread.append("hi")
        await thread.add_tool_result(last(thread).id, "c0", 1)
        await thread.add_tool_result(last(thread).id, "c0", 1)
        await settled()
        count = len(history.writes)
        await thread.add_tool_result(last(thread).id, "c0", 2)
        await settled()
        assert history.items[last(thread).id].message == last(thread)
        assert len(history.writes) == count + 1


async def test_deleting_the_question_ends_its_run() -> None:
    gate = anyio.Event()
    async with talking(Script([TextDelta("x"), gate]), history=Shelf()) as thread:
        operation = thread.append("one")
        await settled()
        await thread.delete_message(thread.state.messages[0].id)
        await operation
        assert not thread.state.is_running
        assert "running" not in statuses(thread)


@pytest.mark.parametrize("is_sudden", [True, False])
async def test_a_message_that_never_reached_its_thread_is_taken_back(is_sudden: bool) -> None:  # trace 10
    gate = anyio.Event()

    async def slowly() -> None:
        await gate.wait()
        raise OSError("no thread")

    def initialize() -> Any:
        if is_sudden:
            raise OSError("no thread")
        return slowly()

    history = Log()
    async with talking(Script([TextDelta("x")]), history=history, initialize=initialize) as thread:
        operation = thread.append("hi")
        gate.set()
        with pytest.raises(NotSentError) as caught:
            await operation
        assert isinstance(caught.value.__cause__, OSError)
        assert shown(thread) == []
        assert history.order == []
        thread.set_options(initialize=None)
        await thread.append("again")
        assert shown(thread) == ["u:again", "a:x"]


async def test_leaving_while_the_thread_is_being_made_is_no_error() -> None:  # trace 10, T-C9
    gate = anyio.Event()

    async def initialize() -> None:
        await gate.wait()
        raise OSError("no thread")

    async with talking(Script([TextDelta("x")]), initialize=initialize) as thread:
        operation = thread.append("hi")
        assert shown(thread) == ["u:hi"]
        await settled()
        thread.detach()
        gate.set()
        await operation
        assert shown(thread) == []


async def test_a_process_that_died_in_the_middle_reopens_with_what_was_stored(tmp_path: Any) -> None:
    gate = anyio.Event()
    path = tmp_path / "chat.db"
    model = Script([TextDelta("one")], [TextDelta("half"), gate])
    async with SqliteHistory(path) as dying, talking(model, history=dying) as thread:
        await thread.append("first")
        thread.append("second")
        async with SqliteHistory(path) as watching:
            with anyio.fail_after(10):
                while len((await watching.load() or LoadedHistory()).entries) < 3:
                    await anyio.lowlevel.checkpoint()
        async with SqliteHistory(path) as again, talking(Script([TextDelta("again")]), history=again) as other:
            await other.load()
            assert shown(other) == ["u:first", "a:one", "u:second"]
            assert not other.state.is_running
            await other.append("third")
            assert shown(other)[-1] == "a:again"


async def test_importing_the_threads_own_export_doubles_nothing() -> None:  # B53
    history = Shelf()
    async with talking(Script([TextDelta("x")]), history=history) as thread:
        await thread.append("one")
        await thread.append("two")
        before = shown(thread)
        for _ in range(2):
            thread.import_(thread.export())
        assert shown(thread) == before
        assert len(thread.export().entries) == 4
        await thread.append("three")
        assert history.order.count("append u:one") == 1


async def test_a_failing_history_never_spoils_an_answer_with_tools() -> None:
    tools = pw.Toolkit()

    @tools.frontend
    async def far() -> int:
        return 1

    history = Shelf()
    history.failing = ["u:hi", "a:x", "u:hi", "a:x"]
    async with talking(Script(calls("far"), [TextDelta("x")]), tools=tools, history=history) as thread:
        with pytest.raises(HistoryError):
            await thread.append("hi")
        assert statuses(thread) == ["complete/unknown"]
        assert not thread.state.is_running
