"""The tool calls of a response: what was written of their arguments, and their results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from partwise.messages import MISSING, Approval, ImagePart, ToolCallPart, parse_partial_object
from partwise.providers.wire import FreeIds, Json, mapping, mappings, word
from partwise.stream import Chunk, PartChunk, ToolArgsDelta, ToolArgsFinish, ToolCallStart, ToolResult

from ._responses_items import KINDS, OUTPUTS, arguments_of, is_at_provider, name_of, rest_of, result_of

__all__ = ["Call", "ResponseCalls"]


class Call:
    """A call whose item is open."""

    __slots__ = (
        "answered",
        "at_provider",
        "command",
        "extra",
        "finished",
        "id",
        "image",
        "item",
        "streamed",
        "wire_id",
    )

    def __init__(self, call_id: str, wire_id: str, item: Json, extra: Json) -> None:
        self.id = call_id
        self.wire_id = wire_id
        self.item = item
        self.extra = extra
        self.at_provider = is_at_provider(item)
        self.streamed = False
        self.finished = False
        self.answered = False
        self.command: int | None = None
        self.image: Json = {}

    @property
    def kind(self) -> str:
        """The type of the item."""
        return word(self.item.get("type"))

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What is kept beside the call, so that it can be sent back."""
        mark = {"provider_executed": True} if self.at_provider else {}
        return {"openai": {**self.extra, **mark, "item": rest_of(self.item)}}


class ResponseCalls:
    """Turns the items that are calls into chunks; knows the calls of all responses of a stream."""

    __slots__ = ("_calls", "_ids")

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._ids = FreeIds()

    def open(self, item: Json, fallback_id: str, extra: Json) -> tuple[Call, list[Chunk]]:
        """Open a call.

        Args:
            item: What is known of it.
            fallback_id: Its id, if the item has none.
            extra: What else is kept beside it.
        """
        wire_id = word(item.get("call_id")) or word(item.get("id")) or fallback_id
        call = Call(self._ids.take(wire_id), wire_id, item, extra)
        self._calls.append(call)
        if call.kind == "mcp_approval_request":
            return call, list(_approval(call))
        return call, [ToolCallStart(call.id, name_of(item), provider_metadata=call.metadata)]

    def grow(self, call: Call, text: str) -> Iterator[Chunk]:
        """Give the chunks for more of the arguments, which are JSON, or the text of one of them."""
        if not text or call.finished:
            return
        if KINDS[call.kind].form != "text":
            text = json.dumps(text, ensure_ascii=False)[1:-1]
            text = text if call.streamed else _beginning(call) + text
        call.streamed = True
        yield ToolArgsDelta(call.id, text)

    def begin_command(self, call: Call, index: int) -> Iterator[Chunk]:
        """Give the chunk for the beginning of one of several commands."""
        if call.finished or index == call.command:
            return
        if call.command is not None and call.streamed:
            yield ToolArgsDelta(call.id, '", "')
        call.command = index

    def end_arguments(self, call: Call, whole: str) -> Iterator[Chunk]:
        """Give the chunk for the end of the arguments, which may say them all again."""
        if not call.finished and call.kind != "mcp_approval_request":
            call.finished = True
            if not whole and call.streamed and KINDS[call.kind].form != "text":
                yield ToolArgsDelta(call.id, '"]}' if call.kind == "shell_call" else '"}')
            yield ToolArgsFinish(call.id, whole or None)

    def end(self, call: Call, item: Json) -> Iterator[Chunk]:
        """Give the chunks for a call whose item is whole."""
        told = {key: value for key, value in item.items() if value is not None or key not in call.item}
        call.item = {**call.item, **told}
        call.at_provider = is_at_provider(call.item)
        if call.kind == "mcp_approval_request":
            yield from _approval(call)
            return
        yield ToolCallStart(call.id, name_of(call.item), provider_metadata=call.metadata)
        if item.get("status") == "incomplete":
            return
        yield from self.end_arguments(call, arguments_of(call.item))
        result, is_error = result_of(call.item)
        if result is not MISSING and not call.answered:
            call.answered = True
            yield ToolResult(call.id, result, is_error=is_error or None)
        yield from _picture(call)
        for output in mappings(call.item.get("outputs")):
            if output.get("type") == "image" and word(output.get("url")):
                yield _image(word(output.get("url")))

    def answer(self, item: Json) -> Iterator[Chunk]:
        """Give the result that an item brings for an earlier one."""
        kind, field = OUTPUTS[word(item.get("type"))]
        wire_id = word(item.get("call_id"))
        result = (
            item[field] if field in item else {key: item[key] for key in item if key not in ("type", "id", "call_id")}
        )
        call = self._asked(kind, wire_id)
        if call is None:
            if wire_id:
                yield ToolResult(wire_id, result)
            return
        call.answered = True
        output = {key: value for key, value in item.items() if key != field}
        yield ToolCallStart(call.id, "", provider_metadata={"openai": {"output": output}})
        yield ToolResult(call.id, result)

    def unfinished_images(self) -> Iterator[Chunk]:
        """Give the last states of pictures that did not get finished."""
        for call in self._calls:
            yield from _picture(call)

    def _asked(self, kind: str, wire_id: str) -> Call | None:
        for call in self._calls if not wire_id else reversed(self._calls):
            if not call.answered and (call.wire_id == wire_id if wire_id else call.kind == kind):
                return call
        return None


def _picture(call: Call) -> Iterator[Chunk]:
    """Give the picture that a call drew, as far as it was drawn."""
    if call.kind != "image_generation_call":
        return
    data = word(call.item.get("result")) or word(call.image.get("partial_image_b64"))
    form = word(call.item.get("output_format")) or word(call.image.get("output_format")) or "png"
    call.item = {key: value for key, value in call.item.items() if key != "result"}
    call.image = {}
    if data:
        yield _image(f"data:image/{'svg+xml' if form == 'svg' else form};base64,{data}")


def _image(address: str) -> Chunk:
    return PartChunk(ImagePart(image=address))


def _approval(call: Call) -> Iterator[Chunk]:
    arguments = word(call.item.get("arguments"))
    part = ToolCallPart(
        tool_call_id=call.id,
        tool_name=name_of(call.item),
        args=parse_partial_object(arguments) or {},
        args_text=arguments,
        approval=Approval(id=word(call.item.get("id")) or call.id),
        provider_metadata=call.metadata,
    )
    yield PartChunk(part)


def _beginning(call: Call) -> str:
    """Return the JSON that stands before the text that streams."""
    match call.kind:
        case "shell_call":
            return '{"commands": ["'
        case "apply_patch_call":
            operation = mapping(call.item.get("operation"))
            known = json.dumps({key: value for key, value in operation.items() if key != "diff"}, ensure_ascii=False)
            return f'{known[:-1]}{", " if operation else ""}"diff": "'
        case kind:
            return f'{{"{KINDS[kind].arguments}": "'
