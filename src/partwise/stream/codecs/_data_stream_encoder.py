"""Writing a data stream."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final, NoReturn

from partwise.errors import WireError
from partwise.messages import (
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
)
from partwise.stream._chunk_json import WireChunk, write_chunk, write_error, write_result
from partwise.stream._chunks import Chunk, ErrorChunk, Finish, MetadataChunk, StepFinish, StepStart
from partwise.stream._json_text import json_bytes
from partwise.stream._part_chunks import (
    PartApproval,
    PartArgsFinish,
    PartDelta,
    PartFinish,
    PartPath,
    PartResult,
    PartStart,
    StateUpdate,
)
from partwise.stream._part_json import without_none, write_approval, write_part
from partwise.stream._report import Report, log_problem
from partwise.stream.writing import Placer

from ._unsaid import Unsaid

__all__ = ["DataStreamEncoder", "media_type_of", "part_number"]

_DATA_URL: Final = re.compile(r"data:([^;,]+)[;,]")
_HARMLESS: Final = frozenset({"warning", "info"})


class _Call:
    """How far the arguments of one call have been written."""

    __slots__ = ("has_args", "is_ended")

    def __init__(self) -> None:
        self.has_args = False
        self.is_ended = False


class DataStreamEncoder:
    """Writes chunks as a data stream.

    The wire has no place for provider metadata, for empty parts, and for where one text ends and the next
    begins; these are lost. Whoever needs them writes the assistant transport.

    Attributes:
        headers: For the HTTP response.

    Args:
        report: Told about what no wire can say.
    """

    headers: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"content-type": "text/plain; charset=utf-8", "x-vercel-ai-data-stream": "v1"}
    )

    def __init__(self, *, report: Report | None = None) -> None:
        self._placer = Placer(report=report)
        self._unsaid = Unsaid("A data stream", report or log_problem)
        self._parts: list[AssistantPart] = []
        self._calls: dict[int, _Call] = {}
        self._ids: set[str] = set()

    def encode(self, chunk: Chunk) -> bytes:
        """Return the frames of a chunk; none if the wire has no place for it.

        Raises:
            WireError: The chunk names a part that there is not or that cannot take it, begins a second call
                with one id, or holds what is no JSON.
        """
        return b"".join(frame for placed in self._placer.place(chunk) for frame in self._frames(placed))

    def close(self) -> bytes:
        """Return what ends the stream."""
        frames = [frame for placed in self._placer.close() for frame in self._frames(placed)]
        return b"".join([*frames, *self._end_calls()])

    def _frames(self, chunk: WireChunk) -> list[bytes]:
        match chunk:
            case PartStart(part, path):
                if path:
                    _refuse("nested-part", f"A data stream cannot begin a part inside of part {list(path)}")
                return self._begin(part)
            case PartDelta(path, text):
                return self._grow(part_number(path, self._parts), text)
            case PartFinish(path) | PartArgsFinish(path):
                return self._end(part_number(path, self._parts))
            case PartResult(path):
                call, part = self._call(part_number(path, self._parts))
                call.is_ended = True
                return [_frame("a", {"toolCallId": part.tool_call_id, **_result(chunk)})]
            case PartApproval(path, approval):
                part = self._parts[part_number(path, self._parts)]
                if not isinstance(part, ToolCallPart):
                    return []
                fields = {"toolCallId": part.tool_call_id, "approval": write_approval(approval)}
                return [_frame("aui-tool-call-approval", fields)]
            case _:
                return self._mark(chunk)

    def _mark(self, chunk: StateUpdate | StepStart | StepFinish | Finish | ErrorChunk | MetadataChunk) -> list[bytes]:
        frames: list[bytes] = []
        if isinstance(chunk, MetadataChunk) and chunk.custom:
            self._unsaid.leave_out("custom metadata of the message")
        for written in write_chunk(chunk):
            kind = written.pop("type")
            match kind:
                case "update-state":
                    frames.append(_frame("aui-state", written["operations"]))
                case "data":
                    frames.append(_frame("2", written["data"]))
                case "annotations":
                    frames.append(_frame("8", written["annotations"]))
                case "error":
                    error = write_error(chunk.error if isinstance(chunk, ErrorChunk) else written)
                    if error.get("severity") not in _HARMLESS:
                        frames += self._end_calls()
                    frames.append(_frame("3", error if len(error) > 1 else error["error"]))
                case "step-start":
                    frames.append(_frame("f", {"messageId": "", **written}))
                case _:
                    frames += self._end_calls()
                    frames.append(_frame("e" if kind == "step-finish" else "d", written))
        return frames

    def _begin(self, part: AssistantPart) -> list[bytes]:
        if isinstance(part, ToolCallPart):
            if part.tool_call_id in self._ids:
                _refuse("duplicate-tool-call", f"Tool call {part.tool_call_id!r} begins a second time")
            self._ids.add(part.tool_call_id)
            self._calls[len(self._parts)] = _Call()
        self._parts.append(part)
        return _opening(part)

    def _grow(self, number: int, text: str) -> list[bytes]:
        part = self._parts[number]
        match part:
            case TextPart() | ReasoningPart():
                is_text = isinstance(part, TextPart)
                if not part.parent_id:
                    return [_frame("0" if is_text else "g", text)]
                name, field = ("aui-text-delta", "textDelta") if is_text else ("aui-reasoning-delta", "reasoningDelta")
                return [_frame(name, {field: text, "parentId": part.parent_id})]
            case ToolCallPart():
                call = self._calls[number]
                if call.is_ended:
                    return []
                call.has_args = True
                return [_frame("c", {"toolCallId": part.tool_call_id, "argsTextDelta": text})]
            case _:
                return _refuse("wrong-part", f"Part {number} is a {part.type} part, which does not grow")

    def _end(self, number: int) -> list[bytes]:
        part = self._parts[number]
        call = self._calls.get(number)
        if call is None or call.is_ended or not isinstance(part, ToolCallPart):
            return []
        call.is_ended = True
        text = "" if call.has_args else "{}"
        return [_frame("c", {"toolCallId": part.tool_call_id, "argsTextDelta": text, "isFinal": True})]

    def _end_calls(self) -> list[bytes]:
        return [frame for number in self._calls for frame in self._end(number)]

    def _call(self, number: int) -> tuple[_Call, ToolCallPart]:
        part = self._parts[number]
        if not isinstance(part, ToolCallPart):
            _refuse("wrong-part", f"Part {number} is a {part.type} part, which has no result")
        return self._calls[number], part


def _opening(part: AssistantPart) -> list[bytes]:
    fields = {name: value for name, value in write_part(part).items() if name not in ("type", "providerMetadata")}
    match part:
        case TextPart():
            return []
        case ReasoningPart():
            return [] if part.summary is None else [_frame("aui-reasoning-part-start", fields)]
        case ToolCallPart():
            return [_frame("b", fields)]
        case UrlSourcePart() | DocumentSourcePart():
            return [_frame("h", fields)]
        case FilePart():
            return [_frame("k", fields)]
        case ImagePart():
            named = without_none(filename=part.filename, parentId=part.parent_id)
            return [_frame("k", {"data": part.image, "mimeType": media_type_of(part.image), **named})]
        case DataPart():
            return [_frame("aui-data", fields)]
        case GenerativeUIPart():
            named = without_none(id=part.id, parentId=part.parent_id)
            return [_frame("aui-data", {"name": part.type, "data": part.spec, **named})]


def media_type_of(url: str) -> str:
    """Return the media type of an image, as far as its URL tells."""
    found = _DATA_URL.match(url)
    return "image/*" if found is None else found[1]


def part_number(path: PartPath, parts: list[AssistantPart]) -> int:
    """Return the part that a path leads to.

    Raises:
        WireError: The path is not one number, or there is no such part.
    """
    if len(path) != 1:
        _refuse("bad-path-length", f"The path {list(path)} is not the number of one part")
    if not 0 <= path[0] < len(parts):
        _refuse("bad-path-index", f"There is no part {path[0]}; {len(parts)} have begun")
    return path[0]


def _refuse(code: str, why: str) -> NoReturn:
    message = f"{why}; the chunk was not written."
    raise WireError(message, code=code)


def _result(chunk: PartResult) -> dict[str, Any]:
    fields = write_result(chunk)
    if not chunk.is_error:
        del fields["isError"]
    return fields


def _frame(code: str, value: object) -> bytes:
    return code.encode() + b":" + json_bytes(value) + b"\n"
