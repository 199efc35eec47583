"""One thread on the screen: its conversation, and what is written next."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical

from partwise.bindings.textual import Follows
from partwise.primitives import ThreadView
from partwise.runtimes import Thread

from ._composer import ComposerBox
from ._conversation import Conversation

__all__ = ["ThreadPane"]


class ThreadPane(Follows, Vertical):
    """Shows one thread from first to last; another thread gets another pane.

    Args:
        thread: The thread.
        window: How many messages are mounted at first.
    """

    DEFAULT_CSS = "ThreadPane { width: 1fr; }"

    def __init__(self, thread: Thread, *, window: int) -> None:
        super().__init__()
        self.thread = thread
        self.view = ThreadView(thread)
        self.conversation = Conversation(self.view, window=window)
        self.composer = ComposerBox(self.view.composer, id="composer")

    def compose(self) -> ComposeResult:
        """The conversation above the draft."""
        yield self.conversation
        yield self.composer

    def on_mount(self) -> None:
        """Follow whether an answer is being made."""
        self.follow(self.view.is_running, self._show_running)

    def _show_running(self, is_running: bool) -> None:
        self.composer.border_title = "answering… Esc cancels" if is_running else None
        for block in self.conversation.blocks:
            block.refresh_bindings()
