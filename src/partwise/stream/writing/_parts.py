"""Writing an answer, part by part, as chunks that name each part by its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import attrs

from partwise.errors import WireError
from partwise.messages import (
    MISSING,
    AssistantPart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    thaw,
)
from partwise.stream._chunk_json import WireChunk
from partwise.stream._json_text import json_text
from partwise.stream._part_chunks import PartFinish, PartStart
from partwise.stream._report import Report, log_problem

from ._handles import CallWriter, Emit, Late, TextWriter

__all__ = ["PartWriter"]

_Current: TypeAlias = tuple[type[TextPart] | type[ReasoningPart], str | None, TextWriter]


class PartWriter:
    """Gives each part of an answer its number, and says when it begins and ends.

    Text that is written without a part of its own goes to the part that is being written, as long as kind
    and parent stay the same.

    Args:
        emit: Given each chunk.
        late: Told what was tried too late; reported and otherwise ignored by default.
        report: Told about what is reported.
    """

    __slots__ = ("_count", "_current", "_emit", "_late", "_open")

    def __init__(self, emit: Emit, *, late: Late | None = None, report: Report = log_problem) -> None:
        def reported(why: str) -> None:
            report(WireError(f"Dropped what came too late: {why}.", code="append-after-close"))

        self._emit = emit
        self._late = late or reported
        self._count = 0
        self._current: _Current | None = None
        self._open: dict[int, TextWriter | CallWriter] = {}

    @property
    def count(self) -> int:
        """How many parts have begun."""
        return self._count

    @property
    def open_parts(self) -> tuple[TextWriter | CallWriter, ...]:
        """What is not closed yet, in the order of its beginning."""
        return tuple(self._open.values())

    def text(self, text: str, *, parent_id: str | None = None) -> None:
        """Add text to the part that is being written, or to a new one."""
        self.writing(TextPart("", parent_id=parent_id or None)).append(text)

    def reasoning(self, text: str, *, parent_id: str | None = None) -> None:
        """Add reasoning to the part that is being written, or to a new one."""
        self.writing(ReasoningPart("", parent_id=parent_id or None)).append(text)

    def writing(self, part: TextPart | ReasoningPart) -> TextWriter:
        """Return the text or reasoning that is being written, or begin ``part`` if it is of another kind or parent."""
        kind, current = type(part), self._current
        if current is not None and current[:2] == (kind, part.parent_id):
            return current[2]
        self.end_current()
        writer = self._begin_text(part)
        self._current = (kind, part.parent_id, writer)
        return writer

    def new_reasoning(self, *, summary: str | None = None, parent_id: str | None = None) -> None:
        """Begin a new reasoning; `reasoning` will go on with it."""
        self.end_current()
        part = ReasoningPart("", summary=summary, parent_id=parent_id or None)
        self._current = (ReasoningPart, part.parent_id, self._begin_text(part))

    def begin_text(self, part: TextPart | ReasoningPart) -> TextWriter:
        """Begin a text or a reasoning that is written by itself, whatever is written beside it."""
        self.end_current()
        return self._begin_text(part)

    def begin_call(self, part: ToolCallPart) -> CallWriter:
        """Begin a tool call; arguments and result in ``part`` are written at once.

        Raises:
            WireError: The arguments in ``part`` are no JSON; nothing was written.
        """
        text = part.args_text or (json_text(thaw(part.args)) if part.args else "")
        self.end_current()
        call = self._begin_call(part)
        if text:
            call.append_args(text)
        if part.approval is not None:
            call.approve(part.approval)
        if part.preliminary is not MISSING:
            call.respond(part.preliminary, is_preliminary=True)
        if part.has_result:
            given: dict[str, Any] = {"artifact": part.artifact, "model_content": part.model_content}
            call.respond(part.result, is_error=bool(part.is_error), messages=part.messages, **given)
        elif text:
            call.end_args()
        return call

    def new_call(
        self,
        tool_name: str,
        tool_call_id: str,
        parent_id: str | None = None,
        *,
        args: Mapping[str, Any] | None = None,
        args_text: str | None = None,
    ) -> CallWriter:
        """Begin a tool call; arguments that are given are whole.

        Raises:
            WireError: The arguments are no JSON; nothing was written.
        """
        text = args_text if args is None else json_text(thaw(args))
        self.end_current()
        call = self._begin_call(ToolCallPart(tool_call_id=tool_call_id, tool_name=tool_name, parent_id=parent_id))
        if text is not None:
            call.append_args(text)
            call.end_args()
        return call

    def _begin_call(self, part: ToolCallPart) -> CallWriter:
        number = self._start(part)
        call = CallWriter(number, part.tool_call_id, part.tool_name, self._emit, self._late, self._close)
        self._open[number] = call
        return call

    def whole(self, part: AssistantPart, *, interrupts: bool = True) -> None:
        """Write a part that is whole at once: a source, a file, an image, data, a UI.

        Args:
            part: The part.
            interrupts: Whether text that follows goes to a new part.
        """
        if interrupts:
            self.end_current()
        number = self._start(part)
        self._emit(PartFinish((number,)))

    def take(self, chunk: WireChunk, *, interrupts: bool = True) -> None:
        """Write a chunk as it is; a part that it begins gets the next number.

        Args:
            chunk: The chunk.
            interrupts: Whether text that follows such a part goes to a new part.
        """
        if isinstance(chunk, PartStart):
            if interrupts:
                self.end_current()
            self._count += 1
        self._emit(chunk)

    def end_current(self) -> None:
        """Close the part that is being written; text that follows goes to a new one."""
        if self._current is not None:
            self._current[2].close()

    def close_all(self) -> None:
        """Close the texts, and the calls whose arguments are whole; let go of the other ones."""
        for part in self.open_parts:
            if isinstance(part, TextWriter) or part.has_ended_args:
                part.close()
        self.abandon()

    def abandon(self) -> None:
        """Let go of what is open, as it is; nothing can be added to it."""
        for part in self.open_parts:
            part.is_closed = True
            if isinstance(part, CallWriter):
                part.has_ended_args = True
        self._open.clear()

    def close_texts(self) -> None:
        """Close every open text and reasoning."""
        for part in self.open_parts:
            if isinstance(part, TextWriter):
                part.close()

    def _begin_text(self, part: TextPart | ReasoningPart) -> TextWriter:
        number = self._start(attrs.evolve(part, text=""))
        writer = TextWriter(number, self._emit, self._late, self._close)
        self._open[number] = writer
        if part.text:
            writer.append(part.text)
        return writer

    def _start(self, part: AssistantPart) -> int:
        if isinstance(part, ToolCallPart):
            part = ToolCallPart(
                tool_call_id=part.tool_call_id,
                tool_name=part.tool_name,
                parent_id=part.parent_id,
                provider_metadata=part.provider_metadata,
                mcp=part.mcp,
            )
        number = self._count
        self._count += 1
        self._emit(PartStart(part))
        return number

    def _close(self, number: int) -> None:
        closed = self._open.pop(number, None)
        if self._current is not None and self._current[2] is closed:
            self._current = None
