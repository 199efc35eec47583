"""Tools that run while an answer streams, and functions that read a call while it is written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from partwise.errors import AbortedError
from partwise.messages import MISSING, ApprovalOption
from partwise.stream import (
    Accumulator,
    Chunk,
    Finish,
    PartApproval,
    PartResult,
    StepFinish,
    StepStart,
    TextDelta,
    ToolArgsDelta,
    ToolArgsFinish,
    ToolCallStart,
    ToolResult,
)
from partwise.testing import settled
from partwise.tools import CallReader, Tool, ToolContext, Toolkit, tool_stream

pytestmark = pytest.mark.anyio


def call(call_id: str, args: str = "{}", name: str = "search") -> list[Chunk]:
    return [ToolCallStart(call_id, name), ToolArgsDelta(call_id, args), ToolArgsFinish(call_id)]


async def given(*chunks: Any) -> AsyncIterator[Any]:
    for chunk in chunks:
        if isinstance(chunk, Exception):
            raise chunk
        yield chunk


async def run(chunks: list[Any], tools: dict[str, Tool], **options: Any) -> Any:
    accumulator = Accumulator(report=lambda problem: None)
    async with tool_stream(given(*chunks), tools, **options) as stream:
        async for chunk in stream:
            accumulator.apply(chunk)
    return accumulator.finish()


def tool(execute: Any = None, name: str = "search", **options: Any) -> dict[str, Tool]:
    return {name: Tool(name=name, kind="frontend", execute=execute, **options)}


# ---------------------------------------------------------------- running


async def test_the_tools_of_a_toolkit_run_while_the_answer_streams() -> None:
    kit = Toolkit()

    @kit.frontend
    async def search(query: str) -> dict[str, str]:
        """Search."""
        return {"found": query}

    chunks = [TextDelta("a"), *call("c", '{"query": "sun"}'), TextDelta("b"), Finish("tool-calls")]
    message = await run(chunks, {item.name: item for item in kit})

    assert [getattr(part, "text", None) or part.result for part in message.content] == ["a", {"found": "sun"}, "b"]
    assert message.status.type == "requires-action"


async def test_each_call_runs_once_and_its_first_result_is_final() -> None:
    runs: list[str] = []

    async def execute(arguments: Any, context: ToolContext) -> str:
        runs.append(context.tool_call_id)
        return "here"

    ended = anyio.Event()

    async def chunks() -> AsyncIterator[Chunk]:
        for chunk in [*call("c"), ToolArgsFinish("c")]:
            yield chunk
        await ended.wait()
        yield ToolResult("c", "elsewhere")

    accumulator = Accumulator()
    async with tool_stream(chunks(), tool(execute), on_end=lambda part: ended.set()) as stream:
        async for chunk in stream:
            accumulator.apply(chunk)

    assert runs == ["c"]
    assert accumulator.finish().content[0].result == "here"


async def test_a_result_from_elsewhere_keeps_the_tool_from_running() -> None:
    async def execute(arguments: Any, context: ToolContext) -> str:
        raise AssertionError

    chunks = [StepStart(), *call("c"), ToolResult("c", "elsewhere"), StepFinish()]
    message = await run(chunks, tool(execute))

    assert message.content[0].result == "elsewhere"


async def test_a_call_that_needs_a_permission_waits_for_it() -> None:
    async def execute(arguments: Any, context: ToolContext) -> str:
        raise AssertionError

    options = (ApprovalOption(id="yes", kind="allow"),)
    message = await run(call("c"), tool(execute, needs_approval=True, approval_options=options))

    approval = message.content[0].approval
    assert (approval.approved, approval.options) == (None, options)
    assert not message.content[0].has_result


async def test_progress_is_shown_and_the_last_value_is_the_result() -> None:
    async def execute(arguments: Any, context: ToolContext) -> Any:
        for step in (1, 2, 3):
            yield step

    seen: list[Any] = []
    async with tool_stream(given(*call("c")), tool(execute)) as stream:
        seen = [(chunk.result, chunk.is_preliminary) async for chunk in stream if isinstance(chunk, PartResult)]

    assert seen == [(1, True), (2, True), (3, False)]


async def test_a_tool_asks_a_human_and_goes_on_with_the_answer() -> None:
    async def ask(call_id: str, payload: Any) -> Any:
        return {"call": call_id, "asked": payload}

    async def execute(arguments: Any, context: ToolContext) -> Any:
        return await context.human("ok?")

    message = await run(call("c"), tool(execute), ask_human=ask)

    assert message.content[0].result == {"call": "c", "asked": "ok?"}


async def test_an_abort_cancels_what_runs_and_what_would_start() -> None:
    async def execute(arguments: Any, context: ToolContext) -> None:
        await anyio.sleep_forever()

    send, receive = anyio.create_memory_object_stream[Any](100)
    accumulator = Accumulator()
    async with send, receive, tool_stream(receive, tool(execute)) as stream, anyio.create_task_group() as tasks:

        async def read() -> None:
            async for chunk in stream:
                accumulator.apply(chunk)

        tasks.start_soon(read)
        for chunk in call("c"):
            await send.send(chunk)
        await settled()
        stream.abort()
        for chunk in call("d"):
            await send.send(chunk)
        await send.aclose()

    results = [part.result for part in accumulator.finish().content]
    assert results == [{"error": "Tool execution was cancelled."}] * 2


async def test_a_source_that_fails_is_an_error_that_keeps_what_had_come() -> None:
    message = await run([TextDelta("a"), ValueError("network")], {})

    assert message.content[0].text == "a"
    assert message.status.error["message"] == "network"


async def test_tools_are_cancelled_when_nobody_reads_any_more() -> None:
    ended: list[str] = []

    async def execute(arguments: Any, context: ToolContext) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")

    async with tool_stream(given(*call("c")), tool(execute)) as stream:
        async for chunk in stream:
            if isinstance(chunk, PartApproval):
                break
            await settled()
            if len(ended) == 0 and type(chunk).__name__ == "PartArgsFinish":
                break

    assert ended == ["cancelled"]


async def test_callbacks_that_raise_change_nothing() -> None:
    reports: list[Exception] = []

    def raising(part: Any) -> None:
        raise ValueError(part.tool_call_id)

    async def execute(arguments: Any, context: ToolContext) -> int:
        return 1

    message = await run(call("c"), tool(execute), on_start=raising, on_end=raising, report=reports.append)

    assert message.content[0].result == 1
    assert [str(report) for report in reports] == ["c", "c"]


async def test_arguments_that_do_not_fit_go_to_the_one_who_asked_for_them() -> None:
    def validate(arguments: Any) -> Any:
        raise ValueError("too short")

    async def on_invalid(arguments: Any, context: ToolContext) -> Any:
        return {"instead": dict(arguments)}

    async def execute(arguments: Any, context: ToolContext) -> Any:
        raise AssertionError

    message = await run(call("c", '{"q":1}'), tool(execute, validate=validate, on_invalid=on_invalid))
    broken = await run(call("c", '{"q":'), tool(execute, validate=validate, on_invalid=on_invalid))

    assert message.content[0].result == {"instead": {"q": 1}}
    assert broken.content[0].is_error


# ---------------------------------------------------------------- reading


async def test_a_function_reads_a_call_while_it_is_written() -> None:
    seen: list[Any] = []

    async def stream_call(reader: CallReader, context: ToolContext) -> None:
        async for delta in reader.stream_text("body"):
            seen.append(delta)  # noqa: PERF401 - what is seen in between counts
        seen.append(await reader.get("title"))
        seen.append((await reader.response()).result)

    async def execute(arguments: Any, context: ToolContext) -> str:
        return "sent"

    chunks = [
        ToolCallStart("c", "search"),
        ToolArgsDelta("c", '{"body": "He'),
        ToolArgsDelta("c", 'llo", "title": "T"}'),
        ToolArgsFinish("c"),
    ]
    send, receive = anyio.create_memory_object_stream[Any](10)
    async with send, receive, tool_stream(receive, tool(execute, stream_call=stream_call)) as stream:
        for chunk in chunks:
            await send.send(chunk)
            await settled()
        await send.aclose()
        async for _ in stream:
            pass

    assert seen == ["He", "llo", "T", "sent"]


async def test_reads_of_a_call_that_is_never_finished_end_with_an_error() -> None:
    reader = CallReader()
    reader.feed('{"a": "b')
    failures: list[Exception] = []

    async def read() -> None:
        try:
            await reader.get("a")
        except AbortedError as failure:
            failures.append(failure)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await settled()
        reader.abort()

    assert len(failures) == 1


async def test_reads_catch_up_and_end() -> None:
    reader = CallReader()
    reader.feed('{"l": [1, {"k": "v"}], "s": "ab", "n": 5}')
    reader.end()

    assert [item async for item in reader.for_each("l")] == [1, {"k": "v"}]
    assert [delta async for delta in reader.stream_text("s")] == ["ab"]
    assert [delta async for delta in reader.stream_text("n")] == []
    assert [value async for value in reader.stream_values("l", "1", "k")] == ["v"]
    assert (await reader.get("l", 0), await reader.get("nothing")) == (1, MISSING)


async def test_a_reader_that_fails_is_reported_and_the_call_still_runs() -> None:
    reports: list[Exception] = []

    async def stream_call(reader: CallReader, context: ToolContext) -> None:
        raise ValueError("gone")

    async def execute(arguments: Any, context: ToolContext) -> int:
        return 1

    message = await run(call("c"), tool(execute, stream_call=stream_call), report=reports.append)

    assert message.content[0].result == 1
    assert [str(report) for report in reports] == ["gone"]
