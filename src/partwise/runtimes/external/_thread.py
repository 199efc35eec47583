"""The thread of an external store: everything that a UI may do, asked of the owner of the messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeVar

import attrs

from partwise.adapters import FeedbackType
from partwise.errors import (
    BranchNotFoundError,
    NotAllowedError,
    ThreadNotOpenError,
)
from partwise.messages import (
    COMPLETE_UNKNOWN,
    MISSING,
    AssistantMessage,
    Feedback,
    Message,
    Missing,
    ModelContent,
    ToolCallPart,
    message_from_like,
    new_id,
)
from partwise.reactive import ErrorHook, Events, Slice
from partwise.repository import Export, Place, export_from_list
from partwise.runtimes._composer import Composer
from partwise.runtimes._document import Document
from partwise.runtimes._drafts import Drafts
from partwise.runtimes._feedback import give_feedback
from partwise.runtimes._operation import Operation
from partwise.runtimes._queue import MessageQueue
from partwise.runtimes._requests import AppendRequest
from partwise.runtimes._tasks import Tasks
from partwise.store import ComposerState, MessageSlice, ModelContextUpdate, ThreadEvent, ThreadState
from partwise.tools import ContextProvider, ModelContextRegistry, ProviderHandle, ToolResponse, TrackedResult

from ._branching import Branching
from ._cancelling import Cancelling
from ._conversion import Conversion
from ._feeding import Feeding
from ._host import Host, asked, refused, require, told
from ._host_threads import DEFAULT_THREAD_ID
from ._joining import Joining
from ._mirror import Mirror
from ._options import ApprovalResponse, ExternalOptions, RunRequest, ToolOutput
from ._remarks import Remarks
from ._sending import Sending
from ._tooling import Tooling

__all__ = ["ExternalThread"]

T = TypeVar("T")


class ExternalThread:
    """One conversation that somebody else owns. Made by ``ExternalStoreRuntime``; see there.

    It shows what its owner says and asks the owner for everything else; what the owner gave no function
    for raises ``UnsupportedError`` and is missing from ``capabilities``. Once another thread is in its place,
    the owner is asked for nothing any more: ``ThreadNotOpenError``.
    """

    def __init__(self, source: object, options: ExternalOptions, tasks: Tasks, *, on_error: ErrorHook) -> None:
        self._host: Host = Host(
            document=Document(ThreadState(), on_error=on_error),
            events=Events(on_error=on_error, replays=lambda event: event.type == "initialize", spawn=tasks.spawn),
            options=options,
            context=ModelContextRegistry(self._on_context_change),
            tasks=tasks,
        )
        self._is_left = False
        self._remarks = Remarks(self._host.report, is_strict=options.is_strict)
        self._mirror = Mirror(self._host.document)
        self._conversion = Conversion(self._remarks)
        self._drafts = Drafts(self._host, self.append)
        self._sending = Sending(self._host, self._mirror)
        self._cancelling = Cancelling(self._host, self._mirror, self._conversion, self._drafts.composer)
        self._branching = Branching(self._host, self._mirror, self._conversion)
        self._feeding = Feeding(self._host, self._mirror, self._conversion, Joining(self._remarks), self._cancelling)
        self._tooling = Tooling(self._host, self._mirror, self._answer)
        self.update(source, {}, is_new=True)

    def _on_context_change(self) -> None:
        self._host.events.emit(ModelContextUpdate())

    @property
    def options(self) -> ExternalOptions:
        """What the owner said beside the messages; read by the runtime."""
        return self._host.options

    def _check_open(self) -> None:
        self._check_in_view()
        self._host.check_open()

    def _check_in_view(self) -> None:
        if self._is_left:
            raise ThreadNotOpenError(
                self._thread_id or DEFAULT_THREAD_ID, "it is not in view any more; use the runtime's present thread"
            )

    @property
    def _thread_id(self) -> str | None:
        threads = self._host.options.threads
        return None if threads is None else threads.current_id

    # What is shown

    @property
    def state(self) -> ThreadState:
        """The present snapshot."""
        return self._host.document.state

    @property
    def capabilities(self) -> frozenset[str]:
        """What may be done here, told from the functions that the owner gave."""
        return self.state.capabilities

    @property
    def events(self) -> Events[ThreadEvent]:
        """What happens beside the snapshot: runs that start and end, things of the feed that cannot be shown."""
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
        """Hand a message to the owner: as a new one at the end, or as an edited one anywhere else.

        It is shown once the owner shows it. With a queue, new messages wait there for their turn.

        Args:
            message: A text, a message, or anything message-like.
            parent_id: The message above it; None for a new first message. Not given: the last one.
            source_id: The message that it is an edited version of.
            run_config: Handed on.
            starts_run: Whether it is answered; None: if it is a user's.
            steers: With a queue: whether it goes before others; None: if something runs.

        Returns:
            An operation that settles as the owner's function does, or once the queue has the message.
            It raises ``UnsupportedError`` when the owner takes no such message.

        Raises:
            MessageLikeError: The message breaks a rule of its role.
        """
        self._check_open()
        head_id = self.state.head_id
        request = AppendRequest(
            message=message_from_like(message, fallback_id=new_id(), fallback_status=COMPLETE_UNKNOWN),
            parent_id=head_id if parent_id is MISSING else parent_id,
            is_at_tail=parent_id is MISSING or parent_id == head_id,
            source_id=source_id,
            run_config=run_config or {},
            starts_run=starts_run,
            steers=steers,
            thread_id=self._thread_id,
        )
        is_sent_now = self._host.options.queue is None or self._sending.is_edit(request)
        if request.will_run and is_sent_now:
            return self._tooling.first(self._sending.take, request)
        return refused(self._sending.take, request)

    def start_run(
        self, parent_id: str | None, *, run_config: Mapping[str, Any] | None = None, source_id: str | None = None
    ) -> Operation:
        """Ask the owner for an answer to a message (None: to nothing at all).

        Args:
            parent_id: The message.
            run_config: Handed on.
            source_id: The answer that it is to be another version of.
        """
        self._check_open()
        request = RunRequest(
            parent_id=parent_id, source_id=source_id, run_config=run_config or {}, thread_id=self._thread_id
        )
        return self._tooling.first(self._start, request)

    def _start(self, request: RunRequest) -> Operation:
        on_reload = require(self._host.options.on_reload, "reload", "on_reload")
        self._branching.keep_answers(request.parent_id)
        return asked(self._host, on_reload, request)

    def resume_run(
        self, parent_id: str | None, stream: object = None, *, run_config: Mapping[str, Any] | None = None
    ) -> Operation:
        """Ask the owner to go on with an answer; ``stream`` is not looked at, the owner has its own."""
        del stream
        self._check_open()
        request = RunRequest(parent_id=parent_id, run_config=run_config or {}, thread_id=self._thread_id)
        return refused(lambda: asked(self._host, require(self._host.options.on_resume, "resume", "on_resume"), request))

    def reload(self, message_id: str, *, run_config: Mapping[str, Any] | None = None) -> Operation:
        """Ask the owner to answer the question of an answer again, beside it.

        Raises:
            MessageNotFoundError: The id is unknown.
            NotAllowedError: It is no answer (code ``"not-assistant"``).
        """
        place = self._host.document.tree.get(message_id)
        if not isinstance(place.message, AssistantMessage):
            text = f"Message {message_id!r} is the {place.message.role}'s; only answers can be made again."
            raise NotAllowedError(text, code="not-assistant", id=message_id)
        draft = self.state.edits.get(message_id, self.state.composer)
        config = draft.run_config if run_config is None else run_config
        return self.start_run(place.parent_id, run_config=config, source_id=message_id)

    def cancel_run(self) -> None:
        """Ask the owner to stop; a message that nobody has answered goes back into a free composer.

        Raises:
            UnsupportedError: The owner cannot stop.
        """
        self._check_open()
        self._tooling.abort()
        self._cancelling.cancel()

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
        tool_name: str | None = None,
    ) -> Operation:
        """Hand the result of a tool call to the owner; what it raises at once is raised, the rest is reported.

        Raises:
            UnsupportedError: The owner takes no results.
        """
        self._check_in_view()
        on_tool_result = require(self._host.options.on_tool_result, "answer_tool_call", "on_tool_result")
        if isinstance(result, ToolResponse):
            is_error, artifact, model_content = result.is_error, result.artifact, result.model_content
            result = result.result
        output = ToolOutput(
            message_id=message_id,
            tool_call_id=tool_call_id,
            tool_name=tool_name or self._tool_name(message_id, tool_call_id),
            result=result,
            is_error=is_error,
            artifact=artifact,
            model_content=model_content,
            thread_id=self._thread_id,
        )
        told(self._host, "on_tool_result", on_tool_result, output)
        return Operation.done()

    def _answer(self, result: TrackedResult) -> None:
        call_id, response = result.tool_call_id, result.response
        self.add_tool_result(result.message_id, call_id, response, tool_name=result.tool_name)

    def _tool_name(self, message_id: str, tool_call_id: str) -> str | None:
        message = self._host.document.find(message_id)
        for part in () if message is None else message.content:
            if isinstance(part, ToolCallPart) and part.tool_call_id == tool_call_id:
                return part.tool_name
        return None

    def respond_to_approval(
        self,
        approval_id: str,
        *,
        approved: bool | None = None,
        option_id: str | None = None,
        reason: str | None = None,
        tool_call_id: str | None = None,
    ) -> Operation:
        """Hand a decision to the owner, who checks it.

        Returns:
            An operation that settles as the owner's function does.

        Raises:
            UnsupportedError: The owner takes no decisions.
        """
        self._check_in_view()
        on_approval = require(self._host.options.on_approval, "respond_to_approval", "on_approval")
        response = ApprovalResponse(
            approval_id=approval_id,
            approved=approved,
            option_id=option_id,
            reason=reason,
            tool_call_id=tool_call_id,
            thread_id=self._thread_id,
        )
        return asked(self._host, on_approval, response)

    def resume_tool_call(self, tool_call_id: str, payload: Any) -> None:
        """Give a running tool, here or at the owner's, the answer that it asked for.

        Raises:
            NotAllowedError: Nobody asks (code ``"not-waiting"``).
        """
        self._check_in_view()
        if self._tooling.resume(tool_call_id, payload):
            return
        on_resume = self._host.options.on_resume_tool_call
        if on_resume is None:
            text = f"Tool call {tool_call_id!r} is not waiting for an answer."
            raise NotAllowedError(text, code="not-waiting", id=tool_call_id)
        told(self._host, "on_resume_tool_call", on_resume, tool_call_id, payload)

    # Branches, drafts, feedback

    def switch_to_branch(self, message_id: str) -> None:
        """Ask the owner to show the branch of a message; it is shown once the owner does. Ignored during a run.

        Raises:
            UnsupportedError: The owner takes no messages back.
            MessageNotFoundError: The id is unknown.
        """
        self._check_in_view()
        self._branching.switch(message_id)

    def switch_branch(self, message_id: str, to: Literal["previous", "next"]) -> None:
        """Ask for the alternative before or after a message.

        Raises:
            UnsupportedError: The owner takes no messages back.
            MessageNotFoundError: The id is unknown.
            BranchNotFoundError: There is none on that side.
        """
        branches = self.branches_of(message_id)
        index = branches.index(message_id) + (1 if to == "next" else -1)
        if not 0 <= index < len(branches):
            where = f"message {message_id!r}, which is number {branches.index(message_id) + 1} of {len(branches)}"
            raise BranchNotFoundError(to, where=where)
        self.switch_to_branch(branches[index])

    def delete_message(self, message_id: str) -> Operation:
        """Ask the owner to delete a message, or hand it the messages without it.

        Returns:
            An operation that settles as the owner's function does. It raises ``UnsupportedError`` when the
            owner can do neither, and ``MessageNotFoundError`` when the message is not visible.
        """
        self._check_open()
        if self.state.is_running:
            return self._tooling.first(self._branching.delete, message_id)
        return refused(self._branching.delete, message_id)

    @property
    def queue(self) -> MessageQueue:
        """The owner's queue.

        Raises:
            UnsupportedError: The owner has none.
        """
        return require(self._host.options.queue, "queue", "queue")

    @property
    def composer(self) -> Composer:
        """The draft of the next message."""
        return self._drafts.composer

    def begin_edit(self, message_id: str) -> Composer:
        """Open a draft of an edited version of a message.

        Raises:
            UnsupportedError: The owner takes no edits.
            MessageNotFoundError: The id is unknown.
            NotAllowedError: It is being edited already (code ``"edit-in-progress"``).
        """
        require(self._host.options.on_edit, "edit", "on_edit")
        return self._drafts.begin(message_id)

    def edit_composer(self, message_id: str) -> Composer:
        """Return the composer of an edited message, open or not."""
        return self._drafts.of(message_id)

    def submit_feedback(self, message_id: str, type: FeedbackType) -> None:
        """Tell the owner's feedback function what the user thinks, and show it until the owner says otherwise.

        Raises:
            MessageNotFoundError: The id is unknown.
        """
        self._check_in_view()
        give_feedback(self._host.document, self._host.options.feedback, message_id, type)
        self._mirror.keep_feedback(message_id, Feedback(type))
        self._mirror.loosen()

    # The thread as a whole

    def load(self) -> Operation:
        """Everything is shown as soon as the owner says it, so there is nothing to load."""
        return Operation.done()

    def refetch(self) -> Operation:
        """Ask the owner to look for the newest messages.

        Raises:
            UnsupportedError: The owner cannot do that.
        """
        self._check_open()
        return asked(self._host, require(self._host.options.on_refetch, "refetch", "on_refetch"))

    def export(self) -> Export[Message]:
        """Return every branch, without placeholders."""
        return self._host.document.tree.export()

    def import_(self, export: Export[Message]) -> None:
        """Show an export in the place of everything, and tell the owner; the next feed is shown as always.

        Raises:
            ParentNotFoundError: A parent is not in the export; nothing is changed.
            CycleError: A message would be its own ancestor; nothing is changed.
        """
        self._check_in_view()
        self._host.announce()
        self._mirror.loosen()
        self._host.document.replace_all(export)
        if self._host.options.on_import is not None:
            told(self._host, "on_import", self._host.options.on_import, tuple(self.state.messages))

    def reset(self, messages: Iterable[object] = ()) -> None:
        """Ask the owner to put messages, or anything message-like, in the place of everything.

        Raises:
            UnsupportedError: The owner takes no messages back.
        """
        self._check_in_view()
        export = export_from_list([message_from_like(like, fallback_id=new_id()) for like in messages])
        self._branching.hand_back(entry.message for entry in export.entries)

    def export_state(self) -> Any:
        """Return the owner's own description of the thread.

        Raises:
            UnsupportedError: The owner has none.
        """
        return require(self._host.options.on_export_state, "export_state", "on_export_state")()

    def import_state(self, state: Any) -> None:
        """Hand the owner such a description; what is shown next counts as history.

        Raises:
            UnsupportedError: The owner takes none.
        """
        self._check_in_view()
        on_load_state = require(self._host.options.on_load_state, "import_state", "on_load_state")
        self._tooling.reset()
        told(self._host, "on_load_state", on_load_state, state)

    def notify_session_reset(self) -> None:
        """Take note that the owner begins anew: what is shown next counts as history, and what waits keeps waiting."""
        self._tooling.reset()
        if self._host.options.queue is not None:
            self._host.options.queue.notify_cancelled()

    def detach(self) -> None:
        """Leave the thread: nothing that is under way here reaches its owner any more."""
        self._host.generation += 1
        self._tooling.stop()

    def register_context(self, provider: ContextProvider) -> ProviderHandle:
        """Add instructions or tools, until the handle is removed; what it says of messages is stamped on them."""
        return self._host.context.add_provider(provider)

    # For the runtime

    def update(self, source: object, changes: dict[str, Any], *, is_new: bool) -> None:
        """Take in what the owner says; called by the runtime."""
        self._feeding.update(source, changes, is_new=is_new)
        self._sending.use_queue(self._host.options.queue)
        self._tooling.after_feed()

    def put(self, item: object) -> None:
        """Take in one item; called by the runtime."""
        self._feeding.put(item)
        self._tooling.after_feed()

    def remove(self, message_id: str) -> None:
        """Take one message out; called by the runtime."""
        self._feeding.remove(message_id)
        self._tooling.after_feed()

    def report(self, where: str, error: Exception) -> None:
        """Tell of a failure of the feed; called by the runtime."""
        self._host.report(where, f"failed: {error}", error)

    def remark(self, code: str, about: str, text: str) -> None:
        """Tell once of something that cannot be shown as it is; called by the runtime.

        Raises:
            FeedError: The feed is to be strict.
        """
        self._remarks.tell(code, about, text)

    def refresh(self) -> None:
        """Convert everything again at the next update; called by the runtime."""
        self._feeding.refresh()
        self._mirror.loosen()

    async def finish(self) -> None:
        """End what is under way; called by the runtime."""
        self.detach()

    def reopen_edits(self, edits: Mapping[str, ComposerState]) -> None:
        """Open the drafts of edited messages again, of those that are there; called by the runtime."""
        for message_id, draft in edits.items():
            if self._host.document.find(message_id) is not None:
                self._drafts.show_draft(message_id, attrs.evolve(draft, is_sending=False))

    def leave(self) -> None:
        """Make room for another thread: nothing reaches the owner from here, and every slice completes.

        Called by the runtime. What is under way, such as an upload, ends in its own time.
        """
        self.detach()
        self._cancelling.leave()
        self._sending.use_queue(None)
        self._is_left = True
        self._host.document.retire()
        self._host.events.close()

    def close(self) -> None:
        """Complete every slice; called by the runtime."""
        self._host.document.store.close()
        self._host.events.close()
