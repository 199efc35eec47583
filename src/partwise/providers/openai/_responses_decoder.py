"""From Responses payloads to chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import attrs

from partwise.messages import Usage, error_record
from partwise.providers.wire import Json, Payload, Sources, Unknown, count, error_of, fields_of, mapping, mappings, word
from partwise.stream import (
    Chunk,
    ErrorChunk,
    Finish,
    FinishReason,
    MetadataChunk,
    ReasoningDelta,
    StepFinish,
    StepStart,
)

from ._responses_calls import Call, ResponseCalls
from ._responses_items import KINDS, OUTPUTS, Unclaimed, arguments_of
from ._responses_texts import TextKind, Texts

__all__ = ["ResponsesDecoder"]

# Which text an event is about, and the field that says which one of its kind.
_TEXTS: Final[dict[str, tuple[TextKind, str]]] = {
    "output_text": ("text", "content_index"),
    "refusal": ("refusal", "content_index"),
    "reasoning_text": ("reasoning", "content_index"),
    "reasoning_summary_text": ("summary", "summary_index"),
}
_PART_KINDS: Final[dict[str, TextKind]] = {
    "output_text": "text",
    "refusal": "refusal",
    "reasoning_text": "reasoning",
    "summary_text": "summary",
}
# The events that write arguments, and the field in which the last one repeats them.
_ARGUMENTS: Final = {
    "function_call_arguments": "arguments",
    "mcp_call_arguments": "arguments",
    "custom_tool_call_input": "input",
    "code_interpreter_call_code": "code",
    "apply_patch_call_operation_diff": "",
    "shell_call_command": "",
}
# Events that say nothing which no other event says: how far something has come, or what is repeated at its end.
_SILENT: Final = (
    "",
    "content_part.added",
    "keepalive",
    "reasoning_summary_part.added",
    "shell_call_output_content.delta",
    "shell_call_output_content.done",
)
_STATES: Final = ("in_progress", "searching", "interpreting", "generating", "completed", "failed", "ping")
# Items that are not shown, but have to be sent back before the item that follows them.
_UNSEEN: Final = ("mcp_list_tools", "compaction")
_LENGTH: Final = ("max_output_tokens", "max_tokens", "length")


@attrs.define
class _Item:
    """An item of the response that is open, or was."""

    fields: Json
    call: Call | None = None
    is_done: bool = False

    @property
    def kind(self) -> str:
        return word(self.fields.get("type"))


class ResponsesDecoder:
    """Turns the payloads of one streamed answer into chunks.

    Pure and incremental: no network, no clock. Everything is found by the index of its item, never by
    an id, because some gateways change the ids with every event. What an event at the end repeats is
    taken for what has not come yet. A stream may hold several responses; each is a step, and the last
    one says how the answer ended. The end is told by ``close``.

    What cannot be shown, but must be sent back for the conversation to go on (ids, encrypted
    reasoning, lists of tools), is kept in the provider metadata of the part that follows it.

    ```python
    decoder = ResponsesDecoder()
    for payload in payloads:
        for chunk in decoder.decode(payload):
            ...
    for chunk in decoder.close():
        ...
    ```
    """

    __slots__ = (
        "_calls",
        "_finish",
        "_has_failed",
        "_id",
        "_is_open",
        "_items",
        "_number",
        "_sources",
        "_texts",
        "_unknown",
        "_unseen",
        "_usage",
    )

    def __init__(self) -> None:
        self._number = 0
        self._id = ""
        self._is_open = False
        self._finish: FinishReason | None = None
        self._has_failed = False
        self._usage: Usage | None = None
        self._sources = Sources("openai")
        self._calls = ResponseCalls()
        self._texts = Texts(0, self._sources)
        self._items: dict[int, _Item] = {}
        self._unseen: list[Json] = []
        self._unknown = Unknown()

    def decode(self, payload: Payload) -> list[Chunk]:
        """Return the chunks that a payload gives; usually one, often none."""
        fields = fields_of(payload)
        kind = word(fields.get("type")).removeprefix("response.")
        if kind == "error" or (not kind and fields.get("error")):
            return self.fail(error_of(mapping(fields.get("error")) or fields.get("error") or _flat_error(fields)))
        return [*self._decode(kind, fields)]

    def fail(self, error: object) -> list[Chunk]:
        """Return the chunk for a failure of the stream; one failure is told, however often a server repeats it.

        Args:
            error: An exception, a text or a structured error.
        """
        if self._has_failed:
            return []
        self._has_failed = True
        return [*self._rest(), ErrorChunk(error_record(error))]

    def close(self) -> list[Chunk]:
        """Return the chunks for the end of the stream. Without a terminal event the answer is incomplete."""
        if self._has_failed:
            return [StepFinish(self._usage)] if self._usage else []
        finish = self._finish or "other"
        if finish == "stop" and self._waits():
            finish = "tool-calls"
        return [*self._rest(), Finish(finish, self._usage)]

    def _decode(self, kind: str, fields: Json) -> Iterator[Chunk]:
        if kind in ("created", "queued", "in_progress"):
            yield from self._begin(fields, is_first=kind == "created")
            return
        if kind in ("completed", "incomplete", "failed", "cancelled"):
            yield from self._terminal(kind, mapping(fields.get("response")))
            return
        index = count(fields.get("output_index")) or 0
        name, _, verb = kind.rpartition(".")
        is_known = name in _TEXTS or name in _ARGUMENTS or name == "output_item"
        if is_known and not self._is_open and (not self._number or verb == "added"):
            yield from self._begin({}, is_first=True)
        if name in _TEXTS:
            yield from self._text(*_TEXTS[name], verb, index, fields)
        elif name in _ARGUMENTS:
            yield from self._arguments(name, verb, index, fields)
        else:
            yield from self._item_event(kind, index, fields)

    def _item_event(self, kind: str, index: int, fields: Json) -> Iterator[Chunk]:
        match kind:
            case "output_item.added":
                yield from self._added(index, mapping(fields.get("item")))
            case "output_item.done":
                yield from self._end(index, mapping(fields.get("item")))
            case "content_part.done" | "reasoning_summary_part.done":
                yield from self._part_done(index, fields)
            case "output_text.annotation.added":
                yield from self._annotation(index, fields)
            case "image_generation_call.partial_image":
                self._partial_image(index, fields)
            case _ if kind not in _SILENT and kind.rpartition(".")[2] not in _STATES:
                self._unknown.report(f"an event of an unknown type: {kind!r}")
            case _:
                return

    def _begin(self, fields: Json, *, is_first: bool) -> Iterator[Chunk]:
        response_id = word(mapping(fields.get("response")).get("id"))
        if self._is_open and (not is_first or not self._items):
            self._id = self._id or response_id
            return
        if self._number:
            yield StepFinish(self._usage)
        self._number += 1
        self._id, self._is_open, self._finish, self._usage = response_id, True, None, None
        self._items = {}
        self._texts = Texts(self._number, self._sources)
        yield StepStart(response_id or None)

    # ---------------------------------------------------------------- items

    def _added(self, index: int, item: Json) -> Iterator[Chunk]:
        old = self._items.get(index)
        if old is None or old.is_done or _is_other(old, item):
            yield from self._open(index, item)

    def _open(self, index: int, item: Json) -> Iterator[Chunk]:
        opened = self._items[index] = _Item(item)
        kind = opened.kind
        if kind in KINDS:
            opened.call, chunks = self._calls.open(item, f"{self._id or 'call'}-{index}", self._take_unseen())
            yield from chunks
        elif kind not in ("message", "reasoning", *_UNSEEN, *OUTPUTS):
            self._unknown.report(f"an item of an unknown type: {kind!r}")

    def _end(self, index: int, item: Json) -> Iterator[Chunk]:
        known = self._items.get(index)
        is_next = known is not None and known.is_done and word(item.get("id")) != word(known.fields.get("id"))
        if known is None or is_next or _is_other(known, item):
            yield from self._open(index, item)
        known = self._items[index]
        item = {**item, "type": known.kind}
        if known.is_done:
            return
        known.is_done = True
        known.fields = {**known.fields, **item}
        if known.call is not None:
            yield from self._calls.end(known.call, item)
        elif known.kind in OUTPUTS:
            yield from self._calls.answer(known.fields)
        elif known.kind in _UNSEEN:
            self._unseen.append(dict(known.fields))
        else:
            yield from self._end_texts(index, known)

    def _end_texts(self, index: int, known: _Item) -> Iterator[Chunk]:
        for place, part in enumerate(mappings(known.fields.get("summary"))):
            yield from self._settle(index, "summary", place, word(part.get("text")))
        for place, part in enumerate(mappings(known.fields.get("content"))):
            yield from self._part_done(index, {"content_index": place, "part": part})
        if known.kind != "reasoning":
            return
        part_id = self._texts.reasoning_part(index)
        kept = {key: value for key, value in known.fields.items() if key not in ("summary", "content", "status")}
        if part_id is None:
            self._unseen.append({**kept, "summary": []})
        elif kept.get("encrypted_content") or kept.get("signature"):
            yield ReasoningDelta("", part_id=part_id, provider_metadata={"openai": {"item": kept}})

    def _take_unseen(self) -> dict[str, Any]:
        unseen, self._unseen = self._unseen, []
        return {"before": unseen} if unseen else {}

    # ---------------------------------------------------------------- texts

    def _text(self, kind: TextKind, place: str, verb: str, index: int, fields: Json) -> Iterator[Chunk]:
        at = count(fields.get(place)) or 0
        if verb == "delta":
            yield from self._grow(index, kind, at, word(fields.get("delta")))
        elif verb == "done":
            yield from self._settle(index, kind, at, word(fields.get("text")) or word(fields.get("refusal")))

    def _grow(self, index: int, kind: TextKind, at: int, text: str) -> Iterator[Chunk]:
        if not text:
            return
        metadata = None
        if self._texts.is_new(index, kind, at):
            item = self._items.get(index)
            shown = ("type", "id", "phase")
            kept = {key: item.fields[key] for key in shown if item.fields.get(key)} if item is not None else {}
            marks: dict[str, Any] = {kind: True} if kind in ("refusal", "summary") else {}
            metadata = {"openai": {**self._take_unseen(), **marks, **({"item": kept} if kept else {})}}
        yield from self._texts.grow(index, kind, at, text, metadata)

    def _settle(self, index: int, kind: TextKind, at: int, whole: str) -> Iterator[Chunk]:
        rest = self._texts.missing(index, kind, at, whole)
        if rest is not None:
            yield from self._grow(index, kind, at, rest)
        elif whole:
            yield self._texts.replace(index, kind, at, whole)

    def _part_done(self, index: int, fields: Json) -> Iterator[Chunk]:
        part = mapping(fields.get("part"))
        kind = _PART_KINDS.get(word(part.get("type")))
        if kind is None:
            return
        at = count(fields.get("summary_index" if kind == "summary" else "content_index")) or 0
        yield from self._settle(index, kind, at, word(part.get("text")) or word(part.get("refusal")))
        yield from self._texts.cite_rest(index, at, part.get("annotations"))

    def _annotation(self, index: int, fields: Json) -> Iterator[Chunk]:
        at = count(fields.get("content_index")) or 0
        self._texts.cite(index, at, mapping(fields.get("annotation")))
        if not self._texts.is_new(index, "text", at):
            yield from self._sources.release()

    # ---------------------------------------------------------------- calls

    def _arguments(self, name: str, verb: str, index: int, fields: Json) -> Iterator[Chunk]:
        item = self._items.get(index)
        if item is None:
            kind = "function_call" if name == "function_call_arguments" else name.rpartition("_")[0]
            yield from self._open(index, {"type": kind if kind in KINDS else "function_call"})
            item = self._items[index]
        call = item.call
        if call is None:
            return
        if name == "shell_call_command":
            yield from self._calls.begin_command(call, count(fields.get("command_index")) or 0)
        if verb == "delta":
            yield from self._calls.grow(call, word(fields.get("delta")))
        elif verb == "done" and _ARGUMENTS[name]:
            call.item = {**call.item, _ARGUMENTS[name]: word(fields.get(_ARGUMENTS[name]))}
            yield from self._calls.end_arguments(call, arguments_of(call.item))

    def _partial_image(self, index: int, fields: Json) -> None:
        item = self._items.get(index)
        if item is not None and item.call is not None:
            item.call.image = fields

    def _waits(self) -> bool:
        calls = [item.call for item in self._items.values() if item.call is not None]
        return any(not call.at_provider and not call.answered for call in calls)

    # ---------------------------------------------------------------- the end

    def _terminal(self, kind: str, response: Json) -> Iterator[Chunk]:
        if not self._is_open and self._finish is None:
            yield from self._begin({"response": response}, is_first=True)
        yield from self._end_open_items(mappings(response.get("output")))
        self._usage = _usage_of(response) or self._usage
        self._is_open = False
        reason = word(mapping(response.get("incomplete_details")).get("reason"))
        match kind if word(response.get("status")) != "cancelled" else "cancelled":
            case "completed":
                self._finish = "stop"
            case "incomplete":
                filtered: FinishReason = "content-filter" if reason == "content_filter" else "other"
                self._finish = "length" if reason in _LENGTH else filtered
            case "failed":
                yield from self.fail(error_of(response.get("error") or {"message": "The response failed."}))
            case _:
                self._finish = "other"

    def _end_open_items(self, output: list[Json]) -> Iterator[Chunk]:
        """End what is still open from the list that the terminal event repeats.

        The list is not always as long as the indices are high, and its ids are not always those that
        were sent before: an item is found by its id, or as the next one of its kind.
        """
        if not self._items:
            for index, item in enumerate(output):
                yield from self._end(index, item)
            return
        done = {word(item.fields.get("id")) for item in self._items.values() if item.is_done}
        left = Unclaimed(item for item in output if word(item.get("id")) not in done)
        for index, known in list(self._items.items()):
            found = None if known.is_done else left.take(word(known.fields.get("id")), known.kind)
            if found is not None:
                yield from self._end(index, found)

    def _rest(self) -> Iterator[Chunk]:
        yield from self._sources.release()
        yield from self._calls.unfinished_images()
        unseen = self._take_unseen()
        if unseen:
            yield MetadataChunk(custom={"openai": {"after": unseen["before"]}})


def _is_other(known: _Item, item: Json) -> bool:
    """Tell whether an item is of another type than the one at its index; ids tell nothing, for they may rotate."""
    return word(item.get("type")) not in ("", known.kind)


def _flat_error(fields: Json) -> Json:
    return {key: value for key, value in fields.items() if key not in ("type", "sequence_number")}


def _usage_of(response: Json) -> Usage | None:
    usage = mapping(response.get("usage"))
    told = Usage(
        input_tokens=count(usage.get("input_tokens")),
        output_tokens=count(usage.get("output_tokens")),
        reasoning_tokens=count(mapping(usage.get("output_tokens_details")).get("reasoning_tokens")),
        cached_input_tokens=count(mapping(usage.get("input_tokens_details")).get("cached_tokens")),
    )
    return told if told.input_tokens or told.output_tokens else None
