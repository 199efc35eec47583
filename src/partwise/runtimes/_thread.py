"""What a user interface may do with a thread, whoever owns its messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypeVar

from partwise.adapters import ChatModel, ChatModelFunction, FeedbackType
from partwise.messages import MISSING, Message, Missing, ModelContent
from partwise.reactive import Events, Slice
from partwise.repository import Export, Place
from partwise.store import MessageSlice, ThreadEvent, ThreadState
from partwise.tools import ContextProvider, ProviderHandle

from ._composer import Composer
from ._operation import Operation
from ._queue import MessageQueue

__all__ = ["Runtime", "Thread"]

T = TypeVar("T")


class Thread(Protocol):
    """One conversation, of any runtime: what it shows, and what may be done with it.

    Methods act at once where they can: what they show is in the snapshot when they return. Those that go
    on in the background return an ``Operation``, which may be awaited and need not be. What the owner of
    the messages cannot do is missing from ``capabilities`` and raises ``UnsupportedError``.
    """

    # What is shown

    @property
    def state(self) -> ThreadState:
        """The present snapshot."""
        ...

    @property
    def capabilities(self) -> frozenset[str]:
        """What may be done here, for example ``"cancel"``."""
        ...

    @property
    def events(self) -> Events[ThreadEvent]:
        """What happens beside the snapshot."""
        ...

    def select(self, selector: Callable[[ThreadState], T]) -> Slice[T]:
        """Return a function of the snapshot as a slice that emits only changes."""
        ...

    def message(self, message_id: str) -> MessageSlice:
        """Return the slice of one message."""
        ...

    def find(self, message_id: str) -> Place[Message] | None:
        """Return a message of any branch with its parent and position, or None."""
        ...

    def branches_of(self, message_id: str) -> tuple[str, ...]:
        """Return the ids of a message and its alternatives, oldest first."""
        ...

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
        """Add a message, and answer it if it is a user's."""
        ...

    def start_run(self, parent_id: str | None, *, run_config: Mapping[str, Any] | None = None) -> Operation:
        """Answer a message with a new branch."""
        ...

    def resume_run(
        self,
        parent_id: str | None,
        stream: ChatModel | ChatModelFunction | None = None,
        *,
        run_config: Mapping[str, Any] | None = None,
    ) -> Operation:
        """Go on with an answer that is being made elsewhere; where answers are made here, by a stream."""
        ...

    def reload(self, message_id: str, *, run_config: Mapping[str, Any] | None = None) -> Operation:
        """Make an answer again, beside it."""
        ...

    def cancel_run(self) -> None:
        """End the run in progress."""
        ...

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
        """Give a tool call its result."""
        ...

    def respond_to_approval(
        self,
        approval_id: str,
        *,
        approved: bool | None = None,
        option_id: str | None = None,
        reason: str | None = None,
        tool_call_id: str | None = None,
    ) -> Operation:
        """Decide on an approval."""
        ...

    def resume_tool_call(self, tool_call_id: str, payload: Any) -> None:
        """Give a running tool the answer that it asked for."""
        ...

    # Branches, drafts, feedback

    def switch_to_branch(self, message_id: str) -> None:
        """Show the branch of a message."""
        ...

    def switch_branch(self, message_id: str, to: Literal["previous", "next"]) -> None:
        """Show the alternative before or after a message."""
        ...

    def delete_message(self, message_id: str) -> Operation:
        """Delete a visible message."""
        ...

    @property
    def composer(self) -> Composer:
        """The draft of the next message."""
        ...

    def begin_edit(self, message_id: str) -> Composer:
        """Open the draft of an edited message."""
        ...

    def edit_composer(self, message_id: str) -> Composer:
        """Return the draft of an edited message, open or not."""
        ...

    @property
    def queue(self) -> MessageQueue:
        """The messages that wait for the thread to be free."""
        ...

    def submit_feedback(self, message_id: str, type: FeedbackType) -> None:
        """Say what the user thinks of an answer."""
        ...

    # The thread as a whole

    def load(self) -> Operation:
        """Show what is stored, where that is not shown by itself; asked again, it is the same load."""
        ...

    def refetch(self) -> Operation:
        """Ask the owner of the messages for them again."""
        ...

    def export(self) -> Export[Message]:
        """Return every branch."""
        ...

    def import_(self, export: Export[Message]) -> None:
        """Put an export in the place of everything."""
        ...

    def reset(self, messages: Iterable[object] = ()) -> None:
        """Put messages, one under the other, in the place of everything."""
        ...

    def detach(self) -> None:
        """Leave the thread: whatever runs or waits here ends."""
        ...

    def register_context(self, provider: ContextProvider) -> ProviderHandle:
        """Add instructions or tools to what the model is told, until the handle is removed."""
        ...


class Runtime(Protocol):
    """What a thread lives in: it runs inside ``async with``, and what it started ends with that."""

    @property
    def thread(self) -> Thread:
        """The thread; it can be read before and after, and changed inside."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None: ...
