"""Chunks: what is new in an answer, as a chat model yields it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeGuard

import attrs

from partwise.messages import (
    MISSING,
    DataPart,
    DocumentSourcePart,
    FilePart,
    GenerativeUIPart,
    ImagePart,
    Message,
    ModelContent,
    ToolCallPart,
    UrlSourcePart,
    Usage,
    freeze,
)

from ._part_chunks import (
    PartApproval,
    PartArgsFinish,
    PartDelta,
    PartFinish,
    PartResult,
    PartStart,
    StateUpdate,
    ToolApproval,
)

__all__ = [
    "Chunk",
    "ErrorChunk",
    "Finish",
    "FinishReason",
    "MetadataChunk",
    "PartChunk",
    "ReasoningDelta",
    "StepFinish",
    "StepStart",
    "TextDelta",
    "ToolArgsDelta",
    "ToolArgsFinish",
    "ToolCallStart",
    "ToolResult",
    "WholePart",
    "is_chunk",
]

FinishReason: TypeAlias = Literal[
    "stop", "length", "content-filter", "tool-calls", "interrupt", "other", "error", "unknown", "cancelled"
]
WholePart: TypeAlias = (
    UrlSourcePart | DocumentSourcePart | FilePart | ImagePart | DataPart | GenerativeUIPart | ToolCallPart
)


def _tuple(value: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if value is None else tuple(value)


@attrs.frozen
class TextDelta:
    """More text.

    Attributes:
        text: What is new. An empty delta changes nothing and opens no part.
        part_id: Which text part it belongs to, for sources that write several at a time; None: the
            one that is being written, or a new one if something else has begun since.
        parent_id: The part under which the text part is grouped.
        provider_metadata: Laid over that of the text part.
        replaces: Whether this is the whole text, in place of what had come of it: some sources repeat a
            text at its end, and then it is not what they streamed.
    """

    text: str
    part_id: str | None = attrs.field(default=None, kw_only=True)
    parent_id: str | None = attrs.field(default=None, kw_only=True)
    provider_metadata: Mapping[str, Any] | None = attrs.field(default=None, kw_only=True, converter=freeze)
    replaces: bool = attrs.field(default=False, kw_only=True)


@attrs.frozen
class ReasoningDelta:
    """More reasoning; the fields are those of ``TextDelta``."""

    text: str
    part_id: str | None = attrs.field(default=None, kw_only=True)
    parent_id: str | None = attrs.field(default=None, kw_only=True)
    provider_metadata: Mapping[str, Any] | None = attrs.field(default=None, kw_only=True, converter=freeze)
    replaces: bool = attrs.field(default=False, kw_only=True)


@attrs.frozen
class ToolCallStart:
    """The model begins to call a tool. Said twice for one id, it is still one call."""

    tool_call_id: str
    tool_name: str
    parent_id: str | None = attrs.field(default=None, kw_only=True)
    provider_metadata: Mapping[str, Any] | None = attrs.field(default=None, kw_only=True, converter=freeze)


@attrs.frozen
class ToolArgsDelta:
    """More of the JSON text of a call's arguments."""

    tool_call_id: str
    text: str


@attrs.frozen
class ToolArgsFinish:
    """The arguments of a call are whole.

    Attributes:
        args_text: The whole text, where the source repeats it; it wins over the sum of the deltas.
    """

    tool_call_id: str
    args_text: str | None = None


@attrs.frozen
class ToolResult:
    """What a tool answered; the first result of a call is final.

    Attributes:
        result: The answer; ``None`` is one.
        is_error: Whether it tells of a failure.
        artifact: A payload for the UI, never sent to the model.
        model_content: What the model reads instead of the result.
        messages: The conversation of a sub-agent that ran inside the call.
        is_preliminary: Whether the tool is still running, and this is how far it has come.
    """

    tool_call_id: str
    result: Any = attrs.field(converter=freeze)  # pyright: ignore[reportUnknownVariableType]  # Any through the stubs of attrs
    is_error: bool | None = attrs.field(default=None, kw_only=True)
    artifact: Any = attrs.field(default=MISSING, kw_only=True, converter=freeze)
    model_content: tuple[ModelContent, ...] | None = attrs.field(default=None, kw_only=True, converter=_tuple)
    messages: tuple[Message, ...] | None = attrs.field(default=None, kw_only=True, converter=_tuple)
    is_preliminary: bool = attrs.field(default=False, kw_only=True)


