"""The threads beside the conversation: new, switch, rename, archive, delete, and which of them are answering."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Button, Input, Static

from partwise.bindings.textual import Follows
from partwise.errors import PartwiseError
from partwise.primitives import ThreadListItemView, ThreadListView
from partwise.runtimes import Operation
from partwise.store import ThreadStatus

__all__ = ["Sidebar", "ThreadLine"]


class ThreadLine(Follows, Static, can_focus=True):
    """One thread: its title, and marks for what goes on in it."""

    DEFAULT_CSS = """
    ThreadLine { height: 1; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    ThreadLine:focus { background: $surface-lighten-1; text-style: bold; }
    ThreadLine.main { background: $boost; }
    ThreadLine.archived { color: $text-muted; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "switch", "Open"),
        Binding("r", "rename", "Rename"),
        Binding("a", "archive", "Archive"),
        Binding("d", "delete", "Delete"),
        Binding("up", "app.focus_thread(-1)", show=False),
        Binding("down", "app.focus_thread(1)", show=False),
    ]

    class Chosen(Message):
        """The thread is to come into view."""

        def __init__(self, line: ThreadLine) -> None:
            super().__init__()
            self.line = line

    class Renaming(Message):
        """Somebody wants to give the thread another title."""

        def __init__(self, line: ThreadLine) -> None:
            super().__init__()
            self.line = line

    def __init__(self, view: ThreadListItemView) -> None:
        super().__init__(markup=False)
        self.view = view
        self._shown_title: str | None = None
        self._is_running = False
        self._is_unread = False
        self._is_sure = False
        self._is_new = False

    def on_mount(self) -> None:
        """Follow this row; others wake others."""
        self.follow(self.view.title, self._show_title)
        self.follow(self.view.is_running, self._show_running)
        self.follow(self.view.is_unread, self._show_unread)
        self.follow(self.view.is_main, lambda is_main: self.set_class(is_main, "main"))
        self.follow(self.view.status, self._show_status)

    def _show_status(self, status: ThreadStatus) -> None:
        self.set_class(status == "archived", "archived")
        self._is_new = status == "new"
        self._draw()

    def _show_title(self, title: str | None) -> None:
        self._shown_title = title
        self._draw()

    def _show_running(self, is_running: bool) -> None:
        self._is_running = is_running
        self._draw()

    def _show_unread(self, is_unread: bool) -> None:
        self._is_unread = is_unread
        self._draw()

    def _draw(self) -> None:
        if self._is_sure:
            self.update(Content("delete? press d again"))
            return
        mark = "● " if self._is_running else "• " if self._is_unread else "  "
        self.update(Content(f"{mark}{self._shown_title or ('New chat' if self._is_new else 'Untitled')}"))

    def on_click(self) -> None:
        """Open the thread."""
        self.action_switch()

    def on_key(self, event: events.Key) -> None:
        """Forget a deletion that was not confirmed."""
        if self._is_sure and event.key != "d":
            self._ask(is_sure=False)

    def on_blur(self) -> None:
        """Forget a deletion that was not confirmed."""
        self._ask(is_sure=False)

    def action_switch(self) -> None:
        """Bring the thread into view."""
        self.post_message(self.Chosen(self))

    def action_rename(self) -> None:
        """Ask for another title."""
        self.post_message(self.Renaming(self))

    def action_archive(self) -> None:
        """Put the thread away, or take it back."""
        self._try(lambda: self.view.unarchive() if self.view.status.value == "archived" else self.view.archive())

    def action_delete(self) -> None:
        """Delete the thread, at the second time."""
        if not self._is_sure:
            self._ask(is_sure=True)
            return
        self._is_sure = False
        self._try(self.view.delete)

    @property
    def shown_title(self) -> str | None:
        """The title that is shown."""
        return self._shown_title

    def _ask(self, *, is_sure: bool) -> None:
        self._is_sure = is_sure
        self._draw()

    def _try(self, action: Callable[[], Operation]) -> None:
        try:
            action()
        except PartwiseError as error:
            self.notify(str(error), severity="error", markup=False)


