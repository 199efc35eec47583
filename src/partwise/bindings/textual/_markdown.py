"""Markdown that grows."""

from __future__ import annotations

from textual.widgets import Markdown

__all__ = ["StreamedMarkdown"]


class StreamedMarkdown(Markdown):
    """Shows the newest state of a text, and appends where it only grew; earlier blocks are left alone."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes, open_links=False)
        self._shown = ""

    async def show(self, text: str) -> None:
        """Show a text; call it inside this widget's own message pump, as ``Follows`` does."""
        before, self._shown = self._shown, text
        if text == before:
            return
        if before and text.startswith(before):
            await self.append(text[len(before) :])
        else:
            await self.update(text)
