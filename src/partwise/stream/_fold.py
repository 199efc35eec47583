"""The fold: a message and a chunk give the next message."""

from __future__ import annotations

from typing import Final, assert_never

import attrs

from partwise.errors import AdapterError, StateOperationError, WireError
from partwise.messages import (
    COMPLETE_STOP,
    COMPLETE_UNKNOWN,
    REQUIRES_INTERRUPT,
    REQUIRES_TOOL_CALLS,
    RUNNING,
    ArgsReader,
    AssistantMessage,
    AssistantMetadata,
    DataPart,
    DocumentSourcePart,
    FrozenDict,
    GenerativeUIPart,
    IncompleteStatus,
    MessageStatus,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
    error_record,
    fill,
)

from ._calls import Calls, Content, replace_part
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
from ._growing_state import apply_operations, fold_state
from ._longer import longer_reasoning, longer_text
from ._metadata import Steps, with_metadata
from ._pace import Clock, Pace
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
from ._places import Places
from ._report import Report, log_problem

__all__ = ["Fold"]

_HARMLESS: Final = frozenset({"warning", "info"})
_MOST_REPORTS: Final = 100


class Fold:
    """Builds the parts that one roundtrip adds to a message, chunk by chunk.

    Each call is given the message as it is stored now and returns the next one, so that what others
    change meanwhile (feedback, a tool result, an approval) is kept. Parts that a chunk does not touch
    keep their identity, and a chunk that changes nothing returns the message itself.

    Parts stand in the order of their first appearance. A delta without a part id goes to the text that
    is being written; once another part has begun, it opens a new one. Sources do not interrupt a text.
    A chunk that cannot be used (arguments after their end, a second result) is dropped and reported
    once; it never spoils the answer. Chunks that name a part by its place count from ``start``.

    Args:
        start: How many parts of the message belong to earlier roundtrips; these get no more text.
        report: Told about each kind of unusable chunk once; logged as a warning by default.
        clock: Milliseconds since 1970; with it, the answer, its reasoning and its calls are timed.
        is_strict: Whether a change of state that cannot be applied is raised; otherwise what can be
            applied of it is, and the rest is reported.

    ```python
    fold = Fold(start=len(message.content))
    for chunk in chunks:
        message = fold.apply(message, chunk)
    message = fold.finish(message)
    ```
    """

    __slots__ = (
        "_calls",
        "_failed",
        "_is_strict",
        "_named",
        "_pace",
        "_places",
        "_reason",
        "_report",
        "_reported",
        "_start",
        "_steps",
        "_was_used",
        "_writing",
    )

    def __init__(
        self,
        start: int = 0,
        *,
        report: Report | None = None,
        clock: Clock | None = None,
        is_strict: bool = False,
    ) -> None:
        self._start = start
        self._is_strict = is_strict
        self._pace = None if clock is None else Pace(clock)
        self._was_used = True
        self._report = report or log_problem
        self._reported: set[str] = set()
        self._calls = Calls(start, self._drop_call, self._pace)
        self._places = Places(start, self._calls, self._drop, self._pace)
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
            StateOperationError: A change of state cannot be applied, and the fold is strict.
        """
        if self._pace is None:
            return self._applied(message, chunk)
        self._was_used = True
        message = self._applied(message, chunk)
        self._pace.count(chunk, was_used=self._was_used)
        return self._pace.written(message)

    def args_reader(self, tool_call_id: str) -> ArgsReader | None:
        """The reader of the arguments of a call of this answer; it tells which fields are complete."""
        return self._calls.reader(tool_call_id)

    def _applied(self, message: AssistantMessage, chunk: Chunk) -> AssistantMessage:
        match chunk:
            case TextDelta():
                return self._text(message, chunk)
            case ToolArgsDelta():
                return _with_content(message, self._calls.grow(message.content, chunk))
            case PartDelta():
                return _with_content(message, self._places.grow(message.content, chunk))
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
            case ToolApproval() | PartStart() | PartFinish() | PartArgsFinish() | PartResult() | PartApproval():
                return self._placed(message, chunk)
            case _:
                return self._mark(message, chunk)

    def _placed(
        self,
        message: AssistantMessage,
        chunk: ToolApproval | PartStart | PartFinish | PartArgsFinish | PartResult | PartApproval,
    ) -> AssistantMessage:
        content, places = message.content, self._places
        match chunk:
            case PartStart():
                return self._appended(message, places.begin(content, chunk))
            case PartFinish():
                return _with_content(message, places.finish(content, chunk))
            case PartArgsFinish():
                return _with_content(message, places.end_args(content, chunk))
            case PartResult():
                return _with_content(message, places.settle(content, chunk))
            case PartApproval():
                return _with_content(message, places.approve(content, chunk))
            case ToolApproval():
                return _with_content(message, self._calls.approve(content, chunk))
            case _:
                assert_never(chunk)

    def finish(self, message: AssistantMessage, *, otherwise: MessageStatus | None = None) -> AssistantMessage:
        """Return the message after the last chunk.

        A call without a result makes the message wait for one, unless the answer broke off. Without a
        finish, an error or such a call the status stays as it is: whoever runs the model decides.

        Args:
            message: The message as it is stored now.
            otherwise: The status of a message that would stay running.
        """
        was_running = message.status == RUNNING
        self._writing = None
        self._calls.close_all()
        for part in message.content:
            fill(part)  # the pieces are not needed any more, and take more room than the text
        if self._failed:
            return message
        if self._reason is not None:
            message = _with_status(message, self._status(message, self._reason))
        elif message.status == RUNNING and self._has_open_calls(message):
            message = _with_status(message, REQUIRES_TOOL_CALLS)
        elif message.status == RUNNING and otherwise is not None:
            message = _with_status(message, otherwise)
        return message if self._pace is None or not was_running else self._pace.written(message)

    def reset(self) -> None:
        """Forget what is being written, after the parts of this roundtrip were replaced as a whole."""
        self._writing = None
        self._named.clear()
        self._calls = Calls(self._start, self._drop_call, self._pace)
        self._places = Places(self._start, self._calls, self._drop, self._pace)

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
        part = longer_text(old, chunk.text, metadata, replaces=chunk.replaces)
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
        part = longer_reasoning(old, chunk.text, chunk.provider_metadata, replaces=chunk.replaces)
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
        self,
        message: AssistantMessage,
        chunk: StepStart | StepFinish | Finish | ErrorChunk | MetadataChunk | StateUpdate,
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
                return self._broken(message, error_record(chunk.error))
            case StateUpdate():
                return _with_metadata(message, self._updated(message.metadata, chunk))
            case _:
                assert_never(chunk)

    def _broken(self, message: AssistantMessage, record: FrozenDict) -> AssistantMessage:
        if record.get("severity") in _HARMLESS:
            self._report(WireError(f"The source of the answer warns: {record['message']}", code=record["code"]))
            return message
        self._writing, self._failed = None, True
        return _with_status(message, IncompleteStatus("error", error=record))

    def _updated(self, metadata: AssistantMetadata, chunk: StateUpdate) -> AssistantMetadata:
        if self._is_strict:
            state = apply_operations(metadata.state, chunk.operations)
        else:
            state = fold_state(metadata.state, chunk.operations, report=self._drop_operation)
        return metadata if state is metadata.state else attrs.evolve(metadata, state=state)

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
            case "interrupt":
                return REQUIRES_INTERRUPT
            case "unknown":
                return REQUIRES_TOOL_CALLS if self._has_open_calls(message) else COMPLETE_UNKNOWN
            case "length" | "content-filter" | "other" | "error" | "cancelled":
                return IncompleteStatus(reason)
            case _:
                assert_never(reason)

    def _has_calls(self, message: AssistantMessage) -> bool:
        return any(isinstance(part, ToolCallPart) for part in message.content[self._start :])

    def _has_open_calls(self, message: AssistantMessage) -> bool:
        return any(isinstance(part, ToolCallPart) and not part.has_result for part in message.content[self._start :])

    def _drop_call(self, tool_call_id: str, why: str) -> None:
        self._was_used = False
        text = f"Dropped {why} (tool call {tool_call_id!r})."
        self._once(text, WireError(text, where=tool_call_id, code="misplaced"))

    def _drop(self, where: str, why: str) -> None:
        self._was_used = False
        self._once(why, WireError(f"Dropped {why} ({where}).", where=where, code="misplaced"))

    def _drop_operation(self, problem: StateOperationError) -> None:
        self._once(problem.code, problem)

    def _once(self, key: str, problem: WireError) -> None:
        # A source that is wrong everywhere fills neither the log nor the memory.
        if key in self._reported or len(self._reported) >= _MOST_REPORTS:
            return
        self._reported.add(key)
        self._report(problem)


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
