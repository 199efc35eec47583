"""Writing AG-UI: from chunks to the events of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Protocol

import attrs

from partwise.errors import WireError
from partwise.messages import (
    MISSING,
    Approval,
    AssistantPart,
    DataPart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    Usage,
    new_id,
    thaw,
)
from partwise.stream._chunk_json import WireChunk, write_chunk, write_error, write_result, write_usage
from partwise.stream._chunks import Chunk, ErrorChunk, Finish, MetadataChunk, PartChunk, StepFinish, StepStart
from partwise.stream._json_patch import patch_of
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
from partwise.stream._part_json import without_none, write_approval
from partwise.stream._report import Report, log_problem
from partwise.stream._sse import sse_frame
from partwise.stream._state import SetValue
from partwise.stream.writing import Placer

from ._ag_ui_types import OURS, ag_ui_types
from ._data_stream_encoder import part_number
from ._sse_feed import SSE_HEADERS
from ._unsaid import Unsaid

__all__ = ["AgUiEncoder"]

_HARMLESS: Final = frozenset({"warning", "info"})


class _Event(Protocol):
    def model_dump(self, *, by_alias: bool) -> dict[str, Any]: ...


class _Part:
    """A part that was begun: its id on the wire, and how far it was written."""

    __slots__ = ("id", "is_closed", "is_ended", "part")

    def __init__(self, part: AssistantPart, part_id: str) -> None:
        self.part = part
        self.id = part_id
        self.is_ended = False
        self.is_closed = False


class AgUiEncoder:
    """Writes chunks as one run of AG-UI.

    What the protocol has no word for stands in the metadata of its events, or in a custom event whose name
    begins with ``partwise.``: a decoder of ours reads it, others pass over it. How the run ended is written
    last, as the protocol wants it. Left out and reported are warnings, how far a running tool has come, and
    decisions on approvals.

    Attributes:
        headers: For the HTTP response.

    Args:
        thread_id: The thread, as the request names it; a new id by default.
        run_id: The run, as the request names it; a new id by default.
        report: Told about each kind of thing that is left out, once.

    Raises:
        ImportError: The package ``ag-ui-protocol`` is not installed.
    """

    headers: ClassVar[Mapping[str, str]] = SSE_HEADERS

    def __init__(
        self, *, thread_id: str | None = None, run_id: str | None = None, report: Report | None = None
    ) -> None:
        self._types = ag_ui_types()
        self._run = {"thread_id": thread_id or new_id(), "run_id": run_id or new_id()}
        self._report = report or log_problem
        self._placer = Placer(report=self._report)
        self._parts: list[_Part] = []
        self._prefix = new_id()
        self._steps: list[str] = []
        self._step_count = 0
        self._asked: dict[str, Approval] = {}
        self._state: Any = None
        self._unsaid = Unsaid("AG-UI", self._report)
        self._has_started = False
        self._finish: Finish | None = None
        self._error: Mapping[str, Any] | None = None

    def encode(self, chunk: Chunk) -> bytes:
        """Return the events of a chunk; none if it is about the end, which is written last.

        Raises:
            WireError: The chunk names a part that there is not or that cannot take it, or holds what is no JSON.
        """
        if isinstance(chunk, PartChunk) and isinstance(chunk.part, DataPart) and chunk.part.id is not None:
            # The same id again replaces the part; as a place among the others it would be a second one.
            return self._written(self._data(chunk.part))
        return self._written([event for placed in self._placer.place(chunk) for event in self._events(placed)])

    def close(self) -> bytes:
        """Return what ends the stream."""
        events = [event for placed in self._placer.close() for event in self._events(placed)]
        for known in self._parts:
            events += self._end(known, None)
        for name in reversed(self._steps):
            events.append(self._made("StepFinishedEvent", {"isMade": True}, step_name=name))
        self._steps.clear()
        return self._written([*events, self._outcome()])

    def _written(self, events: list[dict[str, Any]]) -> bytes:
        if events and not self._has_started:
            self._has_started = True
            events = [self._made("RunStartedEvent", {}, **self._run), *events]
        return b"".join(sse_frame(json_text(event)) for event in events)

    def _made(self, type_name: str, ours: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
        """Make an event by its type, so that it is one that others can read."""
        metadata = {"metadata": {OURS: thaw(ours)}} if ours else {}
        try:
            event: _Event = getattr(self._types, type_name)(**fields, **metadata)
        except ValueError as cause:
            message = f"An event of type {type_name!r} cannot be made of this: {cause}"
            raise WireError(message, where=type_name, code="invalid-value") from cause
        return event.model_dump(by_alias=True)

    def _events(self, chunk: WireChunk) -> list[dict[str, Any]]:
        match chunk:
            case PartStart(part):
                return self._opening(part, chunk)
            case PartDelta(path, text):
                return self._grow(self._at(path), text, chunk.provider_metadata)
            case PartFinish(path):
                return self._end(self._at(path), chunk.provider_metadata)
            case PartArgsFinish(path):
                return self._end_args(self._at(path))
            case PartResult(path):
                return self._result(self._at(path), chunk)
            case PartApproval(path, approval):
                return self._approval(self._at(path), approval)
            case _:
                return self._mark(chunk)

    def _at(self, path: tuple[int, ...]) -> _Part:
        return self._parts[part_number(path, [known.part for known in self._parts])]

    def _opening(self, part: AssistantPart, chunk: PartStart) -> list[dict[str, Any]]:
        number = f"{self._prefix}-{len(self._parts)}"
        known = _Part(part, part.tool_call_id if isinstance(part, ToolCallPart) else number)
        self._parts.append(known)
        match part:
            case TextPart():
                ours = without_none(parentId=part.parent_id, providerMetadata=part.provider_metadata)
                start = self._made("TextMessageStartEvent", ours, message_id=known.id, role="assistant")
                return [start, *(self._grow(known, part.text, None) if part.text else ())]
            case ReasoningPart():
                ours = without_none(
                    parentId=part.parent_id, providerMetadata=part.provider_metadata, summary=part.summary
                )
                outer = self._made("ReasoningStartEvent", {}, message_id=known.id)
                start = self._made("ReasoningMessageStartEvent", ours, message_id=known.id, role="reasoning")
                return [outer, start, *(self._grow(known, part.text, None) if part.text else ())]
            case ToolCallPart():
                return self._call(known, part)
            case DataPart():
                return self._data(part)
            case _:
                return [self._custom("chunk", thaw(written)) for written in write_chunk(chunk)]

    def _call(self, known: _Part, part: ToolCallPart) -> list[dict[str, Any]]:
        ours = without_none(parentId=part.parent_id, providerMetadata=part.provider_metadata)
        named = {"tool_call_id": known.id, "tool_call_name": part.tool_name, "parent_message_id": self._prefix}
        events = [self._made("ToolCallStartEvent", ours, **named)]
        if part.args_text:
            events += self._grow(known, part.args_text, None)
        if part.approval is not None:
            events += self._approval(known, part.approval)
        if part.has_result:
            result = PartResult((), part.result, is_error=part.is_error, artifact=part.artifact)
            events += self._result(known, attrs.evolve(result, model_content=part.model_content))
        return events

    def _data(self, part: DataPart) -> list[dict[str, Any]]:
        data = thaw(part.data)
        if part.id is not None and isinstance(data, dict):
            named = {"message_id": part.id, "activity_type": part.name, "replace": True}
            beside = without_none(parentId=part.parent_id)
            return [self._made("ActivitySnapshotEvent", beside, content=data, **named)]
        ours = without_none(id=part.id, parentId=part.parent_id)
        return [self._made("CustomEvent", ours, name=part.name, value=data)]

    def _custom(self, name: str, value: object) -> dict[str, Any]:
        return self._made("CustomEvent", {}, name=f"{OURS}.{name}", value=value)

    def _grow(self, known: _Part, text: str, metadata: Mapping[str, Any] | None) -> list[dict[str, Any]]:
        beside = {"metadata": {OURS: {"providerMetadata": thaw(metadata)}}} if metadata else {}
        match known.part:
            case TextPart() | ReasoningPart() if known.is_closed:
                return []
            case TextPart():
                return [{"type": "TEXT_MESSAGE_CONTENT", "messageId": known.id, "delta": text, **beside}]
            case ReasoningPart():
                return [{"type": "REASONING_MESSAGE_CONTENT", "messageId": known.id, "delta": text, **beside}]
            case ToolCallPart():
                return [] if known.is_ended else [{"type": "TOOL_CALL_ARGS", "toolCallId": known.id, "delta": text}]
            case part:
                message = f"A {part.type} part does not grow; the chunk was not written."
                raise WireError(message, code="wrong-part")

    def _end(self, known: _Part, metadata: Mapping[str, Any] | None) -> list[dict[str, Any]]:
        if known.is_closed:
            return []
        known.is_closed = True
        ours = without_none(providerMetadata=metadata)
        match known.part:
            case TextPart():
                return [self._made("TextMessageEndEvent", ours, message_id=known.id)]
            case ReasoningPart():
                end = self._made("ReasoningMessageEndEvent", ours, message_id=known.id)
                return [end, self._made("ReasoningEndEvent", {}, message_id=known.id)]
            case ToolCallPart():
                return self._end_args(known)
            case _:
                return []

    def _end_args(self, known: _Part) -> list[dict[str, Any]]:
        if known.is_ended or not isinstance(known.part, ToolCallPart):
            return []
        known.is_ended = True
        return [self._made("ToolCallEndEvent", {}, tool_call_id=known.id)]

    def _result(self, known: _Part, chunk: PartResult) -> list[dict[str, Any]]:
        if not isinstance(known.part, ToolCallPart):
            message = f"A {known.part.type} part has no result; the chunk was not written."
            raise WireError(message, code="wrong-part")
        if chunk.is_preliminary:
            self._unsaid.leave_out("how far a running tool has come")
            return []
        self._asked.pop(known.id, None)
        ours = {name: value for name, value in write_result(chunk).items() if name != "result" and value is not False}
        named = {"message_id": f"{known.id}-result", "tool_call_id": known.id, "role": "tool"}
        return [*self._end_args(known), self._made("ToolCallResultEvent", ours, content=_text(chunk.result), **named)]

    def _approval(self, known: _Part, approval: Approval) -> list[dict[str, Any]]:
        if approval.is_open:
            self._asked[known.id] = approval
        else:
            self._asked.pop(known.id, None)
            self._unsaid.leave_out("the decision on an approval")
        return []

    def _mark(
        self, chunk: StateUpdate | StepStart | StepFinish | Finish | ErrorChunk | MetadataChunk
    ) -> list[dict[str, Any]]:
        match chunk:
            case StepStart() | StepFinish():
                return self._step(chunk)
            case Finish():
                self._finish = chunk
                return []
            case ErrorChunk(error):
                record = write_error(error)
                if record.get("severity") in _HARMLESS:
                    self._unsaid.leave_out("a warning")
                elif self._error is None:
                    self._error = record
                return []
            case StateUpdate():
                return self._changes(chunk)
            case MetadataChunk():
                return self._metadata(chunk)

    def _step(self, chunk: StepStart | StepFinish) -> list[dict[str, Any]]:
        if isinstance(chunk, StepStart):
            return [self._begin_step(chunk.message_id, {"messageId": chunk.message_id})]
        events = [] if self._steps else [self._begin_step(None, {"isMade": True})]
        ours = without_none(usage=write_usage(chunk.usage), finishReason=chunk.reason, isContinued=chunk.is_continued)
        return [*events, self._made("StepFinishedEvent", ours, step_name=self._steps.pop())]

    def _begin_step(self, message_id: str | None, ours: Mapping[str, Any]) -> dict[str, Any]:
        self._step_count += 1
        name = f"step-{self._step_count}" if message_id is None or message_id in self._steps else message_id
        self._steps.append(name)
        return self._made("StepStartedEvent", ours, step_name=name)

    def _changes(self, chunk: StateUpdate) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        for operation in chunk.operations:
            if isinstance(operation, SetValue) and not operation.path:
                self._state = operation.value
                events.append(self._made("StateSnapshotEvent", {}, snapshot=thaw(operation.value)))
                continue
            try:
                self._state, patch = patch_of(self._state, operation)
            except WireError as problem:
                self._report(problem)
                continue
            if patch[0]["path"] == "":
                events.append(self._made("StateSnapshotEvent", {}, snapshot=thaw(self._state)))
            else:
                events.append(self._made("StateDeltaEvent", {}, delta=thaw(patch)))
        return events

    def _metadata(self, chunk: MetadataChunk) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        if chunk.state is not MISSING:
            events += self._changes(StateUpdate([SetValue((), chunk.state)]))
        rest = write_chunk(attrs.evolve(chunk, state=MISSING))
        events += [self._custom("chunk", thaw(written)) for written in rest]
        if chunk.custom:
            events.append(self._custom("metadata", {"custom": thaw(chunk.custom)}))
        return events

    def _outcome(self) -> dict[str, Any]:
        finish = self._finish
        if self._error is not None:
            given = without_none(message=self._error["error"], code=self._error.get("code"))
            return self._made("RunErrorEvent", {}, **given)
        outcome: dict[str, Any] = {"type": "success"}
        if finish is not None and finish.reason == "cancelled":
            outcome = {"type": "cancelled"}
        elif self._asked:
            outcome = {"type": "interrupt", "interrupts": [_interrupt(*asked) for asked in self._asked.items()]}
        ours = {} if finish is None else {"finishReason": finish.reason}
        usage = None if finish is None else finish.total_usage
        return self._made("RunFinishedEvent", ours, outcome=outcome, **self._run, **_usage(usage))


def _text(result: object) -> str:
    """Return the text of a result, which readers take for JSON if it can be read as such."""
    if isinstance(result, str) and result.isprintable():
        try:
            read_json(result)
        except WireError:
            return result
    return json_text(thaw(result))


def _interrupt(call_id: str, approval: Approval) -> dict[str, Any]:
    asked = {"id": approval.id, "reason": "tool_call", "toolCallId": call_id}
    return asked | {"metadata": {OURS: thaw(write_approval(approval))}}


def _usage(usage: Usage | None) -> dict[str, Any]:
    return {} if usage is None else {"usage": [write_usage(usage)]}
