"""What a chat model yields, checked before anything of it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import attrs

from partwise.adapters import RunMetadata, RunResult
from partwise.errors import AdapterError, MessageLikeError
from partwise.messages import (
    AssistantPart,
    CompleteStatus,
    DataPart,
    DocumentSourcePart,
    FilePart,
    GenerativeUIPart,
    ImagePart,
    IncompleteStatus,
    RequiresActionStatus,
    RunningStatus,
    ToolCallPart,
    UrlSourcePart,
    message_from_like,
    parts_from_like,
)
from partwise.stream import Chunk, PartChunk, ReasoningDelta, TextDelta, ToolArgsDelta, ToolCallStart

from ._run import Run

__all__ = ["content_from", "is_sound", "nonsense", "result_from"]

_STATUSES = (RunningStatus, RequiresActionStatus, CompleteStatus, IncompleteStatus)
_PARTS = (UrlSourcePart, DocumentSourcePart, FilePart, ImagePart, DataPart, GenerativeUIPart, ToolCallPart)
_METADATA = tuple(field.name for field in attrs.fields(RunMetadata))


def is_sound(chunk: Chunk) -> bool:
    """Whether the fields of a chunk that end up in a message are what they should be."""
    match chunk:
        case TextDelta() | ReasoningDelta():
            return _is_text(chunk.text)
        case ToolArgsDelta():
            return _is_text(chunk.text) and _is_text(chunk.tool_call_id)
        case ToolCallStart():
            return _is_text(chunk.tool_call_id) and _is_text(chunk.tool_name)
        case PartChunk():
            return _is_part(chunk.part)
        case _:
            return True


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_part(value: object) -> bool:
    return isinstance(value, _PARTS)


def result_from(output: object, run: Run) -> RunResult:
    """Return a result for what a model gave: a result, or a mapping with a result's fields.

    Raises:
        AdapterError: It is neither, or holds something else than it should.
    """
    if isinstance(output, RunResult) and _is_sound_result(output):
        return output
    fields = _fields(output)
    if fields is not None and not fields.keys() - {"content", "status", "metadata"}:
        return _from_fields(fields, run)
    raise nonsense(output, "yielded", run)


def _fields(output: object) -> dict[str, Any] | None:
    return dict(cast("Mapping[str, Any]", output)) if isinstance(output, Mapping) else None


def content_from(content: object, run: Run) -> tuple[AssistantPart, ...]:
    """Return the parts of a result; those without an id get one that stays the same from yield to yield.

    Raises:
        AdapterError: It is no content of an answer.
    """
    try:
        parts = parts_from_like(content, "assistant", run.message_id, keep_blank=True)
    except MessageLikeError as error:
        raise nonsense(content, "yielded content", run, error) from error
    return cast("tuple[AssistantPart, ...]", parts)


def nonsense(output: object, verb: str, run: Run, cause: Exception | None = None) -> AdapterError:
    """Return the error that says what a model gave instead of an answer."""
    shown = repr(output)
    text = (
        f"{verb} {shown if len(shown) <= 80 else shown[:77] + '...'} ({type(output).__name__}) "
        f"for message {run.message_id!r}; give a RunResult, or chunks such as TextDelta"
    )
    return AdapterError("chat model", text if cause is None else f"{text}: {cause}", message_id=run.message_id)


def _is_sound_result(result: RunResult) -> bool:
    status, metadata = cast("object", result.status), cast("object", result.metadata)
    return (status is None or isinstance(status, _STATUSES)) and (metadata is None or isinstance(metadata, RunMetadata))


def _from_fields(fields: dict[str, Any], run: Run) -> RunResult:
    """Read a mapping as forgivingly as a message is read."""
    beside = {name: fields[name] for name in ("status", "metadata") if fields.get(name) is not None}
    if beside:
        if isinstance(beside.get("metadata"), RunMetadata):
            del beside["metadata"]
        try:
            carrier: Any = message_from_like({"role": "assistant", "content": [], **beside})
        except MessageLikeError as error:
            raise nonsense(fields, "yielded", run, error) from error
        if "status" in beside:
            fields["status"] = carrier.status
        if "metadata" in beside:
            named = {name: getattr(carrier.metadata, name) for name in _METADATA if name in beside["metadata"]}
            fields["metadata"] = RunMetadata(**named)
    return RunResult(**fields)
