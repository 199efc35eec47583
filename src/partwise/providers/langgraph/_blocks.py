"""From what LangChain's messages hold to parts and chunks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, cast

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage

from partwise.messages import AssistantPart, AudioPart, FilePart, ImagePart, ReasoningPart, TextPart, ToolCallPart
from partwise.stream import Chunk, ReasoningDelta, TextDelta, ToolArgsDelta, ToolArgsFinish, ToolCallStart

__all__ = ["BlockPart", "answer_parts", "chunks_of", "fields_of", "mapping_of", "parts_of", "result_fields"]

BlockPart: TypeAlias = TextPart | ReasoningPart | ImagePart | FilePart | AudioPart
Block: TypeAlias = Mapping[str, Any]


def mapping_of(value: Any) -> Mapping[str, Any] | None:
    """Return a value as a mapping, or None if it is none."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def fields_of(state: Any) -> Mapping[str, Any]:
    """Return the fields of a graph's state: a mapping, or an object of a class of the user's."""
    given = mapping_of(state)
    return cast("Mapping[str, Any]", vars(state)) if given is None else given


def parts_of(message: BaseMessage) -> Iterator[BlockPart]:
    """Read the content of a message; blocks that nobody can show are left out."""
    for block in _blocks(message):
        part = _part(block)
        if part is not None:
            yield part


def answer_parts(message: AIMessage) -> Iterator[AssistantPart]:
    """Read what a model said and called."""
    for part in parts_of(message):
        if not isinstance(part, AudioPart):
            yield part
    for call in message.tool_calls:
        args_text = json.dumps(call["args"], ensure_ascii=False, default=str)
        yield ToolCallPart(tool_call_id=str(call["id"]), tool_name=call["name"], args=call["args"], args_text=args_text)


def result_fields(message: ToolMessage) -> dict[str, Any]:
    """Read what a call with its result has more than one without."""
    fields: dict[str, Any] = {"result": cast("Any", message.content), "is_error": message.status == "error"}
    return fields if message.artifact is None else {**fields, "artifact": message.artifact}


def chunks_of(message: AIMessage, calls: dict[object, str]) -> Iterator[Chunk]:
    """Read a piece of an answer.

    Args:
        message: A piece, or a message that comes as a whole.
        calls: The ids of the calls that have begun, by their index; those that begin are added.
    """
    for block in _blocks(message):
        part, index = _part(block), block.get("index")
        part_id = None if index is None else str(index)
        if isinstance(part, TextPart):
            yield TextDelta(part.text, part_id=part_id)
        elif isinstance(part, ReasoningPart):
            yield ReasoningDelta(part.text, part_id=part_id)
    if not isinstance(message, AIMessageChunk):
        for call in message.tool_calls:
            yield ToolCallStart(str(call["id"]), call["name"])
            yield ToolArgsFinish(str(call["id"]), json.dumps(call["args"], ensure_ascii=False, default=str))
        return
    # What a chunk has as tool_calls is read of a fragment; only the fragments can be trusted.
    for fragment in message.tool_call_chunks:
        index = fragment.get("index")
        if fragment["id"] and calls.get(index) != fragment["id"]:
            calls[index] = fragment["id"]
            yield ToolCallStart(fragment["id"], fragment["name"] or "")
        if fragment["args"] and index in calls:
            yield ToolArgsDelta(calls[index], fragment["args"])


def _blocks(message: BaseMessage) -> Iterator[Block]:
    reasoning = _reasoning_beside(message.additional_kwargs)
    if reasoning:
        yield {"type": "reasoning", "reasoning": reasoning}
    content = cast("Any", message.content)
    for block in [content] if isinstance(content, str) else cast("list[Any]", content):
        if isinstance(block, str):
            yield {"type": "text", "text": block}
        elif isinstance(block, Mapping):
            yield cast("Block", block)


def _reasoning_beside(more: Mapping[str, Any]) -> str:
    """Reasoning that a model's adapter puts next to the content."""
    beside: Any = more.get("reasoning_content") or more.get("reasoning") or ""
    return beside if isinstance(beside, str) else _summary(cast("Block", beside))


def _summary(block: Block) -> str:
    given: list[Any] = block.get("summary") or []
    return "".join(str((mapping_of(one) or {}).get("text", "")) for one in given)


def _part(block: Block) -> BlockPart | None:
    kind = block.get("type")
    if kind in {"text", "output_text"}:
        return TextPart(str(block["text"])) if block.get("text") else None
    if kind in {"reasoning", "thinking"}:
        text = block.get("reasoning") or block.get("thinking") or block.get("text") or _summary(block)
        return ReasoningPart(str(text)) if text else None
    if kind in {"image", "image_url", "file", "audio"}:
        return _file(str(kind), block)
    return None


def _file(kind: str, block: Block) -> BlockPart | None:
    given: Any = block.get("image_url") or block.get("url")
    url: Any = cast("Block", given).get("url") if isinstance(given, Mapping) else given
    data: Any = block.get("base64") or block.get("data")
    media_type = str(block.get("mime_type") or {"image": "image/png"}.get(kind, "application/octet-stream"))
    if kind in {"image", "image_url"}:
        image = url or (f"data:{media_type};base64,{data}" if data else None)
        return None if image is None else ImagePart(image=str(image))
    if kind == "audio" and data:
        return AudioPart(data=str(data), format="mp3" if media_type in {"audio/mpeg", "audio/mp3"} else "wav")
    whole = url or data or block.get("file_id")
    if not whole:
        return None
    source_type: Any = "url" if url else None if data else "id"
    return FilePart(data=str(whole), media_type=media_type, source_type=source_type)
