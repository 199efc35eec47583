"""Tools of messages that somebody else writes: what runs, when, how often, and what is told of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.errors import AbortedError, ToolArgumentsError
from partwise.messages import MISSING, Approval, AssistantMessage, Message, TextPart, ToolCallPart
from partwise.testing import settled
from partwise.tools import CallReader, Tool, ToolContext, ToolState, ToolTracker, TrackedResult
from partwise.tools._tracked import Begin, Diverge, End, Entry, Grow, Respond, Run, calls_in, follow
from tests.runtimes.scenes import LONG_AGO, question

Json = Any


def call(text: str = "{}", id: str = "c1", name: str = "look", **fields: Json) -> ToolCallPart:
    return ToolCallPart(tool_call_id=id, tool_name=name, args_text=text, **fields)


def said(*parts: Any, id: str = "a1") -> AssistantMessage:
    return AssistantMessage(id=id, created_at=LONG_AGO, content=parts)


class Scene:
    """A tracker over tools that log what they do; ``gate`` holds those that are named ``slow``."""

    def __init__(self) -> None:
        self.log: list[Json] = []
        self.results: list[TrackedResult] = []
        self.states: list[Mapping[str, ToolState]] = []
        self.reports: list[Exception] = []
        self.gate = anyio.Event()
        self.tools = {
            name: self.tool(name, function)
            for name, function in {"look": self._look, "slow": self._slow, "ask": self._ask, "bad": self._bad}.items()
        }
        self.tracker: ToolTracker

    def tool(self, name: str, execute: Any, **fields: Json) -> Tool:
        schema = {"type": "object", "properties": {}}
        return attrs.evolve(Tool.from_schema(name, schema, execute), **fields)

    async def _look(self, arguments: Mapping[str, Any], context: ToolContext) -> Json:
        self.log.append(("look", context.tool_call_id, dict(arguments)))
        return {"seen": dict(arguments)}

    async def _slow(self, arguments: Mapping[str, Any], context: ToolContext) -> Json:
        self.log.append(("slow", context.tool_call_id))
        context.progress("half")
        await self.gate.wait()
        return "slowly"

    async def _ask(self, arguments: Mapping[str, Any], context: ToolContext) -> Json:
        self.log.append(("ask", context.tool_call_id))
        return await context.human({"which": 1})

    async def _bad(self, arguments: Mapping[str, Any], context: ToolContext) -> Json:
        raise ValueError("broke")

    def on_result(self, result: TrackedResult) -> None:
        self.results.append(result)

    def show(self, *messages: Message, runs: bool = False, loads: bool = False) -> None:
        self.tracker.take(messages, is_running=runs, is_loading=loads)

    @property
    def told(self) -> list[Json]:
        return [(result.tool_call_id, result.response.result, result.response.is_error) for result in self.results]


@asynccontextmanager
async def tracking(**options: Any) -> AsyncIterator[Scene]:
    scene = Scene()
    async with anyio.create_task_group() as tasks:
        scene.tracker = ToolTracker(
            lambda: scene.tools,
            spawn=tasks.start_soon,
            on_result=options.get("on_result", scene.on_result),
            on_states=scene.states.append,
            report=scene.reports.append,
        )
        scene.show(question("u1"))
        yield scene
        await settled()
        tasks.cancel_scope.cancel()


async def test_a_call_that_is_written_is_run_once_it_is_whole() -> None:
    async with tracking() as scene:
        for text in ("", '{"at"', '{"at": "sea"', '{"at": "sea"}'):
            scene.show(question("u1"), said(call(text)), runs=True)
            await settled()
        scene.show(question("u1"), said(call('{"at": "sea"}')))
        scene.show(question("u1"), said(TextPart("x"), call('{"at": "sea"}')))
        await settled()
        assert scene.log == [("look", "c1", {"at": "sea"})]
        assert scene.told == [("c1", {"seen": {"at": "sea"}}, False)]
        assert (scene.results[0].message_id, scene.results[0].tool_name) == ("a1", "look")
        assert [set(states) for states in scene.states] == [{"c1"}, set()]


async def test_history_is_never_executed() -> None:
    async with tracking() as scene:
        scene.tracker.reset()
        scene.show(said(call()))
        scene.show(said(call()), runs=True)
        scene.show(said(call()), question("u2"))
        await settled()
        assert (scene.log, scene.results) == ([], [])


@pytest.mark.parametrize("change", ["arguments", "result"])
async def test_a_call_of_the_history_is_driven_once_it_changes(change: str) -> None:  # T-H5
    async with tracking() as scene:
        scene.tracker.reset()
        scene.show(said(call('{"at":')))
        scene.show(said(call('{"at":')), runs=True)
        if change == "arguments":
            scene.show(said(call('{"at":1}')))
        else:
            scene.show(said(call('{"at":', result=5)))
        scene.show(said(call('{"at":1}', result=5)))
        await settled()
        assert scene.log == ([("look", "c1", {"at": 1})] if change == "arguments" else [])
        assert scene.results == []


async def test_what_is_loaded_while_tools_run_is_history_and_they_go_on() -> None:  # T-H6, T-H7
    async with tracking() as scene:
        running = said(call(name="slow"))
        scene.show(running)
        await settled()
        messages = (said(call(id="old"), id="a0"), running)
        scene.show(*messages, loads=True)
        scene.show(*messages)
        scene.gate.set()
        await settled()
        assert scene.log == [("slow", "c1")]
        assert scene.told == [("c1", "slowly", False)]
        scene.show(*messages, said(call(id="new"), id="a2"))
        await settled()
        assert scene.log[1:] == [("look", "new", {})]


async def test_a_whole_text_that_does_not_continue_the_first_ends_nothing() -> None:  # T-H1
    async with tracking() as scene:
        scene.show(said(call('{"a')), runs=True)
        scene.show(said(call('{"b": 1}')), runs=True)
        scene.show(said(call('{"b": 1}')))
        await settled()
        assert scene.log == []
        [report] = scene.reports
        assert isinstance(report, ToolArgumentsError)
        assert "not a continuation" in str(report)
        scene.show(said(call('{"a": 2}')))
        await settled()
        assert scene.log == [("look", "c1", {"a": 2})]


async def test_a_result_from_elsewhere_wins_over_arguments_that_broke_off() -> None:  # T-H2
    responses: list[Json] = []

    async def read(reader: CallReader, context: ToolContext) -> None:
        responses.append((await reader.response()).result)
        responses.append(await reader.get("a"))

    async with tracking() as scene:
        scene.tools["look"] = scene.tool("look", scene._look, stream_call=read)
        scene.show(said(call('{"a')), runs=True)
        scene.show(said(call('{"a', result="done")))
        scene.show(said(call('{"a', result="other")))
        scene.show(said(call('{"a')))
        scene.show(said(call('{"a', result="done")))
        await settled()
        assert (responses, scene.log, scene.results) == (["done", MISSING], [], [])  # T-H4


async def test_another_order_of_the_keys_is_no_change() -> None:  # T-H3
    async with tracking() as scene:
        scene.show(said(call('{"a":1,"b":2}')))
        scene.show(said(call('{"b":2, "a":1}')))
        await settled()
        assert (len(scene.log), len(scene.results), scene.reports) == (1, 1, [])


async def test_the_same_id_runs_again_after_a_reset_and_the_old_one_is_silent() -> None:  # T-H8, T-H9
    async with tracking() as scene:
        release = anyio.Event()

        async def deaf(arguments: Mapping[str, Any], context: ToolContext) -> str:
            scene.log.append("deaf")
            with anyio.CancelScope(shield=True):
                await release.wait()
                context.progress("late")
            with pytest.raises(AbortedError):
                with anyio.CancelScope(shield=True):
                    await context.human("late")
            return "late"

        scene.tools["deaf"] = scene.tool("deaf", deaf)
        scene.show(said(call(name="deaf")))
        await settled()
        ended = scene.tracker.reset()
        assert scene.states[-1] == {}
        count = len(scene.states)
        scene.show()
        scene.show(said(call(name="look")))
        await settled()
        assert scene.told == [("c1", {"seen": {}}, False)]
        assert not ended.is_set()
        release.set()
        await ended.wait()
        await settled()
        assert len(scene.results) == 1
        assert all("progress='late'" not in repr(states) for states in scene.states[count:])
        assert scene.states[-1] == {}


async def test_calls_inside_of_calls_follow_the_same_rules() -> None:  # T-H10
    def outer(*inner: ToolCallPart, **fields: Json) -> AssistantMessage:
        return said(call(id="outer", name="backend", messages=(said(*inner, id="n1"),), **fields))

    async with tracking() as scene:
        scene.tracker.reset()
        scene.show(outer(call(id="old")))
        scene.show(outer(call(id="old"), call(id="new")))
        await settled()
        assert scene.log == [("look", "new", {})]
        assert scene.results[0].message_id == "a1"


async def test_a_tool_asks_a_human_and_goes_on_with_the_answer() -> None:
    async with tracking() as scene:
        scene.show(said(call(name="ask")))
        await settled()
        interrupt = scene.tracker.states["c1"].interrupt
        assert interrupt is not None
        assert interrupt.payload == {"which": 1}
        assert scene.tracker.resume("c1", "that")
        assert not scene.tracker.resume("c1", "again")
        assert scene.tracker.states["c1"].interrupt is None
        await settled()
        assert scene.told == [("c1", "that", False)]
        assert scene.tracker.states == {}


async def test_a_second_question_of_a_call_takes_the_place_of_the_first() -> None:  # T-H11
    async with tracking() as scene:
        failures: list[str] = []

        async def ask_twice(arguments: Mapping[str, Any], context: ToolContext) -> Json:
            async def first() -> None:
                try:
                    await context.human(1)
                except AbortedError as error:
                    failures.append(str(error))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(first)
                while not scene.tracker.states["c1"].interrupt:
                    await anyio.lowlevel.checkpoint()
                return await context.human(2)

        scene.tools["ask"] = scene.tool("ask", ask_twice)
        scene.show(said(call(name="ask")))
        await settled()
        assert failures == ["The tool asked something else before this was answered."]
        assert scene.tracker.resume("c1", "yes")
        await settled()
        assert scene.told == [("c1", "yes", False)]


async def test_an_abort_is_a_cancelled_result_and_resolves_when_all_have_ended() -> None:
    async with tracking() as scene:
        scene.show(said(call(name="slow"), call(id="c2", name="ask")))
        await settled()
        ended = scene.tracker.abort()
        assert not ended.is_set()
        await ended.wait()
        await settled()
        assert [(id, is_error) for id, _, is_error in scene.told] == [("c1", True), ("c2", True)]
        assert scene.told[0][1] == {"error": "Tool execution was cancelled."}
        assert scene.tracker.abort().is_set()
        scene.show(said(call(name="slow"), call(id="c2", name="ask"), call(id="c3")))
        await settled()
        assert scene.log[2:] == [("look", "c3", {})]


async def test_a_tool_that_was_aborted_before_it_began_does_not_begin() -> None:
    async with tracking() as scene:
        scene.show(said(call()))
        await scene.tracker.abort().wait()
        await settled()
        assert (scene.log, scene.told) == ([], [("c1", {"error": "Tool execution was cancelled."}, True)])


async def test_a_listener_that_raises_stops_no_other_tool() -> None:  # T-H12
    given: list[str] = []

    def refuse(result: TrackedResult) -> None:
        given.append(result.tool_call_id)
        raise OSError("nobody listens")

    async with tracking(on_result=refuse) as scene:
        scene.show(said(call(), call(id="c2", name="bad")))
        await settled()
        assert sorted(given) == ["c1", "c2"]
        assert [str(report) for report in scene.reports] == ["nobody listens"] * 2


async def test_a_tool_of_somebody_else_ends_its_arguments_with_the_run() -> None:  # T-H13
    ends: list[Json] = []

    async def read(reader: CallReader, context: ToolContext) -> None:
        ends.append(await reader.get())

    async with tracking() as scene:
        scene.show(said(call('{"a":1}', name="unknown")), runs=True)
        scene.show(said(call('{"a":1}', name="unknown")))
        scene.tools["reads"] = scene.tool("reads", None, stream_call=read)
        scene.show(said(call("{}", id="c2", name="reads")), runs=True)
        await settled()
        assert (ends, scene.log, scene.results, scene.reports) == ([{}], [], [], [])


async def test_a_tool_that_becomes_known_later_runs() -> None:
    async with tracking() as scene:
        message = said(call(name="later"))
        scene.show(message)
        await settled()
        scene.tools = {**scene.tools, "later": scene.tool("later", scene._look)}
        scene.show(message)
        await settled()
        assert scene.log == [("look", "c1", {})]


async def test_a_snapshot_that_fails_is_not_taken_for_seen() -> None:  # T-H14
    async with tracking() as scene:
        tools, failing = scene.tools, [True]

        def given() -> Mapping[str, Tool]:
            if failing:
                failing.clear()
                raise OSError("no tools")
            return tools

        scene.tracker._given = given
        message = said(call())
        scene.show(message)
        assert [str(report) for report in scene.reports] == ["no tools"]
        scene.show(message)
        await settled()
        assert scene.log == [("look", "c1", {})]


async def test_one_id_in_two_messages_is_one_call() -> None:  # T-H15
    async with tracking() as scene:
        scene.show(said(call()), said(call(), id="a2"))
        await settled()
        assert len(scene.log) == len(scene.results) == 1


async def test_a_tool_that_needs_a_permission_waits_until_the_message_holds_it() -> None:
    async with tracking() as scene:
        scene.tools["look"] = scene.tool("look", scene._look, needs_approval=True)
        scene.show(said(call()))
        await settled()
        assert (scene.log, scene.results, scene.tracker.states) == ([], [], {})
        scene.show(said(call(approval=Approval(id="p"))))
        await settled()
        assert scene.log == []
        scene.show(said(call(approval=Approval(id="p", approved=True))))
        scene.show(said(call(approval=Approval(id="p", approved=True), timing=None), TextPart("x")))
        await settled()
        assert len(scene.log) == len(scene.results) == 1
        scene.show(said(call(id="c2", approval=Approval(id="q", approved=False))))
        await settled()
        assert len(scene.log) == 1


async def test_progress_is_shown_while_a_tool_runs() -> None:
    async with tracking() as scene:
        scene.show(said(call(name="slow")))
        await settled()
        assert scene.tracker.states["c1"].progress == "half"
        scene.gate.set()


async def test_a_snapshot_that_a_listener_brings_is_taken_after_the_one_that_it_is_told_of() -> None:
    texts: list[str] = []

    async def read(reader: CallReader, context: ToolContext) -> None:
        texts.extend([piece async for piece in reader.stream_text("at")])

    async with tracking() as scene:
        scene.tools["look"] = scene.tool("look", scene._look, stream_call=read)
        odd = call('{"a', id="odd")
        scene.show(said(odd), runs=True)
        other = call('{"b":1}', id="odd")

        def bring_more(failure: Exception) -> None:
            scene.reports.append(failure)
            scene.show(said(other, call('{"at":"sea"}', id="new")))

        scene.tracker._report = bring_more
        scene.show(said(other, call('{"at":"s', id="new")), runs=True)
        await settled()
        assert ("".join(texts), scene.log) == ("sea", [("look", "new", {"at": "sea"})])
        assert len(scene.reports) == 1


async def test_arguments_without_text_count_once_nothing_runs() -> None:
    async with tracking() as scene:
        part = ToolCallPart(tool_call_id="c1", tool_name="look", args={"at": "se"})
        scene.show(said(part), runs=True)
        await settled()
        assert scene.log == []
        scene.show(said(ToolCallPart(tool_call_id="c1", tool_name="look", args={"at": "sea"})))
        await settled()
        assert scene.log == [("look", "c1", {"at": "sea"})]


# ---------------------------------------------------------------- laws


TEXTS = ["", '{"a', '{"a":1', '{"a":1}', '{"a": 1}', '{"b":2}']
PARTS = st.builds(
    lambda text, id, result, name: call(text, id=id, name=name, **({"result": result} if result else {})),
    st.sampled_from(TEXTS),
    st.sampled_from(["c1", "c2"]),
    st.sampled_from([0, 0, 1, 2]),
    st.sampled_from(["look", "look", "unknown"]),
)
CALLS = st.lists(PARTS, max_size=3, unique_by=lambda part: part.tool_call_id)
SNAPSHOTS = st.lists(st.tuples(CALLS, st.booleans(), st.sampled_from([False, False, False, True])), max_size=8)


async def _unused(arguments: Any, context: ToolContext) -> None: ...


KNOWN = {"look": Tool.from_schema("look", {"type": "object", "properties": {}}, _unused)}


@given(SNAPSHOTS)
def test_whatever_is_shown_each_call_begins_grows_ends_and_runs_at_most_once(
    snapshots: list[tuple[list[ToolCallPart], bool, bool]],
) -> None:
    entries: dict[str, Entry] = {}
    said_of: dict[str, list[Any]] = {}
    texts: dict[str, str] = {}
    for number, (parts, is_running, is_loading) in enumerate(snapshots):
        before = dict(entries)
        entries, commands = follow(
            entries,
            calls_in([said(*parts)]),
            KNOWN,
            is_history=number == 0 or is_loading,
            is_running=is_running,
        )
        assert not commands or not (number == 0 or is_loading)
        for command in commands:
            id = command.tool_call_id if isinstance(command, (Grow, End)) else command.part.tool_call_id
            said_of.setdefault(id, []).append(type(command))
            if isinstance(command, Grow):
                texts[id] = texts.get(id, "") + command.text
            if isinstance(command, Run):
                assert json.loads(command.part.args_text) == json.loads(texts[id])
                assert not command.part.has_result
        _, nothing = follow(
            entries, calls_in([said(*parts)]), KNOWN, is_history=is_loading or number == 0, is_running=is_running
        )
        assert [command for command in nothing if not isinstance(command, Diverge)] == []
        assert before.keys() <= entries.keys()
    for told in said_of.values():
        assert told[0] is Begin
        for kind in (Begin, End, Run, Respond):
            assert told.count(kind) <= 1
        if End in told:
            assert Grow not in told[told.index(End) :]
        if Run in told:
            assert told.index(End) < told.index(Run)
            assert Respond not in told[: told.index(Run)]


@given(SNAPSHOTS)
def test_skipping_the_messages_that_are_the_same_objects_changes_nothing(
    snapshots: list[tuple[list[ToolCallPart], bool, bool]],
) -> None:
    def played(keeps: bool) -> list[Json]:
        commands: list[Json] = []
        tracker = ToolTracker(KNOWN, spawn=lambda *_: None, on_result=lambda _: None, report=lambda _: None)
        tracker._perform = lambda command, tools: commands.append(command)  # type: ignore[method-assign]  # only what is to be done
        kept: dict[Json, AssistantMessage] = {}
        for parts, is_running, is_loading in snapshots:
            messages = [
                kept.setdefault(repr(part), said(part, id=f"a{at}")) if keeps else said(part, id=f"a{at}")
                for at, part in enumerate(parts)
            ]
            tracker.take(messages, is_running=is_running, is_loading=is_loading)
        told = [command for command in commands if not isinstance(command, Diverge)]
        return [(type(command), getattr(command, "text", None)) for command in told]

    assert played(keeps=True) == played(keeps=False)
