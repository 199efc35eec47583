"""One message on the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from partwise.bindings.textual import Follows
from partwise.cli._attachments import as_label
from partwise.cli._wording import speaker_of, status_mark
from partwise.errors import PartwiseError
from partwise.messages import CompleteAttachment, MessageStatus, Role
from partwise.primitives import BranchPlace, MessageView, PartKey

from ._composer import ComposerBox
from ._parts import widget_for

__all__ = ["Heading", "MessageBlock"]


class Heading(Static):
    """Who speaks, which branch of how many, and how far it has come."""

    DEFAULT_CSS = "Heading { height: auto; text-style: bold; }"

    def __init__(self, view: MessageView, role: Role) -> None:
        super().__init__()
        self._view = view
        self._speaker = speaker_of(role)
        self._place = BranchPlace(number=1, count=1)
        self._mark = ""

    def show_place(self, place: BranchPlace) -> None:
        """Show the branch picker, if there is something to pick."""
        self._place = place
        self._draw()

    def show_status(self, status: MessageStatus) -> None:
        """Show how far the message has come."""
        self._mark = status_mark(status)
        self._draw()

    def _draw(self) -> None:
        colour = "$text-accent" if self._speaker == "you" else "$text-primary"
        pieces: list[Content | str] = [Content.styled(self._speaker, colour)]
        if self._place.count > 1:
            picker = "  [@click=previous]◀[/] $number/$count [@click=next]▶[/]"
            pieces.append(Content.from_markup(picker, number=self._place.number, count=self._place.count))
        if self._mark:
            pieces.append(Content.styled(f"  {self._mark}", "not bold $text-warning"))
        self.update(Content.assemble(*pieces))

    def action_previous(self) -> None:
        """Show the branch before, if there is one."""
        if self._view.branch_picker.can_previous.value:
            self._view.branch_picker.previous()

    def action_next(self) -> None:
        """Show the branch after, if there is one."""
        if self._view.branch_picker.can_next.value:
            self._view.branch_picker.next()


class MessageBlock(Follows, Vertical, can_focus=True):
    """A message: its heading, its parts, and the draft of its edited version while it is edited."""

    DEFAULT_CSS = """
    MessageBlock {
        height: auto;
        padding: 0 1;
        margin: 0 0 1 0;
        border-left: outer transparent;
    }
    MessageBlock:focus, MessageBlock:focus-within { border-left: outer $accent; }
    MessageBlock.user { background: $boost; }
    MessageBlock .parts { height: auto; }
    MessageBlock .files { height: auto; display: none; color: $text-muted; }
    MessageBlock .reasoning { color: $text-muted; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "Edit"),
        Binding("r", "reload", "Regenerate"),
        Binding("c", "copy", "Copy"),
        Binding("left_square_bracket", "previous", "Branch ◀", key_display="["),
        Binding("right_square_bracket", "next", "Branch ▶", key_display="]"),
        Binding("up,k", "app.focus_message(-1)", "Up", show=False),
        Binding("down,j", "app.focus_message(1)", "Down", show=False),
    ]

    class Copied(Message):
        """The text of a message is to be copied."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Unanswered(Message):
        """A question that has no answer is to be answered."""

        def __init__(self, message_id: str) -> None:
            super().__init__()
            self.message_id = message_id

    def __init__(self, view: MessageView) -> None:
        # Kept, since the message may leave the branch while its widget is still on its way out.
        self._role: Role = view.role.value
        super().__init__(classes=self._role)
        self.view = view
        self._heading = Heading(view, self._role)
        self._parts = Vertical(classes="parts")
        self._files = Static(classes="files", markup=False)
        self._keys: tuple[PartKey, ...] = ()

    def compose(self) -> ComposeResult:
        """Heading and parts."""
        yield self._heading
        yield self._parts
        yield self._files

    def on_mount(self) -> None:
        """Follow what is rendered here; the parts follow themselves."""
        self.follow(self.view.parts, self._show_parts)
        self.follow(self.view.attachments, self._show_files)
        self.follow(self.view.status, self._show_status)
        self.follow(self.view.branch_picker.place, self._show_place)
        self.follow(self.view.composer.is_editing, self._show_editing)
        self.follow(self.view.is_last, lambda _: self.refresh_bindings())

    async def _show_parts(self, keys: tuple[PartKey, ...]) -> None:
        same = 0
        while same < min(len(keys), len(self._keys)) and keys[same] == self._keys[same]:
            same += 1
        self._keys = keys
        gone = list(self._parts.children)[same:]
        if gone:
            await self._parts.remove_children(gone)
        await self._parts.mount_all(widget_for(key, self.view.part(key.position), self._role) for key in keys[same:])

    def _show_files(self, attachments: tuple[CompleteAttachment, ...]) -> None:
        self._files.update("\n".join(f"📎 {as_label(attachment)}" for attachment in attachments))
        self._files.display = bool(attachments)

    def _show_status(self, status: MessageStatus) -> None:
        self._heading.show_status(status)
        self.refresh_bindings()

    def _show_place(self, place: BranchPlace) -> None:
        self._heading.show_place(place)
        self.refresh_bindings()

    async def _show_editing(self, is_editing: bool) -> None:
        boxes = self.query(ComposerBox)
        if is_editing and not boxes:
            box = ComposerBox(self.view.composer)
            await self.mount(box)
            self._parts.display = False
            box.focus()
        elif not is_editing and boxes:
            had_focus = self.has_focus_within
            await boxes.remove()
            self._parts.display = True
            if had_focus:
                self.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what may be done with this message now."""
        bar, picker = self.view.action_bar, self.view.branch_picker
        allowed = {
            "edit": lambda: self._role == "user" and bar.can_edit.value,
            "reload": lambda: bar.can_reload.value or self._is_unanswered,
            "copy": lambda: bar.can_copy.value,
            "previous": lambda: picker.can_previous.value,
            "next": lambda: picker.can_next.value,
        }.get(action)
        return super().check_action(action, parameters) if allowed is None else allowed()

    def action_edit(self) -> None:
        """Open the draft of an edited version."""
        self._try(self.view.action_bar.edit)

    @property
    def _is_unanswered(self) -> bool:
        return self._role == "user" and self.view.is_last.value

    def action_reload(self) -> None:
        """Answer again, on another branch; or at all, where an earlier chat was killed before it could."""
        if self._is_unanswered:
            self.post_message(self.Unanswered(self.view.id))
        else:
            self._try(self.view.action_bar.reload)

    def action_copy(self) -> None:
        """Copy the text of the message."""
        self.post_message(self.Copied(self.view.action_bar.copy_text()))

    def action_previous(self) -> None:
        """Show the branch before."""
        self._try(self.view.branch_picker.previous)

    def action_next(self) -> None:
        """Show the branch after."""
        self._try(self.view.branch_picker.next)

    def _try(self, command: Callable[[], object]) -> None:
        try:
            command()
        except PartwiseError as error:
            self.notify(str(error), severity="error", markup=False)
