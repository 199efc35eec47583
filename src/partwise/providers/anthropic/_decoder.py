"""From Messages payloads to chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from partwise.messages import DataPart, FilePart, Usage, error_record
from partwise.providers.wire import (
    FreeIds,
    Json,
    Payload,
    Sources,
    Unknown,
    count,
    error_of,
    fields_of,
    mapping,
    mappings,
    merge_usage,
    word,
)
from partwise.stream import (
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
)

from ._blocks import CALLS, block_of, input_text, is_failure, is_result, source_of

__all__ = ["MessagesDecoder"]

_FINISHES: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content-filter",
}
_BROKEN_OFF = {"error": "The service started its answer again before this call was complete."}
# What is told of a message beside its content.
_KEPT = ("container", "diagnostics", "input_transformations", "stop_details", "stop_sequence")
_HANDED_OVER = {"error": "Another model took over the answer, and did not make this call."}
# The provider waits for its message to be sent back: in the middle of its tools, or with a new summary of the history.
_PAUSES = ("pause_turn", "compaction")


@attrs.define
class _Block:
    """A block that is open."""

    fields: dict[str, Any]
    part_id: str
    has_text: bool = False
    has_deltas: bool = False
    signature: list[str] = attrs.field(factory=list[str])
    summary: list[str] = attrs.field(factory=list[str])

    @property
    def kind(self) -> str:
        return word(self.fields.get("type"))


class MessagesDecoder:
    """Turns the payloads of one streamed answer into chunks.

    Pure and incremental: no network, no clock. A block is known by its index within its message. A
    stream may hold several messages; each is a step, the result of a call may come in a later one, and
    the last one says how the answer ended. A message that starts while blocks of the one before are
    open is a second attempt: what is open stays as it is, and its calls are not to be run.

    What cannot be shown, but must be sent back for the conversation to go on (signatures, redacted
    thinking, a summary in place of the history), is kept in the provider metadata of its part, or of
    the part that follows it.

    ```python
    decoder = MessagesDecoder()
    for payload in payloads:
        for chunk in decoder.decode(payload):
            ...
    for chunk in decoder.close():
        ...
    ```
    """

    __slots__ = (
        "_blocks",
        "_call_ids",
        "_client_calls",
        "_finish",
        "_has_failed",
        "_has_paused",
        "_has_stopped",
        "_ids",
        "_is_empty",
        "_kept_aside",
        "_lent",
        "_number",
        "_sources",
        "_text",
        "_unknown",
        "_unseen",
        "_usage",
    )

    def __init__(self) -> None:
        self._number = 0
        self._is_empty = True
        self._blocks: dict[int, _Block] = {}
        self._text = 0
        self._ids = FreeIds()
        self._call_ids: dict[str, str] = {}
        self._client_calls: list[str] = []
        self._finish: FinishReason | None = None
        self._has_stopped = False
        self._has_paused = False
        self._has_failed = False
        self._usage: Usage | None = None
        self._sources = Sources("anthropic")
        self._unseen: list[Json] = []
        self._kept_aside: dict[str, Any] = {}
        self._lent = False
        self._unknown = Unknown()

    def decode(self, payload: Payload) -> list[Chunk]:
        """Return the chunks that a payload gives; usually one, often none."""
        fields = fields_of(payload)
        kind = word(fields.get("type"))
        if kind == "error" or (not kind and fields.get("error")):
            return self.fail(error_of(fields.get("error") or {}))
        return [*self._decode(kind, fields)]

    def fail(self, error: object) -> list[Chunk]:
        """Return the chunk for a failure of the stream; one failure is told, however often a server repeats it.

        Args:
            error: An exception, a text or a structured error.
        """
        if self._has_failed:
            return []
        self._has_failed = True
        return [*self._seal_open(), *self._sources.release(), ErrorChunk(error_record(error))]

    def close(self) -> list[Chunk]:
        """Return the chunks for the end of the stream. Without the event that ends a message it is incomplete."""
        if self._has_failed:
            return [StepFinish(self._usage)] if self._usage else []
        return [*self._seal_open(), *self._sources.release(), *self._leave(), Finish(self._reason(), self._usage)]

    def pause(self) -> list[Chunk]:
        """Return the chunks after which the message can be sent back, so that the provider goes on with it."""
        if not self._unseen:
            return []
        self._lent = True  # to the message, until a part follows that keeps it
        return [MetadataChunk(custom={"anthropic": {**self._kept_aside, "after": [*self._unseen]}})]

    @property
    def is_paused(self) -> bool:
        """Whether the provider waits for its message to be sent back, and then goes on with it."""
        return self._has_stopped and self._has_paused and not self._has_failed

    def _leave(self) -> Iterator[Chunk]:
        """Give what is left of blocks that cannot be shown, when no part followed that could have kept it."""
        if self._unseen:
            self._kept_aside = {**self._kept_aside, "after": self._unseen}
            self._unseen = []
            yield MetadataChunk(custom={"anthropic": self._kept_aside})

    def _reason(self) -> FinishReason:
        if self._finish is None or not self._has_stopped:
            return "other"
        if self._finish in ("stop", "tool-calls"):  # some gateways mix the two up, but the calls are there or not
            return "tool-calls" if self._client_calls else "stop"
        return self._finish

    def _decode(self, kind: str, fields: Json) -> Iterator[Chunk]:
        index = count(fields.get("index")) or 0
        match kind:
            case "message_start":
                yield from self._begin(mapping(fields.get("message")))
            case "content_block_start":
                yield from self._start(index, mapping(fields.get("content_block")))
            case "content_block_delta":
                yield from self._delta(index, mapping(fields.get("delta")))
            case "content_block_stop":
                yield from self._stop(index)
            case "message_delta":
                yield from self._learn(mapping(fields.get("delta")), fields)
            case "message_stop":
                self._has_stopped = True
            case "ping":
                return
            case _:
                self._unknown.report(f"an event of an unknown type: {kind!r}")

    # ---------------------------------------------------------------- messages

    def _begin(self, message: Json) -> Iterator[Chunk]:
        if self._number and not self._is_empty:
            yield from self._seal_open()
            for block in self._blocks.values():
                if CALLS.get(block.kind) is False:
                    yield ToolResult(block.part_id, _BROKEN_OFF, is_error=True)
            yield from self._sources.release()
            yield StepFinish(self._usage)
        if not self._number or not self._is_empty:
            self._number += 1
            yield StepStart(word(message.get("id")) or None)
        if self._lent:
            self._lent = False
            yield MetadataChunk(custom={"anthropic": self._kept_aside})
        self._is_empty, self._has_stopped, self._has_paused = True, False, False
        self._blocks, self._client_calls = {}, []
        self._finish, self._usage = None, None
        self._text += 1
        yield from self._learn(message, message)
        for index, whole in enumerate(mappings(message.get("content"))):
            yield from self._start(index, whole)
            yield from self._stop(index)

    def _learn(self, said: Json, fields: Json) -> Iterator[Chunk]:
        reason = word(said.get("stop_reason"))
        if reason:
            self._finish = _FINISHES.get(reason, "other")
            self._has_paused = reason in _PAUSES
        self._usage = merge_usage(self._usage, _usage_of(mapping(fields.get("usage"))))
        kept = {key: said.get(key) or fields[key] for key in _KEPT if said.get(key) or fields.get(key)}
        edits = mapping(fields.get("context_management")) or mapping(said.get("context_management"))
        if edits.get("applied_edits"):
            kept["context_management"] = edits
        if kept:
            self._kept_aside = {**self._kept_aside, **kept}
            yield MetadataChunk(custom={"anthropic": self._kept_aside})

    # ---------------------------------------------------------------- blocks

    def _start(self, index: int, fields: Json) -> Iterator[Chunk]:
        self._is_empty = False
        block = self._blocks[index] = _Block(dict(fields), f"{self._number}.{index}")
        kind = block.kind
        if kind == "text":
            block.part_id = f"text.{self._text}"
            yield from self._delta(index, {"type": "text_delta", "text": fields.get("text")})
            for citation in mappings(fields.get("citations")):
                yield from self._delta(index, {"type": "citations_delta", "citation": citation})
            return
        self._text += 1  # a text after this is another part
        if kind == "fallback":
            yield from self._hand_over()
        if kind == "thinking":
            block.fields |= {"thinking": "", "signature": ""}
            yield from self._delta(index, {"type": "thinking_delta", "thinking": fields.get("thinking")})
            yield from self._delta(index, {"type": "signature_delta", "signature": fields.get("signature")})
        elif kind in CALLS:
            yield from self._call(block, fields)
        elif is_result(kind):
            yield from self._result(fields)
        elif kind == "container_upload":
            yield _file(word(fields.get("file_id")))

    def _delta(self, index: int, delta: Json) -> Iterator[Chunk]:
        block = self._blocks.get(index)
        if block is None:
            self._unknown.report("a delta for a block that is not open")
            return
        match word(delta.get("type")):
            case "text_delta":
                yield from self._write(block, word(delta.get("text")))
            case "citations_delta":
                yield from self._cite(block, mapping(delta.get("citation")))
            case "thinking_delta":
                yield from self._think(block, word(delta.get("thinking")))
            case "signature_delta":
                block.signature.append(word(delta.get("signature")))
            case "input_json_delta" if block.kind in CALLS:
                yield from self._grow(block, word(delta.get("partial_json")))
            case "compaction_delta":
                _compact(block, delta)
            case kind:
                self._unknown.report(f"a delta of type {kind!r} for a block of type {block.kind!r}")

    def _stop(self, index: int) -> Iterator[Chunk]:
        block = self._blocks.pop(index, None)
        if block is None:
            return
        match block.kind:
            case "text":
                yield from self._sources.release()
            case "thinking":
                yield from self._seal(block)
            case "redacted_thinking" | "compaction":
                summary = {"content": "".join(block.summary)} if block.summary else {}
                self._unseen.append({**block.fields, **summary})
            case kind if kind in CALLS:
                whole = "" if block.has_deltas else input_text(block.fields)
                yield ToolArgsFinish(block.part_id, whole or None)
            case kind if not is_result(kind) and kind != "container_upload":
                yield PartChunk(DataPart(name=kind, data=block.fields))
            case _:
                return

    def _write(self, block: _Block, text: str) -> Iterator[Chunk]:
        if text:
            block.has_text = True
            yield TextDelta(text, part_id=block.part_id, provider_metadata=self._kept({}))
            yield from self._sources.release()

    def _grow(self, block: _Block, text: str) -> Iterator[Chunk]:
        if text:
            block.has_deltas = True
            yield ToolArgsDelta(block.part_id, text)

    def _cite(self, block: _Block, citation: Json) -> Iterator[Chunk]:
        source, place = source_of(citation)
        if source is not None:
            self._sources.cite(source, place)
        if block.has_text:
            yield from self._sources.release()

    def _think(self, block: _Block, text: str) -> Iterator[Chunk]:
        if text:
            block.has_text = True
            yield ReasoningDelta(text, part_id=block.part_id, provider_metadata=self._kept({}))

    def _seal(self, block: _Block) -> Iterator[Chunk]:
        """Keep the signature of a thinking block: with its text, or aside until a part comes that can keep it."""
        signature = "".join(block.signature)
        block.signature.clear()
        if signature and block.has_text:
            kept = {"anthropic": {"signature": signature}}
            yield ReasoningDelta("", part_id=block.part_id, provider_metadata=kept)
        elif signature:
            self._unseen.append({**block.fields, "signature": signature})

    def _seal_open(self) -> Iterator[Chunk]:
        for block in self._blocks.values():
            yield from self._seal(block)

    def _hand_over(self) -> Iterator[Chunk]:
        """Settle the calls of the model that gives way: it may have been cut off, and nobody wants their results."""
        for call_id in self._client_calls:
            yield ToolResult(call_id, _HANDED_OVER, is_error=True)
        self._client_calls = []

    def _call(self, block: _Block, fields: Json) -> Iterator[Chunk]:
        wire_id = word(fields.get("id")) or f"call-{block.part_id}"
        block.part_id = self._call_ids[wire_id] = self._ids.take(wire_id)
        runs_there = CALLS[block.kind]
        if not runs_there:
            self._client_calls.append(block.part_id)
        mark = {"provider_executed": True} if runs_there else {}
        caller = word(mapping(fields.get("caller")).get("tool_id"))
        yield ToolCallStart(
            block.part_id,
            word(fields.get("name")),
            parent_id=self._call_ids.get(caller, caller) or None,
            provider_metadata=self._kept({**mark, "block": block_of(fields)}),
        )

    def _result(self, fields: Json) -> Iterator[Chunk]:
        wire_id = word(fields.get("tool_use_id"))
        content = fields.get("content")
        yield ToolResult(self._call_ids.get(wire_id, wire_id), content, is_error=is_failure(fields) or None)
        for made in mappings(mapping(content).get("content")):
            if word(made.get("file_id")):
                yield _file(word(made.get("file_id")))

    def _kept(self, said: dict[str, Any]) -> dict[str, Any] | None:
        """Return what is kept beside a part that begins, with what had to wait for one."""
        if self._unseen:
            said = {**said, "before": self._unseen}
            self._unseen = []
        return {"anthropic": said} if said else None


def _compact(block: _Block, delta: Json) -> None:
    if not block.summary:
        block.summary.append(word(block.fields.get("content")))
    block.summary.append(word(delta.get("content")))
    if delta.get("encrypted_content"):
        block.fields["encrypted_content"] = delta["encrypted_content"]


def _file(file_id: str) -> Chunk:
    return PartChunk(FilePart(data=file_id, source_type="id", media_type="application/octet-stream"))


def _usage_of(usage: Json) -> Usage | None:
    told = Usage(
        input_tokens=count(usage.get("input_tokens")),
        output_tokens=count(usage.get("output_tokens")),
        reasoning_tokens=count(mapping(usage.get("output_tokens_details")).get("thinking_tokens")),
        cached_input_tokens=count(usage.get("cache_read_input_tokens")),
    )
    return told if told.input_tokens or told.output_tokens else None
