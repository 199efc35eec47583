"""The app: a thread on the screen, and what is written next."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Footer, Static

from partwise.bindings.textual import Follows
from partwise.cli._engine import Answering
from partwise.cli._options import ChatOptions
from partwise.cli._session import load, open_threads
from partwise.errors import PartwiseError
from partwise.primitives import ThreadListView
from partwise.runtimes import Thread, ThreadListRuntime
from partwise.store import ThreadEvent, ThreadListEvent

from ._composer import ComposerBox
from ._conversation import WINDOW, Conversation
from ._message import MessageBlock
from ._pane import ThreadPane
from ._sidebar import Sidebar, ThreadLine
from ._tool_card import ToolCard

__all__ = ["ChatApp", "run_app"]

# From this width on, the threads are beside the conversation; below it, F3 shows them.
_WIDE = 100


class ChatApp(Follows, App[None]):
    """A chat in the terminal. The thread is not the app's: it was there before, and is closed after it.

    Args:
        thread: The conversation; of a list, the one in view.
        threads: The list that it belongs to; without one, there is no sidebar.
        title: What answers, for the line at the top.
        window: How many messages are mounted at first.
        attached: Files that go with the first message.
    """

    CSS = """
    #top { height: 1; padding: 0 1; background: $panel; color: $text; text-wrap: nowrap; text-overflow: ellipsis; }
    #composer { margin: 0 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", priority=True),
        Binding("escape", "cancel", "Cancel", show=False),
        Binding("f2", "answer_question", "Answer", show=False),
        Binding("f3", "threads", "Threads"),
        Binding("ctrl+n", "new_thread", "New chat", priority=True, show=False),
        Binding("pageup", "scroll_page(-1)", show=False),
        Binding("pagedown", "scroll_page(1)", show=False),
    ]

    def __init__(
        self,
        thread: Thread,
        *,
        threads: ThreadListRuntime | None = None,
        title: str = "",
        window: int = WINDOW,
        attached: Sequence[Path] = (),
    ) -> None:
        super().__init__()
        self._attached = attached
        self._threads = threads
        self._is_chosen = False
        self._window = window
        self._top = Static(f"partwise chat · {title}", markup=False, id="top")
        self.pane = ThreadPane(thread, window=window)
        self.sidebar = None if threads is None else Sidebar(ThreadListView(threads))

    @property
    def thread(self) -> Thread:
        """The conversation on the screen."""
        return self.pane.thread

    @property
    def conversation(self) -> Conversation:
        """Its messages."""
        return self.pane.conversation

    @property
    def composer(self) -> ComposerBox:
        """Its draft."""
        return self.pane.composer

    @property
    def _shown_id(self) -> str | None:
        return None if self._threads is None else self._threads.state.main_id

    def compose(self) -> ComposeResult:
        """Title, threads, conversation and composer, keys."""
        yield self._top
        with Horizontal(id="below"):
            if self.sidebar is not None:
                self.sidebar.display = self.size.width >= _WIDE
                yield self.sidebar
            yield self.pane
        yield Footer()

    def on_mount(self) -> None:
        """Follow which thread is in view, and what the list cannot show."""
        self.composer.focus()
        for path in self._attached:
            self.composer.attach(path)
        if self._threads is None:
            self.follow_events(self.thread.events, self._tell)
            return
        self.follow(self._threads.select(lambda state: state.main_id), self._show_thread)
        self.follow_events(self._threads.follow(lambda thread: thread.events), self._tell)
        self.follow_events(self._threads.events, self._tell_of_list)

    async def _show_thread(self, _id: str | None) -> None:
        assert self._threads is not None
        thread = self._threads.main
        if thread is self.thread:
            return
        was_beside = self.sidebar is not None and self.sidebar.has_focus_within
        old, self.pane = self.pane, ThreadPane(thread, window=self._window)
        with self.batch_update():
            await old.remove()
            await self.query_one("#below").mount(self.pane)
        if self._is_chosen or not was_beside:
            self.composer.focus()
        self._is_chosen = False

    def _tell_of_list(self, event: ThreadListEvent) -> None:
        text = event.text if event.type == "report" else str(event.error)
        self.notify(text, severity="error", markup=False, timeout=10)

    def _tell(self, event: ThreadEvent) -> None:
        if event.type == "persistence_failed":
            text = f"The history could not {event.operation}: {event.error}"
            self.notify(text, severity="error", markup=False, timeout=10)
        elif event.type == "attachment_refused":
            self.notify(event.text, severity="error", markup=False, timeout=10)
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
        if self.pane.view.is_running.value:
            self.pane.view.cancel()
        else:
            self.composer.focus()

    @on(ThreadLine.Chosen)
    def _choose(self, event: ThreadLine.Chosen) -> None:
        self._is_chosen = event.line.view.id != self._shown_id
        event.line.view.switch_to()
        self.composer.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave out what needs a list of threads where there is none."""
        return self._threads is not None or action not in {"threads", "new_thread", "focus_thread"}

    def action_threads(self) -> None:
        """Go to the threads, or back; where they are hidden, show them."""
        if self.sidebar is None:
            return
        if self.sidebar.has_focus_within:
            self.sidebar.display = self.size.width >= _WIDE
            self.composer.focus()
            return
        self.sidebar.display = True
        self.sidebar.focus_main()

    def action_focus_thread(self, step: int) -> None:
        """Go to the thread above or below."""
        if self.sidebar is not None:
            self.sidebar.focus_line(step)

    async def action_new_thread(self) -> None:
        """Begin a new thread."""
        if self._threads is not None:
            self._is_chosen = self._shown_id not in self._threads.state.new_ids
            self._threads.switch_to_new()
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
    async with open_threads(options, engine, sys.stderr) as threads:
        if threads is None or not await load(threads.main, sys.stderr):
            return 1
        threads.load()
        app = ChatApp(threads.main, threads=threads, title=engine.title, attached=options.attached)
        await app.run_async()
        return app.return_code or 0
