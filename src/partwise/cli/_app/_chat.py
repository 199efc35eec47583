"""The app: a thread on the screen, and what is written next."""

from __future__ import annotations

import sys
from typing import ClassVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Footer, Static

from partwise.bindings.textual import Follows
from partwise.cli._engine import Answering
from partwise.cli._options import ChatOptions
from partwise.cli._session import load, open_runtime
from partwise.errors import PartwiseError
from partwise.primitives import ThreadView
from partwise.runtimes import LocalThread
from partwise.store import ThreadEvent

from ._composer import ComposerBox
from ._conversation import WINDOW, Conversation
from ._message import MessageBlock
from ._tool_card import ToolCard

__all__ = ["ChatApp", "run_app"]


class ChatApp(Follows, App[None]):
    """A chat in the terminal. The thread is not the app's: it was there before, and is closed after it.

    Args:
        thread: The conversation.
        title: What answers, for the line at the top.
        window: How many messages are mounted at first.
    """

    CSS = """
    #top { height: 1; padding: 0 1; background: $panel; color: $text; text-wrap: nowrap; text-overflow: ellipsis; }
    #composer { margin: 0 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", priority=True),
        Binding("escape", "cancel", "Cancel", show=False),
        Binding("f2", "answer_question", "Answer", show=False),
        Binding("pageup", "scroll_page(-1)", show=False),
        Binding("pagedown", "scroll_page(1)", show=False),
    ]

    def __init__(self, thread: LocalThread, *, title: str = "", window: int = WINDOW) -> None:
        super().__init__()
        self.thread = thread
        self._view = ThreadView(thread)
        self._top = Static(f"partwise chat · {title}", markup=False, id="top")
        self.conversation = Conversation(self._view, window=window)
        self.composer = ComposerBox(self._view.composer, id="composer")

    def compose(self) -> ComposeResult:
        """Title, conversation, composer, keys."""
        yield self._top
        yield self.conversation
        yield self.composer
        yield Footer()

    def on_mount(self) -> None:
        """Follow what goes on beside the snapshot."""
        self.composer.focus()
        self.follow(self._view.is_running, self._show_running)
        self.follow_events(self.thread.events, self._tell)

    def _show_running(self, is_running: bool) -> None:
        self.composer.border_title = "answering… Esc cancels" if is_running else None
        for block in self.conversation.blocks:
            block.refresh_bindings()

    def _tell(self, event: ThreadEvent) -> None:
        if event.type == "persistence_failed":
            text = f"The history could not {event.operation}: {event.error}"
            self.notify(text, severity="error", markup=False, timeout=10)
        elif event.type == "report":
            self.notify(f"{event.where}: {event.text}", severity="warning", markup=False, timeout=10)

    @on(ToolCard.Asks)
    def _go_to_question(self, event: ToolCard.Asks) -> None:
        # Whoever is typing goes on typing: a letter meant for the draft must not allow anything.
        is_reading_it = isinstance(self.focused, MessageBlock) and self.focused in event.card.ancestors
        if not self.composer.text and (self.focused in {self.composer, None} or is_reading_it):
            event.card.take_focus()

    @on(ToolCard.Answered)
    def _go_on(self) -> None:
        self.composer.focus()

    @on(MessageBlock.Copied)
    def _copy(self, event: MessageBlock.Copied) -> None:
        self.copy_to_clipboard(event.text)
        self.notify("Copied", timeout=2)

    @on(MessageBlock.Unanswered)
    def _answer(self, event: MessageBlock.Unanswered) -> None:
        try:
            self.thread.start_run(event.message_id)
        except PartwiseError as error:
            self.notify(str(error), severity="error", markup=False)

    @on(ComposerBox.Left)
    def _leave_composer(self, event: ComposerBox.Left) -> None:
        if self.conversation.blocks:
            self.conversation.blocks[-1].focus()

    def action_cancel(self) -> None:
        """Cancel the answer in progress; without one, go back to the draft."""
        if self._view.is_running.value:
            self._view.cancel()
        else:
            self.composer.focus()

    def action_answer_question(self) -> None:
        """Go to the first call that waits for somebody."""
        for card in self.query(ToolCard):
            if card.is_asking:
                card.take_focus()
                return

    def action_scroll_page(self, direction: int) -> None:
        """Scroll the conversation, wherever the focus is."""
        if direction < 0:
            self.conversation.scroll_page_up()
        else:
            self.conversation.scroll_page_down()

    async def action_focus_message(self, step: int) -> None:
        """Go to the message above or below; below the last one is the composer."""
        blocks = self.conversation.blocks
        at = next((number for number, block in enumerate(blocks) if block.has_focus_within), len(blocks))
        if at + step < 0:
            above = blocks[0]
            await self.conversation.show_earlier()
            blocks = self.conversation.blocks
            at = blocks.index(above)
        goal = max(0, at + step)
        if goal < len(blocks):
            blocks[goal].focus()
        else:
            self.composer.focus()

    def focused_message(self) -> MessageBlock | None:
        """Return the message that has the focus."""
        return next((block for block in self.conversation.blocks if block.has_focus_within), None)


async def run_app(options: ChatOptions, engine: Answering) -> int:
    """Chat on the whole terminal; returns the exit code."""
    async with open_runtime(options, engine) as runtime:
        if not await load(runtime.thread, sys.stderr):
            return 1
        app = ChatApp(runtime.thread, title=engine.title)
        await app.run_async()
        return app.return_code or 0
