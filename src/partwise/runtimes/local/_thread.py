"""The thread of a local runtime: everything that a UI may do, each in a few lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeVar

import anyio
import attrs

from partwise.adapters import ChatModel, ChatModelFunction, FeedbackType
from partwise.errors import (
    BranchNotFoundError,
    NotAllowedError,
    NothingToResumeError,
    ParentNotFoundError,
    UnsupportedError,
)
from partwise.messages import (
    COMPLETE_UNKNOWN,
    MISSING,
    AssistantMessage,
    Message,
    Missing,
    ModelContent,
    message_from_like,
    new_id,
)
from partwise.reactive import ErrorHook, Events, Slice
from partwise.repository import Export, Place, export_from_list
from partwise.runtimes._capabilities import local_capabilities
from partwise.runtimes._composer import Composer
from partwise.runtimes._document import Document
from partwise.runtimes._drafts import Drafts
from partwise.runtimes._feedback import give_feedback
from partwise.runtimes._operation import Operation
from partwise.runtimes._queue import MessageQueue
from partwise.runtimes._requests import AppendRequest
from partwise.runtimes._tasks import Tasks
from partwise.store import MessageSlice, ModelContextUpdate, ThreadEvent, ThreadState
from partwise.tools import ContextProvider, ModelContextRegistry, ProviderHandle

from ._answering import Answering
from ._append import Appender
from ._deletion import delete_message
from ._entrance import Entrance
from ._history import HistoryWriter
from ._host import Host
from ._load import Loader
from ._options import LocalOptions
from ._queueing import Queueing
from ._resuming import resume
from ._run import Run
from ._runs import Runs
from ._suggest import SuggestionTask

__all__ = ["LocalThread"]

T = TypeVar("T")


class LocalThread:
    """One conversation that this process owns. Made by ``LocalRuntime``; see there.

    Methods act at once: what they show is in the snapshot when they return. Those that go on in the
    background return an ``Operation``, which may be awaited and need not be.
    """

    def __init__(self, options: LocalOptions, tasks: Tasks, *, on_error: ErrorHook) -> None:
        self._host = Host(
            document=Document(ThreadState(), on_error=on_error),
            events=Events(on_error=on_error, replays=lambda event: event.type == "initialize", spawn=tasks.spawn),
            options=options,
            context=ModelContextRegistry(self._on_context_change),
            tasks=tasks,
        )
        self._history = HistoryWriter(self._host)
        self._suggestions = SuggestionTask(self._host)
        self._runs = Runs(self._host, self._history, on_busy=self._on_busy, on_idle=self._on_idle)
        self._appender = Appender(self._host, self._history, self._runs)
        self._queue = Queueing(self._host, self._appender)
        self._loader = Loader(self._host, self._history, self._runs)
        self._entrance = Entrance(self._host, self._loader, self._queue, self._appender)
        self._answering = Answering(self._host, self._history, self._runs)
        self._drafts = Drafts(self._host, self.append)
        self.set_options()

    def _on_context_change(self) -> None:
        self._host.events.emit(ModelContextUpdate())

    def _on_busy(self) -> None:
        self._suggestions.stop()
        if self._host.options.has_queue:
            self._queue.on_busy()

    def _on_idle(self, run: Run) -> None:
        if self._host.options.has_queue:
            self._queue.on_idle()
        message = self._host.document.find(run.message_id)
        is_complete = isinstance(message, AssistantMessage) and message.status.type == "complete"
        if run.error is None and is_complete and not run.is_cancelled:
            self._suggestions.start()

    # What is shown

    @property
    def state(self) -> ThreadState:
        """The present snapshot."""
        return self._host.document.state

    @property
    def capabilities(self) -> frozenset[str]:
        """What may be done here, for example ``"cancel"``; what is missing raises ``UnsupportedError``."""
        return self.state.capabilities

    @property
    def events(self) -> Events[ThreadEvent]:
        """What happens beside the snapshot: runs that start and end, failures that nobody can be told."""
        return self._host.events

    def select(self, selector: Callable[[ThreadState], T]) -> Slice[T]:
        """Return what a function of the snapshot gives, as a slice that emits only changes."""
        return self._host.document.store.select(selector)

    def message(self, message_id: str) -> MessageSlice:
        """Return the slice of one message; it completes when the message leaves the visible branch."""
        return MessageSlice(self._host.document.store, message_id)

    def find(self, message_id: str) -> Place[Message] | None:
        """Return a message of any branch with its parent and position, or None."""
        return self._host.document.tree.find(message_id)

    def branches_of(self, message_id: str) -> tuple[str, ...]:
        """Return the ids of a message and its alternatives, oldest first.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        return self._host.document.tree.branches_of(message_id)

    @property
    def unsaved(self) -> tuple[str, ...]:
        """The ids of messages that the history did not take; it is given them again before the next one."""
        return self._history.unsaved

    # Messages and runs

    def append(
        self,
        message: object,
        *,
        parent_id: str | Missing | None = MISSING,
        source_id: str | None = None,
        run_config: Mapping[str, Any] | None = None,
        starts_run: bool | None = None,
        steers: bool | None = None,
    ) -> Operation:
        """Add a message and, if it is a user's, answer it.

        A run in progress is superseded, unless the thread has a queue and the message goes to the end:
        then it waits for the run's end.

        Args:
            message: A text, a message, or anything message-like.
            parent_id: The message above it; None for a new first message. Not given: the last one.
            source_id: The message that it is an edited version of.
            run_config: Handed to the model.
            starts_run: Whether it is answered; None: if it is a user's.
            steers: With a queue: whether it goes before other waiting messages.

        Returns:
            An operation that settles when the message is stored and its run has ended. It raises
            what the model raised (which is also the answer's status), ``HistoryError`` when storing
            failed, and ``NotSentError`` when the thread could not be made.

        Raises:
            MessageLikeError: The message breaks a rule of its role; nothing is changed.
            ParentNotFoundError: The parent is unknown; nothing is changed.
        """
        self._host.check_open()
        request = AppendRequest(
            message=message_from_like(message, fallback_id=new_id(), fallback_status=COMPLETE_UNKNOWN),
            parent_id=None if parent_id is MISSING else parent_id,
            is_at_tail=parent_id is MISSING or parent_id == self._host.document.tree.head_id,
            source_id=source_id,
            run_config=run_config or {},
            starts_run=starts_run,
            steers=steers,
            thread_id=self._host.options.thread_id,
        )
        return self._entrance.take(request)

    def start_run(self, parent_id: str | None, *, run_config: Mapping[str, Any] | None = None) -> Operation:
        """Answer a message (None: answer nothing at all) with a new branch.

        Raises:
            ParentNotFoundError: The message is unknown.
        """
        return self._start(parent_id, run_config)

    def resume_run(
        self,
        parent_id: str | None,
        stream: ChatModel | ChatModelFunction | None = None,
        *,
        message_id: str | None = None,
        run_config: Mapping[str, Any] | None = None,
    ) -> Operation:
        """Answer a message with a stream that goes on elsewhere, such as one that was lost in a reconnect.

        Args:
            parent_id: The message to answer; None answers nothing at all.
            stream: Answers the first roundtrip in place of the model.
            message_id: The answer that the stream tells. One that is here is told again from its first
                chunk, in its place; an unknown id becomes that of the new answer. Who asks for one that is
                being resumed already shares that run, and their stream is not opened. Not given: a new
                answer beside those that are here.
            run_config: Handed to the model.

        Raises:
            NothingToResumeError: No stream was given.
            ParentNotFoundError: The message is unknown.
            NotAllowedError: ``message_id`` is no answer (code ``"not-assistant"``), or one to another
                message (``"other-parent"``).
        """
        if stream is None:
            raise NothingToResumeError(parent_id)
        self._check_start(parent_id)
        config = run_config or {}
        return resume(self._host, self._runs, parent_id, stream, message_id=message_id, run_config=config)

    def _start(self, parent_id: str | None, run_config: Mapping[str, Any] | None) -> Operation:
        self._check_start(parent_id)
        self._host.announce()
        return self._runs.start(parent_id, run_config=run_config or {}).operation

    def _check_start(self, parent_id: str | None) -> None:
        self._host.check_open()
        if parent_id is not None and parent_id not in self._host.document.tree:
            raise ParentNotFoundError(parent_id, where="this thread")

    def reload(self, message_id: str, *, run_config: Mapping[str, Any] | None = None) -> Operation:
        """Answer the question of an answer again, beside it.

        Args:
            message_id: The answer.
            run_config: Handed to the model; that of the open draft if not given.

        Raises:
            MessageNotFoundError: The id is unknown.
            NotAllowedError: It is no answer (code ``"not-assistant"``).
        """
        place = self._host.document.tree.get(message_id)
        if not isinstance(place.message, AssistantMessage):
            text = f"Message {message_id!r} is the {place.message.role}'s; only answers can be made again."
            raise NotAllowedError(text, code="not-assistant", id=message_id)
        draft = self.state.edits.get(message_id, self.state.composer)
        return self._start(place.parent_id, draft.run_config if run_config is None else run_config)

    def cancel_run(self) -> None:
        """End the run in progress; what had arrived is kept. Without one, nothing happens."""
        if self._host.options.has_queue:
            self._queue.on_cancelled()
        self._suggestions.stop()
        for run in self._runs.live:
            self._runs.end(run, "cancel")

    # Answers of people

    def add_tool_result(
        self,
        message_id: str,
        tool_call_id: str,
        result: Any,
        *,
        is_error: bool | None = False,
        artifact: Any = MISSING,
        model_content: tuple[ModelContent, ...] | None = None,
    ) -> Operation:
        """Give a tool call its result; when that was the last one missing, the run goes on.

        Args:
            message_id: The answer that holds the call.
            tool_call_id: The call; every part with this id gets the result.
            result: Any JSON value, None included, or a ``ToolResponse``.
            is_error: Whether the result tells of a failure.
            artifact: A payload for the UI, never sent to the model.
            model_content: What the model reads instead of the result.

        Returns:
            An operation that settles when the continued run has ended, or at once if none is.

        Raises:
            MessageNotFoundError: The message is unknown.
            NotAllowedError: It is no answer (code ``"not-assistant"``).
            ToolCallNotFoundError: It has no such call.
        """
        self._host.check_open()
        return self._answering.add_tool_result(
            message_id, tool_call_id, result, is_error=is_error, artifact=artifact, model_content=model_content
        )

    def respond_to_approval(
        self,
        approval_id: str,
        *,
        approved: bool | None = None,
        option_id: str | None = None,
        reason: str | None = None,
        tool_call_id: str | None = None,
    ) -> Operation:
        """Decide on an approval; when no other is open, the run goes on. The first answer is final.

        Args:
            approval_id: The approval.
            approved: Yes or no; not needed with an option whose kind says so.
            option_id: The option that was chosen.
            reason: Why; the model is told it when the answer is no.
            tool_call_id: Which call, where several share the approval's id.

        Returns:
            An operation that settles when the continued run has ended, or at once if none is.

        Raises:
            ApprovalNotFoundError: No visible message asks for it.
            OptionNotFoundError: The approval does not offer that option.
            ApprovalError: It cannot be answered; ``code`` says why. Nothing is changed.
        """
        self._host.check_open()
        return self._answering.respond_to_approval(
            approval_id, approved=approved, option_id=option_id, reason=reason, tool_call_id=tool_call_id
        )

    def resume_tool_call(self, tool_call_id: str, payload: Any) -> None:
        """Give a running tool the answer that it asked a human for.

        Raises:
            NotAllowedError: No running tool of that call is asking (code ``"not-waiting"``).
        """
        self._runs.roundtrips.tooling.answer(tool_call_id, payload)

    # Branches, edits, feedback

    def switch_to_branch(self, message_id: str) -> None:
        """Show the branch of a message, down to where it was left; a run goes on wherever it is.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        self._host.document.switch_to(message_id)

    def switch_branch(self, message_id: str, to: Literal["previous", "next"]) -> None:
        """Show the alternative before or after a message.

        Raises:
            MessageNotFoundError: The id is unknown.
            BranchNotFoundError: There is none on that side.
        """
        branches = self.branches_of(message_id)
        index = branches.index(message_id) + (1 if to == "next" else -1)
        if not 0 <= index < len(branches):
            raise BranchNotFoundError(
                to, where=f"message {message_id!r}, which is number {branches.index(message_id) + 1} of {len(branches)}"
            )
        self.switch_to_branch(branches[index])

    def delete_message(self, message_id: str) -> Operation:
        """Delete a visible message, from the history first; what follows it moves up.

        Returns:
            An operation that settles when it is gone. It raises ``MessageNotFoundError`` when the message
            is not visible, and ``HistoryError`` when the history kept it, and then the thread does, too.

        Raises:
            UnsupportedError: The history cannot delete.
        """
        self._host.check_open()
        return delete_message(self._host, self._history, self._runs, message_id)

    @property
    def queue(self) -> MessageQueue:
        """The messages that wait for the thread to be free; they can be removed, moved and changed here."""
        return self._queue.messages

    @property
    def composer(self) -> Composer:
        """The draft of the next message."""
        return self._drafts.composer

    def begin_edit(self, message_id: str) -> Composer:
        """Open a draft of an edited version of a message; sending it opens a branch beside the message.

        Raises:
            MessageNotFoundError: The id is unknown.
            NotAllowedError: It is being edited already (code ``"edit-in-progress"``).
        """
        return self._drafts.begin(message_id)

    def edit_composer(self, message_id: str) -> Composer:
        """Return the composer of an edited message, open or not."""
        return self._drafts.of(message_id)

    def submit_feedback(self, message_id: str, type: FeedbackType) -> None:
        """Tell the feedback adapter, if there is one, what the user thinks, and show it on the answer.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        give_feedback(self._host.document, self._host.options.feedback, message_id, type)

    # The thread as a whole

    def load(self) -> Operation:
        """Load the history; asked again, it is the same load, unless that failed."""
        self._host.check_open()
        return self._loader.load()

    def refetch(self) -> Operation:
        """Messages are owned here, so there is nobody to ask for them.

        Raises:
            UnsupportedError: Always.
        """
        msg = "refetch"
        raise UnsupportedError(msg, "Its messages are kept here; load() shows what the history has stored.")

    def export(self) -> Export[Message]:
        """Return every branch, to be stored or imported elsewhere."""
        return self._host.document.tree.export()

    def import_(self, export: Export[Message]) -> None:
        """Put an export in the place of everything; a run whose message is gone ends.

        Raises:
            ParentNotFoundError: A parent is not in the export; nothing is changed.
            CycleError: A message would be its own ancestor; nothing is changed.
        """
        self._host.announce()
        self._host.document.replace_all(export)
        self._runs.end_strays()

    def reset(self, messages: Iterable[object] = ()) -> None:
        """Put messages, or anything message-like, one under the other, in the place of everything."""
        self.import_(export_from_list([message_from_like(like, fallback_id=new_id()) for like in messages]))

    def detach(self) -> None:
        """Leave the thread: whatever runs or waits ends, and the model may go on elsewhere."""
        self._host.generation += 1
        self._queue.drop()
        self._suggestions.stop()
        for run in self._runs.live:
            self._runs.end(run, "detach")

    def register_context(self, provider: ContextProvider) -> ProviderHandle:
        """Add instructions or tools to what the model is told, until the handle is removed."""
        return self._host.context.add_provider(provider)

    def set_options(self, **changes: Any) -> None:
        """Exchange adapters or settings; they count from the next time that they are needed."""
        had_history = self._host.options.history is not None
        self._host.options = attrs.evolve(self._host.options, **changes)
        options = self._host.options
        self._host.document.set(
            capabilities=local_capabilities(
                history=options.history,
                has_feedback=options.feedback is not None,
                has_queue=options.has_queue,
                has_attachments=options.attachments is not None,
            )
        )
        if not options.has_queue and (self._queue.messages.items or self._queue.messages.steer_items):
            self._queue.drop()
        if options.history is not None and not had_history:
            self._loader.history_arrived()

    # For composers and for the runtime

    def begin(self, instructions: str | None, providers: Iterable[ContextProvider], messages: Iterable[object]) -> None:
        """Take in what the runtime was made with; called by the runtime, once."""
        if instructions is not None:
            self._host.context.add_instruction(instructions)
        for provider in providers:
            self._host.context.add_provider(provider)
        first = [message_from_like(like, fallback_id=new_id()) for like in messages]
        if first:
            self._host.document.replace_all(export_from_list(first))
            self._history.take_note(message.id for message in first)
        self._host.document.on_head = self._history.head_moved

    async def finish(self) -> None:
        """End what runs, wait until it has, and until what is being stored is stored; called by the runtime."""
        self.detach()
        timeout = self._host.options.cancel_timeout
        with anyio.move_on_after(2 * timeout, shield=True):
            for run in self._runs.live:
                await run.ended.wait()
        with anyio.move_on_after(timeout, shield=True):
            await self._history.wait()

    def close(self) -> None:
        """Complete every slice; called by the runtime."""
        self._host.document.store.close()
        self._host.events.close()
