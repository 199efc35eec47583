"""Chunks as JSON: the vocabulary of the assistant transport."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from partwise.errors import WireError
from partwise.messages import MISSING, FrozenDict, Usage, error_record

from ._chunks import ErrorChunk, Finish, MetadataChunk, StepFinish, StepStart
from ._fields import Fields, read_reason, read_usage
from ._json_text import json_text
from ._part_chunks import (
    PartApproval,
    PartArgsFinish,
    PartDelta,
    PartFinish,
    PartPath,
    PartResult,
    PartStart,
    StateUpdate,
)
from ._part_json import (
    part_or_data,
    read_approval,
    read_messages,
    read_model_content,
    without_none,
    write_approval,
    write_messages,
    write_model_content,
    write_part,
)
from ._report import Report, log_problem
from ._state import SetValue, StateOperation, read_operation, write_operation

__all__ = [
    "NO_RESULT",
    "WireChunk",
    "read_chunk",
    "read_error",
    "write_chunk",
    "write_error",
    "write_result",
    "write_usage",
]

# The chunks that name parts by their places, or no part at all: what goes over a wire as it is.
WireChunk: TypeAlias = (
    PartStart
    | PartDelta
    | PartFinish
    | PartArgsFinish
    | PartResult
    | PartApproval
    | StateUpdate
    | StepStart
    | StepFinish
    | Finish
    | ErrorChunk
    | MetadataChunk
)

NO_RESULT: Final = "<no result>"
_SEVERITIES: Final = frozenset({"critical", "warning", "info"})


def read_chunk(value: object, *, report: Report = log_problem) -> WireChunk:
    """Read a chunk from its wire form.

    Args:
        value: The payload, as JSON.
        report: Told about an operation on the state, or a nested message, that is left out.

    Raises:
        WireError: It is no chunk, ``code`` is ``"unsupported-type"``; or a field of it is missing or
            wrong, ``code`` is ``"invalid-value"``.
    """
    fields = Fields(value, "chunk")
    kind = fields.raw.get("type")
    read = _READERS.get(kind) if isinstance(kind, str) else None
    if read is None:
        message = f"A chunk has a type that nobody knows: {kind!r}; it was dropped."
        raise WireError(message, where="type", code="unsupported-type")
    fields.where = f"chunk {kind!r}"
    return read(fields, report)


def _path(fields: Fields) -> PartPath:
    path = fields.items("path")
    if any(type(step) is not int or step < 0 for step in path):
        fields.refuse("is no list of whole numbers", "path")
    return tuple(path)


def _part_start(fields: Fields, report: Report) -> WireChunk:
    part = fields.object("part")
    if part is None:
        fields.refuse("is missing", "part")
    path = _path(fields) if fields.has("path") else ()
    return PartStart(part_or_data(Fields(part, "part"), report), path)


def _delta(fields: Fields, _: Report) -> WireChunk:
    return PartDelta(_path(fields), fields.text("textDelta"), provider_metadata=fields.object("providerMetadata"))


def _part_finish(fields: Fields, _: Report) -> WireChunk:
    return PartFinish(_path(fields), provider_metadata=fields.object("providerMetadata"))


def _args_finish(fields: Fields, _: Report) -> WireChunk:
    return PartArgsFinish(_path(fields))


def _result(fields: Fields, report: Report) -> WireChunk:
    return PartResult(
        _path(fields),
        fields.raw.get("result", NO_RESULT),
        is_error=bool(fields.flag("isError")),
        artifact=fields.raw.get("artifact", MISSING),
        model_content=read_model_content(fields),
        messages=read_messages(fields, report),
        is_preliminary=bool(fields.flag("isPreliminary")),
    )


def _approval(fields: Fields, _: Report) -> WireChunk:
    return PartApproval(_path(fields), read_approval(fields.object("approval")))


def _state(fields: Fields, report: Report) -> WireChunk:
    operations: list[StateOperation] = []
    for item in fields.items("operations"):
        try:
            operations.append(read_operation(item))
        except WireError as problem:
            report(problem)
    return StateUpdate(operations)


def _step_start(fields: Fields, _: Report) -> WireChunk:
    return StepStart(fields.maybe_text("messageId"))


def _step_finish(fields: Fields, _: Report) -> WireChunk:
    reason, is_continued = read_reason(fields), fields.flag("isContinued")
    return StepFinish(read_usage(fields), reason=reason, is_continued=is_continued)


def _finish(fields: Fields, _: Report) -> WireChunk:
    return Finish(read_reason(fields), total_usage=read_usage(fields))


def _data(fields: Fields, _: Report) -> WireChunk:
    return MetadataChunk(data=fields.items("data"))


def _annotations(fields: Fields, _: Report) -> WireChunk:
    return MetadataChunk(annotations=fields.items("annotations"))


def _error(fields: Fields, _: Report) -> WireChunk:
    return ErrorChunk(read_error(fields.raw))


_READERS: Final[Mapping[str, Callable[[Fields, Report], WireChunk]]] = {
    "part-start": _part_start,
    "text-delta": _delta,
    "part-finish": _part_finish,
    "tool-call-args-text-finish": _args_finish,
    "result": _result,
    "tool-call-approval": _approval,
    "update-state": _state,
    "step-start": _step_start,
    "step-finish": _step_finish,
    "message-finish": _finish,
    "data": _data,
    "annotations": _annotations,
    "error": _error,
}


def read_error(raw: Mapping[str, Any]) -> FrozenDict:
    """Read an error: its text, and code and severity if they are what they should be."""
    text = raw.get("error")
    if text is None:
        text = "unknown error"
    code, severity = raw.get("code"), raw.get("severity")
    record = {
        "code": code if isinstance(code, str) else "unknown",
        "message": text if isinstance(text, str) else json_text(text),
    }
    if isinstance(severity, str) and severity in _SEVERITIES:
        record["severity"] = severity
    return FrozenDict(record)


def write_error(error: object) -> dict[str, Any]:
    """Return the wire form of an error."""
    record = error_record(error)
    written: dict[str, Any] = {"error": record["message"]}
    if record["code"] != "unknown":
        written["code"] = record["code"]
    if "severity" in record:
        written["severity"] = record["severity"]
    return written


def write_usage(usage: Usage | None) -> dict[str, Any] | None:
    """Return the wire form of what something cost."""
    if usage is None:
        return None
    return without_none(
        inputTokens=usage.input_tokens,
        outputTokens=usage.output_tokens,
        reasoningTokens=usage.reasoning_tokens,
        cachedInputTokens=usage.cached_input_tokens,
    )


def write_chunk(chunk: WireChunk) -> list[dict[str, Any]]:
    """Return the wire forms of a chunk: usually one.

    Raises:
        WireError: Something in it is no JSON.
    """
    match chunk:
        case PartStart(part, path):
            return [{"type": "part-start", "path": list(path), "part": write_part(part)}]
        case PartDelta(path, text):
            named = without_none(providerMetadata=chunk.provider_metadata)
            return [{"type": "text-delta", "path": list(path), "textDelta": text, **named}]
        case PartFinish(path):
            named = without_none(providerMetadata=chunk.provider_metadata)
            return [{"type": "part-finish", "path": list(path), **named}]
        case PartArgsFinish(path):
            return [{"type": "tool-call-args-text-finish", "path": list(path)}]
        case PartResult(path):
            return [{"type": "result", "path": list(path), **write_result(chunk)}]
        case PartApproval(path, approval):
            return [{"type": "tool-call-approval", "path": list(path), "approval": write_approval(approval)}]
        case _:
            return _write_message_level(chunk)


def _write_message_level(
    chunk: StateUpdate | StepStart | StepFinish | Finish | ErrorChunk | MetadataChunk,
) -> list[dict[str, Any]]:
    match chunk:
        case StateUpdate(operations):
            return [{"type": "update-state", "path": [], "operations": [write_operation(item) for item in operations]}]
        case StepStart(message_id):
            return [{"type": "step-start", "path": [], **without_none(messageId=message_id)}]
        case StepFinish(usage):
            named = without_none(usage=write_usage(usage), isContinued=chunk.is_continued)
            return [{"type": "step-finish", "path": [], "finishReason": chunk.reason or "unknown", **named}]
        case Finish(reason, usage):
            named = without_none(usage=write_usage(chunk.total_usage or usage))
            return [{"type": "message-finish", "path": [], "finishReason": reason, **named}]
        case ErrorChunk(error):
            return [{"type": "error", "path": [], **write_error(error)}]
        case MetadataChunk():
            written: list[dict[str, Any]] = []
            if chunk.state is not MISSING:
                operation = write_operation(SetValue((), chunk.state))
                written.append({"type": "update-state", "path": [], "operations": [operation]})
            if chunk.data:
                written.append({"type": "data", "path": [], "data": list(chunk.data)})
            if chunk.annotations:
                written.append({"type": "annotations", "path": [], "annotations": list(chunk.annotations)})
            return written


def write_result(chunk: PartResult) -> dict[str, Any]:
    """Return the fields of a result.

    Raises:
        WireError: A nested message cannot be written as JSON.
    """
    fields: dict[str, Any] = {"result": chunk.result, "isError": bool(chunk.is_error)}
    if chunk.artifact is not MISSING:
        fields["artifact"] = chunk.artifact
    if chunk.is_preliminary:
        fields["isPreliminary"] = True
    content, messages = write_model_content(chunk.model_content), write_messages(chunk.messages)
    return {**fields, **without_none(modelContent=content, messages=messages)}
