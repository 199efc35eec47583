"""The fold: a message and a chunk give the next message."""

from __future__ import annotations

from typing import assert_never

import attrs

from partwise.errors import AdapterError, WireError
from partwise.messages import (
    COMPLETE_STOP,
    COMPLETE_UNKNOWN,
    REQUIRES_TOOL_CALLS,
    RUNNING,
    AssistantMessage,
    AssistantMetadata,
    DataPart,
    DocumentSourcePart,
    GenerativeUIPart,
    IncompleteStatus,
    MessageStatus,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
    error_record,
)

from ._calls import Calls, Content, merge_metadata, replace_part
from ._chunks import (
    Chunk,
    ErrorChunk,
    Finish,
    FinishReason,
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
    is_chunk,
)
from ._metadata import Steps, with_metadata
from ._report import Report, log_problem

__all__ = ["Fold"]


class Fold:
    """Builds the parts that one roundtrip adds to a message, chunk by chunk.

    Each call is given the message as it is stored now and returns the next one, so that what others
    change meanwhile (feedback, a tool result, an approval) is kept. Parts that a chunk does not touch
    keep their identity, and a chunk that changes nothing returns the message itself.

    Parts stand in the order of their first appearance. A delta without a part id goes to the text that
    is being written; once another part has begun, it opens a new one. Sources do not interrupt a text.
    A chunk that cannot be used (arguments after their end, a second result) is dropped and reported
    once; it never spoils the answer.

    Args:
        start: How many parts of the message belong to earlier roundtrips; these get no more text.
        report: Told about each kind of unusable chunk once; logged as a warning by default.

    ```python
    fold = Fold(start=len(message.content))
    for chunk in chunks:
        message = fold.apply(message, chunk)
    message = fold.finish(message)
    ```
    """

    __slots__ = ("_calls", "_failed", "_named", "_reason", "_report", "_reported", "_start", "_steps", "_writing")

    def __init__(self, start: int = 0, *, report: Report | None = None) -> None:
        self._start = start
        self._report = report or log_problem
        self._reported: set[tuple[str, str]] = set()
        self._calls = Calls(start, self._drop)
        self._steps = Steps()
        self._named: dict[tuple[type, str], int] = {}
        self._writing: int | None = None
        self._reason: FinishReason | None = None
        self._failed = False

    @property
    def is_finished(self) -> bool:
        """Whether a finish or an error has come. More chunks may follow."""
        return self._failed or self._reason is not None

    def apply(self, message: AssistantMessage, chunk: Chunk) -> AssistantMessage:
        """Return the message with the chunk applied.

        Raises:
            AdapterError: ``chunk`` is no chunk.
        """
        match chunk:
            case TextDelta():
                return self._text(message, chunk)
            case ToolArgsDelta():
                return _with_content(message, self._calls.grow(message.content, chunk))
            case ReasoningDelta():
                return self._reasoning(message, chunk)
            case ToolCallStart():
                return self._appended(message, self._calls.begin(message.content, chunk))
            case ToolArgsFinish():
                return _with_content(message, self._calls.end(message.content, chunk))
            case ToolResult():
                return self._appended(message, self._calls.settle(message.content, chunk))
            case PartChunk():
                return self._part(message, chunk.part)
            case _:
                return self._mark(message, chunk)

    def finish(self, message: AssistantMessage) -> AssistantMessage:
        """Return the message after the last chunk.

        A call without a result makes the message wait for one, unless the answer broke off. Without a
        finish, an error or such a call the status stays as it is: whoever runs the model decides.
        """
        self._writing = None
        self._calls.close_all()
        if self._failed:
            return message
        if self._reason is not None:
            return _with_status(message, self._status(message, self._reason))
        if message.status == RUNNING and self._has_open_calls(message):
            return _with_status(message, REQUIRES_TOOL_CALLS)
        return message

    def reset(self) -> None:
        """Forget what is being written, after the parts of this roundtrip were replaced as a whole."""
        self._writing = None
        self._named.clear()
        self._calls = Calls(self._start, self._drop)

    def _text(self, message: AssistantMessage, chunk: TextDelta) -> AssistantMessage:
        content = message.content
        at = self._place(content, TextPart, chunk)
        if at is None:
            if not chunk.text:
                return message
            self._opened(content, TextPart, chunk.part_id)
            part = TextPart(chunk.text, provider_metadata=chunk.provider_metadata, parent_id=chunk.parent_id)
            return _with_content(message, (*content, part))
        old = content[at]
        metadata = chunk.provider_metadata
        if not isinstance(old, TextPart) or not (chunk.text or metadata):
            return message
        part = TextPart(
            old.text + chunk.text,
            status=old.status,
            provider_metadata=merge_metadata(old.provider_metadata, metadata) if metadata else old.provider_metadata,
            parent_id=old.parent_id,
        )
        return _with_content(message, replace_part(content, at, part))

    def _reasoning(self, message: AssistantMessage, chunk: ReasoningDelta) -> AssistantMessage:
        content = message.content
        at = self._place(content, ReasoningPart, chunk)
        if at is None:
            if not chunk.text:
                return message
            self._opened(content, ReasoningPart, chunk.part_id)
            part = ReasoningPart(chunk.text, provider_metadata=chunk.provider_metadata, parent_id=chunk.parent_id)
            return _with_content(message, (*content, part))
        old = content[at]
        if not isinstance(old, ReasoningPart) or not (chunk.text or chunk.provider_metadata):
            return message
        part = ReasoningPart(
            old.text + chunk.text,
            summary=old.summary,
            status=old.status,
            provider_metadata=merge_metadata(old.provider_metadata, chunk.provider_metadata),
            parent_id=old.parent_id,
        )
        return _with_content(message, replace_part(content, at, part))

    def _place(self, content: Content, kind: type, chunk: TextDelta | ReasoningDelta) -> int | None:
        """Find the part that a delta grows, if it is there."""
        part_id = chunk.part_id
        at = self._writing if part_id is None else self._named.get((kind, part_id))
        if at is None or at >= len(content):
            return None
        part = content[at]
        if type(part) is not kind or (chunk.parent_id is not None and part.parent_id != chunk.parent_id):
            return None
        return at

    def _opened(self, content: Content, kind: type, part_id: str | None) -> None:
        if part_id is None:
            self._writing = len(content)
        else:
            self._writing = None
            self._named[kind, part_id] = len(content)

    def _part(self, message: AssistantMessage, part: WholePart) -> AssistantMessage:
        content = message.content
        if isinstance(part, ToolCallPart):
            return self._appended(message, self._calls.adopt(content, part))
        at = next((at for at in range(self._start, len(content)) if _is_same(content[at], part)), None)
        if at is not None:
            return message if content[at] == part else _with_content(message, replace_part(content, at, part))
        if not isinstance(part, (UrlSourcePart, DocumentSourcePart)):
            self._writing = None
        return _with_content(message, (*content, part))

    def _mark(
        self, message: AssistantMessage, chunk: StepStart | StepFinish | Finish | ErrorChunk | MetadataChunk
    ) -> AssistantMessage:
        _require_chunk(chunk, message)
        match chunk:
            case MetadataChunk():
                return _with_metadata(message, with_metadata(message.metadata, chunk))
            case StepStart():
                self._writing = None
                return _with_metadata(message, self._steps.begin(message.metadata, chunk))
            case StepFinish():
                self._writing = None
                return _with_metadata(message, self._steps.end(message.metadata, chunk))
            case Finish():
                return self._finish(message, chunk)
            case ErrorChunk():
                self._writing, self._failed = None, True
                return _with_status(message, IncompleteStatus("error", error=error_record(chunk.error)))
            case _:
                assert_never(chunk)

    def _appended(self, message: AssistantMessage, content: Content) -> AssistantMessage:
        if len(content) > len(message.content):
            self._writing = None
        return _with_content(message, content)

    def _finish(self, message: AssistantMessage, chunk: Finish) -> AssistantMessage:
        self._writing = None
        message = _with_metadata(message, self._steps.finish(message.metadata, chunk))
        if self._failed:  # an error says more than the reason that a gateway sends with it
            return message
        self._reason = chunk.reason
        return _with_status(message, self._status(message, chunk.reason))

    def _status(self, message: AssistantMessage, reason: FinishReason) -> MessageStatus:
        match reason:
            case "stop":
                return COMPLETE_STOP
            case "tool-calls":
                # Without any call there is nothing to wait for, and going on would never end.
                return REQUIRES_TOOL_CALLS if self._has_calls(message) else COMPLETE_UNKNOWN
            case "unknown":
                return REQUIRES_TOOL_CALLS if self._has_open_calls(message) else COMPLETE_UNKNOWN
            case "length" | "content-filter" | "other" | "error":
                return IncompleteStatus(reason)
            case _:
                assert_never(reason)

    def _has_calls(self, message: AssistantMessage) -> bool:
        return any(isinstance(part, ToolCallPart) for part in message.content[self._start :])

    def _has_open_calls(self, message: AssistantMessage) -> bool:
        return any(isinstance(part, ToolCallPart) and not part.has_result for part in message.content[self._start :])

    def _drop(self, tool_call_id: str, why: str) -> None:
        if (tool_call_id, why) in self._reported:
            return
        self._reported.add((tool_call_id, why))
        self._report(WireError(f"Dropped {why} (tool call {tool_call_id!r}).", where=tool_call_id))


