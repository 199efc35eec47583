"""Streams that are resumed: which answer they tell, and one that tells again what is shown already."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partwise as pw
from partwise.errors import NotAllowedError
from partwise.messages import AssistantMessage, ReasoningPart, TextPart, ToolCallPart
from partwise.runtimes import LocalThread
from partwise.stream import Chunk, ErrorChunk, Finish, ReasoningDelta, TextDelta, ToolResult
from tests.runtimes.scenes import (
    Script,
    Shelf,
    answer,
    call,
    called,
    chain,
    last,
    question,
    settled,
    shown,
    statuses,
    stored,
    talking,
    tool_call,
)


def texts(message: AssistantMessage) -> list[tuple[str, str]]:
    return [(part.type, part.text) for part in message.content if isinstance(part, (TextPart, ReasoningPart))]


def watched(thread: LocalThread) -> list[list[tuple[str, str]]]:
    """The parts of the last answer, each time that they change."""
    seen: list[list[tuple[str, str]]] = []
    thread.select(lambda state: state.messages[-1]).subscribe(lambda message: seen.append(texts(message)))
    return seen


async def test_an_answer_that_is_told_again_is_there_once_and_never_shrinks() -> None:  # B50
    history = Shelf(stored(question("u1"), answer("a1", ReasoningPart("thi"), TextPart("Hel"))))
    again = Script(
        [ReasoningDelta("t"), ReasoningDelta("hink"), TextDelta("H"), TextDelta("el"), TextDelta("lo"), Finish("stop")]
    )
    async with talking(Script([]), history=history) as thread:
        await thread.load()
        seen = watched(thread)
        await thread.resume_run("u1", again, message_id="a1")
        assert shown(thread)[0] == "u:u1"
        assert [message.id for message in thread.state.messages] == ["u1", "a1"]
        assert [step for step, _ in groupby(seen)] == [
            [("reasoning", "thi"), ("text", "Hel")],
            [("reasoning", "think"), ("text", "Hel")],
            [("reasoning", "think"), ("text", "Hello")],
        ]
        assert statuses(thread) == ["complete/stop"]
        assert history.order == ["update a:Hello"]


async def test_a_stream_names_its_answer_and_the_one_before_stays() -> None:  # B49
    async with talking(Script([])) as thread:
        thread.import_(chain(question("u1"), answer("a1")))
        before = last(thread)
        await thread.resume_run("a1", Script([TextDelta("new"), Finish("stop")]), message_id="a2")
        assert [message.id for message in thread.state.messages] == ["u1", "a1", "a2"]
        assert thread.state.messages[1] is before
        assert shown(thread)[-1] == "a:new"


async def test_whoever_asks_for_what_is_being_resumed_shares_its_run() -> None:  # B52
    gate = anyio.Event()
    streams = [Script([TextDelta("x"), gate, TextDelta("y"), Finish("stop")]) for _ in range(3)]
    async with talking(Script([])) as thread:
        thread.import_(chain(question("u1"), answer("a1", TextPart("x"))))

        looking = [thread.select(lambda state: state.messages).subscribe(lambda _: None) for _ in streams]
        operations = [thread.resume_run("u1", stream, message_id="a1") for stream in streams]
        await settled()
        looking[0].dispose()
        gate.set()
        for operation in operations:
            await operation
        assert [len(stream.calls) for stream in streams] == [1, 0, 0]
        assert shown(thread) == ["u:u1", "a:xy"]
        await thread.resume_run("u1", streams[1], message_id="a1")
        assert len(streams[1].calls) == 1  # that one is over


@pytest.mark.parametrize("is_told", [True, False])
async def test_a_second_attempt_that_the_end_of_the_first_asks_for_is_made(is_told: bool) -> None:  # B56
    first = Script([TextDelta("x"), ConnectionResetError("gone")])
    gate = anyio.Event()
    second = Script([TextDelta("x"), gate, TextDelta("y"), Finish("stop")])
    async with talking(Script([])) as thread:
        thread.import_(chain(question("u1"), answer("a1", TextPart("x"))))
        message_id = "a1" if is_told else None

        def again(event: Any) -> None:
            if event.type == "run_end" and not second.calls and first.closed:
                thread.resume_run("u1", second, message_id=message_id)

        thread.events.subscribe(again)
        with pytest.raises(ConnectionResetError):
            await thread.resume_run("u1", first, message_id=message_id)
        await settled()
        assert thread.state.is_running
        gate.set()
        await settled()
        assert not thread.state.is_running
        assert (len(first.calls), len(second.calls)) == (1, 1)
        assert shown(thread) == ["u:u1", "a:xy"]
        assert statuses(thread) == ["complete/stop"]


async def test_a_stream_that_breaks_off_again_takes_nothing_away() -> None:
    shown_before = [("text", "Hello, you")]
    async with talking(Script([])) as thread:
        thread.import_(chain(question("u1"), answer("a1", TextPart("Hello, you"))))
        with pytest.raises(ConnectionResetError):
            await thread.resume_run("u1", Script([TextDelta("He"), ConnectionResetError()]), message_id="a1")
        assert texts(last(thread)) == shown_before
        assert statuses(thread) == ["incomplete/error"]
        broken = Script([TextDelta("He"), ErrorChunk("cut off")])
        await thread.resume_run("u1", broken, message_id="a1")
        assert texts(last(thread)) == shown_before
        assert statuses(thread) == ["incomplete/error"]
        gate = anyio.Event()
        cancelled = thread.resume_run("u1", Script([TextDelta("He"), gate]), message_id="a1")
        await settled()
        thread.cancel_run()
        await cancelled
        assert texts(last(thread)) == shown_before
        assert statuses(thread) == ["incomplete/cancelled"]


async def test_a_stream_that_ends_tells_the_whole_answer() -> None:
    async with talking(Script([])) as thread:
        thread.import_(chain(question("u1"), answer("a1", TextPart("Hello, you"), TextPart("and more"))))
        await thread.resume_run("u1", Script([TextDelta("Hello."), Finish("stop")]), message_id="a1")
        assert texts(last(thread)) == [("text", "Hello.")]
        assert statuses(thread) == ["complete/stop"]


async def test_a_call_that_is_told_again_is_not_executed_again() -> None:
    ran: list[str] = []

    tools = pw.Toolkit()

    @tools.frontend
    async def look(at: str = "sea") -> str:
        """Look."""
        ran.append(at)
        return "blue"

    after = Script([TextDelta("It is blue."), Finish("stop")])
    async with talking(after, tools=tools) as thread:
        thread.import_(chain(question("u1"), answer("a1", called("c0", "look", result="red"))))
        await thread.resume_run("u1", Script([*call("c0", "look"), Finish("tool-calls")]), message_id="a1")
        assert ran == []
        assert tool_call(thread).result == "red"
        assert texts(last(thread)) == [("text", "It is blue.")]


async def test_a_tool_that_was_stopped_is_not_started_again_by_the_same_call() -> None:
    tools = pw.Toolkit()
    started: list[str] = []

    @tools.frontend
    async def look(at: str = "sea") -> str:
        """Look."""
        started.append(at)
        await anyio.sleep_forever()
        return "never"

    said = [*call("c0", "look"), Finish("tool-calls")]
    async with talking(Script(said), tools=tools, cancel_timeout=0) as thread:
        operation = thread.append("hi")
        await settled()
        thread.cancel_run()
        await operation
        assert statuses(thread) == ["incomplete/cancelled"]
        await thread.resume_run(thread.state.messages[0].id, Script(said), message_id=last(thread).id)
        assert started == ["sea"]
        assert statuses(thread) == ["requires-action/tool-calls"]


async def test_a_call_whose_result_is_told_has_that_result() -> None:
    async with talking(Script([])) as thread:
        thread.import_(chain(question("u1"), answer("a1", called("c0", "look"))))
        stream = Script([*call("c0", "look"), ToolResult("c0", 1), TextDelta("x"), Finish("stop")])
        await thread.resume_run("u1", stream, message_id="a1")
        assert tool_call(thread).result == 1
        assert [part.type for part in last(thread).content] == ["tool-call", "text"]


async def test_only_an_answer_to_that_message_can_be_resumed() -> None:
    stream = Script([TextDelta("x")])
    async with talking(Script([])) as thread:
        thread.import_(chain(question("u1"), answer("a1"), question("u2")))
        before = thread.state
        with pytest.raises(NotAllowedError) as caught:
            thread.resume_run("a1", stream, message_id="u2")
        assert caught.value.code == "not-assistant"
        with pytest.raises(NotAllowedError, match="answers 'u1', not 'u2'") as caught:
            thread.resume_run("u2", stream, message_id="a1")
        assert caught.value.code == "other-parent"
        assert thread.state is before
        assert not stream.calls


CHUNKS = st.lists(
    st.one_of(
        st.builds(TextDelta, st.text("ab", min_size=1, max_size=3)),
        st.builds(ReasoningDelta, st.text("cd", min_size=1, max_size=3)),
        st.builds(lambda number: call(f"c{number}", "look", '{"a": 1}'), st.integers(0, 3)),
        st.builds(lambda number: [ToolResult(f"c{number}", number)], st.integers(0, 3)),
    ),
    max_size=8,
)


@given(CHUNKS, st.data())
def test_whatever_was_lost_the_answer_is_in_the_end_what_was_told(steps: list[Any], data: st.DataObject) -> None:
    chunks: list[Chunk] = [chunk for step in steps for chunk in (step if isinstance(step, list) else [step])]
    cut = data.draw(st.integers(0, len(chunks)))

    async def play() -> None:
        async with talking(Script([*chunks[:cut], ConnectionResetError()])) as thread:
            with pytest.raises(ConnectionResetError):
                await thread.append("hi")
            message_id = last(thread).id
            sizes: list[int] = []
            thread.select(lambda state: state.messages[-1]).subscribe(lambda message: sizes.append(extent(message)))
            await thread.resume_run(
                thread.state.messages[0].id, Script([*chunks, Finish("stop")]), message_id=message_id
            )
            assert sizes == sorted(sizes)
            told_again = last(thread)
        async with talking(Script([*chunks, Finish("stop")])) as thread:
            await thread.append("hi")
            assert told_again.content == last(thread).content
            assert told_again.status == last(thread).status

    anyio.run(play)


def extent(message: AssistantMessage) -> int:
    """How much of an answer is shown."""
    total = 0
    for part in message.content:
        if isinstance(part, (TextPart, ReasoningPart)):
            total += len(part.text)
        elif isinstance(part, ToolCallPart):
            total += len(part.args_text) + part.has_result
    return total
