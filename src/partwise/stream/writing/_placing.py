"""From the chunks that a model yields to chunks that name each part by its place."""

from __future__ import annotations

from typing import Any, assert_never

import attrs

from partwise.errors import WireError
from partwise.messages import (
    DataPart,
    DocumentSourcePart,
    FilePart,
    ImagePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
)
from partwise.stream._chunk_json import WireChunk
from partwise.stream._chunks import (
    Chunk,
    ErrorChunk,
    Finish,
    MetadataChunk,
    PartChunk,
    ReasoningDelta,
    StepFinish,
    StepStart,
    TextDelta,
    ToolArgsDelta,
    ToolArgsFinish,
    ToolCallStart,
    ToolResult,
    WholePart,
)
from partwise.stream._part_chunks import (
    PartApproval,
    PartArgsFinish,
    PartDelta,
    PartFinish,
    PartResult,
    PartStart,
    StateUpdate,
    ToolApproval,
)
from partwise.stream._report import Report, log_problem

from ._handles import CallWriter, TextWriter
from ._parts import PartWriter

__all__ = ["Placer"]


class Placer:
    """Turns every kind of chunk into chunks that name parts by their places, as wires want them.

    Follows the rules of `Fold`, so that the message at the other end is the same. Chunks that name places
    already are passed on; a stream should not mix the two kinds.

    Args:
        report: Told about what no wire can say, for example that the arguments of a call were replaced.
    """

    __slots__ = ("_calls", "_chunks", "_has_told_usage", "_named", "_parts", "_report", "_whole")

    def __init__(self, *, report: Report | None = None) -> None:
        self._report = report or log_problem
        self._chunks: list[WireChunk] = []
        self._parts = PartWriter(self._chunks.append, report=self._report)
        self._calls: dict[str, CallWriter] = {}
        self._named: dict[tuple[type, str], TextWriter] = {}
        self._whole: dict[tuple[str, str, str], WholePart] = {}
        self._has_told_usage = False

    def place(self, chunk: Chunk) -> list[WireChunk]:
        """Return what says the same as ``chunk``."""
        match chunk:
            case TextDelta() | ReasoningDelta():
                self._delta(chunk)
            case ToolCallStart() | ToolArgsDelta() | ToolArgsFinish() | ToolResult() | ToolApproval():
                self._call(chunk)
            case PartChunk(part):
                if isinstance(part, ToolCallPart):
                    self._whole_call(part)
                else:
                    self._whole_part(part)
            case StepStart() | StepFinish() | Finish() | ErrorChunk():
                self._mark(chunk)
            case MetadataChunk() | StateUpdate():
                self._chunks.append(chunk)
            case PartStart() | PartDelta() | PartFinish() | PartArgsFinish() | PartResult() | PartApproval():
                self._parts.take(chunk)
            case _:
                assert_never(chunk)
        return self._taken()

    def close(self) -> list[WireChunk]:
        """Return what is left to say when the chunks have ended."""
        self._parts.close_texts()
        for call in self._parts.open_parts:
            if isinstance(call, CallWriter) and call.has_ended_args:
                call.close()
        return self._taken()

    def _taken(self) -> list[WireChunk]:
        taken = list(self._chunks)
        self._chunks.clear()
        return taken

    def _delta(self, chunk: TextDelta | ReasoningDelta) -> None:
        if not chunk.text and chunk.provider_metadata is None:
            return
        if chunk.replaces:
            text = "No wire says that a text was replaced at its end; what had been written of it stays."
            self._report(WireError(text, code="unsaid"))
            return
        kind = TextPart if isinstance(chunk, TextDelta) else ReasoningPart
        if chunk.part_id is None:
            writer = self._parts.writing(kind("", parent_id=chunk.parent_id))
        else:
            known = self._named.get((kind, chunk.part_id))
            writer = self._parts.begin_text(kind("", parent_id=chunk.parent_id)) if known is None else known
            self._named[kind, chunk.part_id] = writer
        if not writer.is_closed:
            writer.append(chunk.text, provider_metadata=chunk.provider_metadata)

    def _call(self, chunk: ToolCallStart | ToolArgsDelta | ToolArgsFinish | ToolResult | ToolApproval) -> None:
        call = self._calls.get(chunk.tool_call_id)
        match chunk:
            case ToolCallStart(call_id, name):
                if call is None:
                    given: dict[str, Any] = {"parent_id": chunk.parent_id, "provider_metadata": chunk.provider_metadata}
                    part = ToolCallPart(tool_call_id=call_id, tool_name=name, **given)
                    self._calls[call_id] = self._parts.begin_call(part)
            case ToolResult(call_id, result):
                if call is None:
                    part = ToolCallPart(tool_call_id=call_id, tool_name="")
                    self._calls[call_id] = call = self._parts.begin_call(part)
                names = ("artifact", "model_content", "messages", "is_preliminary")
                given = {name: getattr(chunk, name) for name in names}
                call.respond(result, is_error=bool(chunk.is_error), **given)
            case _ if call is None:
                text = f"Dropped what is said of tool call {chunk.tool_call_id!r}, which was never started."
                self._report(WireError(text, where=chunk.tool_call_id, code="misplaced"))
            case ToolArgsDelta():
                if chunk.text:
                    call.append_args(chunk.text)
            case ToolArgsFinish():
                self._end_args(call, chunk.args_text)
            case ToolApproval():
                call.approve(chunk.approval)

    def _end_args(self, call: CallWriter, args_text: str | None) -> None:
        if args_text is not None and not call.has_ended_args:
            if args_text.startswith(call.args_text):
                rest = args_text[len(call.args_text) :]
                if rest:
                    call.append_args(rest)
            else:
                text = (
                    f"The arguments of tool call {call.tool_call_id!r} were replaced at their end, which no wire says."
                )
                self._report(WireError(text, where=call.tool_call_id, code="unsaid"))
        call.end_args()

    def _whole_call(self, part: ToolCallPart) -> None:
        call = self._calls.get(part.tool_call_id)
        if call is None:
            self._calls[part.tool_call_id] = call = self._parts.begin_call(part)
            call.end_args()
            return
        self._end_args(call, part.args_text or None)
        if part.has_result:
            given = {name: getattr(part, name) for name in ("artifact", "model_content", "messages")}
            call.respond(part.result, is_error=bool(part.is_error), **given)

    def _whole_part(self, part: WholePart) -> None:
        """Write a part that is whole; one that is there already is not written again."""
        part_id = None if isinstance(part, (FilePart, ImagePart, ToolCallPart)) else part.id
        if part_id is not None:
            key = (part.type, part.name if isinstance(part, DataPart) else "", part_id)
            before, self._whole[key] = self._whole.get(key), part
            if before == part:
                return
            if before is not None:
                text = f"No wire says that the {part.type} part {part_id!r} was replaced; it is written as another one."
                self._report(WireError(text, where=part_id, code="unsaid"))
        self._parts.whole(part, interrupts=not isinstance(part, (UrlSourcePart, DocumentSourcePart)))

    def _mark(self, chunk: StepStart | StepFinish | Finish | ErrorChunk) -> None:
        self._parts.end_current()
        if isinstance(chunk, StepFinish):
            self._has_told_usage = self._has_told_usage or chunk.usage is not None
        if isinstance(chunk, Finish) and chunk.usage is not None:
            # On a wire, the usage of the finish is a sum, and that of a roundtrip is said by its end.
            if not self._has_told_usage:
                self._chunks.append(StepFinish(chunk.usage, reason=chunk.reason, is_continued=False))
            chunk = attrs.evolve(chunk, usage=None, total_usage=chunk.total_usage or chunk.usage)
        self._chunks.append(chunk)
