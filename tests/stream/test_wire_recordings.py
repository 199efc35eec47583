"""Recorded streams of real servers, read from the wire: nothing is lost, however the bytes are cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from partwise.errors import WireError
from partwise.messages import ReasoningPart, TextPart, ToolCallPart
from partwise.stream import Accumulator
from partwise.stream.codecs import AssistantTransportDecoder, DataStreamDecoder, UIMessageStreamDecoder

DECODERS: dict[str, Any] = {
    "ui-message-stream": UIMessageStreamDecoder,
    "ai-sdk-data-stream-v1": DataStreamDecoder,
    "assistant-transport": AssistantTransportDecoder,
}
STATUSES = {
    "aborted.sse": ("incomplete", "cancelled"),
    "approval-request.sse": ("requires-action", "tool-calls"),
    "langgraph-hitl-request.jsonl": ("requires-action", "tool-calls"),
    "langgraph-react-agent.jsonl": ("complete", "unknown"),
    "malformed-tool-json.sse": ("complete", "stop"),
    "openai-parallel-tools.txt": ("requires-action", "tool-calls"),
    "python-encoder.sse": ("complete", "unknown"),
    "response-error.sse": ("incomplete", "error"),
    "sources-files-data.sse": ("complete", "unknown"),
    "web-search-run.sse": ("complete", "stop"),
}


def wire_of(path: Path) -> bytes:
    """The bytes of a recording; one that was kept as JSON lines gets its frames back."""
    data = path.read_bytes()
    if path.suffix != ".jsonl":
        return data if data.endswith(b"\n") else data + b"\n"
    return b"".join(b"data: " + line + b"\n\n" for line in data.splitlines() if line.strip())


def read(decoder: Any, data: bytes, size: int) -> tuple[Any, list[WireError]]:
    reports: list[WireError] = []
    reading = decoder(report=reports.append)
    accumulator = Accumulator(report=reports.append)
    for at in range(0, len(data), size):
        for chunk in reading.feed(data[at : at + size]):
            accumulator.apply(chunk)
    for chunk in reading.close():
        accumulator.apply(chunk)
    return accumulator.finish(), reports


@pytest.mark.parametrize("name", sorted(STATUSES))
def test_a_recording_becomes_the_message_that_was_counted_independently(recordings: Path, name: str) -> None:
    listed = json.loads((recordings / "index.json").read_text(encoding="utf-8"))["files"]
    (entry,) = [item for item in listed if item["protocol"] in DECODERS and item["file"].endswith(f"/{name}")]
    data = wire_of(recordings / entry["file"])

    message, reports = read(DECODERS[entry["protocol"]], data, len(data))
    cut, _ = read(DECODERS[entry["protocol"]], data, 7)

    assert cut.content == message.content
    assert (message.status.type, message.status.reason) == STATUSES[name]
    assert [report.code for report in reports if report.code != "missing-done"] == LOSSES.get(name, [])
    sums = entry.get("sums")
    if sums is None:
        return
    texts = [part.text for part in message.content if isinstance(part, TextPart)]
    reasoning = [part.text for part in message.content if isinstance(part, ReasoningPart)]
    calls = [part for part in message.content if isinstance(part, ToolCallPart)]
    assert sum(map(len, texts)) == sums["text_chars"]
    assert sum(map(len, reasoning)) == sums.get("reasoning_chars", 0)
    assert [call.tool_name for call in calls] == [call["name"] for call in sums["tool_calls"]]
    assert sum(call.has_result for call in calls) == sums.get("tool_results", 0)
    written = [part for part in message.content if isinstance(part, (TextPart, ReasoningPart))]
    # A reasoning without a word may still carry what its provider wants back.
    assert not [part for part in written if not part.text and part.provider_metadata is None]
    for call, counted in zip(calls, sums["tool_calls"], strict=True):
        if counted["args_chars"]:
            assert len(call.args_text) == counted["args_chars"]
    if "sources" in sums:
        assert sum(part.type == "source" for part in message.content) == sums["sources"]


# What is dropped, and why that is no loss: two errors are told of one call.
LOSSES: dict[str, list[str]] = {"malformed-tool-json.sse": ["misplaced"]}
