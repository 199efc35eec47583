"""The facts of an Anthropic Messages recording."""

from __future__ import annotations

import json
from typing import Any

from ._facts import Facts, Json, added, ended

_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "refusal": "content-filter",
}
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


def facts(events: list[Json]) -> Facts:
    """Read the blocks of each message in the order of their beginnings."""
    reading = _Reading()
    for event in events:
        reading.read(event["type"], event)
    return reading.facts()


class _Reading:
    def __init__(self) -> None:
        self.found = Facts()
        self.calls: list[list[Any]] = []
        self.blocks: dict[int, list[Any]] = {}
        self.client_calls = 0
        self.reason: str | None = None
        self.stopped = self.failed = False
        self.tokens: int | None = None

    def read(self, kind: str, event: Json) -> None:
        match kind:
            case "message_start":
                self.start(event["message"])
            case "content_block_start":
                self.begin(event["index"], event["content_block"])
            case "content_block_delta":
                self.grow(event["index"], event["delta"])
            case "message_delta":
                self.reason = event["delta"].get("stop_reason") or self.reason
                self.tokens = (event.get("usage") or {}).get("output_tokens") or self.tokens
            case "message_stop":
                self.stopped = True
            case "error":
                self.failed = True

    def start(self, message: Json) -> None:
        if self.blocks:  # a message without anything in it was none
            self.found.output_tokens = added(self.found.output_tokens, self.tokens)
        self.blocks, self.client_calls, self.stopped = {}, 0, False
        self.reason, self.tokens = message.get("stop_reason"), message["usage"].get("output_tokens")
        for index, block in enumerate(message.get("content") or []):
            self.begin(index, block)

    def begin(self, index: int, block: Json) -> None:
        call = self.blocks[index] = [block.get("name"), "", block.get("input")]
        self.found.text += block.get("text", "")
        self.found.reasoning += block.get("thinking", "")
        if block["type"] == "redacted_thinking":
            self.found.opaque.add(block["data"])
        if block["type"] in _CALLS:
            self.calls.append(call)
            self.client_calls += block["type"] == "tool_use"
        elif "tool_use_id" in block:
            self.found.results[block["tool_use_id"]] = block["content"]

    def grow(self, index: int, delta: Json) -> None:
        self.found.text += delta.get("text", "")
        self.found.reasoning += delta.get("thinking", "")
        self.blocks[index][1] += delta.get("partial_json", "")
        if "signature" in delta:
            self.found.opaque.add(delta["signature"])
        if "citation" in delta:
            self.found.sources.add(_source(delta["citation"]))

    def facts(self) -> Facts:
        found = self.found
        found.output_tokens = added(found.output_tokens, self.tokens)
        found.calls = [(name, text or (json.dumps(given) if given else "")) for name, text, given in self.calls]
        status = ended(self.reason if self.stopped else None, self.client_calls > 0, _REASONS)
        found.status = ("incomplete", "error") if self.failed else status
        return found


def _source(citation: Json) -> str:
    return citation.get("url") or f"document-{citation['document_index']}"
