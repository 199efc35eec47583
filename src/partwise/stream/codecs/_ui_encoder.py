"""Writing a UI message stream, in the dialect of the AI SDK."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final

from partwise.errors import WireError
from partwise.messages import (
    MISSING,
    Approval,
    AssistantPart,
    DataPart,
    DocumentSourcePart,
    FilePart,
    GenerativeUIPart,
    ImagePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
    is_blank,
    thaw,
)
from partwise.stream._chunk_json import WireChunk, write_error, write_usage
from partwise.stream._chunks import Chunk, ErrorChunk, Finish, MetadataChunk, PartChunk, StepFinish, StepStart
from partwise.stream._json_text import json_text, read_json
from partwise.stream._part_chunks import (
    PartApproval,
    PartArgsFinish,
    PartDelta,
    PartFinish,
    PartResult,
    PartStart,
    StateUpdate,
)
from partwise.stream._part_json import without_none
from partwise.stream._report import Report, log_problem
from partwise.stream._sse import sse_frame
from partwise.stream.writing import Placer

from ._data_stream_encoder import media_type_of, part_number
from ._sse_feed import DONE, SSE_HEADERS
from ._unsaid import Unsaid

__all__ = ["UIMessageStreamEncoder"]

_HARMLESS: Final = frozenset({"warning", "info"})
_LISTED: Final = frozenset({"stop", "length", "content-filter", "tool-calls", "error", "other"})


class _Part:
    """A part that was begun, and of a call: its arguments, and whether they have ended."""

    __slots__ = ("args", "is_closed", "is_ended", "part")

    def __init__(self, part: AssistantPart) -> None:
        self.part = part
        self.args: list[str] = []
        self.is_ended = False
        self.is_closed = False


class UIMessageStreamEncoder:
    """Writes chunks as a UI message stream.

    The wire has no place for parents, for changes of state, for annotations and for what stands beside a
    result; these are reported and left out. Warnings are reported only, since its readers take each error
    for the end.

    Attributes:
        headers: For the HTTP response.

    Args:
        report: Told about each kind of thing that is left out, once.
    """

    headers: ClassVar[Mapping[str, str]] = MappingProxyType(
        {**SSE_HEADERS, "x-vercel-ai-ui-message-stream": "v1", "x-accel-buffering": "no"}
    )

    def __init__(self, *, report: Report | None = None) -> None:
        self._report = report or log_problem
        self._placer = Placer(report=self._report)
        self._parts: list[_Part] = []
        self._unsaid = Unsaid("A UI message stream", self._report)
        self._has_started = False
        self._step_is_open = False

    def encode(self, chunk: Chunk) -> bytes:
        """Return the events of a chunk; none if the wire has no place for it.

        Raises:
            WireError: The chunk names a part that there is not or that cannot take it, or holds what is no JSON.
        """
        if isinstance(chunk, PartChunk) and isinstance(chunk.part, DataPart) and chunk.part.id is not None:
            # The same id again replaces the part; as a place among the others it would be a second one.
            events = self._opening(chunk.part)
        else:
            events = [event for placed in self._placer.place(chunk) for event in self._events(placed)]
        return self._written(events)

    def close(self) -> bytes:
        """Return what ends the stream."""
        events = [event for placed in self._placer.close() for event in self._events(placed)]
        for number, known in enumerate(self._parts):
            if isinstance(known.part, (TextPart, ReasoningPart)):
                events += self._end(number, known, {})
        return self._written(events) + sse_frame(DONE)

    def _written(self, events: list[dict[str, Any]]) -> bytes:
        if events and not self._has_started:
            self._has_started = True
            events = events if events[0]["type"] == "start" else [{"type": "start"}, *events]
        return b"".join(sse_frame(json_text(thaw(event))) for event in events)

    def _events(self, chunk: WireChunk) -> list[dict[str, Any]]:
        match chunk:
            case PartStart(part):
                self._parts.append(_Part(part))
                return self._opening(part)
            case PartDelta(path, text):
                return self._grow(self._number(path), text, without_none(providerMetadata=chunk.provider_metadata))
            case PartFinish(path):
                number = self._number(path)
                fields = without_none(providerMetadata=chunk.provider_metadata)
                return self._end(number, self._parts[number], fields)
            case PartArgsFinish(path):
                return self._end_args(self._parts[self._number(path)])
            case PartResult(path):
                return self._result(self._parts[self._number(path)], chunk)
            case PartApproval(path, approval):
                return self._approval(self._parts[self._number(path)], approval)
            case _:
                return self._mark(chunk)

    def _number(self, path: tuple[int, ...]) -> int:
        return part_number(path, [known.part for known in self._parts])

    def _opening(self, part: AssistantPart) -> list[dict[str, Any]]:
        fields = {} if isinstance(part, (DataPart, GenerativeUIPart)) else _metadata(part.provider_metadata)
        if part.parent_id is not None:
            self._unsaid.leave_out("the parent of a part")
        match part:
            case TextPart() | ReasoningPart():
                return [{"type": f"{part.type}-start", "id": self._id(len(self._parts) - 1), **fields}]
            case ToolCallPart():
                return [{"type": "tool-input-start", **_named(part), **fields}]
            case UrlSourcePart():
                named = without_none(title=part.title)
                return [{"type": "source-url", "sourceId": part.id, "url": part.url, **named, **fields}]
            case DocumentSourcePart():
                named = {"mediaType": part.media_type, "title": part.title, **without_none(filename=part.filename)}
                return [{"type": "source-document", "sourceId": part.id, **named, **fields}]
            case FilePart():
                named = without_none(filename=part.filename)
                return [{"type": "file", "url": _url(part), "mediaType": part.media_type, **named, **fields}]
            case ImagePart():
                named = without_none(filename=part.filename)
                return [{"type": "file", "url": part.image, "mediaType": media_type_of(part.image), **named, **fields}]
            case DataPart():
                return [{"type": f"data-{part.name}", **without_none(id=part.id), "data": part.data}]
            case GenerativeUIPart():
                return [{"type": "data-generative-ui", **without_none(id=part.id), "data": part.spec}]

    def _grow(self, number: int, text: str, fields: dict[str, Any]) -> list[dict[str, Any]]:
        known = self._parts[number]
        match known.part:
            case TextPart() | ReasoningPart():
                if known.is_closed:
                    return []
                return [{"type": f"{known.part.type}-delta", "id": self._id(number), "delta": text, **fields}]
            case ToolCallPart():
                if known.is_ended:
                    return []
                known.args.append(text)
                event = {"type": "tool-input-delta", "toolCallId": known.part.tool_call_id, "inputTextDelta": text}
                return [event]
            case part:
                message = f"Part {number} is a {part.type} part, which does not grow; the chunk was not written."
                raise WireError(message, code="wrong-part")

    def _end(self, number: int, known: _Part, fields: dict[str, Any]) -> list[dict[str, Any]]:
        if known.is_closed:
            return []
        known.is_closed = True
        match known.part:
            case TextPart() | ReasoningPart():
                return [{"type": f"{known.part.type}-end", "id": self._id(number), **fields}]
            case ToolCallPart():
                return self._end_args(known)
            case _:
                return []

    def _end_args(self, known: _Part) -> list[dict[str, Any]]:
        part = known.part
        if known.is_ended or not isinstance(part, ToolCallPart):
            return []
        known.is_ended = True
        text = "".join(known.args)
        try:
            value: object = {} if is_blank(text) else read_json(text)
        except WireError as problem:
            return [{"type": "tool-input-error", **_named(part), "input": text, "errorText": str(problem)}]
        return [{"type": "tool-input-available", **_named(part), "input": value}]

    def _result(self, known: _Part, chunk: PartResult) -> list[dict[str, Any]]:
        part = known.part
        if not isinstance(part, ToolCallPart):
            message = f"A {part.type} part has no result; the chunk was not written."
            raise WireError(message, code="wrong-part")
        if chunk.artifact is not MISSING or chunk.model_content is not None or chunk.messages is not None:
            self._unsaid.leave_out("what stands beside a result")
        events = self._end_args(known)
        if chunk.is_error:
            text = chunk.result if isinstance(chunk.result, str) else json_text(thaw(chunk.result))
            return [*events, {"type": "tool-output-error", "toolCallId": part.tool_call_id, "errorText": text}]
        fields = {"preliminary": True} if chunk.is_preliminary else {}
        event = {"type": "tool-output-available", "toolCallId": part.tool_call_id, "output": chunk.result, **fields}
        return [*events, event]

    def _approval(self, known: _Part, approval: Approval) -> list[dict[str, Any]]:
        part = known.part
        if not isinstance(part, ToolCallPart):
            return []
        events = self._end_args(known)
        if approval.approved or approval.options or approval.extra:
            self._unsaid.leave_out("options and decisions of an approval")
        if approval.approved is None:
            asked = without_none(reason=approval.reason)
            named = {"approvalId": approval.id, "toolCallId": part.tool_call_id}
            return [*events, {"type": "tool-approval-request", **named, **asked}]
        if not approval.approved:
            return [*events, {"type": "tool-output-denied", "toolCallId": part.tool_call_id}]
        return events

    def _mark(
        self, chunk: StateUpdate | StepStart | StepFinish | Finish | ErrorChunk | MetadataChunk
    ) -> list[dict[str, Any]]:
        match chunk:
            case StepStart(message_id):
                first = [] if self._has_started else [{"type": "start", **without_none(messageId=message_id)}]
                return [*first, {"type": "start-step"}]
            case StepFinish(usage):
                fields = without_none(finishReason=_listed(chunk.reason), usage=write_usage(usage))
                return [{"type": "finish-step", **fields, **without_none(isContinued=chunk.is_continued)}]
            case Finish(reason):
                if reason == "cancelled":
                    return [{"type": "abort"}]
                if reason == "interrupt":
                    self._unsaid.leave_out("what a human is asked")
                fields = without_none(finishReason=_listed(reason), usage=write_usage(chunk.total_usage))
                return [{"type": "finish", **fields}]
            case ErrorChunk(error):
                record = write_error(error)
                if record.get("severity") in _HARMLESS:
                    self._unsaid.leave_out("a warning")
                    return []
                return [{"type": "error", "errorText": record["error"]}]
            case MetadataChunk():
                return self._metadata(chunk)
            case StateUpdate():
                self._unsaid.leave_out("changes of state")
                return []

    def _metadata(self, chunk: MetadataChunk) -> list[dict[str, Any]]:
        if chunk.state is not MISSING:
            self._unsaid.leave_out("changes of state")
        if chunk.annotations or chunk.data:
            self._unsaid.leave_out("annotations and data of the message")
        return [{"type": "message-metadata", "messageMetadata": chunk.custom}] if chunk.custom else []

    @staticmethod
    def _id(number: int) -> str:
        return f"part-{number}"


def _metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    return without_none(providerMetadata=metadata)


def _named(part: ToolCallPart) -> dict[str, Any]:
    return {"toolCallId": part.tool_call_id, "toolName": part.tool_name}


def _listed(reason: str | None) -> str | None:
    return reason if reason in _LISTED else None


def _url(part: FilePart) -> str:
    if part.source_type in ("url", "id") or part.data.startswith(("data:", "http:", "https:", "blob:")):
        return part.data
    return f"data:{part.media_type};base64,{part.data}"
