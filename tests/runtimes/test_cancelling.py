"""Ending a run: by the user, by a newer run, by leaving the runtime, by the host."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import anyio
import anyio.lowlevel
import attrs
import pytest

from partwise.adapters import RunContext, RunResult
from partwise.errors import AbortedError, RuntimeClosedError
from partwise.messages import COMPLETE_STOP, REQUIRES_TOOL_CALLS, IncompleteStatus, TextPart
from partwise.runtimes import LocalRuntime
from partwise.stream import Finish, TextDelta
from tests.runtimes.scenes import (
    Log,
    Script,
    Shelf,
    call,
    calls,
    heard,
    last,
    reports,
    settled,
    shown,
    statuses,
    talking,
)

Model = Callable[[RunContext], AsyncIterator[Any]]


async def returns(run: RunContext) -> AsyncIterator[Any]:
    yield TextDelta("par")
    await run.signal.wait()


async def raises(run: RunContext) -> AsyncIterator[Any]:
    yield TextDelta("par")
    await run.signal.wait()
    raise AbortedError("stopped")


async def yields_more(run: RunContext) -> AsyncIterator[Any]:
    yield TextDelta("par")
    await run.signal.wait()
    yield TextDelta("late")
    yield TextDelta("later")


async def ignores(run: RunContext) -> AsyncIterator[Any]:
    yield TextDelta("par")
    await anyio.sleep_forever()


async def in_a_group(run: RunContext) -> AsyncIterator[Any]:
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep_forever)
        yield TextDelta("par")
        await run.signal.wait()
        yield TextDelta("late")


async def in_a_group_unaware(run: RunContext) -> AsyncIterator[Any]:
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep_forever)
        yield TextDelta("par")
        await anyio.sleep_forever()


async def in_a_scope(run: RunContext) -> AsyncIterator[Any]:
    with anyio.CancelScope():
        yield TextDelta("par")
        await run.signal.wait()
        yield TextDelta("late")


async def raises_a_group(run: RunContext) -> AsyncIterator[Any]:
    async with anyio.create_task_group() as group:
        yield TextDelta("par")

        async def stop() -> None:
            await run.signal.wait()
            raise AbortedError("stopped")

        group.start_soon(stop)
        await anyio.sleep_forever()


async def fails_in_its_clean_up(run: RunContext) -> AsyncIterator[Any]:
    try:
        yield TextDelta("par")
        await anyio.sleep_forever()
    finally:
        raise ValueError("clean-up")


async def fails_in_a_childs_clean_up(run: RunContext) -> AsyncIterator[Any]:
    async def child() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise ValueError("clean-up")

    async with anyio.create_task_group() as group:
        group.start_soon(child)
        yield TextDelta("par")
        await anyio.sleep_forever()


async def fails_when_closed(run: RunContext) -> AsyncIterator[Any]:
    try:
        yield TextDelta("par")
        await run.signal.wait()
        yield TextDelta("late")
    finally:
        raise ValueError("clean-up")


ENDING = [
    returns,
    raises,
    yields_more,
    ignores,
    in_a_group,
    in_a_group_unaware,
    in_a_scope,
    raises_a_group,
    fails_when_closed,
]
FAILING = [fails_in_its_clean_up, fails_in_a_childs_clean_up]


def named(models: list[Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("model", models, ids=lambda model: model.__name__)


adapters = named(ENDING)


@adapters
async def test_a_cancelled_answer_keeps_its_text_and_ends_once_as_cancelled_here_and_in_the_history(
    model: Model,
) -> None:
    history = Log()  # B10, B95
    async with talking(model, history=history) as thread:
        events = heard(thread)
        ended: list[str] = []
        operation = thread.append("hi")
        await settled()
        thread.message(last(thread).id).select(lambda m: m.status.type).subscribe(ended.append)
        thread.cancel_run()
        await operation
        assert shown(thread) == ["u:hi", "a:par"]
        assert statuses(thread) == ["incomplete/cancelled"]
        assert ended == ["running", "incomplete"]
        assert [kind for kind in events if kind != "report"] == ["initialize", "run_start", "run_end"]
        assert history.writes[1:] == [("append", "a:par", "incomplete/cancelled")]
        assert not thread.state.is_running
        before = thread.state
        await settled()
        assert thread.state is before
        await thread.append("note", starts_run=False)


@adapters
async def test_a_superseded_answer_ends_as_cancelled_and_the_newer_one_is_untouched(model: Model) -> None:
    history = Log()
    async with talking(model, history=history) as thread:
        first = thread.append("one")
        await settled()
        thread.set_options(model=Script([TextDelta("new")]))
        second = thread.append("two", parent_id=thread.state.messages[0].id)
        await first
        await second
        assert shown(thread) == ["u:one", "u:two", "a:new"]
        thread.switch_branch(thread.state.messages[1].id, "previous")
        assert shown(thread) == ["u:one", "a:par"]
        assert statuses(thread) == ["incomplete/cancelled"]
        assert ("append", "a:par", "incomplete/cancelled") in history.writes


@adapters
async def test_leaving_the_runtime_ends_what_runs_and_keeps_it(model: Model) -> None:
    history = Log()  # B95
    async with talking(model, history=history) as thread:
        operation = thread.append("hi")
        await settled()
    assert statuses(thread) == ["incomplete/cancelled"]
    assert shown(thread) == ["u:hi", "a:par"]
    assert operation.is_done
    assert ("append", "a:par", "incomplete/cancelled") in history.writes


@named([*ENDING, *FAILING])
async def test_a_body_that_raises_raises_just_that(model: Model) -> None:
    threads = []

    async def body() -> None:
        async with talking(model) as thread:
            threads.append(thread)
            thread.append("hi")
            await settled()
            raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        await body()
    assert statuses(threads[0]) == ["incomplete/error" if model in FAILING else "incomplete/cancelled"]


@named([*ENDING, *FAILING])
async def test_a_host_that_is_cancelled_settles_the_answer_and_goes_on_ending(model: Model) -> None:
    seen = []
    with anyio.CancelScope() as scope:
        async with talking(model, history=Log()) as thread:
            seen.append(thread)
            thread.append("hi")
            await settled()
            scope.cancel()
            await anyio.sleep_forever()
        raise AssertionError("not reached")
    assert scope.cancelled_caught
    assert statuses(seen[0]) == ["incomplete/cancelled"]
    assert not seen[0].state.is_running


async def test_an_operation_awaited_outside_of_a_cancelled_runtime_raises_a_plain_error() -> None:
    history = Log()
    history.gate = anyio.Event()
    with anyio.CancelScope() as scope:
        async with talking(Script([TextDelta("a")]), history=history, cancel_timeout=0) as thread:
            one = thread.append("one", starts_run=False)
            two = thread.append("two", starts_run=False)
            await settled()
            scope.cancel()
            await anyio.sleep_forever()
    for operation in (one, two):
        with anyio.fail_after(1), pytest.raises(RuntimeClosedError):
            await operation


@named(FAILING)
async def test_an_ordinary_error_raised_after_the_cancel_is_still_an_error(model: Model) -> None:
    async with talking(model) as thread:
        operation = thread.append("hi")
        await settled()
        thread.cancel_run()
        with pytest.raises(ValueError, match="clean-up"):
            await operation
        assert statuses(thread) == ["incomplete/error"]
        assert shown(thread) == ["u:hi", "a:par"]
        assert not thread.state.is_running


async def test_what_a_closed_adapter_raises_is_reported_and_changes_nothing() -> None:
    async with talking(fails_when_closed) as thread:
        found = reports(thread)
        operation = thread.append("hi")
        await settled()
        thread.cancel_run()
        await operation
        assert found == ["chat model: clean-up"]


async def test_clean_up_has_ended_before_the_run_has() -> None:  # B95
    order: list[str] = []

    async def model(run: RunContext) -> AsyncIterator[Any]:
        try:
            yield TextDelta("par")
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
                await anyio.lowlevel.checkpoint()
            order.append("finally")

    async with talking(model) as thread:
        thread.events.subscribe(lambda event: order.append(event.type))
        operation = thread.append("hi")
        await settled()
        thread.cancel_run()
        await operation
        order.append("awaited")
    assert order[-3:] == ["finally", "run_end", "awaited"]


async def test_every_step_of_a_generator_and_its_end_are_in_one_task() -> None:  # B95
    tasks: set[int] = set()

    async def model(run: RunContext) -> AsyncIterator[Any]:
        try:
            for text in "abc":
                tasks.add(anyio.get_current_task().id)
                yield TextDelta(text)
            await run.signal.wait()
            yield TextDelta("late")
        finally:
            tasks.add(anyio.get_current_task().id)

    async with talking(model) as thread:
        operation = thread.append("hi")
        await settled()
        thread.cancel_run()
        await operation
    assert len(tasks) == 1


async def test_an_adapter_that_cannot_be_stopped_is_left_behind_and_reported() -> None:
    release = anyio.Event()
    history = Log()

    async def model(run: RunContext) -> AsyncIterator[Any]:
        yield TextDelta("par")
        with anyio.CancelScope(shield=True):
            await release.wait()
        yield TextDelta("late")

    async with talking(model, cancel_timeout=0, history=history) as thread, AsyncExitStack() as release_at_last:
        release_at_last.callback(release.set)
        found = reports(thread)
        operation = thread.append("hi")
        await settled()
        thread.cancel_run()
        await operation
        await settled()
        assert statuses(thread) == ["incomplete/cancelled"]
        assert len(found) == 1
        assert "chat model" in found[0]
        assert history.writes[-1] == ("append", "a:par", "incomplete/cancelled")
        thread.set_options(model=Script([TextDelta("next")]))
        await thread.append("again")
        before = thread.state
        release.set()
        await settled()
        assert thread.state is before
        assert shown(thread) == ["u:hi", "a:par", "u:again", "a:next"]


async def test_a_cancelled_error_of_the_adapters_own_making_ends_only_its_answer() -> None:
    async def model(run: RunContext) -> AsyncIterator[Any]:
        yield TextDelta("par")
        with anyio.CancelScope() as scope:
            scope.cancel()
            try:
                await anyio.sleep_forever()
            except anyio.get_cancelled_exc_class() as error:
                kept.append(error)
                raise
        raise kept[0]

    kept: list[BaseException] = []
    async with talking(model) as thread:
        await thread.append("hi")
        assert statuses(thread) == ["incomplete/cancelled"]
        thread.set_options(model=Script([TextDelta("fine")]))
        await thread.append("again")
        assert shown(thread)[-1] == "a:fine"


async def test_a_terminal_status_given_before_the_cancel_stands() -> None:  # T-C4
    async def model(run: RunContext) -> AsyncIterator[Any]:
        yield RunResult(content=[TextPart("done")], status=COMPLETE_STOP)
        await run.signal.wait()

    async with talking(model) as thread:
        operation = thread.append("hi")
        await settled()
        thread.cancel_run()
        await operation
        assert statuses(thread) == ["complete/stop"]


async def test_a_pause_stands_when_the_run_is_cancelled() -> None:  # trace 9, T-C5
    model = Script(calls("far"))
    async with talking(model, human_tools=["far"]) as thread:
        await thread.append("hi")
        thread.cancel_run()
        await settled()
        assert statuses(thread) == ["requires-action/tool-calls"]


async def test_a_result_that_was_promised_comes_too_late_after_a_cancel() -> None:  # T-C6
    gate = anyio.Event()

    async def model(run: RunContext) -> RunResult:
        with anyio.CancelScope(shield=True):
            await gate.wait()
        return RunResult(content=[TextPart("late")])

    async with talking(model) as thread:
        operation = thread.append("hi")
        await settled()
        thread.cancel_run()
        gate.set()
        await operation
        assert statuses(thread) == ["incomplete/cancelled"]


async def test_a_late_pause_with_results_is_cancelled_and_does_not_go_on() -> None:  # T-C3
    async def model(run: RunContext) -> AsyncIterator[Any]:
        for chunk in call("c0", "far"):
            yield chunk
        await run.signal.wait()
        part = run.message.content[0]
        yield RunResult(content=[attrs.evolve(part, result=1)], status=REQUIRES_TOOL_CALLS)

    async with talking(model) as thread:
        operation = thread.append("hi")
        await settled()
        thread.cancel_run()
        await operation
        assert statuses(thread) == ["incomplete/cancelled"]


@pytest.mark.parametrize("is_stubborn", [False, True])
async def test_the_run_that_paused_writes_nothing_once_another_goes_on_with_its_message(is_stubborn: bool) -> None:
    release = anyio.Event()

    async def pausing(run: RunContext) -> AsyncIterator[Any]:
        for chunk in call("c0", "far"):
            yield chunk
        yield RunResult(status=REQUIRES_TOOL_CALLS)
        with anyio.CancelScope(shield=is_stubborn):
            await release.wait()
        yield TextDelta("late")

    gate = anyio.Event()
    history = Shelf()
    async with talking(pausing, history=history) as thread:
        first = thread.append("hi")
        await settled()
        thread.set_options(model=Script([TextDelta("on"), gate, TextDelta("ward")]))
        second = thread.add_tool_result(last(thread).id, "c0", 1)
        await settled()
        release.set()
        await first
        await settled()
        assert statuses(thread) == ["running"]
        assert shown(thread)[-1] == "a:on"
        gate.set()
        await second
        assert shown(thread)[-1] == "a:onward"
        assert statuses(thread) == ["complete/unknown"]
        assert history.items[last(thread).id].message == last(thread)


async def test_cancelling_from_the_first_event_asks_no_model() -> None:
    model = Script([TextDelta("a")])
    async with talking(model) as thread:
        thread.events.subscribe(lambda event: thread.cancel_run() if event.type == "run_start" else None)
        await thread.append("hi")
        assert statuses(thread) == ["incomplete/cancelled"]
        assert not model.calls


async def test_cancelling_twice_and_cancelling_nothing_are_harmless() -> None:
    async with talking(ignores) as thread:
        thread.cancel_run()
        operation = thread.append("hi")
        await settled()
        thread.cancel_run()
        thread.cancel_run()
        await operation
        assert statuses(thread) == ["incomplete/cancelled"]


async def test_a_signal_tells_why() -> None:
    reasons: list[str | None] = []

    async def model(run: RunContext) -> AsyncIterator[Any]:
        yield TextDelta("a")
        await run.signal.wait()
        reasons.append(run.signal.reason)

    async with talking(model) as thread:
        first = thread.append("one")
        await settled()
        second = thread.append("two")
        await settled()
        thread.cancel_run()
        await first
        await second
        thread.append("three")
        await settled()
        thread.detach()
        await settled()
    assert reasons == ["superseded", "cancel", "detach"]


async def test_the_newer_run_can_be_cancelled_after_the_older_has_settled() -> None:  # trace 5, T-C1
    async with talking(returns) as thread:
        events = heard(thread)
        first = thread.append("one")
        await settled()
        second = thread.append("two")
        await first
        assert thread.state.is_running
        thread.cancel_run()
        await second
        assert statuses(thread) == ["incomplete/cancelled", "incomplete/cancelled"]
        assert events == ["initialize", "run_start", "run_start", "run_end", "run_end"]


async def test_a_thread_that_was_left_before_the_first_token_is_not_running_and_takes_a_new_message() -> None:  # B18
    model = Script([anyio.Event()], [TextDelta("a")])
    async with talking(model) as thread:
        first = thread.append("one")
        await settled()
        thread.detach()
        await first
        assert (thread.state.is_running, statuses(thread)) == (False, ["incomplete/cancelled"])
        await thread.append("two")
        assert shown(thread)[-1] == "a:a"


async def test_a_cut_off_answer_says_so() -> None:
    async with talking(Script([TextDelta("a"), Finish("length")])) as thread:
        await thread.append("hi")
        assert last(thread).status == IncompleteStatus("length")


async def test_leaving_without_any_run_is_quick_and_quiet() -> None:
    async with LocalRuntime(Script([])):
        pass
