"""Reading AG-UI: server-sent events of an agent's run, from bytes to chunks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from partwise.errors import WireError
from partwise.messages import (
    AssistantMessage,
    DataPart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    freeze,
)
from partwise.stream._chunk_json import read_chunk
from partwise.stream._chunks import Chunk, MetadataChunk, PartChunk, StepFinish, StepStart
from partwise.stream._fields import Fields, read_reason, read_usage
from partwise.stream._json_patch import read_patch
from partwise.stream._lines import MAX_LINE_LENGTH
from partwise.stream._part_chunks import PartStart, StateUpdate
from partwise.stream._report import Report
from partwise.stream._state import SetValue
from partwise.stream.writing import PartWriter, TextWriter

from ._ag_ui_calls import AgUiCalls, result_of
from ._ag_ui_runs import close_run, error_of, settle_messages
from ._ag_ui_texts import Kind, Texts
from ._ag_ui_types import OURS, event_reader, ours_of
from ._reading import Reading, in_turns
from ._sse_feed import SseFeed, missing_done

if TYPE_CHECKING:
    from ag_ui import core

__all__ = ["AgUiDecoder"]

_ANYWHERE: Final = frozenset({"RAW", "CUSTOM"})


class AgUiDecoder:
    """Reads AG-UI from bytes, cut anywhere; the older events about thinking, too.

    A run becomes one message: its texts, reasoning and calls are parts in the order of their appearance,
    an activity or a custom event is a data part, and a question of the agent is a call named ``interrupt``,
    or the approval of the call that it is about. A list of all messages adds what had not come before. A
    stream that ends before its run does was cut off.

    Attributes:
        problem: What has ended the reading before its time; the last chunk, an ``ErrorChunk``, says so too.

    Args:
        is_strict: Whether a frame that cannot be used ends the reading; otherwise it is dropped and reported.
        report: Told about each kind of dropped frame once; logged as a warning by default.
        message: The message that the stream goes on with: what is told again of its calls changes nothing, and
            patches of the state are about its state.
        max_line_length: A longer line, or more data in one event, ends the reading.

    Raises:
        ImportError: The package ``ag-ui-protocol`` is not installed.
        InvalidInputError: The limit is no whole number above zero.
    """

    def __init__(
        self,
        *,
        is_strict: bool = False,
        report: Report | None = None,
        message: AssistantMessage | None = None,
        max_line_length: int = MAX_LINE_LENGTH,
    ) -> None:
        self._read = event_reader()
        self._reading = Reading(is_strict=is_strict, report=report)
        self._parts = PartWriter(self._emit, report=self._reading.tell)
        self._texts = Texts(self._parts, self._emit, self._reading.tell, message)
        self._calls = AgUiCalls(self._parts, self._emit, self._reading.tell, message)
        self._feed = SseFeed(
            self._reading,
            self._payload,
            end=self._end,
            broken=self._parts.close_texts,
            refuse=self._reading.refuse,
            max_line_length=max_line_length,
            max_event_length=max_line_length,
        )
        self._handlers = self._handlers_of_events()
        self._state: Any = None if message is None else message.metadata.state
        self._activities: dict[tuple[str, str], DataPart] = {}
        self._parents: dict[str, str] = {}
        self._given: set[str] = set()
        self._thoughts = 0
        self._chunked: tuple[str, str] | None = None  # a kind of event and an id: what ends with any other event

    @property
    def problem(self) -> WireError | None:
        """What has ended the reading before its time."""
        return self._reading.problem

    def feed(self, data: bytes) -> list[Chunk]:
        """Return the chunks whose events end in these bytes."""
        return self._feed.feed(data)

    def close(self) -> list[Chunk]:
        """Return what is left when the bytes have ended."""
        return self._feed.close(has_marker=False)

    def _emit(self, chunk: Chunk) -> None:
        self._reading.chunks.append(chunk)

    def _end(self) -> None:
        if not self._feed.is_terminal:
            self._reading.fail(missing_done())
            self._parts.close_texts()
            return
        parts = sorted(self._parts.open_parts, key=lambda part: isinstance(part, TextWriter))
        in_turns(self._reading.chunks, parts, lambda part: part.close())

    def _payload(self, payload: Any) -> None:
        fields = Fields(payload, "event")
        kind = fields.text("type")
        fields.where = f"event {kind[:50]!r}"
        if self._chunked is not None and kind != self._chunked[0] and kind not in _ANYWHERE:
            self._end_chunked()
        match kind:
            # What comes for every token is read as it is: checking it by a model would take longer than the rest.
            case "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT":
                metadata = (fields.object("metadata") or {}).get(OURS)
                beside = Fields(metadata, fields.where).object("providerMetadata") if metadata else None
                self._texts.grow(_kind_of(kind), fields.text("messageId"), fields.text("delta"), beside)
            case "TOOL_CALL_ARGS":
                self._calls.grow(fields.text("toolCallId"), fields.text("delta"))
            case _ if kind.startswith("THINKING_"):
                self._older(kind, fields)
            case _ if kind in self._handlers:
                self._handlers[kind](self._read(_with_ids(kind, fields.raw)))
            case _:
                message = f"An event has a type that nobody knows: {kind[:50]!r}; it was dropped."
                self._reading.tell(WireError(message, where=kind[:50], code="unsupported-type"))

    def _older(self, kind: str, fields: Fields) -> None:
        """Apply an event about thinking, from before the protocol called it reasoning; it has no id."""
        match kind:
            case "THINKING_TEXT_MESSAGE_START":
                self._thoughts += 1
                self._texts.begin(ReasoningPart(""), f" {self._thoughts}")
            case "THINKING_TEXT_MESSAGE_CONTENT":
                self._texts.grow(ReasoningPart, f" {self._thoughts}", fields.text("delta"))
            case "THINKING_TEXT_MESSAGE_END":
                self._texts.end(ReasoningPart, f" {self._thoughts}")
            case _:
                pass

    def _handlers_of_events(self) -> dict[str, Callable[[Any], None]]:
        return {
            "ACTIVITY_DELTA": self._activity_delta,
            "ACTIVITY_SNAPSHOT": self._activity_snapshot,
            "CUSTOM": self._custom,
            "MESSAGES_SNAPSHOT": self._messages,
            "RAW": self._unread,
            "REASONING_ENCRYPTED_VALUE": self._encrypted,
            "REASONING_END": self._pass_over,
            "REASONING_MESSAGE_CHUNK": self._text_chunk,
            "REASONING_MESSAGE_END": self._text_end,
            "REASONING_MESSAGE_START": self._text_start,
            "REASONING_START": self._pass_over,
            "RUN_ERROR": self._run_error,
            "RUN_FINISHED": self._run_finished,
            "RUN_STARTED": self._run_started,
            "STATE_DELTA": self._state_delta,
            "STATE_SNAPSHOT": self._state_snapshot,
            "STEP_FINISHED": self._step_finished,
            "STEP_STARTED": self._step_started,
            "SUBAGENT_ERROR": self._unread,
            "SUBAGENT_FINISHED": self._unread,
            "SUBAGENT_STARTED": self._subagent,
            "TEXT_MESSAGE_CHUNK": self._text_chunk,
            "TEXT_MESSAGE_END": self._text_end,
            "TEXT_MESSAGE_START": self._text_start,
            "TOOL_CALL_CHUNK": self._call_chunk,
            "TOOL_CALL_END": self._call_end,
            "TOOL_CALL_RESULT": self._call_result,
            "TOOL_CALL_START": self._call_start,
        }

    def _pass_over(self, event: core.BaseEvent) -> None:
        """The start and the end of reasoning enclose its messages, which say all that there is."""

    # ---------------------------------------------------------------- texts

    def _text_start(self, event: core.TextMessageStartEvent | core.ReasoningMessageStartEvent) -> None:
        kind, role = _kind_of(event.type), event.role or "assistant"
        if role not in ("assistant", "reasoning"):
            self._texts.leave_out(kind, event.message_id, role)
            return
        ours = Fields(ours_of(event), "event")
        metadata, parent_id = ours.object("providerMetadata"), self._parent_of(event, ours)
        if kind is TextPart:
            part: TextPart | ReasoningPart = TextPart("", provider_metadata=metadata, parent_id=parent_id)
        else:
            summary = ours.maybe_text("summary")
            part = ReasoningPart("", summary=summary, provider_metadata=metadata, parent_id=parent_id)
        self._texts.begin(part, event.message_id)

    def _text_end(self, event: core.TextMessageEndEvent | core.ReasoningMessageEndEvent) -> None:
        metadata = Fields(ours_of(event), "event").object("providerMetadata")
        self._texts.end(_kind_of(event.type), event.message_id, metadata)

    def _text_chunk(self, event: core.TextMessageChunkEvent | core.ReasoningMessageChunkEvent) -> None:
        kind, latest = _kind_of(event.type), None if self._chunked is None else self._chunked[1]
        message_id = event.message_id if event.message_id is not None else latest or ""
        if message_id != latest:
            self._end_chunked()
        self._chunked = (event.type, message_id)
        role = getattr(event, "role", None) or "assistant"
        if role != "assistant" and not self._texts.is_open(kind, message_id):
            self._texts.leave_out(kind, message_id, role)
        self._texts.grow(kind, message_id, event.delta or "")

    def _end_chunked(self) -> None:
        chunked, self._chunked = self._chunked, None
        if chunked is None:
            return
        kind, known_id = chunked
        if kind == "TOOL_CALL_CHUNK":
            self._calls.end(known_id)
        else:
            self._texts.end(_kind_of(kind), known_id)

    def _encrypted(self, event: core.ReasoningEncryptedValueEvent) -> None:
        metadata = {"ag-ui": {"encryptedValue": event.encrypted_value}}
        if event.subtype == "message":
            self._texts.keep(event.entity_id, metadata)
        else:
            self._calls.keep(event.entity_id, metadata)

    # ---------------------------------------------------------------- calls

    def _call_start(self, event: core.ToolCallStartEvent) -> None:
        ours = Fields(ours_of(event), "event")
        self._begin_call(event.tool_call_id, event.tool_call_name, self._parent_of(event, ours), ours)

    def _begin_call(self, call_id: str, name: str, parent_id: str | None, ours: Fields) -> None:
        self._texts.end_all(TextPart)  # what follows the call is another part, whatever its id
        metadata = ours.object("providerMetadata")
        self._calls.begin(
            ToolCallPart(tool_call_id=call_id, tool_name=name, parent_id=parent_id, provider_metadata=metadata)
        )

    def _call_end(self, event: core.ToolCallEndEvent) -> None:
        self._calls.end(event.tool_call_id)

    def _call_chunk(self, event: core.ToolCallChunkEvent) -> None:
        latest = None if self._chunked is None else self._chunked[1]
        call_id = event.tool_call_id if event.tool_call_id is not None else latest or ""
        if call_id != latest:
            self._end_chunked()
            ours = Fields(ours_of(event), "event")
            self._begin_call(call_id, event.tool_call_name or "", self._parent_of(event, ours), ours)
            self._chunked = (event.type, call_id)
        self._calls.grow(call_id, event.delta or "")

    def _call_result(self, event: core.ToolCallResultEvent) -> None:
        self._calls.respond(event.tool_call_id, **result_of(event, ours_of(event), self._reading.tell))

    # ---------------------------------------------------------------- state, activities, other things

    def _state_snapshot(self, event: core.StateSnapshotEvent) -> None:
        self._state = freeze(event.snapshot)
        self._emit(StateUpdate([SetValue((), self._state)]))

    def _state_delta(self, event: core.StateDeltaEvent) -> None:
        patch = [operation.model_dump(by_alias=True) for operation in event.delta]
        self._state, operations = read_patch({} if self._state is None else self._state, patch)
        if operations:
            self._emit(StateUpdate(operations))

    def _activity_snapshot(self, event: core.ActivitySnapshotEvent) -> None:
        key = (event.activity_type, event.message_id)
        if event.replace is not False or key not in self._activities:
            self._data(DataPart(name=key[0], id=key[1], data=event.content), self._parent_of(event))

    def _activity_delta(self, event: core.ActivityDeltaEvent) -> None:
        key = (event.activity_type, event.message_id)
        if key not in self._activities:
            message = f"Activity {event.message_id!r} was never shown; what changes in it was dropped."
            raise WireError(message, where=event.message_id, code="misplaced")
        patch = [operation.model_dump(by_alias=True) for operation in event.patch]
        part = self._activities[key]
        self._data(attrs.evolve(part, data=read_patch(part.data, patch)[0]), part.parent_id)

    def _data(self, part: DataPart, parent_id: str | None) -> None:
        """Show data; the same id again is a change of what is shown."""
        part, key = attrs.evolve(part, parent_id=parent_id), (part.name, part.id or "")
        if part.id is None:
            self._parts.whole(part)
            return
        if key in self._activities:
            self._emit(PartChunk(part))
        else:
            self._parts.whole(part)
        self._activities[key] = part

    def _custom(self, event: core.CustomEvent) -> None:
        if event.name == f"{OURS}.metadata":
            self._emit(MetadataChunk(custom=Fields(event.value, "event").object("custom")))
        elif event.name == f"{OURS}.chunk":
            self._ours(read_chunk(event.value, report=self._reading.tell))
        else:
            ours = Fields(ours_of(event), "event")
            self._data(DataPart(name=event.name, data=event.value, id=ours.name("id")), self._parent_of(event, ours))

    def _ours(self, chunk: Chunk) -> None:
        if isinstance(chunk, PartStart) and not isinstance(chunk.part, (TextPart, ReasoningPart, ToolCallPart)):
            self._parts.whole(chunk.part)
        elif isinstance(chunk, MetadataChunk):
            self._emit(chunk)
        else:
            message = "A custom event holds a chunk that the protocol has events for; it was dropped."
            raise WireError(message, where=type(chunk).__name__, code="invalid-value")

    def _unread(self, event: core.BaseEvent) -> None:
        message = f"An event {event.type!s} says what a message has no place for; it was dropped."
        self._reading.tell(WireError(message, where=str(event.type), code="unread"))

    def _subagent(self, event: core.SubagentStartedEvent) -> None:
        self._parents[event.subagent_run_id] = event.parent_tool_call_id or event.subagent_run_id
        self._unread(event)

    def _parent_of(self, event: core.BaseEvent, ours: Fields | None = None) -> str | None:
        subagent: str | None = getattr(event, "subagent_run_id", None)
        ours = ours or Fields(ours_of(event), "event")
        return ours.name("parentId") or (None if subagent is None else self._parents.get(subagent, subagent))

    # ---------------------------------------------------------------- runs

    def _run_started(self, event: core.RunStartedEvent) -> None:
        self._feed.is_terminal = False
        self._texts.end_all(TextPart, ReasoningPart)
        if event.input is not None:
            self._given = {message.id for message in event.input.messages}

    def _run_finished(self, event: core.RunFinishedEvent) -> None:
        self._feed.is_terminal = True
        self._texts.end_all(TextPart, ReasoningPart)
        self._calls.end_args()
        if event.result is not None:
            self._unread(event)
        self._emit(close_run(event, self._parts, self._calls))

    def _run_error(self, event: core.RunErrorEvent) -> None:
        self._feed.is_terminal = True
        self._texts.end_all(TextPart, ReasoningPart)
        for chunk in error_of(event):
            self._emit(chunk)

    def _step_started(self, event: core.StepStartedEvent) -> None:
        ours = ours_of(event)
        if "isMade" not in ours:
            self._emit(StepStart(Fields(ours, "step").maybe_text("messageId") if ours else event.step_name))

    def _step_finished(self, event: core.StepFinishedEvent) -> None:
        ours = Fields(ours_of(event), "step")
        if "isMade" in ours.raw:
            return
        self._texts.end_all(TextPart, ReasoningPart)
        reason = read_reason(ours) if ours.has("finishReason") else None
        self._emit(StepFinish(read_usage(ours), reason=reason, is_continued=ours.flag("isContinued")))

    def _messages(self, event: core.MessagesSnapshotEvent) -> None:
        activities = settle_messages(event.messages, self._texts, self._calls, self._given)
        for activity in activities:
            self._data(DataPart(name=activity.activity_type, id=activity.id, data=activity.content), None)


def _kind_of(kind: str) -> Kind:
    return TextPart if kind.startswith("TEXT_") else ReasoningPart


def _with_ids(kind: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Fill in an id that the protocol asks for, and that nothing depends on."""
    if kind == "TOOL_CALL_RESULT" and not isinstance(payload.get("messageId"), str):
        return {**payload, "messageId": ""}
    return payload
