"""An answer as lines: what has to be written after what was written already. Values in, text out."""

from __future__ import annotations

from typing import Any

import attrs

from partwise.cli._wording import arguments_of, described, finish_mark, open_approvals, result_of
from partwise.messages import (
    MISSING,
    DocumentSourcePart,
    Message,
    Part,
    ReasoningPart,
    RequiresActionStatus,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
)

__all__ = ["Printed", "advance", "conclude"]


@attrs.frozen(kw_only=True)
class Mark:
    """How much of one part has been written."""

    part: Part
    text: str = ""
    result: Any = MISSING


@attrs.frozen(kw_only=True)
class Printed:
    """How much of an answer has been written.

    Attributes:
        marks: For each part, in order.
        at: The part whose line is unfinished.
        held: Sources, with their positions, that wait for the end of the text that names them.
    """

    marks: tuple[Mark, ...] = ()
    at: int | None = None
    held: tuple[tuple[int, str], ...] = ()


def advance(printed: Printed, message: Message) -> tuple[Printed, str]:
    """Return what is to be written now, and what has been written then.

    Nothing that was written is ever taken back: text and arguments grow at their end, and a part that
    goes on after another one had the word gets a new line. A source interrupts nobody: it is written
    before the next part behind it, or at the end.
    """
    page = _Page(printed, message)
    marks = list(printed.marks)
    for position, part in enumerate(message.content):
        if position == len(marks):
            marks.append(page.begin(position, part))
        elif marks[position].part is not part:
            marks[position] = page.go_on(position, part, marks[position])
    return Printed(marks=tuple(marks), at=page.at, held=tuple(page.held)), "".join(page.written)


def conclude(printed: Printed, message: Message) -> tuple[Printed, str]:
    """Return what ends an answer that stands still: the end of its line, and how it ended if not well."""
    page = _Page(printed, message)
    page.end_line()
    page.release(len(message.content))
    status = message.status if message.role == "assistant" else None
    if status is not None and not (isinstance(status, RequiresActionStatus) and open_approvals(message)):
        mark = finish_mark(status)
        if mark is not None:
            page.written.append(f"[{mark}]\n")
    return attrs.evolve(printed, at=None, held=()), "".join(page.written)


class _Page:
    """Collects what is written, and knows whose line is unfinished."""

    def __init__(self, printed: Printed, message: Message) -> None:
        self.at = printed.at
        self.held = list(printed.held)
        self._message = message
        self.written: list[str] = []

    def begin(self, position: int, part: Part) -> Mark:
        """Write a part for the first time."""
        if isinstance(part, ToolCallPart):
            self.write(position, _opening(part), arguments_of(part), starts=True)
            return self._result(position, part, Mark(part=part, text=arguments_of(part)))
        if isinstance(part, (TextPart, ReasoningPart)):
            if part.text:
                self.write(position, _opening(part), part.text)
            return Mark(part=part, text=part.text)
        self._mention(position, part)
        return Mark(part=part)

    def go_on(self, position: int, part: Part, mark: Mark) -> Mark:
        """Write what a part has gained."""
        if type(part) is not type(mark.part):
            return self.begin(position, part)
        if isinstance(part, (TextPart, ReasoningPart)):
            self._grow(position, part, part.text, mark.text)
            return Mark(part=part, text=part.text)
        if isinstance(part, ToolCallPart):
            arguments = arguments_of(part)
            self._grow(position, part, arguments, mark.text)
            return self._result(position, part, attrs.evolve(mark, part=part, text=arguments))
        if part != mark.part:
            self._mention(position, part)
        return Mark(part=part)

    def _mention(self, position: int, part: Part) -> None:
        if isinstance(part, (UrlSourcePart, DocumentSourcePart)):
            line = described(part)
            if all(line != known for _, known in self.held):
                self.held.append((position, line))
        else:
            self.line(position, described(part))

    def _grow(self, position: int, part: Part, text: str, shown: str) -> None:
        if text.startswith(shown):
            if len(text) > len(shown):
                self.write(position, _opening(part), text[len(shown) :])
        else:
            self.end_line()
            self.write(position, _opening(part), text)

    def _result(self, position: int, part: ToolCallPart, mark: Mark) -> Mark:
        if part.result is MISSING or part.result is mark.result:
            return mark
        if not mark.text:
            self.write(position, _opening(part), "{}")
        verb = "failed:" if part.is_error else "->"
        self.line(position, f"[tool] {self._label(position, part)} {verb} {result_of(part)}")
        return attrs.evolve(mark, result=part.result, text=mark.text)

    def _label(self, position: int, part: ToolCallPart) -> str:
        """Name a call: its tool, and which call of that tool it is from the second one on."""
        before = self._message.content[:position]
        same = sum(isinstance(one, ToolCallPart) and one.tool_name == part.tool_name for one in before)
        return f"{part.tool_name}#{same + 1}" if same else part.tool_name

    def write(self, position: int, opening: str, text: str, *, starts: bool = False) -> None:
        """Write on a part's line, which is begun if it is not the unfinished one."""
        if self.at != position or starts:
            self.end_line()
            self.release(position)
        is_begun = self.at == position
        if starts:
            self.written.append(opening)
            is_begun = True
        for number, line in enumerate(text.split("\n")):
            if number:
                # Each line says whose it is, a blank one, too: so the lines do not depend on how the text was cut.
                self.written.append("\n" if is_begun else f"{opening.rstrip()}\n")
                is_begun = False
            if line:
                self.written.append(line if is_begun else f"{opening}{line}")
                is_begun = True
        self.at = position if is_begun else None

    def line(self, position: int, text: str) -> None:
        """Write a whole line for a part."""
        self.end_line()
        self.release(position)
        self.written.append(f"{text}\n")

    def release(self, position: int) -> None:
        """Write the sources that were held back and stand before a position."""
        self.written.extend(f"{text}\n" for at, text in self.held if at < position)
        self.held = [(at, text) for at, text in self.held if at >= position]

    def end_line(self) -> None:
        """End the unfinished line, if there is one."""
        if self.at is not None:
            self.written.append("\n")
            self.at = None


def _opening(part: Part) -> str:
    if isinstance(part, ToolCallPart):
        return f"[tool] {part.tool_name} "
    return "[thinking] " if isinstance(part, ReasoningPart) else ""
