"""One roundtrip: the tools that wait, the model, and the tools that it called."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, AsyncIterator
from functools import partial
from typing import Any

import attrs

from partwise.adapters import ChatModel, RunContext
from partwise.errors import AdapterError
from partwise.messages import (
    COMPLETE_UNKNOWN,
    INCOMPLETE_TOOL_CALLS,
    MISSING,
    REQUIRES_INTERRUPT,
    RUNNING,
    AssistantMessage,
    RequiresActionStatus,
    RunningStatus,
    should_continue,
    with_status,
)
from partwise.runtimes._attempt import Ending, attempt, close
from partwise.stream import Chunk, Fold, is_chunk

from ._host import Host
from ._outputs import content_from, is_sound, nonsense, result_from
from ._replay import Replay
from ._run import Run, RunBoard
from ._step import Base, abandoned, apply_result, cancel_applies, cancelled, failed, without_interrupts
from ._tooling import Tooling

__all__ = ["Roundtrips"]


@attrs.define
class Answer:
    """What the model has given in this roundtrip.

    Attributes:
        has_chunks: Whether it gave chunks, as opposed to whole results only.
        replay: While the model tells again what is shown already.
    """

    base: Base
    fold: Fold
    has_chunks: bool = False
    replay: Replay | None = None


class Roundtrips:
    """Asks the model, folds what it sends into the message, and runs the tools in between."""

    def __init__(self, host: Host, runs: RunBoard) -> None:
        self._host = host
        self._runs = runs
        self.tooling = Tooling(host, runs)

    async def perform(self, run: Run) -> Exception | None:
        """Do one roundtrip; returns what the model raised. The message has its status afterwards."""
        message = self._runs.owned(run)
        if message is None:
            return None
        limit = self._host.options.max_steps
        steps = 0 if run.tells_again else len(message.metadata.steps)
        if max(steps, run.roundtrips) >= limit:
            self._runs.write(run, with_status(message, INCOMPLETE_TOOL_CALLS))
            return None
        self._runs.write(run, with_status(message, RUNNING))
        ending = Ending()
        if not run.is_cancelled:
            ending = await attempt(run.new_scope(), partial(self._work, run), self._report)
        run.scope = None
        self.conclude(run, error=ending.error, is_aborted=ending.is_aborted)
        return ending.error

    def conclude(self, run: Run, *, error: Exception | None = None, is_aborted: bool = False) -> None:
        """Give the message of a roundtrip that is over the status that lasts."""
        message = self._runs.owned(run)
        if message is None or run.is_concluded:
            return
        if error is not None:
            message = failed(message, error)
        elif is_aborted or self._cancel_applies(run, message):
            # What was asked stays to be seen until the conversation goes on below it.
            is_passed = run.signal.reason == "superseded" and bool(self._host.document.tree.children_of(message.id))
            message = abandoned(message) if is_passed else cancelled(message)
        elif message.status != REQUIRES_INTERRUPT:
            message = without_interrupts(message)
            if isinstance(message.status, RunningStatus):
                message = with_status(message, COMPLETE_UNKNOWN)
        self._runs.write(run, message)

    def _cancel_applies(self, run: Run, message: AssistantMessage) -> bool:
        return cancel_applies(
            message,
            is_cancelled=run.is_cancelled,
            is_active=self._runs.active is run,
            continues=should_continue(message, self._host.options.human_tools),
        )

    async def _work(self, run: Run) -> None:
        replay: Replay | None = None
        if not run.tells_again:
            await self.tooling.run_open_calls(run)
        message = self._runs.owned(run)
        if message is None or isinstance(message.status, RequiresActionStatus):
            return
        if run.tells_again:
            run.tells_again, replay = False, Replay(message)
        base = Base.of(message if replay is None else replay.told)
        run.roundtrips += 1
        await self._ask(run, Answer(base, Fold(base.parts, report=self._report), replay=replay))
        await self.tooling.run_open_calls(run)

    async def _ask(self, run: Run, answer: Answer) -> None:
        context = self._context(run)
        model = run.stream or self._host.options.model
        run.stream = None
        output = model.run(context) if isinstance(model, ChatModel) else model(context)
        if isinstance(output, AsyncIterable):
            await self._iterate(run, aiter(output), answer)
        elif inspect.isawaitable(output):
            given = await output
            if given is not None:
                self._take(run, given, answer)
        else:
            raise nonsense(output, "returned", run)
        message = self._runs.owned(run)
        if message is not None and answer.replay is not None and not run.is_cancelled:
            message = answer.replay.end(message)
            self._runs.write(run, message)
        if message is not None and answer.has_chunks and (answer.fold.is_finished or not run.is_cancelled):
            self._runs.write(run, answer.fold.finish(message))

    async def _iterate(self, run: Run, outputs: AsyncIterator[Any], answer: Answer) -> None:
        try:
            async for output in outputs:
                if run.is_cancelled or not self._take(run, output, answer):
                    break
        finally:
            await close(outputs, self._report)

    def _take(self, run: Run, output: object, answer: Answer) -> bool:
        """Fold one output into the message; returns False when the run may not write any more."""
        message = self._runs.owned(run)
        if message is None:
            return False
        replay = answer.replay
        if replay is None:
            return self._runs.write(run, _with_output(answer, message, output, run))
        shown = replay.take(message, _with_output(answer, replay.told, output, run))
        if replay.has_caught_up:
            answer.replay = None
        return self._runs.write(run, shown)

    def _report(self, error: Exception) -> None:
        self._host.report("chat model", str(error), error)

    def _context(self, run: Run) -> RunContext:
        host = self._host
        merged = host.context.get_model_context()
        path = () if run.parent_id is None else host.document.tree.path_to(run.parent_id)

        def current() -> AssistantMessage:
            message = host.document.find(run.message_id)
            if not isinstance(message, AssistantMessage):
                text = f"is asking for message {run.message_id!r}, which was deleted; end the run"
                msg = "chat model"
                raise AdapterError(msg, text, message_id=run.message_id)
            return message

        return RunContext(
            messages=path,
            assistant_message_id=run.message_id,
            parent_id=run.parent_id,
            thread_id=host.options.thread_id,
            run_id=run.id,
            roundtrip=run.roundtrips - 1,
            context=attrs.evolve(merged, composer_metadata={}),
            run_config=run.run_config,
            signal=run.signal,
            current_message=current,
        )


def _with_output(answer: Answer, message: AssistantMessage, output: object, run: Run) -> AssistantMessage:
    if is_chunk(output):
        answer.has_chunks = True
        return _folded(answer.fold, message, output, run)
    result = result_from(output, run)
    content = None
    if result.content is not MISSING:
        answer.fold.reset()
        content = content_from(result.content, run)
    return apply_result(message, result, content, answer.base)


def _folded(fold: Fold, message: AssistantMessage, chunk: Chunk, run: Run) -> AssistantMessage:
    if not is_sound(chunk):
        raise nonsense(chunk, "yielded", run)
    try:
        return fold.apply(message, chunk)
    except Exception as error:
        raise nonsense(chunk, "yielded", run, error) from error
