"""Tools that run in a run: when, how often, side by side, and what comes of failures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

import partwise as pw
from partwise.adapters import RunContext
from partwise.errors import NotAllowedError
from partwise.messages import (
    REQUIRES_TOOL_CALLS,
)
from partwise.stream import ErrorChunk, Finish, StepFinish, TextDelta, ToolArgsDelta, ToolCallStart
from tests.runtimes.scenes import (
    Log,
    Script,
    Shelf,
    answer,
    approval_of,
    call,
    called,
    calls,
    heard,
    last,
    question,
    reports,
    settled,
    shown,
    status_of,
    statuses,
    stored,
    talking,
    tool_call,
)


async def test_a_tool_runs_once_and_its_result_goes_to_the_model() -> None:
    tools = pw.Toolkit()
    ran: list[str] = []

    @tools.frontend
    async def count(path: str) -> int:
        """Count lines."""
        ran.append(path)
        return 3

    history = Log()
    model = Script([TextDelta("let me see"), *call("c0", "count", '{"path":"R"}')], [TextDelta("three")])
    async with talking(model, tools=tools, history=history) as thread:
        seen: list[str] = []
        thread.select(lambda s: status_of(s.messages[-1]) if s.messages else "").subscribe(seen.append)
        await thread.append("hi")
        assert ran == ["R"]
        assert [part.type for part in last(thread).content] == ["text", "tool-call", "text"]
        assert tool_call(thread).result == 3
        assert tool_call(thread).timing.completed_at is not None
        assert model.calls[1].message.content[1].result == 3
        assert [context.roundtrip for context in model.calls] == [0, 1]
        assert "count" in model.calls[0].tools
        assert seen == [
            "",
            "-",
            "running",
            "requires-action/tool-calls",
            "running",
            "requires-action/tool-calls",
            "running",
            "complete/unknown",
        ]
        assert history.order == ["append u:hi", "append a:let me see\n\nthree"]


async def test_tools_of_one_answer_run_side_by_side_and_one_failure_stops_no_other() -> None:
    tools = pw.Toolkit()
    both = anyio.Event()
    begun: list[str] = []

    async def meet(name: str) -> None:
        begun.append(name)
        if len(begun) == 2:
            both.set()
        await both.wait()

    @tools.frontend
    async def left() -> str:
        await meet("left")
        return "l"

    @tools.frontend
    async def right() -> str:
        await meet("right")
        raise ValueError("broken")

    model = Script(calls("left", "right"), [TextDelta("done")])
    async with talking(model, tools=tools) as thread:
        await thread.append("hi")
        assert (tool_call(thread, "c0").result, tool_call(thread, "c0").is_error) == ("l", False)
        assert tool_call(thread, "c1").is_error
        assert "broken" in tool_call(thread, "c1").result["error"]
        assert statuses(thread) == ["complete/unknown"]
        assert len(model.calls) == 2


@pytest.mark.parametrize("args", ['{"a": 1,,}', '{"path":"notes/x.txt","content":"abc', "[1]", '{"n": "many"}', "null"])
async def test_arguments_that_do_not_fit_are_an_error_result_and_the_run_goes_on(args: str) -> None:  # B90, B107
    tools = pw.Toolkit()
    ran: list[int] = []

    @tools.frontend
    async def far(n: int) -> int:
        ran.append(n)
        return n

    model = Script([*call("c0", "far", args), Finish("tool-calls")], [TextDelta("sorry")])
    async with talking(model, tools=tools) as thread:
        await thread.append("hi")
        assert not ran
        assert tool_call(thread).is_error
        assert tool_call(thread).args_text == args
        assert statuses(thread) == ["complete/unknown"]
        assert len(model.calls) == 2


@pytest.mark.parametrize("ending", ["length", "error", "cancel", "silence"])
async def test_a_call_that_was_cut_off_is_never_run(ending: str) -> None:  # B90
    tools = pw.Toolkit()
    ran: list[str] = []

    @tools.frontend
    async def write(path: str, content: str = "") -> None:
        ran.append(path)

    begun = [ToolCallStart("c0", "write"), ToolArgsDelta("c0", '{"path":"notes/x.txt","content":"abc')]
    tail: list[Any] = {
        "length": [Finish("length")],
        "error": [OSError("connection lost")],
        "cancel": [anyio.Event()],
        "silence": [],
    }[ending]
    async with talking(Script([*begun, *tail], [TextDelta("x")]), tools=tools) as thread:
        operation = thread.append("hi")
        await settled()
        thread.cancel_run()
        try:
            await operation
        except OSError:
            assert ending == "error"
        assert not ran
        assert tool_call(thread).args_text == '{"path":"notes/x.txt","content":"abc'
        assert tool_call(thread).args["path"] == "notes/x.txt"


async def test_loading_and_switching_never_runs_a_tool() -> None:  # B23
    tools = pw.Toolkit()
    ran: list[str] = []

    @tools.frontend
    async def far() -> None:
        ran.append("far")

    done = answer("a1", called("c1", "far", result=1))
    open_ = answer("a2", called("c2", "far"), status=REQUIRES_TOOL_CALLS)
    for loaded in (stored(question("u1"), done, open_, answer("a3")), stored(question("u1"), done, open_)):
        async with talking(Script([]), tools=tools, history=Shelf(loaded)) as thread:
            await thread.load()
            for _ in range(2):
                thread.switch_to_branch("a2")
                thread.import_(thread.export())
                await settled()
            assert not ran
            assert len(thread.state.messages) == len(loaded.entries)


@pytest.mark.parametrize("is_gated", [False, True])
async def test_a_call_that_is_listed_twice_runs_once_and_holds_nothing_up(is_gated: bool) -> None:  # B109
    tools = pw.Toolkit()
    ran: list[int] = []

    @tools.frontend(needs_approval=is_gated)
    async def far(n: int) -> int:
        ran.append(n)
        return n

    def part(n: int) -> dict[str, Any]:
        return {"type": "tool-call", "tool_call_id": "c0", "tool_name": "far", "args": {"n": n}}

    model = Script([{"content": [part(1), {"type": "text", "text": "and"}, part(2)]}], [TextDelta("done")])
    async with talking(model, tools=tools) as thread:
        await thread.append("hi")
        if is_gated:
            assert (ran, statuses(thread)) == ([], ["requires-action/tool-calls"])
            await thread.respond_to_approval(approval_of(thread), approved=True)
        assert ran == [1]
        assert [getattr(part, "result", None) for part in last(thread).content] == [1, None, 1, None]
        assert statuses(thread) == ["complete/unknown"]


async def test_a_plain_tool_runs_in_a_worker_thread_and_a_generator_shows_its_progress() -> None:
    tools = pw.Toolkit()

    @tools.frontend
    def plain(n: int) -> int:
        return n + 1

    @tools.frontend
    async def stepwise() -> AsyncIterator[int]:
        yield 1
        yield 2

    model = Script([*call("c0", "plain", '{"n":1}'), *call("c1", "stepwise")], [TextDelta("x")])
    async with talking(model, tools=tools) as thread:
        await thread.append("hi")
        assert (tool_call(thread, "c0").result, tool_call(thread, "c1").result) == (2, 2)


async def test_a_tool_that_never_ends_is_cancelled_with_its_run_and_its_clean_up_is_waited_for() -> None:
    tools = pw.Toolkit()
    order: list[str] = []

    @tools.frontend
    async def forever() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            order.append("tool cleaned up")

    async with talking(Script(calls("forever")), tools=tools) as thread:
        thread.events.subscribe(lambda event: order.append(event.type))
        operation = thread.append("hi")
        await settled()
        assert thread.state.is_running
        thread.cancel_run()
        await operation
        assert order[-2:] == ["tool cleaned up", "run_end"]
        assert statuses(thread) == ["incomplete/cancelled"]
        assert not tool_call(thread).has_result


async def test_a_superseded_run_starts_no_roundtrip_after_its_tool_and_writes_nowhere_else() -> None:  # B11
    tools = pw.Toolkit()
    release = anyio.Event()

    @tools.frontend
    async def slow() -> str:
        with anyio.CancelScope(shield=True):
            await release.wait()
        return "late"

    gate = anyio.Event()
    model = Script(calls("slow"), [TextDelta("sec"), gate, TextDelta("ond")])
    async with talking(model, tools=tools) as thread:
        first = thread.append("one")
        await settled()
        question = thread.state.messages[0].id
        second = thread.append("one, edited", parent_id=None, source_id=question)
        await settled()
        newer = last(thread)
        running: list[bool] = []
        thread.select(lambda s: s.is_running).subscribe(running.append)
        events = heard(thread)
        release.set()
        await first
        await settled()
        assert last(thread) is newer
        gate.set()
        await second
        assert running == [True, False]
        assert [kind for kind in events if kind != "initialize"] == ["run_end", "run_end"]
        assert shown(thread) == ["u:one, edited", "a:second"]
        assert len(model.calls) == 2
        thread.switch_to_branch(question)
        assert statuses(thread) == ["incomplete/cancelled"]


async def test_a_tool_of_nobody_here_waits_for_its_result_and_the_run_goes_on_with_it() -> None:  # trace 2
    for history in (Log(), Shelf()):
        model = Script(calls("human"), [TextDelta("thanks")])
        async with talking(model, history=history) as thread:
            await thread.append("hi")
            assert statuses(thread) == ["requires-action/tool-calls"]
            assert not thread.state.is_running
            paused = [("append", "a:", "requires-action/tool-calls")] if isinstance(history, Shelf) else []
            assert history.writes == [("append", "u:hi", "-"), *paused]
            await thread.add_tool_result(last(thread).id, "c0", None)
            assert (tool_call(thread).has_result, tool_call(thread).result) == (True, None)
            assert statuses(thread) == ["complete/unknown"]
            verb = "update" if isinstance(history, Shelf) else "append"
            assert history.writes[-1] == (verb, "a:thanks", "complete/unknown")
            assert len(model.calls) == 2


async def test_only_tools_on_the_list_of_human_ones_hold_the_run() -> None:
    model = Script(calls("robot"), calls("human"))
    async with talking(model, human_tools=["human"]) as thread:
        await thread.append("hi")
        assert len(model.calls) == 2
        assert statuses(thread) == ["requires-action/tool-calls"]


async def test_a_result_given_twice_overwrites_and_does_not_go_on_again() -> None:  # T-C15
    model = Script(calls("human"), [TextDelta("thanks")])
    async with talking(model) as thread:
        await thread.append("hi")
        answer = last(thread).id
        await thread.add_tool_result(answer, "c0", 0)
        await thread.add_tool_result(answer, "c0", pw.ToolResponse("other", is_error=True, artifact={"a": 1}))
        part = tool_call(thread)
        assert (part.result, part.is_error, part.artifact) == ("other", True, {"a": 1})
        assert len(model.calls) == 2


async def test_a_continued_run_has_the_config_of_the_run_that_paused() -> None:  # T-C13
    model = Script(calls("human"), [TextDelta("thanks")])
    async with talking(model) as thread:
        await thread.append("hi", run_config={"speed": 1})
        await thread.add_tool_result(last(thread).id, "c0", 1)
        assert [context.run_config for context in model.calls] == [{"speed": 1}, {"speed": 1}]


async def test_the_loop_ends_at_the_step_limit_with_a_status_that_says_so() -> None:  # trace 4, B20
    tools = pw.Toolkit()

    @tools.frontend
    async def again() -> str:
        return "more"

    history = Log()
    for steps in ([], [StepFinish()]):
        count = 0

        async def model(run: RunContext, steps: list[Any] = steps) -> AsyncIterator[Any]:
            nonlocal count
            count += 1
            for chunk in [*call(f"c{count}", "again"), *steps, Finish("tool-calls")]:
                yield chunk

        async with talking(model, tools=tools, history=history) as thread:
            await thread.append("hi")
            assert count == 2
            assert statuses(thread) == ["incomplete/tool-calls"]
            assert not thread.state.is_running
            assert history.writes[-1][2] == "incomplete/tool-calls"


async def test_a_loop_of_two_thousand_steps_does_not_recurse() -> None:  # B97
    count = 0

    async def model(run: RunContext) -> AsyncIterator[Any]:
        nonlocal count
        count += 1
        if count < 2000:
            yield {"content": [called(f"c{count}", "far", result=1)], "status": REQUIRES_TOOL_CALLS}

    async with talking(model, max_steps=3000) as thread:
        await thread.append("hi")
        assert count == 2000
        assert len(last(thread).content) == 1999
        assert statuses(thread) == ["complete/unknown"]


async def test_an_error_in_the_continuation_ends_the_loop() -> None:  # B20
    tools = pw.Toolkit()

    @tools.frontend
    async def far() -> int:
        return 1

    async with talking(Script(calls("far"), [OSError("down")]), tools=tools, max_steps=50) as thread:
        with pytest.raises(OSError, match="down"):
            await thread.append("hi")
        assert statuses(thread) == ["incomplete/error"]
        assert tool_call(thread).result == 1


@pytest.mark.parametrize(
    ("again", "ending"),
    [
        ([ErrorChunk("down")], "incomplete/error"),
        ([], "complete/unknown"),
        ([Finish("tool-calls")], "complete/unknown"),
        ([TextDelta(""), Finish("stop")], "complete/stop"),
        ([{"content": []}], "complete/unknown"),
    ],
)
async def test_a_continuation_that_adds_nothing_or_fails_is_the_last(again: list[Any], ending: str) -> None:  # B20
    tools = pw.Toolkit()

    @tools.frontend
    async def far() -> int:
        return 1

    model = Script(calls("far"), again)
    history = Log()
    async with talking(model, tools=tools, max_steps=50, history=history) as thread:
        await thread.append("hi")
        assert len(model.calls) == 2
        assert statuses(thread) == [ending]
        assert history.writes[-1] == ("append", "a:", ending)
        assert not thread.state.is_running


async def test_what_the_model_reads_and_the_ui_shows_may_differ() -> None:
    tools = pw.Toolkit()

    @tools.frontend(to_model_output=lambda result: f"{result} lines")
    async def count() -> int:
        return 3

    @tools.frontend
    async def chart() -> pw.ToolResponse:
        return pw.ToolResponse("drawn", artifact={"svg": "<svg/>"})

    async with talking(Script(calls("count", "chart"), [TextDelta("x")]), tools=tools) as thread:
        await thread.append("hi")
        assert tool_call(thread, "c0").model_content[0].text == "3 lines"
        assert (tool_call(thread, "c1").result, tool_call(thread, "c1").artifact) == ("drawn", {"svg": "<svg/>"})


async def test_a_result_given_by_hand_wins_over_that_of_the_running_tool() -> None:
    tools = pw.Toolkit()
    gate = anyio.Event()

    @tools.frontend
    async def slow() -> str:
        await gate.wait()
        return "tool"

    async with talking(Script(calls("slow"), [TextDelta("x")]), tools=tools) as thread:
        operation = thread.append("hi")
        await settled()
        thread.add_tool_result(last(thread).id, "c0", "hand")
        gate.set()
        await operation
        assert tool_call(thread).result == "hand"
        assert statuses(thread) == ["complete/unknown"]


async def test_two_tools_of_one_name_and_priority_are_an_error_of_the_answer_only() -> None:
    one, two = pw.Toolkit(), pw.Toolkit()
    for kit in (one, two):
        kit.frontend(name="same")(lambda: 1)
    async with talking(Script([TextDelta("x")]), tools=one) as thread:
        handle = thread.register_context(two)
        with pytest.raises(NotAllowedError):
            await thread.append("hi", starts_run=True)
        handle.remove()
        await thread.append("hi")
        assert shown(thread)[-1] == "a:x"


async def test_a_context_change_is_told_and_counts_from_the_next_roundtrip() -> None:
    model = Script([TextDelta("x")])
    async with talking(model, instructions="one") as thread:
        kinds: list[str] = []
        thread.events.subscribe(lambda event: kinds.append(event.type))
        await thread.append("hi")
        kit = pw.Toolkit(system="two")
        handle = thread.register_context(kit)
        await thread.append("hi")
        handle.remove()
        await thread.append("hi")
        assert [context.context.system for context in model.calls] == ["one", "one\n\ntwo", "one"]
        assert kinds.count("model_context_update") == 2


async def test_a_predicate_that_fails_asks_and_is_reported() -> None:
    tools = pw.Toolkit()

    def decide(arguments: Any) -> bool:
        raise ValueError("cannot tell")

    @tools.frontend(needs_approval=decide)
    async def far() -> None:
        raise AssertionError("not to be run")

    async with talking(Script(calls("far")), tools=tools) as thread:
        found = reports(thread)
        await thread.append("hi")
        assert tool_call(thread).approval.is_open
        assert len(found) == 1