class Sidebar(Follows, Vertical):
    """The threads, new ones first, and those that were put away at the end."""

    DEFAULT_CSS = """
    Sidebar { width: 30; background: $panel; }
    Sidebar > Button { width: 100%; margin: 0 0 1 0; }
    Sidebar Input { height: 3; }
    """

    def __init__(self, view: ThreadListView) -> None:
        super().__init__()
        self._view = view
        self._lines = VerticalScroll(can_focus=False)
        self._renamed: ThreadLine | None = None

    def compose(self) -> ComposeResult:
        """A button, the lines, and the box for another title when it is needed."""
        yield Button("+ New chat  ^n", compact=True, id="new")
        yield self._lines

    def on_mount(self) -> None:
        """Follow which threads there are; each line follows its own."""
        self.follow(self._view.ids, self._reconcile)
        self.follow(self._view.archived_ids, self._reconcile)
        self.follow(self._view.can_load_more, self._offer_more)

    @property
    def lines(self) -> list[ThreadLine]:
        """The lines, in order."""
        return list(self._lines.query_children(ThreadLine))

    async def _reconcile(self, _ids: tuple[str, ...]) -> None:
        wanted = (*self._view.ids.value, *self._view.archived_ids.value)
        kept = frozenset(wanted)
        async with self._lines.batch():
            gone = [line for line in self.lines if line.view.id not in kept]
            if gone:
                had_focus = any(line.has_focus for line in gone)
                await self._lines.remove_children(gone)
                if had_focus and self.lines:
                    self.lines[0].focus()
            for position, id in enumerate(wanted):
                await self._place(id, position)

    async def _place(self, id: str, position: int) -> None:
        lines = self.lines
        if position < len(lines) and lines[position].view.id == id:
            return
        line = next((line for line in lines if line.view.id == id), None)
        if line is None:
            await self._lines.mount(ThreadLine(self._view.item(id)), before=position if position < len(lines) else None)
        else:
            self._lines.move_child(line, before=lines[position])

    async def _offer_more(self, can_load_more: bool) -> None:
        await self._lines.query_children(Button).remove()
        if can_load_more:
            await self._lines.mount(Button("more…", compact=True, id="more"))

    @on(Button.Pressed, "#more")
    def _load_more(self, event: Button.Pressed) -> None:
        event.stop()
        self._view.load_more()

    @on(Button.Pressed, "#new")
    def _new(self, event: Button.Pressed) -> None:
        event.stop()
        self._view.new()

    @on(ThreadLine.Renaming)
    async def _ask_title(self, event: ThreadLine.Renaming) -> None:
        await self.query(Input).remove()
        self._renamed = event.line
        box = TitleBox(event.line.shown_title or "", placeholder="title")
        await self.mount(box)
        box.focus()

    @on(Input.Submitted)
    async def _rename(self, event: Input.Submitted) -> None:
        event.stop()
        line, title = self._renamed, event.value.strip()
        await self.close_title()
        if line is None or not title:
            return
        try:
            line.view.rename(title)
        except PartwiseError as error:
            self.notify(str(error), severity="error", markup=False)

    async def close_title(self) -> None:
        """Take the box for a title away and go back to the line."""
        line, self._renamed = self._renamed, None
        await self.query(Input).remove()
        if line is not None and line.is_attached:
            line.focus()

    def focus_line(self, step: int) -> None:
        """Go to the line above or below."""
        lines = self.lines
        at = next((number for number, line in enumerate(lines) if line.has_focus), 0)
        lines[max(0, min(len(lines) - 1, at + step))].focus()

    def focus_main(self) -> None:
        """Go to the line of the thread in view."""
        lines = self.lines
        main = next((line for line in lines if line.has_class("main")), None)
        if lines:
            (main or lines[0]).focus()


class TitleBox(Input):
    """Where another title is typed; Escape leaves it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back", priority=True)]

    async def action_leave(self) -> None:
        """Go back without another title."""
        parent = self.parent
        if isinstance(parent, Sidebar):
            await parent.close_title()
