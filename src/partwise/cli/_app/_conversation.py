"""The visible branch on the screen: as many messages as are looked at."""

from __future__ import annotations

from textual import on
from textual.containers import VerticalScroll
from textual.widgets import Button

from partwise.bindings.textual import Follows
from partwise.primitives import ThreadView

from ._message import MessageBlock

__all__ = ["WINDOW", "Conversation"]

WINDOW = 20


class Conversation(Follows, VerticalScroll, can_focus=False):
    """Mounts the last messages of a thread, and earlier ones when asked to.

    Args:
        view: The thread.
        window: How many messages are mounted at first, and with each step back.
    """

    DEFAULT_CSS = """
    Conversation { height: 1fr; padding: 1 1 0 1; }
    Conversation > Button { width: 100%; margin: 0 0 1 0; }
    """

    def __init__(self, view: ThreadView, *, window: int = WINDOW) -> None:
        super().__init__()
        self._view = view
        self._window = window
        self._first: str | None = None

    def on_mount(self) -> None:
        """Follow which messages there are; each follows itself."""
        self.anchor()
        self.follow(self._view.message_ids, self._reconcile)

    @property
    def blocks(self) -> list[MessageBlock]:
        """The mounted messages, in order."""
        return list(self.query_children(MessageBlock))

    async def _reconcile(self, _ids: tuple[str, ...]) -> None:
        ids = self._view.message_ids.value  # what was on its way may be older than what has happened since
        start = self._start(ids)
        self._first = ids[start] if start < len(ids) else None
        wanted = ids[start:]
        mounted = {block.view.id: block for block in self.blocks}
        kept = frozenset(wanted)
        gone = [block for block in mounted.values() if block.view.id not in kept]
        place = self._place_of_focus(wanted, gone)
        async with self.batch():
            if gone:
                await self.remove_children(gone)
            await self._mount_missing(wanted, mounted)
            await self._show_earlier_button(start)
        if place is not None and (blocks := self.blocks):
            self.screen.set_focus(blocks[min(place, len(blocks) - 1)])

    def _place_of_focus(self, wanted: tuple[str, ...], gone: list[MessageBlock]) -> int | None:
        """Return which message is to have the focus after the one that has it is gone; None if it stays."""
        above: str | None = None
        for block in self.blocks:
            if block.has_focus_within:
                return (wanted.index(above) + 1 if above in wanted else 0) if block in gone else None
            above = block.view.id
        return None

    def _start(self, ids: tuple[str, ...]) -> int:
        """Begin with the message that was the first one so far, unless it is gone or too far up."""
        latest = max(0, len(ids) - self._window)
        if self._first is None or self._first not in ids:
            return latest
        start = ids.index(self._first)
        return latest if len(ids) - start > 3 * self._window and self.is_anchored else start

    async def _mount_missing(self, wanted: tuple[str, ...], mounted: dict[str, MessageBlock]) -> None:
        position = 0
        while position < len(wanted):
            if wanted[position] in mounted:
                position += 1
                continue
            end = position
            while end < len(wanted) and wanted[end] not in mounted:
                end += 1
            there = frozenset(self._view.message_ids.value)
            blocks = [MessageBlock(self._view.message(one)) for one in wanted[position:end] if one in there]
            await self.mount_all(blocks, before=mounted[wanted[end]] if end < len(wanted) else None)
            position = end

    async def _show_earlier_button(self, hidden: int) -> None:
        buttons = self.query_children(Button)
        label = f"▲ {hidden:,} earlier messages"
        if not hidden:
            await buttons.remove()
        elif buttons:
            buttons.first().label = label
        else:
            await self.mount(Button(label, compact=True), before=0)

    @on(Button.Pressed)
    async def show_earlier(self, event: Button.Pressed | None = None) -> None:
        """Mount some more of the messages above."""
        if event is not None:
            event.stop()
        ids = self._view.message_ids.value
        start = self._start(ids)
        if start:
            self.release_anchor()
            self._first = ids[max(0, start - self._window)]
            await self._reconcile(ids)
