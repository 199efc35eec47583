"""What is in view while a thread has no runtime: it can be looked at, and holds nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NoReturn, TypeVar

from partwise.adapters import AttachmentAdapter, ChatModel, ChatModelFunction, FeedbackType
from partwise.errors import ThreadNotOpenError
from partwise.messages import MISSING, Message, Missing, ModelContent
from partwise.reactive import ErrorHook, Events, Slice
from partwise.repository import Export, Place
from partwise.runtimes._composer import Composer
from partwise.runtimes._operation import Operation
from partwise.runtimes._queue import MessageQueue
from partwise.runtimes.external import empty_runtime
from partwise.store import ComposerState, MessageSlice, ThreadEvent, ThreadState
from partwise.tools import ContextProvider, ProviderHandle

__all__ = ["Placeholder"]

T = TypeVar("T")


class Placeholder:
    """A thread that is still to come: empty and loading.

    Reading and listening work, and nothing is ever told. What ends or empties something does nothing, as there is
    nothing; all else raises ``ThreadNotOpenError``.
    """

    def __init__(self, thread_id: str, *, on_error: ErrorHook) -> None:
        self._thread_id = thread_id
        self._empty = empty_runtime(on_error=on_error).thread
        self._composer = Composer(_NoDrafts(self._refuse))

    @property
    def state(self) -> ThreadState:
        """An empty snapshot that is loading."""
        return self._empty.state

    @property
    def capabilities(self) -> frozenset[str]:
        """Nothing."""
        return frozenset()

    @property
    def events(self) -> Events[ThreadEvent]:
        """None."""
        return self._empty.events

    def select(self, selector: Callable[[ThreadState], T]) -> Slice[T]:
        """Return a slice that stays as it is."""
        return self._empty.select(selector)

    def message(self, message_id: str) -> MessageSlice:
        """Return the slice of a message; there is none."""
        return self._empty.message(message_id)

    def find(self, message_id: str) -> Place[Message] | None:
        """Return None."""
        return self._empty.find(message_id)

    def branches_of(self, message_id: str) -> tuple[str, ...]:
        """Raise, as every thread does for a message that it does not have."""
        return self._empty.branches_of(message_id)

    @property
    def composer(self) -> Composer:
        """An empty draft that cannot be typed into."""
        return self._composer

    def edit_composer(self, message_id: str) -> Composer:
        """Return a closed draft."""
        return self._empty.edit_composer(message_id)

    @property
    def queue(self) -> MessageQueue:
        """Raise, as every thread without a queue does."""
        return self._empty.queue

    def export(self) -> Export[Message]:
        """Return nothing."""
        return self._empty.export()

    # What there is nothing to do about

    def cancel_run(self) -> None:
        """Do nothing."""

    def reset(self, messages: Iterable[object] = ()) -> None:
        """Do nothing; raise when messages are given, which would be lost."""
        if tuple(messages):
            self._refuse()

    def detach(self) -> None:
        """Do nothing."""

    def load(self) -> Operation:
        """Do nothing; what comes in this place loads by itself."""
        return Operation.done()

    # What would be lost

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
        """Refuse."""
        del message, parent_id, source_id, run_config, starts_run, steers
        self._refuse()

    def start_run(self, parent_id: str | None, *, run_config: Mapping[str, Any] | None = None) -> Operation:
        """Refuse."""
        del parent_id, run_config
        self._refuse()

    def resume_run(
        self,
        parent_id: str | None,
        stream: ChatModel | ChatModelFunction | None = None,
        *,
        run_config: Mapping[str, Any] | None = None,
    ) -> Operation:
        """Refuse."""
        del parent_id, stream, run_config
        self._refuse()

    def reload(self, message_id: str, *, run_config: Mapping[str, Any] | None = None) -> Operation:
        """Refuse."""
        del message_id, run_config
        self._refuse()

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
        """Refuse."""
        del message_id, tool_call_id, result, is_error, artifact, model_content
        self._refuse()

    def respond_to_approval(
        self,
        approval_id: str,
        *,
        approved: bool | None = None,
        option_id: str | None = None,
        reason: str | None = None,
        tool_call_id: str | None = None,
    ) -> Operation:
        """Refuse."""
        del approval_id, approved, option_id, reason, tool_call_id
        self._refuse()

    def resume_tool_call(self, tool_call_id: str, payload: Any) -> None:
        """Refuse."""
        del tool_call_id, payload
        self._refuse()

    def switch_to_branch(self, message_id: str) -> None:
        """Refuse."""
        del message_id
        self._refuse()

    def switch_branch(self, message_id: str, to: Literal["previous", "next"]) -> None:
        """Refuse."""
        del message_id, to
        self._refuse()

    def delete_message(self, message_id: str) -> Operation:
        """Refuse."""
        del message_id
        self._refuse()

    def begin_edit(self, message_id: str) -> Composer:
        """Refuse."""
        del message_id
        self._refuse()

    def submit_feedback(self, message_id: str, type: FeedbackType) -> None:
        """Refuse."""
        del message_id, type
        self._refuse()

    def refetch(self) -> Operation:
        """Refuse."""
        self._refuse()

    def import_(self, export: Export[Message]) -> None:
        """Refuse."""
        del export
        self._refuse()

    def register_context(self, provider: ContextProvider) -> ProviderHandle:
        """Refuse."""
        del provider
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise ThreadNotOpenError(self._thread_id, "its runtime is still to come; await the restart, and ask again")


class _NoDrafts:
    """Where a draft could be typed, if there were a thread to keep it."""

    def __init__(self, refuse: Callable[[], NoReturn]) -> None:
        self._refuse = refuse

    @property
    def attachment_adapter(self) -> AttachmentAdapter | None:
        return None

    def show_draft(self, edited_id: str | None, draft: ComposerState | None) -> None:
        del edited_id
        if draft != ComposerState():
            self._refuse()

    def read_draft(self, edited_id: str | None) -> ComposerState | None:
        del edited_id
        return ComposerState()

    def emit(self, event: ThreadEvent) -> None:
        del event

    def report(self, where: str, text: str, error: BaseException | None = None) -> None:
        del where, text, error

    def spawn(self, function: Callable[..., Any], *args: Any) -> None:
        del function, args
        self._refuse()

    def send_draft(
        self, draft: ComposerState, edited_id: str | None, *, starts_run: bool | None, steers: bool | None
    ) -> Operation:
        del draft, edited_id, starts_run, steers
        self._refuse()
