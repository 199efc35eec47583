"""The tools of a run: who may run, who must be asked, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import attrs

from partwise.errors import NotAllowedError
from partwise.messages import (
    REQUIRES_INTERRUPT,
    REQUIRES_TOOL_CALLS,
    RUNNING,
    CompleteStatus,
    IncompleteStatus,
    Interrupt,
    ToolCallPart,
    new_id,
    with_part,
    with_status,
)
from partwise.tools import (
    Executions,
    ToolContext,
    ToolResponse,
    plan_calls,
    run_tools,
    with_approval_request,
    with_response,
)

from ._host import Host
from ._run import Run, RunBoard

__all__ = ["Tooling"]


@attrs.define(eq=False)
class _Question:
    """What a running tool asks a human."""

    run: Run
    event: anyio.Event = attrs.field(factory=anyio.Event)
    answer: Any = None


class Tooling:
    """Runs the open calls of a message, at most once each, and lets running tools ask a human."""

    def __init__(self, host: Host, runs: RunBoard) -> None:
        self._host = host
        self._runs = runs
        self._executions = Executions()
        self._questions: dict[str, _Question] = {}
        self._busy: set[Run] = set()

    def is_running_tools(self, run: Run | None) -> bool:
        """Tell whether the run is executing tools, as opposed to listening to the model."""
        return run in self._busy

    async def run_open_calls(self, run: Run) -> None:
        """Run what may run, ask about what needs permission, and leave the message paused if it is."""
        message = self._runs.owned(run)
        if message is None or isinstance(message.status, (CompleteStatus, IncompleteStatus)) or run.is_cancelled:
            return
        tools = self._host.context.get_model_context().tools
        plan = await plan_calls(message, tools, report=self._report)
        ours = [part for part in plan.to_run if self._executions.claim(run.message_id, part.tool_call_id)]
        refused = [(part, response) for part, response in plan.refused if part.tool_name in tools]
        if not (ours or refused or plan.to_ask):
            return
        with self._host.document.batch():
            for part in plan.to_ask:
                ask = partial(with_approval_request, tool=tools[part.tool_name], approval_id=new_id())
                self._change(run, part.tool_call_id, ask)
            for part, response in refused:
                self._respond(run, part.tool_call_id, response)
            self._set_status(run, RUNNING)
        self._busy.add(run)
        try:
            await run_tools(ours, tools, lambda part: self._context(run, part), partial(self._respond, run))
        finally:
            self._busy.discard(run)
        self._set_status(run, self._status_after(run))

    def answer(self, tool_call_id: str, payload: Any) -> None:
        """Give a running tool the answer that it waits for.

        Raises:
            NotAllowedError: No running tool of that call is asking (code ``"not-waiting"``).
        """
        question = self._questions.pop(tool_call_id, None)
        if question is None:
            text = (
                f"Tool call {tool_call_id!r} is not waiting for a human. "
                "Answer a call that is not running with add_tool_result."
            )
            raise NotAllowedError(text, code="not-waiting", id=tool_call_id)
        question.answer = payload
        self._withdraw(question.run, tool_call_id)
        question.event.set()

    def _withdraw(self, run: Run, tool_call_id: str) -> None:
        """Take a question back that was answered, or that its tool asks no more."""
        with self._host.document.batch():
            self._change(run, tool_call_id, lambda call: attrs.evolve(call, interrupt=None))
            if not any(other.run is run for other in self._questions.values()):
                self._set_status(run, RUNNING)

    async def _ask(self, run: Run, tool_call_id: str, payload: Any) -> Any:
        question = self._questions[tool_call_id] = _Question(run)
        with self._host.document.batch():
            self._change(run, tool_call_id, lambda call: attrs.evolve(call, interrupt=Interrupt(payload=payload)))
            self._set_status(run, REQUIRES_INTERRUPT)
        try:
            await question.event.wait()
        finally:
            if self._questions.get(tool_call_id) is question:
                del self._questions[tool_call_id]
                self._withdraw(run, tool_call_id)
        return question.answer

    def _status_after(self, run: Run) -> Any:
        """Paused for tool calls while any of them is open or just answered; the run decides what is next."""
        message = self._runs.owned(run)
        return RUNNING if message is None or run.is_cancelled else REQUIRES_TOOL_CALLS

    def _context(self, run: Run, part: ToolCallPart) -> ToolContext:
        async def ask(payload: Any) -> Any:
            return await self._ask(run, part.tool_call_id, payload)

        def progress(value: Any) -> None:
            self._change(run, part.tool_call_id, lambda call: attrs.evolve(call, artifact=value))

        return ToolContext(
            tool_call_id=part.tool_call_id,
            tool_name=part.tool_name,
            message_id=run.message_id,
            thread_id=self._host.options.thread_id,
            run_config=run.run_config,
            ask_human=ask,
            on_progress=progress,
            on_report=self._report,
        )

    def _respond(self, run: Run, tool_call_id: str, response: ToolResponse) -> None:
        self._change(run, tool_call_id, lambda call: call if call.has_result else with_response(call, response))

    def _change(self, run: Run, tool_call_id: str, change: Callable[[ToolCallPart], ToolCallPart]) -> None:
        message = self._runs.owned(run)
        if message is None:
            return
        # A model may list a call twice; it is one call, and nobody must wait for the other listing.
        for index, part in enumerate(message.content):
            if isinstance(part, ToolCallPart) and part.tool_call_id == tool_call_id:
                message = with_part(message, index, change(part))
        self._runs.write(run, message)

    def _set_status(self, run: Run, status: Any) -> None:
        message = self._runs.owned(run)
        if message is not None and message.status != status:
            self._runs.write(run, with_status(message, status))

    def _report(self, failure: Exception) -> None:
        self._host.report("tool", str(failure), failure)
