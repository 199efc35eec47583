"""What headless widgets need of a thread: its snapshot in slices, and its commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeVar

from partwise.reactive import Slice
from partwise.runtimes import Composer, Operation
from partwise.store import MessageSlice, ThreadState

__all__ = ["Thread"]

T = TypeVar("T")


class Thread(Protocol):
    """A thread of any runtime."""

    @property
    def composer(self) -> Composer:
        """The draft of the next message."""
        ...

    @property
    def state(self) -> ThreadState:
        """The present snapshot."""
        ...

    def select(self, selector: Callable[[ThreadState], T], /) -> Slice[T]:
        """Return a function of the snapshot as a slice."""
        ...

    def message(self, message_id: str, /) -> MessageSlice:
        """Return the slice of one message."""
        ...

    def append(self, message: object, /) -> Operation:
        """Add a message, and answer it if it is a user's."""
        ...

    def reload(self, message_id: str, /) -> Operation:
        """Make an answer again."""
        ...

    def cancel_run(self) -> None:
        """End the run in progress."""
        ...

    def begin_edit(self, message_id: str, /) -> Composer:
        """Open the draft of an edited message."""
        ...

    def edit_composer(self, message_id: str, /) -> Composer:
        """Return the draft of an edited message, open or not."""
        ...

    def switch_branch(self, message_id: str, /, to: Literal["previous", "next"]) -> None:
        """Show the alternative before or after a message."""
        ...

    def submit_feedback(self, message_id: str, /, type: Literal["positive", "negative"]) -> None:
        """Say what the user thinks of an answer."""
        ...

    def delete_message(self, message_id: str, /) -> Operation:
        """Delete a message."""
        ...

    def add_tool_result(self, message_id: str, tool_call_id: str, result: Any, /) -> Operation:
        """Give a tool call its result."""
        ...

    def resume_tool_call(self, tool_call_id: str, payload: Any, /) -> None:
        """Give a running tool the answer that it asked for."""
        ...

    def respond_to_approval(
        self,
        approval_id: str,
        /,
        *,
        approved: bool | None = None,
        option_id: str | None = None,
        reason: str | None = None,
        tool_call_id: str | None = None,
    ) -> Operation:
        """Decide on an approval."""
        ...
