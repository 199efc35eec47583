"""Recorded streams of real servers, read from the wire: nothing is lost, however the bytes are cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from partwise.errors import WireError
from partwise.messages import ReasoningPart, TextPart, ToolCallPart
from partwise.stream import Accumulator
from partwise.stream.codecs import AgUiDecoder, AssistantTransportDecoder, DataStreamDecoder, UIMessageStreamDecoder

DECODERS: dict[str, Any] = {
    "ui-message-stream": UIMessageStreamDecoder,
    "ai-sdk-data-stream-v1": DataStreamDecoder,
    "assistant-transport": AssistantTransportDecoder,
    "ag-ui": AgUiDecoder,
}
STATUSES = {
    "ag-ui/approval-turn-1.jsonl": ("requires-action", "tool-calls"),
    "ag-ui/custom-events.jsonl": ("complete", "stop"),
    "ag-ui/interrupt-approval.jsonl": ("requires-action", "interrupt"),
    "ag-ui/interrupt-input.jsonl": ("requires-action", "interrupt"),
    "ag-ui/mixed-tools-turn-1.jsonl": ("requires-action", "tool-calls"),
    "ag-ui/mixed-tools-turn-2.jsonl": ("complete", "stop"),
    "ag-ui/parallel-tools.jsonl": ("complete", "stop"),
    "ag-ui/reasoning.jsonl": ("complete", "stop"),
    "ag-ui/state-snapshot.jsonl": ("complete", "stop"),
    "ag-ui/thinking-v010.jsonl": ("complete", "stop"),
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
    files = json.loads((recordings / "index.json").read_text(encoding="utf-8"))["files"]
    (entry,) = [item for item in files if item["protocol"] in DECODERS and f"/{item['file']}".endswith(f"/{name}")]
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
    # A question of the agent is a call, too, and so is one of which this stream brings the result only.
    begun, listed = [call for call in calls if call.tool_name and call.interrupt is None], sums.get("tool_calls", [])
    assert [call.tool_name for call in begun] == [call["name"] for call in listed]
    assert sum(call.has_result for call in calls) == sums.get("tool_results", 0)
    written = [part for part in message.content if isinstance(part, (TextPart, ReasoningPart))]
    # A reasoning without a word may still carry what its provider wants back.
    assert not [part for part in written if not part.text and part.provider_metadata is None]
    for call, counted in zip(begun, listed, strict=True):
        if counted["args_chars"]:
            assert len(call.args_text) == counted["args_chars"]
    if "sources" in sums:
        assert sum(part.type == "source" for part in message.content) == sums["sources"]


# What is dropped, and why that is no loss: two errors are told of one call.
LOSSES: dict[str, list[str]] = {"malformed-tool-json.sse": ["misplaced"]}
