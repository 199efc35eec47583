"""The data stream: one line for each frame, a code and a JSON value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from partwise.errors import WireError
from partwise.messages import MISSING, DataPart, ToolCallPart, thaw
from partwise.stream._chunk_json import NO_RESULT, read_error
from partwise.stream._chunks import Chunk, ErrorChunk, Finish, MetadataChunk, StepFinish, StepStart
from partwise.stream._fields import Fields, read_reason, read_usage
from partwise.stream._json_text import json_text, read_json
from partwise.stream._lines import MAX_LINE_LENGTH, LineReader
from partwise.stream._part_chunks import StateUpdate
from partwise.stream._part_json import part_or_data, read_approval, read_messages, read_model_content, read_part
from partwise.stream._report import Report
from partwise.stream._state import read_operation
from partwise.stream.writing import CallWriter, PartWriter, TextWriter

from ._reading import Reading, in_turns, settle_args

__all__ = ["DataStreamDecoder"]

_SIGNATURES: Final = frozenset({"i", "j"})


class DataStreamDecoder:
    """Reads a data stream from bytes, cut anywhere.

    Text of one kind and parent becomes one part, since the wire says nothing of where a part ends. A call
    that is not told to end does so with its step.

    Attributes:
        problem: What has ended the reading before its time; the last chunk, an ``ErrorChunk``, says so too.

    Args:
        is_strict: Whether a frame that cannot be used ends the reading; otherwise it is dropped and reported.
        report: Told about each kind of dropped frame once; logged as a warning by default.
        max_line_length: A longer line ends the reading.

    Raises:
        InvalidInputError: The limit is no whole number above zero.
    """

    def __init__(
        self,
        *,
        is_strict: bool = False,
        report: Report | None = None,
        max_line_length: int = MAX_LINE_LENGTH,
    ) -> None:
        self._lines = LineReader(max_line_length)
        self._max_length = max_line_length
        self._reading = Reading(is_strict=is_strict, report=report)
        self._parts = PartWriter(self._emit, report=self._reading.tell)
        self._calls: dict[str, CallWriter] = {}
        self._begun: list[CallWriter] = []  # since the last mark that ends their arguments
        self._is_under_nothing = False

    @property
    def problem(self) -> WireError | None:
        """What has ended the reading before its time."""
        return self._reading.problem

    def feed(self, data: bytes) -> list[Chunk]:
        """Return the chunks whose frames end in these bytes."""
        if self.problem is None:
            for line in self._lines.feed(data):
                self._line(line)
                if self.problem is not None:
                    break
        return self._reading.taken()

    def close(self) -> list[Chunk]:
        """Return what is left when the bytes have ended."""
        if self.problem is None and self._lines.close():
            message = "The stream ended in the middle of a line; what was whole has been kept."
            self._fail(WireError(message, code="incomplete-line"))
        if self.problem is None:
            parts = sorted(self._parts.open_parts, key=lambda part: isinstance(part, TextWriter))
            in_turns(self._reading.chunks, parts, lambda part: part.close())
        return self._reading.taken()

    def _emit(self, chunk: Chunk) -> None:
        self._reading.chunks.append(chunk)

    def _fail(self, problem: WireError) -> None:
        self._reading.fail(problem)
        self._parts.close_texts()

    def _line(self, line: str | None) -> None:
        if line is None:
            text = f"A line of the stream is longer than {self._max_length} characters; nothing after it was read."
            self._fail(WireError(text, code="line-too-long"))
            return
        if not line or line.isspace():
            return
        code, colon, payload = line.partition(":")
        try:
            self._frame(code, read_json(payload if colon else line))
        except WireError as problem:
            self._reading.refuse(problem)
            if self.problem is not None:
                self._parts.close_texts()

    def _frame(self, code: str, value: Any) -> None:
        match code:
            case "0" | "g":
                if not isinstance(value, str):
                    raise _wrong(code, "is no text")
                if self._is_under_nothing:
                    self._parts.end_current()
                    self._is_under_nothing = False
                (self._parts.text if code == "0" else self._parts.reasoning)(value)
            case "b" | "c" | "9" | "a" | "aui-tool-call-approval":
                self._call(code, Fields(value, f"frame {code!r}"))
            case "2" | "8" | "aui-state":
                self._list(code, value)
            case "3":
                self._error(value)
            case "d" | "e" | "f":
                self._mark(code, Fields(value, f"frame {code!r}"))
            case "h" | "k" | "aui-data" | "aui-text-delta" | "aui-reasoning-delta" | "aui-reasoning-part-start":
                self._part(code, Fields(value, f"frame {code!r}"))
            case _ if code in _SIGNATURES:
                message = f"A frame {code!r} carries what only its provider can read; it was dropped."
                self._reading.tell(WireError(message, where=code, code="unread"))
            case _:
                message = f"A frame has a code that nobody knows: {code!r}; it was dropped."
                raise WireError(message, where=code[:20], code="unsupported-type")

    def _part(self, code: str, fields: Fields) -> None:
        parent_id = fields.name("parentId")
        match code:
            case "h":
                self._parts.whole(part_or_data(Fields({**fields.raw, "type": "source"}, "source"), self._reading.tell))
            case "k":
                self._parts.whole(read_part(Fields({**fields.raw, "type": "file"}, fields.where)))
            case "aui-data":
                data = fields.any("data")
                self._parts.whole(
                    DataPart(name=fields.text("name"), data=data, id=fields.name("id"), parent_id=parent_id)
                )
            case "aui-reasoning-part-start":
                self._parts.new_reasoning(summary=fields.maybe_text("unstable_summary"), parent_id=parent_id)
            case "aui-text-delta":
                self._separate(fields)
                self._parts.text(fields.text("textDelta"), parent_id=parent_id)
            case _:
                self._separate(fields)
                self._parts.reasoning(fields.text("reasoningDelta"), parent_id=parent_id)

    def _separate(self, fields: Fields) -> None:
        """Keep text under an empty parent apart from text that names none."""
        if not fields.text("parentId"):
            self._parts.end_current()
            self._is_under_nothing = True

    def _call(self, code: str, fields: Fields) -> None:
        call_id = fields.text("toolCallId")
        match code:
            case "b":
                self._begin(call_id, fields)
            case "9":
                self._whole_call(call_id, fields)
            case "c":
                text, is_final = fields.text("argsTextDelta"), fields.flag("isFinal")
                call = self._known(call_id)
                if text:
                    call.append_args(text)
                if is_final:
                    call.end_args()
            case "a":
                self._respond(call_id, fields)
            case _:
                approval = read_approval(fields.object("approval"))
                self._known(call_id).approve(approval)

    def _begin(self, call_id: str, fields: Fields) -> CallWriter:
        name, parent_id = fields.text("toolName"), fields.name("parentId")
        if call_id in self._calls:
            message = f"Tool call {call_id!r} begins a second time; that was dropped."
            raise WireError(message, where=call_id, code="duplicate-tool-call")
        part = ToolCallPart(tool_call_id=call_id, tool_name=name, parent_id=parent_id)
        self._calls[call_id] = call = self._parts.begin_call(part)
        self._begun.append(call)
        return call

    def _whole_call(self, call_id: str, fields: Fields) -> None:
        args = fields.object("args")
        fields.text("toolName")
        call = self._calls.get(call_id) or self._begin(call_id, fields)
        if args is None:
            call.end_args()
        else:
            settle_args(call, thaw(args), self._emit)

    def _respond(self, call_id: str, fields: Fields) -> None:
        is_error, is_preliminary = fields.flag("isError"), fields.flag("isPreliminary")
        content, messages = read_model_content(fields), read_messages(fields, self._reading.tell)
        counts = self._known(call_id).respond(
            fields.raw.get("result", NO_RESULT),
            is_error=bool(is_error),
            artifact=fields.raw.get("artifact", MISSING),
            model_content=content,
            messages=messages,
            is_preliminary=bool(is_preliminary),
        )
        if not counts:
            message = f"Dropped a second result of tool call {call_id!r}."
            self._reading.tell(WireError(message, where=call_id, code="misplaced"))

    def _known(self, call_id: str) -> CallWriter:
        call = self._calls.get(call_id)
        if call is None:
            message = f"Tool call {call_id!r} was never started; what is said of it was dropped."
            raise WireError(message, where=call_id, code="unknown-tool-call")
        return call

    def _list(self, code: str, value: Any) -> None:
        if not isinstance(value, list):
            raise _wrong(code, "is no list")
        items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]  # read from JSON
        if code == "aui-state":
            if any(not isinstance(step, str) for item in items for step in _path_of(item)):
                raise _wrong(code, "has a path that is no list of texts")
            try:
                operations = [read_operation(item) for item in items]
            except WireError as problem:
                raise _wrong(code, f"cannot be used: {problem}") from problem
            self._emit(StateUpdate(operations))
        else:
            self._emit(MetadataChunk(data=items) if code == "2" else MetadataChunk(annotations=items))

    def _error(self, value: Any) -> None:
        has_text = isinstance(value, Mapping) and "error" in value
        self._emit(ErrorChunk(read_error(cast("Mapping[str, Any]", value) if has_text else {"error": _text_of(value)})))

    def _mark(self, code: str, fields: Fields) -> None:
        if code == "f":
            self._emit(StepStart(fields.text("messageId")))
            return
        reason, usage = read_reason(fields), read_usage(fields)
        if code == "e":
            self._emit(StepFinish(usage, reason=reason, is_continued=bool(fields.flag("isContinued"))))
        else:
            self._emit(Finish(reason, total_usage=usage))
        begun, self._begun = self._begun, []
        in_turns(self._reading.chunks, begun, lambda call: call.end_args())


def _text_of(value: Any) -> str:
    """Return a text as it is, and anything else as JSON."""
    return value if isinstance(value, str) else json_text(value)


def _path_of(operation: object) -> list[object]:
    path: object = cast("Mapping[str, object]", operation).get("path") if isinstance(operation, Mapping) else None
    return cast("list[object]", path) if isinstance(path, list) else []


def _wrong(code: str, why: str) -> WireError:
    return WireError(f"The payload of a frame {code!r} {why}; it was dropped.", where=code, code="invalid-value")
