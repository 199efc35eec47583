"""The tool calls of a UI message stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from partwise.errors import WireError
from partwise.messages import ToolCallPart
from partwise.stream._chunks import Chunk
from partwise.stream._fields import Fields
from partwise.stream._json_text import json_text
from partwise.stream._part_json import read_approval
from partwise.stream._report import Report
from partwise.stream.writing import CallWriter, PartWriter

from ._reading import settle_args

__all__ = ["UiCalls"]


class UiCalls:
    """Applies the events about tool calls, newer and older ones.

    Args:
        parts: The parts of the answer.
        emit: Given a chunk that has no place among the parts.
        report: Told about what is dropped.
    """

    __slots__ = ("_approvals", "_calls", "_emit", "_older", "_parts", "_reasons", "_report")

    def __init__(self, parts: PartWriter, emit: Callable[[Chunk], object], report: Report) -> None:
        self._parts = parts
        self._emit = emit
        self._report = report
        self._calls: dict[str, CallWriter] = {}
        self._approvals: dict[str, tuple[str, dict[str, Any]]] = {}
        self._reasons: dict[str, Any] = {}
        self._older: CallWriter | None = None

    def take(self, kind: str, fields: Fields) -> bool:
        """Apply an event.

        Returns:
            Whether there is such an event.

        Raises:
            WireError: A field is missing or wrong.
        """
        match kind:
            case "tool-input-start" | "tool-input-delta" | "tool-input-available" | "tool-input-error":
                self._input(kind, fields)
            case "tool-output-available" | "tool-output-error":
                self._output(kind, fields)
            case "tool-output-denied" | "tool-approval-request" | "tool-approval-response":
                self._approval(kind, fields)
            case "tool-call-start" | "tool-call-delta" | "tool-call-end" | "tool-result":
                self._older_form(kind, fields)
            case _:
                return False
        return True

    def _begin(self, call_id: str, name: str, fields: Fields) -> CallWriter:
        metadata = fields.object("providerMetadata")
        part = ToolCallPart(tool_call_id=call_id, tool_name=name, provider_metadata=metadata)
        self._calls[call_id] = call = self._parts.begin_call(part)
        return call

    def _known(self, call_id: str) -> CallWriter:
        call = self._calls.get(call_id)
        if call is None:
            _refuse(call_id)
        return call

    def _input(self, kind: str, fields: Fields) -> None:
        call_id = fields.text("toolCallId")
        call = self._calls.get(call_id)
        if kind == "tool-input-delta":
            text = fields.text("inputTextDelta")
            if text:
                self._known(call_id).append_args(text)
            return
        if kind == "tool-input-start":
            if call is None or call.is_closed:
                self._begin(call_id, fields.text("toolName"), fields)
            return
        call = call or self._begin(call_id, fields.text("toolName"), fields)
        if kind == "tool-input-available":
            if fields.has("input"):
                settle_args(call, fields.raw["input"], self._emit)
            else:
                call.end_args()
            return
        given = fields.raw.get("input")
        if not call.has_args and given is not None:
            call.append_args(given if isinstance(given, str) else json_text(given))
        call.end_args()
        call.respond(fields.maybe_text("errorText") or "", is_error=True)

    def _output(self, kind: str, fields: Fields) -> None:
        call_id = fields.text("toolCallId")
        is_error = kind == "tool-output-error"
        result = (fields.maybe_text("errorText") or "") if is_error else fields.any("output")
        is_preliminary = not is_error and bool(fields.flag("preliminary"))
        call = self._calls.get(call_id) or self._begin(call_id, "", fields)
        self._respond(call, result, is_error=is_error, is_preliminary=is_preliminary)

    def _respond(self, call: CallWriter, result: Any, *, is_error: bool = False, is_preliminary: bool = False) -> None:
        call.end_args()
        if not call.respond(result, is_error=is_error, is_preliminary=is_preliminary):
            message = f"Dropped a second result of tool call {call.tool_call_id!r}."
            self._report(WireError(message, where=call.tool_call_id, code="misplaced"))

    def _approval(self, kind: str, fields: Fields) -> None:
        if kind == "tool-approval-response":
            approval_id, approved = fields.text("approvalId"), fields.flag("approved")
            if approval_id not in self._approvals or approved is None:
                _refuse(approval_id)
            call_id, asked = self._approvals[approval_id]
            asked |= {name: fields.raw[name] for name in ("approved", "reason") if fields.has(name)}
            if asked.get("reason"):
                self._reasons[call_id] = asked["reason"]
            self._known(call_id).approve(read_approval(asked))
            return
        call_id = fields.text("toolCallId")
        call = self._known(call_id)
        if kind == "tool-output-denied":
            reason = self._reasons.get(call_id, "Tool approval denied")
            self._respond(call, {"error": reason}, is_error=True)
            return
        asked = _asked(fields)
        call.approve(read_approval(asked))
        self._approvals[asked["id"]] = (call_id, asked)

    def _older_form(self, kind: str, fields: Fields) -> None:
        match kind:
            case "tool-call-start":
                call_id = fields.text("toolCallId")
                if call_id in self._calls:
                    message = f"Tool call {call_id!r} begins a second time; that was dropped."
                    raise WireError(message, where=call_id, code="duplicate-tool-call")
                before, self._older = self._older, self._begin(call_id, fields.text("toolName"), fields)
                if before is not None:
                    before.end_args()
            case "tool-call-delta":
                if self._older is not None:
                    self._older.append_args(fields.text("argsText"))
            case "tool-call-end":
                if self._older is not None:
                    self._older.end_args()
                    self._older = None
            case _:
                self._respond(self._known(fields.text("toolCallId")), fields.any("result"))


def _asked(fields: Fields) -> dict[str, Any]:
    asked: dict[str, Any] = {"id": fields.text("approvalId")}
    reason = fields.maybe_text("reason")
    if reason is not None:
        asked |= {"prompt": reason, "requestReason": reason}
    names = {"approvalDescriptor": "descriptor", "inputSchemaInput": "inputSchemaInput"}
    names |= {"isAutomatic": "isAutomatic", "signature": "signature"}
    return asked | {name: fields.raw[wire] for wire, name in names.items() if wire in fields.raw}


def _refuse(call_id: str) -> NoReturn:
    message = f"Tool call or approval {call_id!r} was never started; what is said of it was dropped."
    raise WireError(message, where=call_id, code="unknown-tool-call")
