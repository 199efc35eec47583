"""Running the tools of messages that somebody else writes, each call at most once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from operator import is_not
from typing import Any, Final, TypeAlias

import anyio
import anyio.lowlevel
import attrs

from partwise.errors import AbortedError, ToolArgumentsError
from partwise.messages import MISSING, FrozenDict, Interrupt, Message, ToolCallPart

from ._call_reader import CallReader
from ._context import Report, ToolContext, log_failure
from ._decisions import needs_approval
from ._response import ToolResponse, error_response
from ._run import run_tool
from ._tool import Tool
from ._tracked import Begin, Command, Diverge, End, Entry, Grow, Respond, Run, calls_in, follow

__all__ = ["ToolState", "ToolTracker", "TrackedResult"]

_CANCELLED: Final = "Tool execution was cancelled."
_Tools: TypeAlias = Mapping[str, Tool] | Callable[[], Mapping[str, Tool]]
_Spawn: TypeAlias = Callable[..., object]


@attrs.frozen(kw_only=True)
class ToolState:
    """What a running tool is doing.

    Attributes:
        message_id: The visible message that holds its call.
        interrupt: What it asks a human, if it does.
        progress: What it has told so far; ``MISSING`` if nothing.
    """

    message_id: str
    interrupt: Interrupt | None = None
    progress: Any = MISSING


@attrs.frozen(kw_only=True)
class TrackedResult:
    """What a tool that ran here gives to a call."""

    message_id: str
    tool_call_id: str
    tool_name: str
    response: ToolResponse


@attrs.define(eq=False)
class _Execution:
    part: ToolCallPart
    message_id: str
    scope: anyio.CancelScope = attrs.field(factory=anyio.CancelScope)
    done: anyio.Event = attrs.field(factory=anyio.Event)


@attrs.define(eq=False)
class _Question:
    answered: anyio.Event = attrs.field(factory=anyio.Event)
    answer: Any = None
    failure: AbortedError | None = None


def _nothing(states: Mapping[str, ToolState]) -> None:
    del states


class ToolTracker:
    """Follows a list of messages and runs the frontend tools that are called in it.

    The first snapshot is history, and so is each one that is loading: its calls are known and never run.
    From then on, a call that is new or has changed is read as it grows, and its tool is run once its
    arguments are complete JSON, at most once for each id until `reset`, however the messages change.
    A call that is answered elsewhere is not run. Nothing of this raises; failures are reported.

    Args:
        tools: The tools by name, or a function that gives them as they are now.
        spawn: Starts an async function with its arguments as a task, as ``task_group.start_soon`` does.
        on_result: Given what each tool gives, once.
        on_states: Given what runs, by the call's id, whenever that is something else.
        report: Given failures that change no result.
        context: What tools are told beside their call.
    """

    def __init__(
        self,
        tools: _Tools,
        *,
        spawn: _Spawn,
        on_result: Callable[[TrackedResult], object],
        on_states: Callable[[Mapping[str, ToolState]], object] = _nothing,
        report: Report = log_failure,
        context: ToolContext | None = None,
    ) -> None:
        self._given = tools
        self._spawn = spawn
        self._on_result = on_result
        self._on_states = on_states
        self._report = report
        self._context = context or ToolContext(tool_call_id="")
        self._entries: dict[str, Entry] = {}
        self._readers: dict[str, CallReader] = {}
        self._executions: dict[str, _Execution] = {}
        self._questions: dict[str, _Question] = {}
        self._seen: tuple[tuple[Message, ...], bool, bool] | None = None
        self._seen_tools: dict[str, Tool] = {}
        self._is_history = True
        self._waiting: deque[tuple[Command, Mapping[str, Tool]]] = deque()
        self._is_performing = False
        self._diverged: set[str] = set()
        self._states: Mapping[str, ToolState] = FrozenDict()
        self._shown: Mapping[str, ToolState] = self._states

    @property
    def states(self) -> Mapping[str, ToolState]:
        """What runs now, by the id of the call; another mapping whenever it is something else."""
        return self._states

    def take(self, messages: Sequence[Message], *, is_running: bool, is_loading: bool = False) -> None:
        """Take in the next snapshot of the messages.

        Args:
            messages: All that are visible; those that are the same objects as before cost next to nothing.
            is_running: Whether an answer is being made.
            is_loading: Whether they are being loaded, so that what is in them is history.
        """
        try:
            self._take(tuple(messages), is_running, is_loading)
        except Exception as failure:
            self._tell(failure)
        self._publish()

    def abort(self) -> anyio.Event:
        """Cancel what runs; each of these calls gets a cancelled result.

        Returns:
            An event that is set when everything that ran at this moment has ended.
        """
        for question in self._questions.values():
            question.failure = AbortedError("The tool was cancelled while it waited for an answer.")
            question.answered.set()
        self._questions.clear()
        running = list(self._executions.values())
        for execution in running:
            execution.scope.cancel()
        ended = anyio.Event()
        if any(not execution.done.is_set() for execution in running):
            self._spawn(_await_all, running, ended)
        else:
            ended.set()
        return ended

    def reset(self) -> anyio.Event:
        """Begin anew: the next snapshot is history, and what still runs has no effect any more.

        Returns:
            As `abort`.
        """
        ended = self.abort()
        for reader in self._readers.values():
            reader.abort()
        self._entries, self._readers, self._executions = {}, {}, {}
        self._seen, self._is_history = None, True
        self._waiting.clear()
        self._diverged.clear()
        self._states = FrozenDict()
        self._publish()
        return ended

    def resume(self, tool_call_id: str, payload: Any) -> bool:
        """Answer a tool that asks a human; returns False when it does not."""
        question = self._questions.pop(tool_call_id, None)
        if question is None:
            return False
        question.answer = payload
        self._set_state(tool_call_id, interrupt=None)
        self._publish()
        question.answered.set()
        return True

    @property
    def _tools(self) -> Mapping[str, Tool]:
        return self._given() if callable(self._given) else self._given

    def _take(self, messages: tuple[Message, ...], is_running: bool, is_loading: bool) -> None:
        tools = dict(self._tools)
        before = self._seen
        looked_at: Sequence[Message] = messages
        is_alike = before is not None and before[1:] == (is_running, is_loading) and tools == self._seen_tools
        if before is not None and is_alike and len(before[0]) <= len(messages):
            known = before[0]
            looked_at = [*compress(messages, map(is_not, messages, known)), *messages[len(known) :]]
        self._entries, commands = follow(
            self._entries,
            calls_in(looked_at),
            tools,
            is_history=self._is_history or is_loading,
            is_running=is_running,
        )
        self._seen, self._seen_tools, self._is_history = (messages, is_running, is_loading), tools, False
        # A listener that is told of one command may bring the next snapshot: what follows from it comes after.
        self._waiting.extend((command, tools) for command in commands)
        if self._is_performing:
            return
        self._is_performing = True
        try:
            while self._waiting:
                self._perform_safely(*self._waiting.popleft())
        finally:
            self._is_performing = False

    def _perform_safely(self, command: Command, tools: Mapping[str, Tool]) -> None:
        try:
            self._perform(command, tools)
        except Exception as failure:
            self._tell(failure)

    def _perform(self, command: Command, tools: Mapping[str, Tool]) -> None:
        match command:
            case Begin(part, message_id):
                reader = self._readers[part.tool_call_id] = CallReader()
                tool = tools.get(part.tool_name)
                if tool is not None and tool.stream_call is not None and not tool.disabled:
                    self._spawn(self._read, tool, part, message_id, reader)
            case Grow(tool_call_id, text):
                self._readers[tool_call_id].feed(text)
            case Respond(part):
                self._readers[part.tool_call_id].respond(_response_of(part))
            case End(tool_call_id):
                self._readers[tool_call_id].end()
            case Run(part, message_id):
                execution = self._executions[part.tool_call_id] = _Execution(part, message_id)
                self._states = FrozenDict({**self._states, part.tool_call_id: ToolState(message_id=message_id)})
                self._spawn(self._run, execution, tools[part.tool_name])
            case Diverge(part):
                if part.tool_call_id not in self._diverged:
                    self._diverged.add(part.tool_call_id)
                    text = "not a continuation of what they had begun to be; the first ones count"
                    self._tell(ToolArgumentsError(part.tool_name, part.tool_call_id, text))

    async def _read(self, tool: Tool, part: ToolCallPart, message_id: str, reader: CallReader) -> None:
        assert tool.stream_call is not None
        try:
            await tool.stream_call(reader, self._context_of(part, message_id, None))
        except Exception as failure:
            failure.add_note(f"raised by stream_call of tool {tool.name!r}")
            self._tell(failure)

    async def _run(self, execution: _Execution, tool: Tool) -> None:
        part = execution.part
        response = error_response(_CANCELLED)
        is_permitted = False
        try:
            with execution.scope:
                await anyio.lowlevel.checkpoint()  # what was cancelled before it began does not begin
                is_permitted = part.approval is not None or not await needs_approval(tool, part, self._tell)
                if is_permitted:
                    response = await run_tool(tool, part, self._context_of(part, execution.message_id, execution))
        finally:
            execution.done.set()
            is_current = self._executions.get(part.tool_call_id) is execution
            if is_current:
                del self._executions[part.tool_call_id]
                self._questions.pop(part.tool_call_id, None)
                self._set_state(part.tool_call_id)
        if not is_current:
            return
        if is_permitted or execution.scope.cancelled_caught:
            self._answer(execution, response)
        else:
            self._wait_for_permission(part)
        self._publish()

    def _answer(self, execution: _Execution, response: ToolResponse) -> None:
        part, entry = execution.part, self._entries.get(execution.part.tool_call_id)
        if entry is None or entry.has_result:
            return
        self._readers[part.tool_call_id].respond(response)
        result = TrackedResult(
            message_id=execution.message_id,
            tool_call_id=part.tool_call_id,
            tool_name=part.tool_name,
            response=response,
        )
        self._call(self._on_result, result)

    def _wait_for_permission(self, part: ToolCallPart) -> None:
        """Start the tool once the message holds the permission; who writes the messages has to ask for it."""
        entry = self._entries.get(part.tool_call_id)
        if entry is not None:
            self._entries[part.tool_call_id] = attrs.evolve(entry, is_claimed=False, needs_permission=True)

    def _context_of(self, part: ToolCallPart, message_id: str, execution: _Execution | None) -> ToolContext:
        async def ask(payload: Any) -> Any:
            return await self._ask(part, execution, payload)

        def progress(value: Any) -> None:
            if execution is not None and self._executions.get(part.tool_call_id) is execution:
                self._set_state(part.tool_call_id, progress=value)
                self._publish()

        return attrs.evolve(
            self._context,
            tool_call_id=part.tool_call_id,
            tool_name=part.tool_name,
            message_id=message_id,
            ask_human=ask,
            on_progress=progress,
            on_report=self._tell,
        )

    async def _ask(self, part: ToolCallPart, execution: _Execution | None, payload: Any) -> Any:
        if execution is None or self._executions.get(part.tool_call_id) is not execution:
            message = f"Tool call {part.tool_call_id!r} does not run any more, so nobody will answer it."
            raise AbortedError(message)
        earlier = self._questions.get(part.tool_call_id)
        if earlier is not None:
            earlier.failure = AbortedError("The tool asked something else before this was answered.")
            earlier.answered.set()
        question = self._questions[part.tool_call_id] = _Question()
        self._set_state(part.tool_call_id, interrupt=Interrupt(payload=payload))
        self._publish()
        try:
            await question.answered.wait()
        finally:
            if self._questions.get(part.tool_call_id) is question:
                del self._questions[part.tool_call_id]
                self._set_state(part.tool_call_id, interrupt=None)
                self._publish()
        if question.failure is not None:
            raise question.failure
        return question.answer

    def _set_state(self, tool_call_id: str, **changes: Any) -> None:
        """Change what is shown of a running tool; without changes, it does not run any more."""
        state = self._states.get(tool_call_id)
        if state is None:
            return
        rest = {key: value for key, value in self._states.items() if key != tool_call_id}
        self._states = FrozenDict({**rest, tool_call_id: attrs.evolve(state, **changes)} if changes else rest)

    def _publish(self) -> None:
        if self._states is not self._shown:
            self._shown = self._states
            self._call(self._on_states, self._states)

    def _call(self, callback: Callable[[Any], object], value: Any) -> None:
        try:
            callback(value)
        except Exception as failure:
            self._tell(failure)

    def _tell(self, failure: Exception) -> None:
        try:
            self._report(failure)
        except Exception as second:
            log_failure(second)


async def _await_all(executions: Sequence[_Execution], ended: anyio.Event) -> None:
    for execution in executions:
        await execution.done.wait()
    ended.set()


def _response_of(part: ToolCallPart) -> ToolResponse:
    return ToolResponse(
        part.result, artifact=part.artifact, is_error=bool(part.is_error), model_content=part.model_content
    )
