"""The box in which a message is written."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.markup import escape
from textual.message import Message
from textual.widgets import TextArea

from partwise.bindings.textual import Follows
from partwise.cli._attachments import as_label, file_at, path_of, refusal
from partwise.errors import PartwiseError
from partwise.messages import Attachment
from partwise.primitives import ComposerView

__all__ = ["ComposerBox"]


class ComposerBox(Follows, TextArea):
    """A draft: Enter sends it, Ctrl+J or Shift+Enter begins a new line, Escape cancels."""

    DEFAULT_CSS = """
    ComposerBox {
        height: auto;
        min-height: 3;
        max-height: 10;
        border: round $primary;
        padding: 0 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", priority=True),
        Binding("ctrl+j,shift+enter", "new_line", "New line", key_display="^j", priority=True),
        Binding("escape", "cancel", "Cancel", priority=True),
        Binding("pageup", "app.scroll_page(-1)", show=False, priority=True),
        Binding("pagedown", "app.scroll_page(1)", show=False, priority=True),
    ]

    class Left(Message):
        """Escape was pressed where nothing could be cancelled."""

    def __init__(self, view: ComposerView, *, id: str | None = None) -> None:
        super().__init__(id=id, show_line_numbers=False, soft_wrap=True, highlight_cursor_line=False)
        self._view = view
        self._own = ""

    def on_mount(self) -> None:
        """Show the draft as it is."""
        self.follow(self._view.text, self._take)
        self.follow(self._view.is_disabled, self._lock)
        self.follow(self._view.attachments, self._show_attachments)

    def _show_attachments(self, attachments: tuple[Attachment, ...]) -> None:
        self.border_subtitle = " · ".join(f"📎 {escape(as_label(one))}" for one in attachments) or None

    def _lock(self, is_disabled: bool) -> None:
        self.disabled = is_disabled

    def _take(self, _text: str) -> None:
        # The newest draft, not the one that was on its way: that may be older than what was typed since.
        text = self._view.text.value
        if text != self._own:
            self._own = text
            self.text = text
            self.move_cursor(self.document.end)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Hand what was typed to the draft."""
        event.stop()
        self._commit()

    def _commit(self) -> None:
        if self.text != self._own and self._view.is_editing.value:
            self._own = self.text
            self._view.set_text(self.text)

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            return  # the binding sends
        await super()._on_key(event)

    def attach(self, path: Path) -> None:
        """Read a file, and let it go with the message; or say why that cannot be."""
        if (why := refusal(path)) is not None:
            self.notify(f"{why[0].upper()}{why[1:]}", severity="error", markup=False, timeout=10)
            return
        self._view.add_attachment(file_at(path))

    def _obey(self) -> bool:
        """Do what a draft says that is a command; returns whether it was one."""
        command, _, rest = self.text.strip().partition(" ")
        if command not in {"/attach", "/detach"} or "\n" in self.text.strip():
            return False
        if command == "/detach":
            self._view.clear_attachments()
        elif rest.strip():
            self.attach(path_of(rest))
        else:
            self.notify("/attach needs a file: /attach notes.md", severity="warning")
            return True
        self.text = ""
        self._commit()
        return True

    def action_send(self) -> None:
        """Send the draft, unless it is empty or an answer is still being made; `/attach FILE` adds a file to it."""
        self._commit()
        if self._obey():
            return
        if self._view.is_send_disabled.value:
            if self._view.can_send.value:
                self.notify("An answer is being made; Escape cancels it.", timeout=3)
            return
        try:
            self._view.send()
        except PartwiseError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self.screen.set_focus(self.screen.query_one("#composer"))  # an edited version is sent, and its box goes

    def action_new_line(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    def action_cancel(self) -> None:
        """Cancel the run, or close the draft of an edited message."""
        if self._view.can_cancel.value:
            self._view.cancel()
        else:
            self.post_message(self.Left())
