"""The parts of an answer by their places: applies the chunks that name a part by its number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

import attrs

from partwise.messages import (
    COMPLETE,
    RUNNING,
    AssistantPart,
    DataPart,
    DocumentSourcePart,
    FilePart,
    GenerativeUIPart,
    ImagePart,
    ReasoningPart,
    TextPart,
    Timing,
    ToolCallPart,
    UrlSourcePart,
)

from ._calls import Calls, Content, Drop, replace_part
from ._longer import longer_reasoning, longer_text, merge_metadata
from ._pace import Pace, with_completion
from ._part_chunks import PartApproval, PartArgsFinish, PartDelta, PartFinish, PartPath, PartResult, PartStart

__all__ = ["Places"]


class Places:
    """Applies chunks to the parts whose numbers they carry.

    Args:
        start: Which part of the message has the number 0.
        calls: The tool calls of the message.
        drop: Told where, and why, when a chunk cannot be used.
        pace: Measures when parts begin and end.
    """

    __slots__ = ("_calls", "_drop", "_pace", "_start")

    def __init__(self, start: int, calls: Calls, drop: Drop, pace: Pace | None) -> None:
        self._start = start
        self._calls = calls
        self._drop = drop
        self._pace = pace

    def begin(self, content: Content, chunk: PartStart) -> Content:
        """Append a part; wherever it is said to begin, it takes the next number."""
        part = chunk.part
        match part:
            case ToolCallPart():
                return self._calls.open(content, part)
            case TextPart():
                return (*content, part if part.status is not None else attrs.evolve(part, status=RUNNING))
            case ReasoningPart():
                timing = part.timing
                if timing is None and self._pace is not None:
                    timing = Timing(started_at=self._pace.now())
                return (*content, attrs.evolve(part, status=part.status or RUNNING, timing=timing))
            case _:
                return (*content, part)

    def grow(self, content: Content, chunk: PartDelta) -> Content:
        """Add to the text of a part, or to the arguments of a call."""
        at = self._at(content, chunk.path, "text")
        if at is None:
            return content
        part, metadata = content[at], chunk.provider_metadata
        match part:
            case TextPart():
                if not (chunk.text or metadata):
                    return content
                return replace_part(content, at, longer_text(part, chunk.text, metadata))
            case ReasoningPart():
                if not (chunk.text or metadata):
                    return content
                return replace_part(content, at, longer_reasoning(part, chunk.text, metadata))
            case ToolCallPart():
                content = self._calls.grow_at(content, at, chunk.text)
                return self._described(content, at, metadata)
            case _:
                return self._wrong(content, chunk.path, "text", part)

    def finish(self, content: Content, chunk: PartFinish) -> Content:
        """Mark a part as whole; doing so twice is harmless."""
        at = self._at(content, chunk.path, "an end")
        if at is None:
            return content
        part = content[at]
        match part:
            case TextPart():
                if part.status != COMPLETE:
                    content = replace_part(content, at, attrs.evolve(part, status=COMPLETE))
            case ReasoningPart():
                timing = with_completion(part.timing, self._pace)
                if part.status != COMPLETE or timing != part.timing:
                    content = replace_part(content, at, attrs.evolve(part, status=COMPLETE, timing=timing))
            case _:
                pass
        return self._described(content, at, chunk.provider_metadata)

    def end_args(self, content: Content, chunk: PartArgsFinish) -> Content:
        """Mark the arguments of a call as whole."""
        at = self._call(content, chunk.path, "an end of arguments")
        return content if at is None else self._calls.end_at(content, at)

    def settle(self, content: Content, chunk: PartResult) -> Content:
        """Give a call its result."""
        at = self._call(content, chunk.path, "a result")
        return content if at is None else self._calls.settle_at(content, at, chunk)

    def approve(self, content: Content, chunk: PartApproval) -> Content:
        """Set the permission that a call needs."""
        at = self._call(content, chunk.path, "an approval")
        return content if at is None else self._calls.approve_at(content, at, chunk.approval)

    def _at(self, content: Content, path: PartPath, what: str) -> int | None:
        if len(path) == 1 and 0 <= path[0] < len(content) - self._start:
            return self._start + path[0]
        self._drop(f"part {list(path)}", f"{what} for a part that does not exist")
        return None

    def _call(self, content: Content, path: PartPath, what: str) -> int | None:
        at = self._at(content, path, what)
        if at is None or isinstance(content[at], ToolCallPart):
            return at
        self._wrong(content, path, what, content[at])
        return None

    def _wrong(self, content: Content, path: PartPath, what: str, part: AssistantPart) -> Content:
        self._drop(f"part {list(path)}", f"{what} for a {part.type} part")
        return content

    def _described(self, content: Content, at: int, metadata: Mapping[str, Any] | None) -> Content:
        part = content[at]
        if not metadata:
            return content
        match part:
            case DataPart() | GenerativeUIPart():
                self._drop(f"part {at}", f"provider metadata for a {part.type} part, which has no room for it")
                return content
            case (
                TextPart()
                | ReasoningPart()
                | ToolCallPart()
                | UrlSourcePart()
                | DocumentSourcePart()
                | FilePart()
                | ImagePart()
            ):
                merged = merge_metadata(part.provider_metadata, metadata)
                return replace_part(content, at, attrs.evolve(part, provider_metadata=merged))
            case _:
                assert_never(part)
