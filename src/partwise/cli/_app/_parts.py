"""The parts of a message, except for tool calls."""

from __future__ import annotations

from typing import TypeAlias

from textual.widgets import Collapsible, Static

from partwise.bindings.textual import FRAMES, Follows, StreamedMarkdown
from partwise.cli._wording import described
from partwise.messages import Part, Role
from partwise.primitives import PartKey, PartView

from ._tool_card import ToolCard

__all__ = ["OtherPart", "PartWidget", "ReasoningPartBox", "TextPartBox", "UserText", "widget_for"]


class TextPartBox(Follows, StreamedMarkdown):
    """Text of an answer, as Markdown that grows."""

    DEFAULT_CSS = "TextPartBox { padding: 0; margin: 0; height: auto; background: transparent; }"

    def __init__(self, view: PartView) -> None:
        super().__init__()
        self._view = view

    def on_mount(self) -> None:
        """Follow the text."""
        self.follow(self._view.text, self.show, hz=FRAMES)


class UserText(Follows, Static):
    """What somebody typed, as it was typed."""

    def __init__(self, view: PartView) -> None:
        super().__init__(markup=False)
        self._view = view

    def on_mount(self) -> None:
        """Follow the text."""
        self.follow(self._view.text, self.update, hz=FRAMES)


class ReasoningPartBox(Follows, Collapsible):
    """What the model thought; closed until somebody wants to see it."""

    DEFAULT_CSS = "ReasoningPartBox { border: none; padding: 0; margin: 0 0 1 0; background: transparent; }"

    def __init__(self, view: PartView) -> None:
        self._text = Static(markup=False, classes="reasoning")
        super().__init__(self._text, title="Thinking…", collapsed=True)
        self._view = view

    def on_mount(self) -> None:
        """Follow the text and its end."""
        self.follow(self._view.text, self._text.update, hz=FRAMES)
        self.follow(self._view.status, self._entitle)

    def _entitle(self, status: object) -> None:
        self.title = "Thinking…" if getattr(status, "type", "") == "running" else "Thought"


class OtherPart(Follows, Static):
    """A source, a file, a picture or data, on one line."""

    def __init__(self, view: PartView) -> None:
        super().__init__(markup=False)
        self._view = view

    def on_mount(self) -> None:
        """Follow the part."""
        self.follow(self._view.part, self._show, hz=FRAMES)

    def _show(self, part: Part) -> None:
        self.update(described(part))


PartWidget: TypeAlias = TextPartBox | UserText | ReasoningPartBox | ToolCard | OtherPart


def widget_for(key: PartKey, view: PartView, role: Role) -> PartWidget:
    """Return the widget that shows a part."""
    match key.type:
        case "text":
            return TextPartBox(view) if role == "assistant" else UserText(view)
        case "reasoning":
            return ReasoningPartBox(view)
        case "tool-call":
            return ToolCard(view)
        case _:
            return OtherPart(view)
