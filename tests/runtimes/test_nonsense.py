"""A chat model that breaks its contract, and other misuse: a typed error with ids, and the next action works."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from partwise.adapters import RunContext, RunResult
from partwise.errors import AdapterError, MessageNotFoundError, WrongThreadError
from partwise.messages import TextPart
from partwise.stream import Finish, PartChunk, ReasoningDelta, TextDelta, ToolArgsDelta, ToolCallStart, ToolResult
from tests.runtimes.scenes import Script, last, reports, settled, shown, statuses, talking

YIELDED: list[Any] = [
    5,
    None,
    "text",
    b"bytes",
    object(),
    [TextDelta("a")],
    TextPart("a"),
    {"contents": []},
    {"content": 5},
    {"content": [5]},
    {"content": [{"type": "nothing"}]},
    {"content": "x", "status": "complete"},
    {"content": "x", "metadata": 5},
    {"status": {"type": "finished"}},
    RunResult(content=5),
    RunResult(status="complete"),
    RunResult(metadata={"state": 1}),
    TextDelta(5),
    ReasoningDelta(None),
    ToolCallStart(None, "far"),
    ToolCallStart("c0", 5),
    ToolArgsDelta("c0", {"a": 1}),
    PartChunk("x"),
    Finish("whenever"),
]


@pytest.mark.parametrize("given", YIELDED, ids=lambda value: f"{type(value).__name__}-{str(value)[:40]}")
async def test_nonsense_from_a_model_is_an_error_with_the_messages_id_and_the_next_message_works(given: Any) -> None:
    async with talking(Script([TextDelta("half"), given], [TextDelta("fine")])) as thread:
        with pytest.raises(AdapterError) as caught:
            await thread.append("hi")
        answer = last(thread)
        assert caught.value.message_id == answer.id
        assert answer.id in str(caught.value)
        assert statuses(thread) == ["incomplete/error"]
        assert answer.status.error["message"] == str(caught.value)
        assert shown(thread) == ["u:hi", "a:half"]
        assert not thread.state.is_running
        await thread.append("again")
        assert shown(thread)[-1] == "a:fine"


@pytest.mark.parametrize("given", [5, None, [], [TextDelta("a")], "text"], ids=repr)
async def test_a_model_that_returns_no_answer_at_once_is_an_error(given: Any) -> None:
    async with talking(lambda run: given) as thread:
        with pytest.raises(AdapterError):
            await thread.append("hi")
        assert statuses(thread) == ["incomplete/error"]


async def test_a_model_that_raises_before_it_returns_is_an_error() -> None:
    def model(run: RunContext) -> AsyncIterator[Any]:
        raise LookupError("no key")

    async with talking(model) as thread:
        with pytest.raises(LookupError, match="no key"):
            await thread.append("hi")
        assert statuses(thread) == ["incomplete/error"]


async def test_a_promise_of_nonsense_is_an_error() -> None:
    async def model(run: RunContext) -> Any:
        return 5

    async with talking(model) as thread:
        with pytest.raises(AdapterError):
            await thread.append("hi")
        assert statuses(thread) == ["incomplete/error"]


async def test_a_mapping_is_read_as_forgivingly_as_a_message() -> None:
    model = Script(
        [
            {
                "content": "done",
                "status": {"type": "incomplete", "reason": "length"},
                "metadata": {"custom": {"k": 1}, "state": [1]},
            }
        ]
    )
    async with talking(model) as thread:
        await thread.append("hi")
        assert (shown(thread)[-1], statuses(thread)) == ("a:done", ["incomplete/length"])
        assert (last(thread).metadata.custom, thread.state.state) == ({"k": 1}, [1])


async def test_chunks_that_say_a_thing_twice_are_dropped_and_reported() -> None:
    model = Script([ToolCallStart("c0", "far"), ToolResult("c0", 1), ToolResult("c0", 2), TextDelta("end"), Finish()])
    async with talking(model) as thread:
        found = reports(thread)
        await thread.append("hi")
        assert statuses(thread) == ["complete/stop"]
        assert last(thread).content[0].result == 1
        assert len(found) == 1


async def test_a_change_from_another_thread_is_refused_and_changes_nothing() -> None:
    async with talking(Script([TextDelta("a")])) as thread:
        await thread.append("hi")
        before, exported = thread.state, thread.export()
        raised: list[BaseException] = []

        def work() -> None:
            for act in (
                lambda: thread.append("x"),
                lambda: thread.reload(last(thread).id),
                lambda: thread.switch_to_branch(last(thread).id),
                lambda: thread.import_(exported),
                lambda: thread.reset(["y"]),
                lambda: thread.composer.set_text("z"),
                lambda: thread.begin_edit(last(thread).id),
                lambda: thread.submit_feedback(last(thread).id, "positive"),
            ):
                try:
                    act()
                except BaseException as error:
                    raised.append(error)

        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
        await settled()
        assert [type(error) for error in raised] == [WrongThreadError] * 8
        assert thread.state is before
        assert thread.export() == exported
        await thread.append("again")
        assert shown(thread)[-1] == "a:a"


async def test_unknown_ids_are_named_and_change_nothing() -> None:
    async with talking(Script([TextDelta("a")])) as thread:
        await thread.append("hi")
        before = thread.state
        for act in (
            lambda: thread.switch_to_branch("nowhere"),
            lambda: thread.branches_of("nowhere"),
            lambda: thread.begin_edit("nowhere"),
            lambda: thread.add_tool_result("nowhere", "c0", 1),
        ):
            with pytest.raises(MessageNotFoundError) as caught:
                act()
            assert caught.value.id == "nowhere"
        assert thread.state is before
        assert thread.find("nowhere") is None


async def test_a_listener_that_raises_is_reported_once_and_nobody_else_notices() -> None:  # B65
    errors: list[str] = []

    def fail(_: object) -> None:
        raise ValueError("listener")

    async with talking(
        Script([TextDelta("a")]), on_error=lambda error, context: errors.append(context.culprit)
    ) as thread:
        texts: list[int] = []
        kinds: list[str] = []
        thread.select(lambda s: len(s.messages)).subscribe(fail)
        thread.select(lambda s: len(s.messages)).subscribe(texts.append)
        thread.events.subscribe(fail)
        thread.events.subscribe(lambda event: kinds.append(event.type))
        await thread.append("hi")
        assert texts == [0, 1, 2]
        assert kinds == ["initialize", "run_start", "run_end"]
        assert statuses(thread) == ["complete/unknown"]
        assert errors == ["listener"] * 6


async def test_a_selector_that_raises_later_keeps_its_last_value() -> None:
    errors: list[str] = []
    async with talking(
        Script([TextDelta("a")]), on_error=lambda error, context: errors.append(context.culprit)
    ) as thread:
        seen: list[object] = []
        thread.select(lambda s: 1 // (1 - len(s.messages))).subscribe(seen.append)
        await thread.append("hi")
        assert seen == [1, -1]
        assert errors == ["selector"]
