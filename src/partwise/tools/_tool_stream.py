"""Running tools while an answer streams: a stream of chunks in, the same with the tools' results out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, TypeAlias, cast

import anyio
import attrs
from anyio.abc import TaskGroup

from partwise.errors import ToolArgumentsError, WireError
from partwise.messages import MISSING, Approval, ToolCallPart, new_id
from partwise.stream import (
    Chunk,
    Finish,
    PartApproval,
    PartArgsFinish,
    PartDelta,
    PartFinish,
    PartResult,
    PartStart,
    StepFinish,
    StepStart,
    WireChunk,
)
from partwise.stream.writing import Placer, StreamController, stream_of

from ._arguments import parse_arguments
from ._call_reader import CallReader
from ._context import Report, ToolContext, log_failure
from ._decisions import needs_approval
from ._response import NO_RESULT, ToolResponse, error_response
from ._run import run_tool
from ._tool import Tool

__all__ = ["AskHuman", "ToolStream", "tool_stream"]

AskHuman: TypeAlias = Callable[[str, Any], Awaitable[Any]]
_Tools: TypeAlias = Mapping[str, Tool] | Callable[[], Mapping[str, Tool]]
_CANCELLED: Final = "Tool execution was cancelled."


def _nothing(part: ToolCallPart) -> None:
    return None


@attrs.define(eq=False)
class _Call:
    """One call of the stream: how far it has come, and what is held back until its tool has ended."""

    number: int
    part: ToolCallPart
    tool: Tool | None
    reader: CallReader = attrs.field(factory=CallReader)
    text: list[str] = attrs.field(factory=list)
    has_ended_args: bool = False
    is_settled: bool = False  # somebody else answers it: a result or an approval has come
    has_result: bool = False
    is_waiting: bool = False
    is_running: bool = False
    held: PartFinish | None = None


class ToolStream:
    """The chunks of an answer whose tools run; iterate over it to read them, once. See `tool_stream`."""

    def __init__(
        self,
        tools: _Tools,
        *,
        ask_human: AskHuman | None,
        on_start: Callable[[ToolCallPart], object],
        on_end: Callable[[ToolCallPart], object],
        report: Report,
        context: ToolContext,
    ) -> None:
        self._given = tools
        self._ask_human = ask_human
        self._on_start = on_start
        self._on_end = on_end
        self._report = report
        self._context = context
        self._placer = Placer(report=self._tell)
        self._parts: list[_Call | None] = []
        self._scopes: set[anyio.CancelScope] = set()
        self._in_step = False
        self._is_aborted = False
        self._out: StreamController | None = None

    def attach(self, out: StreamController) -> None:
        """Name the stream that is written to."""
        self._out = out

    def __aiter__(self) -> AsyncIterator[WireChunk]:
        """Read the chunks."""
        assert self._out is not None
        return aiter(self._out)

    def abort(self) -> None:
        """Cancel the tools that run; they, and those that would start, have a cancelled result."""
        self._is_aborted = True
        for scope in tuple(self._scopes):
            scope.cancel()

    async def write(self, chunks: AsyncIterable[Chunk], out: StreamController, readers: TaskGroup) -> None:
        """Write a stream and the results of its tools; returns when both have ended."""
        try:
            async with anyio.create_task_group() as tasks:
                async for chunk in chunks:
                    for placed in self._placer.place(chunk):
                        await self._take(placed, out, tasks, readers)
                    await out.drain()
                for placed in self._placer.close():
                    await self._take(placed, out, tasks, readers)
                self._release(out)
                await self._start_waiting(out, tasks)
        except BaseExceptionGroup as group:
            raise _only(group) from group
        finally:
            for call in self._calls():
                call.reader.abort()

    def _calls(self) -> list[_Call]:
        return [call for call in self._parts if call is not None]

    def _tell(self, problem: Exception) -> None:
        self._report(problem)

    @property
    def _tools(self) -> Mapping[str, Tool]:
        return self._given() if callable(self._given) else self._given

    async def _take(self, chunk: WireChunk, out: StreamController, tasks: TaskGroup, readers: TaskGroup) -> None:
        match chunk:
            case PartStart(part):
                out.write(chunk)
                self._begin(part, readers)
            case PartDelta() | PartFinish() | PartArgsFinish() | PartResult() | PartApproval():
                if len(chunk.path) != 1 or not 0 <= chunk.path[0] < len(self._parts):
                    text = f"Dropped a chunk for part {list(chunk.path)}, which does not exist."
                    self._tell(WireError(text, where=str(list(chunk.path)), code="misplaced"))
                    return
                call = self._parts[chunk.path[0]]
                if call is None:
                    out.write(chunk)
                else:
                    await self._of_call(call, chunk, out, tasks)
            case StepStart():
                self._in_step = True
                out.write(chunk)
            case StepFinish() | Finish():
                self._in_step = False
                self._release(out)
                out.write(chunk)
                await self._start_waiting(out, tasks)
            case _:
                out.write(chunk)

    def _begin(self, part: Any, readers: TaskGroup) -> None:
        if not isinstance(part, ToolCallPart):
            self._parts.append(None)
            return
        call = _Call(len(self._parts), part, self._tools.get(part.tool_name))
        self._parts.append(call)
        stream_call = None if call.tool is None or call.tool.disabled else call.tool.stream_call
        if stream_call is not None:

            async def read() -> None:
                try:
                    await stream_call(call.reader, self._context_of(call, None))
                except Exception as failure:
                    failure.add_note(f"raised by stream_call of tool {part.tool_name!r}")
                    self._report(failure)

            readers.start_soon(read)

    async def _of_call(
        self,
        call: _Call,
        chunk: PartDelta | PartFinish | PartArgsFinish | PartResult | PartApproval,
        out: StreamController,
        tasks: TaskGroup,
    ) -> None:
        match chunk:
            case PartDelta(_, text):
                if not call.has_ended_args:
                    call.text.append(text)
                    call.reader.feed(text)
                out.write(chunk)
            case PartArgsFinish():
                out.write(chunk)
                await self._end_args(call, out, tasks)
            case PartFinish():
                if call.is_running or call.is_waiting:
                    call.held = chunk
                else:
                    out.write(chunk)
            case PartApproval():
                call.is_settled = True
                out.write(chunk)
            case PartResult():
                self._answered(call, chunk, out)

    def _answered(self, call: _Call, chunk: PartResult, out: StreamController) -> None:
        if call.has_result:
            text = f"Dropped a second result of tool call {call.part.tool_call_id!r}."
            self._tell(WireError(text, where=call.part.tool_call_id, code="misplaced"))
            return
        call.is_settled = True
        out.write(chunk)
        if chunk.is_preliminary:
            return
        call.has_result = True
        response = ToolResponse(
            chunk.result, artifact=chunk.artifact, is_error=bool(chunk.is_error), model_content=chunk.model_content
        )
        call.reader.respond(response)

    async def _end_args(self, call: _Call, out: StreamController, tasks: TaskGroup) -> None:
        if call.has_ended_args:
            return
        call.has_ended_args = True
        call.part = attrs.evolve(call.part, args_text="".join(call.text))
        call.reader.end()
        if call.is_settled:
            return
        call.is_waiting = True
        if not self._in_step:
            self._release(out)
            await self._start_waiting(out, tasks)

    def _release(self, out: StreamController) -> None:
        """Be done with the calls that wait and that no tool will run for."""
        for call in self._calls():
            if not call.is_waiting:
                continue
            failure = None if call.is_settled else _unreadable(call)
            if failure is not None:
                self._settle(call, failure, out)
            if failure is not None or call.is_settled or not _runs(call.tool):
                call.is_waiting = False
                self._let_go(call, out)

    async def _start_waiting(self, out: StreamController, tasks: TaskGroup) -> None:
        for call in self._calls():
            if call.is_waiting:
                call.is_waiting = False
                await self._start(call, out, tasks)

    def _settle(self, call: _Call, response: ToolResponse, out: StreamController) -> None:
        if not call.has_result:
            call.has_result = True
            out.write(_result(call.number, response))
            call.reader.respond(response)

    def _let_go(self, call: _Call, out: StreamController) -> None:
        if call.held is not None:
            out.write(call.held)
            call.held = None

    async def _start(self, call: _Call, out: StreamController, tasks: TaskGroup) -> None:
        assert call.tool is not None
        if await needs_approval(call.tool, call.part, self._report):
            call.is_settled = True
            options = call.tool.approval_options or None
            out.write(PartApproval((call.number,), Approval(id=new_id(), options=options)))
            self._let_go(call, out)
            return
        call.is_running = True
        tasks.start_soon(self._run, call, call.tool, out)

    async def _run(self, call: _Call, tool: Tool, out: StreamController) -> None:
        self._told(self._on_start, call)
        response = error_response(_CANCELLED)
        if not self._is_aborted:
            with anyio.CancelScope() as scope:
                self._scopes.add(scope)
                response = await run_tool(tool, call.part, self._context_of(call, out))
            self._scopes.discard(scope)
        call.is_running = False
        self._told(self._on_end, call)
        self._settle(call, response, out)
        self._let_go(call, out)

    def _told(self, callback: Callable[[ToolCallPart], object], call: _Call) -> None:
        try:
            callback(call.part)
        except Exception as failure:
            self._report(failure)

    def _context_of(self, call: _Call, out: StreamController | None) -> ToolContext:
        def progress(value: Any) -> None:
            if out is not None and not call.has_result:
                out.write(PartResult((call.number,), value, is_error=False, is_preliminary=True))

        changes: dict[str, Any] = {"tool_call_id": call.part.tool_call_id, "tool_name": call.part.tool_name}
        if self._ask_human is not None:
            changes["ask_human"] = partial(self._ask_human, call.part.tool_call_id)
        return attrs.evolve(self._context, on_progress=progress, on_report=self._report, **changes)


def _only(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the one exception of a group, or the group."""
    while len(group.exceptions) == 1 and isinstance(group.exceptions[0], BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", group.exceptions[0])
    return group.exceptions[0] if len(group.exceptions) == 1 else group


def _unreadable(call: _Call) -> ToolResponse | None:
    """What a model is told of arguments that are no JSON object; nothing if nobody knows the tool."""
    if call.tool is None:
        return None
    try:
        parse_arguments(call.part)
    except ToolArgumentsError as failure:
        return error_response(f"{failure} The tool was not run.")
    return None


def _runs(tool: Tool | None) -> bool:
    return tool is not None and tool.runs_here


def _result(number: int, response: ToolResponse) -> PartResult:
    return PartResult(
        (number,),
        NO_RESULT if response.result is MISSING else response.result,
        is_error=response.is_error,
        artifact=response.artifact,
        model_content=response.model_content,
        messages=response.messages,
    )


@asynccontextmanager
async def tool_stream(
    chunks: AsyncIterable[Chunk],
    tools: _Tools,
    *,
    ask_human: AskHuman | None = None,
    on_start: Callable[[ToolCallPart], object] = _nothing,
    on_end: Callable[[ToolCallPart], object] = _nothing,
    report: Report = log_failure,
    context: ToolContext | None = None,
) -> AsyncGenerator[ToolStream]:
    """Run the frontend tools of an answer while it streams.

    Chunks pass through as they come. A call whose arguments are whole is run, inside of a step once the step has
    ended; its result is written when it is there, and the end of its part and of the stream wait for it. A call
    that somebody else answers, or that needs a permission, is not run; one that needs a permission of its tool is
    given an approval to be answered. Each call is run at most once.

    Args:
        chunks: The answer; what it raises becomes an error of the answer.
        tools: The tools by name, or a function that gives them as they are now.
        ask_human: Given a call's id and a payload when a tool asks a human; its result is the answer.
        on_start: Told of each call whose tool starts; what it raises is reported.
        on_end: Told when it has ended.
        report: Given failures that change no result.
        context: What tools are told beside their call.

    ```python
    async with tool_stream(decode(body, decoder), toolkit.tools) as answer:
        async for message in accumulate(answer): ...
    ```
    """
    running = ToolStream(
        tools,
        ask_human=ask_human,
        on_start=on_start,
        on_end=on_end,
        report=report,
        context=context or ToolContext(tool_call_id=""),
    )

    async def write(out: StreamController) -> None:
        await running.write(chunks, out, readers)

    async with anyio.create_task_group() as readers, stream_of(write, report=report) as out:
        running.attach(out)
        yield running
        if not out.has_ended:
            readers.cancel_scope.cancel()
