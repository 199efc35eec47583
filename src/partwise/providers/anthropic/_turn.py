"""One answer as the Messages API writes it: its blocks, and the results of its calls as the user's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from partwise.messages import (
    AssistantMessage,
    AssistantPart,
    DataPart,
    DocumentSourcePart,
    ReasoningPart,
    TextContent,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
    is_blank,
    thaw,
)
from partwise.providers.wire import (
    Json,
    as_json,
    is_provider_executed,
    mapping,
    mappings,
    said_by,
    word,
)

from ._blocks import CALLS, citation_of, result_type
from ._files import file_block, text_block

__all__ = ["turn_messages"]

_BAD_ID = re.compile(r"[^a-zA-Z0-9_-]")
_THINKING: Final = ("thinking", "redacted_thinking")
# Blocks that are shown as data, and that the provider wants back in their place.
_KEPT: Final = ("fallback", "mcp_tool_listing")

_Block = dict[str, Any]


def turn_messages(message: AssistantMessage, *, is_last: bool) -> list[dict[str, Any]]:
    """Return an answer as messages: one for each roundtrip, as far as the parts show where one ended.

    Args:
        message: The answer.
        is_last: Whether nothing follows it, so that the provider may go on with what it is running.
    """
    turn = _Turn(message, is_last=is_last)
    for part in message.content:
        turn.add(part)
    return turn.close()


def _given_up(parts: Sequence[AssistantPart]) -> frozenset[str]:
    """Return the calls that another model took no notice of: those before the last hand-over to a fallback."""
    places = [at for at, part in enumerate(parts) if isinstance(part, DataPart) and part.name == "fallback"]
    before = parts[: places[-1]] if places else ()
    return frozenset(
        part.tool_call_id
        for part in before
        if isinstance(part, ToolCallPart) and (not is_provider_executed(part) or not part.has_result)
    )


class _Turn:
    __slots__ = ("_blocks", "_given_up", "_late", "_message", "_parents", "_results", "_runs_on", "_sent", "_unseen")

    def __init__(self, message: AssistantMessage, *, is_last: bool) -> None:
        last = message.content[-1] if message.content else None
        self._message = message
        self._parents = {getattr(part, "parent_id", None) for part in message.content}
        self._runs_on = last if is_last else None
        self._given_up = _given_up(message.content)
        self._sent: list[dict[str, Any]] = []
        self._blocks: list[_Block] = []
        self._results: list[_Block] = []
        self._unseen: list[_Block] = []
        self._late: dict[str, _Block] = {}

    def add(self, part: AssistantPart) -> None:
        """Write a part down."""
        said = said_by("anthropic", getattr(part, "provider_metadata", None))
        self._unseen += thaw(mappings(said.get("before")))
        if self._late and getattr(part, "parent_id", None) not in self._late:
            self._end_roundtrip()
            self._blocks += self._late.values()
            self._late = {}
        match part:
            case TextPart():
                if not is_blank(part.text):
                    self._say(text_block(part.text))
            case ReasoningPart():
                if said.get("signature"):
                    self._say({"type": "thinking", "thinking": part.text, "signature": said["signature"]})
            case ToolCallPart():
                self._call(part, mapping(said.get("block")))
            case UrlSourcePart() | DocumentSourcePart():
                self._cite([citation_of(part, place) for place in mappings(thaw(said.get("citations")))])
            case DataPart():
                block = thaw(mapping(part.data))
                if part.name in _KEPT and block.get("type") == part.name:
                    self._say(block)
            case _:
                return

    def close(self) -> list[dict[str, Any]]:
        """Return the messages."""
        if self._late:
            self._end_roundtrip()
            self._blocks += self._late.values()
        after = mappings(mapping(self._message.metadata.custom.get("anthropic")).get("after"))
        left = [*self._unseen, *thaw(after)]
        self._blocks += [block for block in left if block.get("type") == "compaction"]  # an answer may not end thinking
        self._end_roundtrip()
        return self._sent

    def _say(self, block: _Block) -> None:
        if self._results:
            self._end_roundtrip()
        self._blocks += [*self._unseen, block]
        self._unseen = []

    def _cite(self, citations: list[_Block | None]) -> None:
        """Add to the text just before what it cites: without it the provider could not cite that again."""
        known = [citation for citation in citations if citation is not None]
        if known and self._blocks and self._blocks[-1]["type"] == "text":
            self._blocks[-1].setdefault("citations", []).extend(known)

    def _call(self, part: ToolCallPart, block: Json) -> None:
        if part.tool_call_id in self._given_up:
            return
        if not is_provider_executed(part):
            if part.has_result:
                if self._results and self._unseen:
                    self._end_roundtrip()
                self._blocks += [*self._unseen, _use(part, block, "tool_use")]
                self._results.append(_tool_result(part))
                self._unseen = []
            return
        if CALLS.get(word(block.get("type"))):  # another provider's own tools mean nothing to this one
            self._provider_call(part, block)

    def _provider_call(self, part: ToolCallPart, block: Json) -> None:
        calls_others = part.tool_call_id in self._parents
        if not part.has_result and not calls_others and part is not self._runs_on:
            return
        self._say(_use(part, block, word(block.get("type"))))
        if not part.has_result:
            return
        result = {
            "type": result_type(part.tool_name, block),
            "tool_use_id": _id(part),
            **({"is_error": bool(part.is_error)} if block.get("type") == "mcp_tool_use" else {}),
            "content": thaw(part.result),
        }
        if calls_others:
            self._late[part.tool_call_id] = result
        else:
            self._blocks.append(result)

    def _end_roundtrip(self) -> None:
        while self._blocks and self._blocks[-1]["type"] in _THINKING:  # the API refuses an answer that ends so
            self._blocks.pop()
        if any(block["type"] != "fallback" for block in self._blocks):
            self._sent.append({"role": "assistant", "content": self._blocks})
        if self._results:
            self._sent.append({"role": "user", "content": self._results})
        self._blocks, self._results = [], []


def _id(part: ToolCallPart) -> str:
    """Return the id of a call in the letters that the API allows."""
    return _BAD_ID.sub("_", part.tool_call_id)


def _use(part: ToolCallPart, block: Json, kind: str) -> _Block:
    return {**thaw(block), "type": kind, "id": _id(part), "name": part.tool_name or "unknown", "input": thaw(part.args)}


def _tool_result(part: ToolCallPart) -> _Block:
    content: str | list[_Block]
    if part.model_content is not None:
        read = part.model_content
        content = [
            text_block(item.text) if isinstance(item, TextContent) else file_block(item)
            for item in read
            if not (isinstance(item, TextContent) and is_blank(item.text))  # the API refuses an empty text
        ]
    else:
        content = part.result if isinstance(part.result, str) else as_json(part.result)
    failed = {"is_error": True} if part.is_error else {}
    if failed and not content:
        content = "failed"  # the API refuses a failure that says nothing
    return {"type": "tool_result", "tool_use_id": _id(part), "content": content, **failed}