@attrs.frozen
class PartChunk:
    """A part that arrives whole: a source, a file, an image, data, a UI, or a complete tool call.

    A source, and a data or UI part with an id, replaces the one of the same roundtrip with that id.
    """

    part: WholePart


@attrs.frozen
class StepStart:
    """A roundtrip to the model begins."""

    message_id: str | None = None


@attrs.frozen
class StepFinish:
    """A roundtrip to the model has ended.

    Attributes:
        usage: What it cost.
        reason: Why it ended, for those who send it on; the status of the message follows from ``Finish``.
        is_continued: Whether the source says that another roundtrip follows.
    """

    usage: Usage | None = None
    reason: FinishReason | None = attrs.field(default=None, kw_only=True)
    is_continued: bool | None = attrs.field(default=None, kw_only=True)


@attrs.frozen
class Finish:
    """The answer has ended.

    Attributes:
        reason: Why. ``"tool-calls"`` asks for the results of the calls, ``"interrupt"`` for what a human
            answers; ``"unknown"`` leaves it to the parts: calls without a result wait for one, otherwise the
            answer is complete.
        usage: What its last roundtrip cost, unless a ``StepFinish`` has said so already.
        total_usage: What all roundtrips cost, from sources that add it up; it is no step.
    """

    reason: FinishReason = "stop"
    usage: Usage | None = None
    total_usage: Usage | None = attrs.field(default=None, kw_only=True)


@attrs.frozen
class ErrorChunk:
    """The answer broke off; what has arrived stays.

    Attributes:
        error: An exception, a text or a JSON object; kept in the message's status as JSON. With a
            ``severity`` of ``"warning"`` or ``"info"`` the answer goes on, and it is reported only.
    """

    error: Any = attrs.field(converter=freeze)  # pyright: ignore[reportUnknownVariableType]  # Any through the stubs of attrs


@attrs.frozen(kw_only=True)
class MetadataChunk:
    """Metadata of the message; what is not given stays as it is.

    Attributes:
        state: Replaces the model's state.
        annotations: Added to those of the message.
        data: Added to those of the message.
        custom: Laid over the message's custom metadata.
    """

    state: Any = attrs.field(default=MISSING, converter=freeze)
    annotations: tuple[Any, ...] = attrs.field(default=(), converter=tuple)
    data: tuple[Any, ...] = attrs.field(default=(), converter=tuple)
    custom: Mapping[str, Any] | None = attrs.field(default=None, converter=freeze)


Chunk: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | ToolCallStart
    | ToolArgsDelta
    | ToolArgsFinish
    | ToolResult
    | PartChunk
    | StepStart
    | StepFinish
    | Finish
    | ErrorChunk
    | MetadataChunk
    | PartStart
    | PartDelta
    | PartFinish
    | PartArgsFinish
    | PartResult
    | PartApproval
    | ToolApproval
    | StateUpdate
)

_KINDS = (
    TextDelta,
    ReasoningDelta,
    ToolCallStart,
    ToolArgsDelta,
    ToolArgsFinish,
    ToolResult,
    PartChunk,
    StepStart,
    StepFinish,
    Finish,
    ErrorChunk,
    MetadataChunk,
    PartStart,
    PartDelta,
    PartFinish,
    PartArgsFinish,
    PartResult,
    PartApproval,
    ToolApproval,
    StateUpdate,
)


def is_chunk(value: object) -> TypeGuard[Chunk]:
    """Whether ``value`` is one of the chunks that a fold understands."""
    return isinstance(value, _KINDS)
