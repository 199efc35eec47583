"""Threads of an owner of an external store: which are shown, which is in view, and what is asked of the owner."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from typing import Any

import anyio
import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.errors import (
    FeedError,
    NotAllowedError,
    NotSentError,
    ParentNotFoundError,
    ThreadNotOpenError,
    UnsupportedError,
)
from partwise.primitives import ThreadListView
from partwise.repository import Entry, Export
from partwise.runtimes import AppendRequest, ExternalSnapshot, ExternalStoreRuntime, ExternalThreads, MessageQueue
from partwise.store import ThreadListState, ThreadRow
from tests.runtimes.scenes import answer, heard, question, reports, settled, shown
from tests.runtimes.test_attachments import NOTE, Slow

U1, A1, U2, A2 = question("u1"), answer("a1"), question("u2"), answer("a2")
ACTIONS = {
    "switch_to": ("t2",),
    "switch_to_new": (),
    "rename": ("t1", "New"),
    "update_custom": ("t1", {"a": 1}),
    "archive": ("t1",),
    "unarchive": ("t1",),
    "delete": ("t1",),
}


def rows(*ids: str) -> list[ThreadRow]:
    return [ThreadRow(id=id, title=id.upper()) for id in ids]


def listing(state: ThreadListState) -> tuple[list[str], list[str]]:
    """The regular and the archived threads; the one in view has a star."""

    def named(id: str) -> str:
        return f"{id}*" if id == state.main_id else id

    return [named(id) for id in state.regular_ids], [named(id) for id in state.archived_ids]


def store(messages: object = (), current_id: str = "t1", **threads: Any) -> ExternalStoreRuntime:
    return ExternalStoreRuntime(messages, threads=ExternalThreads(current_id=current_id, **threads))


# ---------------------------------------------------------------- what is shown


def test_without_a_list_the_thread_in_view_is_the_only_one() -> None:
    runtime = ExternalStoreRuntime([U1])

    assert listing(runtime.threads.state) == (["main*"], [])
    assert runtime.threads.main is runtime.thread
    assert runtime.threads.state.capabilities == frozenset()
    row = runtime.threads.state.rows.by_key("main")
    assert (row.status, row.is_live, row.is_running) == ("regular", True, False)


def test_the_owners_lists_are_shown_in_order_and_equal_rows_stay_the_same() -> None:
    runtime = store(regular=rows("t1", "t2"), archived=rows("t9"))
    threads = runtime.threads
    seen: list[str | None] = []
    threads.row("t2").select(lambda row: row.title).subscribe(seen.append)
    commits: list[ThreadListState] = []
    threads.select(lambda state: state).subscribe(commits.append)

    assert listing(threads.state) == (["t1*", "t2"], ["t9"])
    assert threads.state.rows.by_key("t9").status == "archived"
    before = threads.state
    runtime.update(threads=ExternalThreads(current_id="t1", regular=rows("t1", "t2"), archived=rows("t9")))
    assert threads.state is before
    renamed = [*rows("t1"), ThreadRow(id="t2", title="Other")]
    runtime.update(threads=ExternalThreads(current_id="t1", regular=renamed, archived=rows("t9"), is_loading=True))
    assert (seen, len(commits)) == (["T2", "Other"], 2)
    assert threads.state.is_loading
    assert threads.state.rows.by_key("t9") is before.rows.by_key("t9")


def test_a_thread_in_view_that_is_not_listed_has_a_row_until_another_comes() -> None:
    runtime = store(current_id="t3", regular=rows("t1"))

    assert listing(runtime.threads.state) == (["t1"], [])
    assert runtime.threads.state.rows.by_key("t3").status == "regular"
    runtime.update([], threads=ExternalThreads(current_id="t1", regular=rows("t1")))
    assert runtime.threads.state.rows.keys() == ("t1",)
    runtime.update(threads=None)
    assert listing(runtime.threads.state) == (["main*"], [])


def test_the_row_of_the_thread_in_view_tells_that_it_runs() -> None:
    runtime = store([U1], regular=rows("t1", "t2"))
    seen: list[bool] = []
    runtime.threads.row("t1").select(lambda row: row.is_running).subscribe(seen.append)

    runtime.update(is_running=True)
    runtime.update([U1, A1], is_running=False)
    assert seen == [False, True, False]
    assert not runtime.threads.state.rows.by_key("t2").is_live


def test_a_thread_that_is_listed_twice_is_shown_once_and_reported_once() -> None:
    twice = ExternalThreads(current_id="t1", regular=rows("t1", "t2"), archived=rows("t2"))
    runtime = store(regular=rows("t1"))
    found = reports(runtime.thread)

    for _ in range(2):
        runtime.update(threads=attrs.evolve(twice))
    assert listing(runtime.threads.state) == (["t1*", "t2"], [])
    assert found == ["feed: Thread 't2' is listed more than once; its first row is shown. List each thread once."]

    strict = ExternalStoreRuntime([U1], is_strict=True)
    with pytest.raises(FeedError, match="'t2' is listed more than once"):
        strict.update([U2], threads=twice)
    assert (shown(strict.thread), strict.threads.state.main_id) == (["u:u1"], "main")


# ---------------------------------------------------------------- another thread comes into view


def test_another_thread_inherits_nothing_and_ends_what_looked_at_the_one_before() -> None:
    runtime = store([U1, A1])
    before = runtime.thread
    ended: list[str] = []
    before.select(lambda state: state.head_id).subscribe(on_completed=lambda: ended.append("head"))
    seen: list[list[str]] = []
    runtime.threads.follow(lambda thread: thread.select(lambda state: state.messages)).subscribe(
        lambda messages: seen.append([message.id for message in messages])
    )
    order: list[str] = []
    runtime.threads.select(lambda state: state.main_id).subscribe(
        lambda id: order.append(f"{id}: {shown(runtime.thread)}")
    )

    runtime.update([U2, A2], threads=ExternalThreads(current_id="t2"))

    assert runtime.thread is not before
    assert [entry.message.id for entry in runtime.thread.export().entries] == ["u2", "a2"]
    assert runtime.thread.branches_of("u2") == ("u2",)
    assert (seen, ended) == ([["u1", "a1"], ["u2", "a2"]], ["head"])
    assert order == ["t1: ['u:u1', 'a:a1']", "t2: ['u:u2', 'a:a2']"]
    runtime.update([U2])
    assert (shown(runtime.thread), seen[-1]) == (["u:u2"], ["u2"])


def test_another_thread_without_messages_begins_empty() -> None:
    runtime = store([U1], current_id="t1")
    runtime.update(threads=ExternalThreads(current_id="t2"))
    assert shown(runtime.thread) == []


def test_an_update_that_fails_leaves_the_thread_in_view() -> None:
    runtime = store([U1])
    before, listed = runtime.thread, runtime.threads.state
    with pytest.raises(ParentNotFoundError):
        runtime.update(Export("x", (Entry("nowhere", U2),)), threads=ExternalThreads(current_id="t2"))
    assert (runtime.thread, runtime.threads.state) == (before, listed)
    runtime.update([U1, A1])
    assert shown(runtime.thread) == ["u:u1", "a:a1"]


@pytest.mark.parametrize("is_strict", [False, True])
async def test_messages_that_come_too_late_for_their_thread_are_left_out(is_strict: bool) -> None:
    both = ExternalThreads(current_id="t1", regular=rows("t1", "t2"))
    async with ExternalStoreRuntime([U1], threads=both, is_strict=is_strict) as runtime:
        runtime.update([U1, A1], thread_id="t1")
        assert shown(runtime.thread) == ["u:u1", "a:a1"]
        runtime.update([U2], threads=attrs.evolve(both, current_id="t2"), thread_id="t2")
        found = reports(runtime.thread)
        for _ in range(2):
            if is_strict:
                with pytest.raises(FeedError, match="'t1' came while 't2' is in view"):
                    runtime.update([U1], is_running=True, thread_id="t1")
            else:
                runtime.post([U1], is_running=True, thread_id="t1")
        assert (shown(runtime.thread), runtime.thread.state.is_running) == (["u:u2"], False)
        assert len(found) == (0 if is_strict else 1)
        runtime.update([U2, A2], thread_id="t2")
        assert shown(runtime.thread) == ["u:u2", "a:a2"]


def test_a_draft_is_there_again_when_its_thread_is() -> None:
    runtime = store([U1])
    runtime.thread.composer.set_text("half a thought")
    runtime.update([U2], threads=ExternalThreads(current_id="t2"))
    assert runtime.thread.composer.state.text == ""
    runtime.thread.composer.set_text("other")
    runtime.update([U1], threads=ExternalThreads(current_id="t1"))
    assert runtime.thread.composer.state.text == "half a thought"
    runtime.update([U2], threads=ExternalThreads(current_id="t2"))
    assert runtime.thread.composer.state.text == "other"


class Owner:
    """Takes what leaves the queue."""

    def __init__(self) -> None:
        self.sent: list[AppendRequest] = []

    def run(self, request: AppendRequest, /, *, steer: bool) -> None:
        del steer
        self.sent.append(request)


def test_drafts_of_edited_messages_are_open_again_with_their_thread() -> None:
    runtime = ExternalStoreRuntime([U1, U2], threads=ExternalThreads(current_id="t1"), on_edit=lambda request: None)
    for message in (U1, U2):
        runtime.thread.begin_edit(message.id).set_text(f"new {message.id}")
    runtime.update([U2], threads=ExternalThreads(current_id="t2"))
    assert runtime.thread.state.edits == {}
    runtime.update([U1], threads=ExternalThreads(current_id="t1"))
    assert {id: draft.text for id, draft in runtime.thread.state.edits.items()} == {"u1": "new u1"}
    assert runtime.thread.edit_composer("u1").state.text == "new u1"


async def test_a_thread_that_was_left_asks_its_owner_for_nothing() -> None:
    asked: list[Any] = []
    functions = ("on_new", "on_edit", "on_reload", "on_cancel", "on_delete", "on_tool_result", "on_approval")
    given: dict[str, Any] = {name: lambda *args: asked.append(args) for name in (*functions, "set_messages")}
    async with ExternalStoreRuntime([U1, A1], threads=ExternalThreads(current_id="t1"), **given) as runtime:
        left = runtime.thread
        runtime.update([U2], threads=ExternalThreads(current_id="t2"))
        with pytest.raises(NotAllowedError, match="was left"):
            left.composer.set_text("from an old window")
        for attempt in (
            lambda: left.append("x"),
            lambda: left.reload("a1"),
            lambda: left.cancel_run(),
            lambda: left.delete_message("a1"),
            lambda: left.add_tool_result("a1", "c1", 1),
            lambda: left.respond_to_approval("p", approved=True),
            lambda: left.switch_to_branch("a1"),
            lambda: left.reset(),
        ):
            with pytest.raises(ThreadNotOpenError, match="Thread 't1' is not open: it is not in view any more"):
                attempt()
        await settled()
        await left.composer.send()
        assert (asked, shown(left)) == ([], ["u:u1", "a:a1"])


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("is_back", [False, True])
async def test_an_upload_that_ends_in_a_thread_that_was_left_gives_the_draft_back_there(
    fails: bool, is_back: bool
) -> None:
    adapter, sent = Slow(), list[AppendRequest]()
    adapter.fails = fails
    first, second = ExternalThreads(current_id="t1"), ExternalThreads(current_id="t2")
    async with ExternalStoreRuntime([U1], threads=first, attachments=adapter, on_new=sent.append) as runtime:
        await runtime.thread.composer.add_attachment(NOTE)
        runtime.thread.composer.set_text("hi")
        operation = runtime.thread.composer.send()
        await settled()
        runtime.update([U2], threads=second)
        if is_back:
            runtime.update([U1], threads=first)
        adapter.gate.set()
        with pytest.raises(OSError if fails else ThreadNotOpenError):
            await operation
        await settled()
        if not is_back:
            assert runtime.thread.composer.state.text == ""
            runtime.update([U1], threads=first)
        draft = runtime.thread.composer.state
        assert (draft.text, len(draft.attachments), draft.is_sending, sent) == ("hi", 1, False, [])


async def test_a_message_that_reached_nobody_is_a_draft_of_its_own_thread() -> None:
    gate = anyio.Event()

    async def refuse(request: AppendRequest) -> None:
        await gate.wait()
        raise NotSentError("offline")

    first, second = ExternalThreads(current_id="t1"), ExternalThreads(current_id="t2")
    async with ExternalStoreRuntime([U1], threads=first, on_new=refuse) as runtime:
        runtime.thread.composer.set_text("hi")
        operation = runtime.thread.composer.send()
        await settled()
        runtime.update([U2], threads=second)
        gate.set()
        with pytest.raises(NotSentError):
            await operation
        await settled()
        assert runtime.thread.composer.state.text == ""
        runtime.update([U1], threads=first)
        assert runtime.thread.composer.state.text == "hi"


async def test_a_message_that_was_cancelled_is_not_there_twice_after_a_switch() -> None:
    handed: list[Any] = []
    first, second = ExternalThreads(current_id="t1"), ExternalThreads(current_id="t2")
    fields: dict[str, Any] = {"on_cancel": lambda: None, "set_messages": handed.append}
    async with ExternalStoreRuntime([U1], is_running=True, threads=first, **fields) as runtime:
        runtime.thread.cancel_run()
        assert runtime.thread.composer.state.text == "u1"
        runtime.update([U2], threads=second, is_running=False)
        await settled()
        runtime.update([U1], threads=first)
        assert (handed, shown(runtime.thread), runtime.thread.composer.state.text) == ([], ["u:u1"], "")


async def test_what_waits_in_the_old_thread_reaches_nobody() -> None:
    made, owner = anyio.Event(), Owner()
    queue = MessageQueue(owner)
    first = ExternalThreads(current_id="t1")
    async with ExternalStoreRuntime([U1], threads=first, queue=queue, initialize=made.wait) as runtime:
        operation = runtime.thread.append("x")
        await settled()
        runtime.update([U2], threads=ExternalThreads(current_id="t2"), initialize=None)
        made.set()
        with pytest.raises(NotSentError, match="left before"):
            await operation
        await runtime.thread.append("y")
        assert [request.parent_id for request in owner.sent] == ["u2"]


async def test_a_queue_goes_along_and_belongs_to_the_thread_in_view() -> None:
    owner = Owner()
    queue = MessageQueue(owner)
    async with ExternalStoreRuntime([U1], threads=ExternalThreads(current_id="t1"), queue=queue) as runtime:
        runtime.update([U2], threads=ExternalThreads(current_id="t2"))
        await runtime.thread.append("hi")
        await settled()
        assert [request.parent_id for request in owner.sent] == ["u2"]
        queue.notify_busy()
        await runtime.thread.append("later")
        assert [item.prompt for item in runtime.thread.state.queue] == ["later"]


async def test_a_source_may_change_the_thread() -> None:
    async def source() -> AsyncIterator[ExternalSnapshot]:
        yield ExternalSnapshot([U1], threads=ExternalThreads(current_id="t1", regular=rows("t1", "t2")))
        yield ExternalSnapshot([U2], threads=ExternalThreads(current_id="t2", regular=rows("t1", "t2")))
        yield ExternalSnapshot([U2, A2])

    async with ExternalStoreRuntime(source()) as runtime:
        await settled()
        assert (listing(runtime.threads.state)[0], shown(runtime.thread)) == (["t1", "t2*"], ["u:u2", "a:a2"])


async def test_snapshots_of_two_threads_from_another_thread_of_execution_arrive_in_order() -> None:
    async with store([U1]) as runtime:

        def talk() -> None:
            for number in range(20):
                runtime.post([question(f"u{number}")], threads=ExternalThreads(current_id=f"t{number}"))
                runtime.post([question(f"u{number}"), answer(f"a{number}")])

        talking = threading.Thread(target=talk)
        talking.start()
        await anyio.to_thread.run_sync(talking.join)
        await settled()
        assert (runtime.threads.state.main_id, shown(runtime.thread)) == ("t19", ["u:u19", "a:a19"])


async def test_events_of_a_new_thread_are_its_own() -> None:
    async with store([U1]) as runtime:
        old = heard(runtime.thread)
        await settled()
        runtime.update([U2], threads=ExternalThreads(current_id="t2"))
        new = heard(runtime.thread)
        await settled()
        runtime.update(is_running=True)
        assert (old, new) == (["initialize"], ["initialize", "run_start"])


# ---------------------------------------------------------------- what the owner is asked


@pytest.mark.parametrize("action", ACTIONS)
async def test_each_action_is_handed_to_the_owner(action: str) -> None:
    asked: list[Any] = []
    gate = anyio.Event()

    async def slow(*args: Any) -> None:
        asked.append(args)
        await gate.wait()

    async with store([U1], regular=rows("t1", "t2"), **{f"on_{action}": slow}) as runtime:
        assert runtime.threads.state.capabilities == {action}
        operation = getattr(runtime.threads, action)(*ACTIONS[action])
        await settled()
        assert (asked, operation.is_done) == ([ACTIONS[action]], False)
        gate.set()
        await operation


@pytest.mark.parametrize("action", ACTIONS)
async def test_what_the_owner_cannot_do_or_fails_at_is_told_by_the_operation(action: str) -> None:
    async def fail(*args: Any) -> None:
        raise OSError("locked")

    async with store([U1], regular=rows("t1", "t2"), **{f"on_{action}": fail}) as runtime:
        with pytest.raises(OSError, match="locked"):
            await getattr(runtime.threads, action)(*ACTIONS[action])
        runtime.update(threads=ExternalThreads(current_id="t1"))
        with pytest.raises(UnsupportedError, match=f"gave no 'threads.on_{action}'"):
            await getattr(runtime.threads, action)(*ACTIONS[action])
        assert listing(runtime.threads.state) == (["t1*"], [])


async def test_the_thread_in_view_is_not_asked_for() -> None:
    asked: list[str] = []
    async with store([U1], regular=rows("t1", "t2"), on_switch_to=asked.append) as runtime:
        await runtime.threads.switch_to("t1")
        assert asked == []


async def test_the_owner_may_answer_a_switch_inside_of_it() -> None:
    def switch(id: str) -> None:
        runtime.update([U2], threads=attrs.evolve(threads, current_id=id))

    threads = ExternalThreads(current_id="t1", regular=rows("t1", "t2"), on_switch_to=switch)
    sent: list[AppendRequest] = []
    async with ExternalStoreRuntime([U1], threads=threads, on_new=sent.append) as runtime:
        await runtime.threads.switch_to("t2")
        await runtime.thread.append("there")
        assert (listing(runtime.threads.state)[0], sent[0].parent_id) == (["t1", "t2*"], "u2")


async def test_the_thread_in_view_is_reloaded_if_the_owner_can() -> None:
    asked: list[str] = []
    async with store([U1]) as runtime:
        await runtime.threads.reload_main()
        runtime.update(on_refetch=lambda: asked.append("newest"))
        await runtime.threads.reload_main()
        assert asked == ["newest"]
        assert runtime.threads.initialize("t1") == "t1"
        runtime.update(threads=ExternalThreads(current_id="t1", regular=[ThreadRow(id="t1", remote_id="r1")]))
        assert runtime.threads.initialize("t1") == "r1"


async def test_the_views_of_a_list_work_with_it() -> None:
    asked: list[Any] = []
    threads = ExternalThreads(
        current_id="t1",
        regular=rows("t1", "t2"),
        archived=rows("t9"),
        on_switch_to=asked.append,
        on_rename=lambda *args: asked.append(args),
    )
    async with ExternalStoreRuntime([U1], threads=threads) as runtime:
        view = ThreadListView(runtime.threads)
        assert (view.ids.value, view.archived_ids.value, view.main_id.value) == (("t1", "t2"), ("t9",), "t1")
        await view.switch("next")
        await view.item("t9").rename("Older")
        await view.load_more()
        assert asked == ["t2", ("t9", "Older")]


def test_slices_complete_when_the_runtime_closes() -> None:
    ended: list[str] = []

    async def play() -> None:
        async with store([U1]) as runtime:
            runtime.threads.select(lambda state: state.main_id).subscribe(on_completed=lambda: ended.append("list"))
            runtime.thread.select(lambda state: state.head_id).subscribe(on_completed=lambda: ended.append("thread"))

    anyio.run(play)
    assert sorted(ended) == ["list", "thread"]


IDS = st.sampled_from(["t1", "t2", "t3", "t4"])


@given(st.lists(st.tuples(IDS, st.none() | st.lists(IDS, max_size=5), st.lists(IDS, max_size=3)), max_size=6))
def test_whatever_is_listed_each_thread_is_there_once_and_one_is_in_view(
    steps: list[tuple[str, list[str] | None, list[str]]],
) -> None:
    runtime = ExternalStoreRuntime([U1], on_error=lambda *_: None)
    for current_id, regular, archived in steps:
        given_rows = None if regular is None else rows(*regular)
        threads = ExternalThreads(current_id=current_id, regular=given_rows, archived=rows(*archived))
        runtime.update([U1], threads=threads)
        state = runtime.threads.state
        listed_ids = [*state.regular_ids, *state.archived_ids]
        assert len(listed_ids) == len(set(listed_ids))
        assert set(state.rows.keys()) == {*listed_ids, current_id}
        assert [row.id for row in state.rows if row.is_live] == [current_id] == [state.main_id]
        assert shown(runtime.thread) == ["u:u1"]