def _require_chunk(value: object, message: AssistantMessage) -> None:
    if not is_chunk(value):
        adapter, text = "chat model", f"yielded a {type(value).__name__}, which is no chunk"
        raise AdapterError(adapter, text, message_id=message.id)


def _is_same(old: object, new: WholePart) -> bool:
    match new:
        case UrlSourcePart() | DocumentSourcePart():
            return type(old) is type(new) and old.id == new.id
        case DataPart():
            return new.id is not None and isinstance(old, DataPart) and (old.id, old.name) == (new.id, new.name)
        case GenerativeUIPart():
            return new.id is not None and isinstance(old, GenerativeUIPart) and old.id == new.id
        case _:
            return False


def _with_content(message: AssistantMessage, content: Content) -> AssistantMessage:
    if content is message.content:
        return message
    # Spelled out, because it runs for every delta and attrs.evolve takes several times as long.
    return AssistantMessage(
        id=message.id,
        created_at=message.created_at,
        content=content,
        status=message.status,
        metadata=message.metadata,
    )


def _with_metadata(message: AssistantMessage, metadata: AssistantMetadata) -> AssistantMessage:
    return message if metadata is message.metadata else attrs.evolve(message, metadata=metadata)


def _with_status(message: AssistantMessage, status: MessageStatus) -> AssistantMessage:
    return message if status == message.status else attrs.evolve(message, status=status)
