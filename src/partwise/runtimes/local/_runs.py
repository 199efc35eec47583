"""The runs of a local thread: at most one is current, and each ends exactly once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import anyio
import anyio.lowlevel

from partwise.adapters import CancelReason, ChatModel, ChatModelFunction, HistoryItem
from partwise.errors import HistoryError
from partwise.messages import (
    RUNNING,
    AssistantMessage,
    AssistantMetadata,
    RequiresActionStatus,
    RunningStatus,
    new_id,
    should_continue,
    with_status,
)
from partwise.runtimes._operation import Operation
from partwise.store import RunEnd, RunStart

from ._history import HistoryWriter
from ._host import Host
from ._roundtrip import Roundtrips
from ._run import Run
from ._step import abandoned, is_unfinished, without_questions

__all__ = ["Runs"]

# How often an adapter gets to act on its signal before its awaits are cancelled.
_GRACE_TURNS = 10


class Runs:
    """Starts, continues, supersedes and cancels runs.

    Args:
        host: What the thread's pieces share.
        history: Where finished messages go.
        on_idle: Called when a run ended that nothing replaced, with whether its answer completed.
    """

    def __init__(
        self, host: Host, history: HistoryWriter, *, on_busy: Callable[[], None], on_idle: Callable[[Run], None]
    ) -> None:
        self._host = host
        self._history = history
        self._on_busy = on_busy
        self._on_idle = on_idle
        self._live: set[Run] = set()
        self._writers: dict[str, Run] = {}
        self._configs: dict[str, Mapping[str, Any]] = {}
        self._active: Run | None = None
        self.roundtrips = Roundtrips(host, self)

    @property
    def active(self) -> Run | None:
        """The current run; superseded ones are live, but not this."""
        return self._active

    @property
    def live(self) -> tuple[Run, ...]:
        """The runs that have not ended, superseded ones included."""
        return tuple(self._live)

    def config_of(self, message_id: str) -> Mapping[str, Any]:
        """Return the run config of the run that last wrote a message, so that a resumed one has it, too."""
        return self._configs.get(message_id, {})

    def owned(self, run: Run) -> AssistantMessage | None:
        """Return the message that the run may write, or None when it may not any more."""
        if run.is_settled or self._writers.get(run.message_id) is not run:
            return None
        message = self._host.document.find(run.message_id)
        return message if isinstance(message, AssistantMessage) else None

    def disown(self, message_id: str) -> None:
        """Let whoever writes a message write no more of it."""
        self._writers.pop(message_id, None)

    def write(self, run: Run, message: AssistantMessage) -> bool:
        """Store what a run made of its message; returns False when it may not write."""
        if run.is_settled or self._writers.get(run.message_id) is not run:
            return False
        return self._host.document.replace(message)

    def start(
        self,
        parent_id: str | None,
        *,
        run_config: Mapping[str, Any],
        message: AssistantMessage | None = None,
        message_id: str | None = None,
        stream: ChatModel | ChatModelFunction | None = None,
        via: str | None = None,
    ) -> Run:
        """Begin a run under a parent, or go on with a message that is there; a run in progress is superseded.

        Args:
            parent_id: What is answered.
            run_config: Handed to the model.
            message: The answer that is gone on with; a stream tells it again from its first chunk.
            message_id: The id of a new answer, if it has to be a certain one.
            stream: Answers the first roundtrip in place of the model.
            via: How the run came about.
        """
        document = self._host.document
        is_new = message is None
        answer = self._fresh(message_id or new_id()) if message is None else message
        run = Run(id=new_id(), message_id=answer.id, parent_id=parent_id, run_config=run_config, stream=stream, via=via)
        run.tells_again = stream is not None and not is_new
        previous, self._active = self._active, run
        self._live.add(run)
        self._writers[answer.id] = run
        self._configs[answer.id] = run_config
        self._on_busy()
        document.set(is_running=True, suggestions=())
        self._host.events.emit(RunStart(run_id=run.id, message_id=answer.id))
        if previous is not None:
            self.end(previous, "superseded")
        with document.batch():
            self.abandon_pauses(parent_id)
            document.put(parent_id, with_status(answer, RUNNING))
            if is_new and self.active is run:
                document.switch_to(answer.id)
        self._host.spawn(self._execute, run)
        return run

    def end(self, run: Run, reason: CancelReason) -> None:
        """Tell a run to end, and see to it that it does."""
        if not run.is_settled and run.tell(reason):
            self._host.spawn(self._enforce, run)

    def end_strays(self) -> None:
        """End the runs whose message or question is gone; nobody will see their answers."""
        for run in self.live:
            gone = self._host.document.find(run.message_id) is None
            if gone or (run.parent_id is not None and self._host.document.find(run.parent_id) is None):
                self.end(run, "superseded")
        self._show_running()

    def _show_running(self) -> None:
        """Show whether anything is being made: by the current run, or by a superseded one that goes on."""
        is_running = any(self._is_working(run) for run in self._live)
        self._host.document.set(is_running=is_running)

    def _is_working(self, run: Run) -> bool:
        if run is self.active:
            return not run.is_concluded
        message = self.owned(run)
        return message is not None and isinstance(message.status, RunningStatus)

    async def _enforce(self, run: Run) -> None:
        for _ in range(_GRACE_TURNS):
            if run.is_settled:
                return
            await anyio.lowlevel.checkpoint()
        run.force()
        with anyio.move_on_after(self._host.options.cancel_timeout):
            await run.ended.wait()
        if not run.is_settled:
            self._host.report(
                "chat model", f"did not end {self._host.options.cancel_timeout:g} s after its run was told to"
            )
            self.roundtrips.conclude(run, is_aborted=True)
            self._store(run)
            self._end(run, None)

    async def _execute(self, run: Run) -> None:
        error: Exception | None = None
        try:
            await self._loop(run)
        except Exception as raised:
            error = raised
        except BaseException:
            self.roundtrips.conclude(run, is_aborted=True)
            self._end(run, None)
            raise
        self._end(run, error)

    async def _loop(self, run: Run) -> None:
        while True:
            error = await self.roundtrips.perform(run)
            goes_on = error is None and self._goes_on(run)
            # When nothing more will come, storing what came may take its time.
            run.is_concluded = not goes_on
            self._show_running()
            failure = await self._persist(run)
            if error is not None:
                raise error
            if failure is not None:
                raise failure
            if not goes_on:
                return

    def _goes_on(self, run: Run) -> bool:
        # The message of a run that was superseded has its last status by now, and does not go on.
        message = self.owned(run)
        return message is not None and self._continues(message)

    def _continues(self, message: AssistantMessage) -> bool:
        return should_continue(message, self._host.options.human_tools)

    def _end(self, run: Run, error: Exception | None) -> None:
        if run.is_settled:
            return
        run.is_settled = True
        self._live.discard(run)
        if self._writers.get(run.message_id) is run:
            del self._writers[run.message_id]
        was_active = self.active is run
        if was_active:
            self._active = None
        self._show_running()
        self._host.events.emit(RunEnd(run_id=run.id, message_id=run.message_id))
        run.error = error
        run.ended.set()
        run.operation.settle(error)
        # A listener may have started the next run by now.
        if (was_active and self.active is None) or run.signal.reason == "cancel":
            self._on_idle(run)

    async def _persist(self, run: Run) -> HistoryError | None:
        """Wait until the message is stored at the end of a roundtrip; a cancelled run does not wait."""
        operation = self._store(run)
        if operation is None:
            return None
        with run.new_scope():
            try:
                await operation
            except HistoryError as error:
                return error
        return None

    def _store(self, run: Run) -> Operation | None:
        """Store the message if it is finished, or paused and can be rewritten."""
        message = self.owned(run)
        if message is None or isinstance(message.status, RunningStatus):
            return None
        if isinstance(message.status, RequiresActionStatus) and (
            not self._history.can_update or (self.active is run and self._continues(message))
        ):
            return None
        place = self._host.document.tree.get(message.id)
        return self._history.write(HistoryItem(parent_id=place.parent_id, message=message, run_config=run.run_config))

    def abandon_pauses(self, parent_id: str | None) -> None:
        """Close what still waits for somebody above a new answer: the conversation went on without it."""
        if parent_id is None:
            return
        document = self._host.document
        for message in document.tree.path_to(parent_id):
            writer = self._writers.get(message.id)
            if not isinstance(message, AssistantMessage) or (writer is not None and not writer.is_concluded):
                continue
            closed = abandoned(message) if is_unfinished(message) else without_questions(message)
            if closed is not message:
                document.replace(closed)
                if self._history.can_update and self._history.has(message.id):
                    place = document.tree.get(message.id)
                    self._history.write(HistoryItem(parent_id=place.parent_id, message=closed))

    def _fresh(self, message_id: str) -> AssistantMessage:
        return AssistantMessage(
            id=message_id,
            created_at=datetime.now(UTC),
            status=RUNNING,
            metadata=AssistantMetadata(state=self._host.document.state.state),
        )
