"""A thread: its messages, and what is written next."""

from __future__ import annotations

from partwise.reactive import Slice
from partwise.runtimes import Operation, Thread
from partwise.store import Suggestion

from ._composer import ComposerView
from ._disabled import is_suggestion_disabled
from ._message import MessageView

__all__ = ["ThreadView"]


class ThreadView:
    """Shows a thread and hands out the views of what is in it.

    Attributes:
        message_ids: The visible branch, root first; wakes when a message comes or goes, not when one grows.
        is_empty: Whether there is nothing to show and nothing on its way.
        is_running: Whether an answer is being made.
        is_loading: Whether the history is being loaded.
        is_disabled: Whether the thread takes no input.
        suggestions: What the user might say next.
        composer: The draft of the next message.
    """

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self.message_ids: Slice[tuple[str, ...]] = thread.select(lambda state: state.messages.keys())
        self.is_empty: Slice[bool] = thread.select(lambda state: not state.messages and not state.is_loading)
        self.is_running: Slice[bool] = thread.select(lambda state: state.is_running)
        self.is_loading: Slice[bool] = thread.select(lambda state: state.is_loading)
        self.is_disabled: Slice[bool] = thread.select(lambda state: state.is_disabled)
        self.suggestions: Slice[tuple[Suggestion, ...]] = thread.select(lambda state: state.suggestions)
        self.composer = ComposerView(thread)

    def message(self, message_id: str) -> MessageView:
        """Return the view of one message."""
        return MessageView(self._thread, message_id)

    def cancel(self) -> None:
        """End the answer in progress; what had arrived is kept."""
        self._thread.cancel_run()

    def take_suggestion(self, suggestion: Suggestion) -> Operation:
        """Send a suggestion as the user's next message; one that cannot be sent now is left alone."""
        state = self._thread.state
        if is_suggestion_disabled(
            sends=True,
            is_running=state.is_running,
            has_queue="queue" in state.capabilities,
            is_thread_disabled=state.is_disabled,
        ):
            return Operation.done()
        return self._thread.append(suggestion.prompt)
