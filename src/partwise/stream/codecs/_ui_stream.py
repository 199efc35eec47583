"""The UI message stream of the AI SDK: server-sent events that name each block by an id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from partwise.errors import WireError
from partwise.messages import DataPart, FilePart, ReasoningPart, TextPart
from partwise.stream._chunk_json import read_error
from partwise.stream._chunks import Chunk, ErrorChunk, Finish, MetadataChunk, PartChunk, StepFinish, StepStart
from partwise.stream._fields import Fields, read_reason, read_usage
from partwise.stream._lines import MAX_LINE_LENGTH
from partwise.stream._part_json import part_or_data
from partwise.stream._report import Report
from partwise.stream.writing import PartWriter, TextWriter

from ._reading import Reading, in_turns
from ._sse_feed import SseFeed
from ._ui_calls import UiCalls

__all__ = ["OnData", "UIMessageStreamDecoder"]

# Given name, value, id and whether it is to be forgotten, of each data event.
OnData: TypeAlias = Callable[[str, Any, str | None, bool], object]


class _Block:
    """A text or reasoning block; the part begins with its first delta, since many blocks never get one."""

    __slots__ = ("metadata", "writer")

    def __init__(self, metadata: Mapping[str, Any] | None) -> None:
        self.metadata = metadata
        self.writer: TextWriter | None = None


class UIMessageStreamDecoder:
    """Reads a UI message stream from bytes, cut anywhere; the older forms of its events, too.

    A call is opened when its input begins, and its arguments stream. Metadata of the message becomes
    ``custom`` metadata. A stream without its end marker was cut off, unless it has said how the answer ended.

    Attributes:
        problem: What has ended the reading before its time; the last chunk, an ``ErrorChunk``, says so too.

    Args:
        is_strict: Whether a frame that cannot be used, or a missing end marker, ends the reading.
        report: Told about each kind of dropped frame once; logged as a warning by default.
        on_data: Called with each data event; what is transient comes nowhere else.
        max_line_length: A longer line, or more data in one event, ends the reading.

    Raises:
        InvalidInputError: The limit is no whole number above zero.
    """

    def __init__(
        self,
        *,
        is_strict: bool = False,
        report: Report | None = None,
        on_data: OnData | None = None,
        max_line_length: int = MAX_LINE_LENGTH,
    ) -> None:
        self._reading = Reading(is_strict=is_strict, report=report)
        self._on_data = on_data
        self._parts = PartWriter(self._emit, report=self._reading.tell)
        self._feed = SseFeed(
            self._reading,
            self._payload,
            end=self._end,
            broken=self._parts.close_texts,
            refuse=self._reading.refuse,
            max_line_length=max_line_length,
            max_event_length=max_line_length,
        )
        self._calls = UiCalls(self._parts, self._emit, self._reading.tell)
        self._blocks: dict[tuple[type[TextPart | ReasoningPart], str], _Block] = {}
        self._latest: dict[type[TextPart | ReasoningPart], str] = {}
        self._data_ids: set[tuple[str, str]] = set()
        self._message_id: str | None = None
        self._steps = 0
        self._is_fresh = False

    @property
    def problem(self) -> WireError | None:
        """What has ended the reading before its time."""
        return self._reading.problem

    def feed(self, data: bytes) -> list[Chunk]:
        """Return the chunks whose events end in these bytes."""
        return self._feed.feed(data)

    def close(self) -> list[Chunk]:
        """Return what is left when the bytes have ended."""
        return self._feed.close()

    def _emit(self, chunk: Chunk) -> None:
        self._reading.chunks.append(chunk)

    def _end(self) -> None:
        parts = sorted(self._parts.open_parts, key=lambda part: isinstance(part, TextWriter))
        in_turns(self._reading.chunks, parts, lambda part: part.close())

    def _payload(self, payload: Any) -> None:
        fields = Fields(payload, "event")
        kind = fields.text("type")
        fields.where = f"event {kind[:50]!r}"
        self._take(kind, fields)

    def _take(self, kind: str, fields: Fields) -> None:
        match kind:
            case "text-start" | "reasoning-start":
                self._begin(_kind_of(kind), fields)
            case "text-delta" | "reasoning-delta":
                self._grow(_kind_of(kind), fields)
            case "text-end" | "reasoning-end":
                self._close(_kind_of(kind), fields)
            case "source-url" | "source-document" | "source" | "file":
                self._whole(kind, fields)
            case _ if kind.startswith("data-"):
                self._data(kind.removeprefix("data-"), fields)
            case _ if kind.startswith("tool-"):
                if not self._calls.take(kind, fields):
                    self._unknown(kind)
            case _:
                self._mark(kind, fields)

    def _mark(self, kind: str, fields: Fields) -> None:
        match kind:
            case "start":
                self._message_id = fields.maybe_text("messageId") or self._made_id()
                self._step(self._message_id)
                self._is_fresh = True
                self._metadata(fields)
            case "start-step":
                step_id = fields.maybe_text("messageId") or self._message_id or self._made_id()
                if not (self._is_fresh and step_id == self._message_id):
                    self._step(step_id)
                self._message_id, self._is_fresh = step_id, False
            case "finish-step":
                self._is_fresh = False
                self._close_blocks()
                is_continued = bool(fields.flag("isContinued"))
                self._emit(StepFinish(read_usage(fields), reason=_reason(fields), is_continued=is_continued))
            case "finish":
                self._feed.is_terminal = True
                self._metadata(fields)
                self._emit(Finish(_reason(fields), total_usage=read_usage(fields)))
            case "message-metadata":
                self._metadata(fields)
            case "error":
                self._feed.is_terminal = True
                self._emit(ErrorChunk(read_error({"error": fields.maybe_text("errorText")})))
            case "abort":
                self._feed.is_terminal = True
                self._close_blocks()
                self._emit(Finish("cancelled"))
            case _:
                self._unknown(kind)

    def _unknown(self, kind: str) -> None:
        message = f"An event has a type that nobody knows: {kind[:50]!r}; it was dropped."
        self._reading.tell(WireError(message, where=kind[:50], code="unsupported-type"))

    def _step(self, step_id: str) -> None:
        self._emit(StepStart(step_id))
        self._steps += 1

    def _made_id(self) -> str:
        return f"step-{self._steps}"

    def _metadata(self, fields: Fields) -> None:
        metadata = fields.object("messageMetadata")
        if metadata:
            self._emit(MetadataChunk(custom=metadata))

    def _begin(self, kind: type[TextPart | ReasoningPart], fields: Fields) -> None:
        block_id = fields.maybe_text("id") or ""
        self._close(kind, fields)
        self._parts.end_current()
        self._blocks[kind, block_id] = block = _Block(fields.object("providerMetadata"))
        self._latest[kind] = block_id
        if block.metadata:
            self._writer(kind, block)

    def _writer(self, kind: type[TextPart | ReasoningPart], block: _Block) -> TextWriter:
        if block.writer is None:
            block.writer = self._parts.begin_text(kind("", provider_metadata=block.metadata))
        return block.writer

    def _block(self, kind: type[TextPart | ReasoningPart], fields: Fields) -> tuple[str, _Block | None]:
        block_id = fields.maybe_text("id")
        if block_id is None:
            block_id = self._latest.get(kind, "")
        return block_id, self._blocks.get((kind, block_id))

    def _grow(self, kind: type[TextPart | ReasoningPart], fields: Fields) -> None:
        text = fields.maybe_text("delta" if fields.has("delta") else "textDelta") or ""
        metadata = fields.object("providerMetadata")
        _, block = self._block(kind, fields)
        writer = self._parts.writing(kind("")) if block is None else self._writer(kind, block)
        writer.append(text, provider_metadata=metadata)

    def _close(self, kind: type[TextPart | ReasoningPart], fields: Fields) -> None:
        block_id, block = self._block(kind, fields)
        if block is None:
            if fields.raw["type"].endswith("-end"):
                self._parts.end_current()
            return
        del self._blocks[kind, block_id]
        metadata = fields.object("providerMetadata") if fields.raw["type"].endswith("-end") else None
        if block.writer is not None or metadata:
            self._writer(kind, block).close(provider_metadata=metadata)

    def _close_blocks(self) -> None:
        for block in self._blocks.values():
            if block.writer is not None:
                block.writer.close()
        self._blocks.clear()
        self._parts.end_current()

    def _whole(self, kind: str, fields: Fields) -> None:
        raw = fields.raw
        if kind == "file":
            self._parts.whole(_file(fields))
            return
        if kind == "source":
            given = fields.object("source")
            if given is None:
                fields.refuse("is missing", "source")
            raw = {**given, "type": "source"}
        else:
            source_type = kind.removeprefix("source-")
            raw = {**raw, "type": "source", "sourceType": source_type, "id": raw.get("sourceId")}
        self._parts.whole(part_or_data(Fields(raw, fields.where), self._reading.tell))

    def _data(self, name: str, fields: Fields) -> None:
        data_id, is_transient = fields.name("id"), bool(fields.flag("transient"))
        value = fields.raw.get("data")
        if self._on_data is not None:
            self._on_data(name, value, data_id, is_transient)
        if is_transient:
            return
        part = DataPart(name=name, data=value, id=data_id)
        if data_id is not None and (name, data_id) in self._data_ids:
            self._emit(PartChunk(part))
            return
        if data_id is not None:
            self._data_ids.add((name, data_id))
        self._parts.whole(part)


def _kind_of(kind: str) -> type[TextPart | ReasoningPart]:
    return TextPart if kind.startswith("text-") else ReasoningPart


def _reason(fields: Fields) -> Any:
    return read_reason(fields) if fields.has("finishReason") else "unknown"


def _file(fields: Fields) -> FilePart:
    older = fields.object("file")
    given = fields if older is None else Fields(older, fields.where)
    media_type = given.text("mediaType" if given.has("mediaType") else "mimeType")
    data = given.text("url" if given.has("url") else "data")
    filename, metadata = given.name("filename"), fields.object("providerMetadata")
    return FilePart(data=data, media_type=media_type, filename=filename, provider_metadata=metadata)
