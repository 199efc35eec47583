"""Every recorded OpenAI Chat stream, as the plain chat prints it."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from partwise.cli._engine import choose
from partwise.cli._options import ChatOptions
from partwise.cli._plain import Output, TextLines
from partwise.cli._run_plain import talk

SHARED = Path(os.environ.get("PARTWISE_SHARED") or Path(__file__).resolve().parents[3] / "shared") / "streams"
INDEX = SHARED / "index.json"
ENTRIES: dict[str, dict[str, Any]] = (
    {
        entry["file"].rpartition("/")[2]: entry
        for entry in json.loads(INDEX.read_text(encoding="utf-8"))["files"]
        if entry["protocol"] == "openai-chat"
    }
    if INDEX.is_file()
    else {}
)
MARKS = {"tool_calls": "[requires-action: tool-calls]", "length": "[incomplete: length]", "stop": None}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # the SDK's transport is the same on both; the reading is tested on both elsewhere


def payloads(file: Path) -> list[dict[str, Any]]:
    """Read a recording without the product."""
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        text = line.removeprefix("data:").strip() if file.suffix == ".sse" else line
        if text.startswith("{") and (file.suffix != ".sse" or line.startswith("data:")):
            found.append(json.loads(text))
    return found


def pieces_of_text(file: Path) -> list[str]:
    """The text of the first choice, cut where something else came in between."""
    pieces = [""]
    for payload in payloads(file):
        for choice in payload.get("choices") or ():
            delta = choice.get("delta") or {}
            if choice.get("index", 0) != 0:
                continue
            if any(delta.get(name) for name in ("reasoning", "reasoning_content", "tool_calls", "reasoning_details")):
                pieces.append("")
            content = delta.get("content")
            for item in content if isinstance(content, list) else [{"type": "text", "text": content or ""}]:
                if item["type"] == "text":
                    pieces[-1] += item["text"]
                else:
                    pieces.append("")
    return [piece for piece in pieces if piece.strip()]


async def printed(file: Path) -> str:
    options = ChatOptions(engine="replay", is_plain=True, replay=file)
    out, errors = io.StringIO(), io.StringIO()
    code = await talk(options, choose(options), TextLines([]), Output(out), errors)
    assert (code, errors.getvalue()) == (0, "")
    return out.getvalue()


@pytest.mark.parametrize("name", sorted(ENTRIES) or ["none"])
async def test_a_recording_is_printed_with_text_calls_and_finish(name: str, recordings: Path) -> None:
    out = await printed(recordings / "openai-chat" / name)
    lines = out.splitlines()
    sums = ENTRIES[name]["sums"]

    for piece in pieces_of_text(recordings / "openai-chat" / name):
        assert piece in out
    calls = [
        line.removeprefix("[tool] ").partition(" ") for line in lines if line.startswith("[tool] ") and "->" not in line
    ]
    expected = sums.get("tool_calls", [])
    assert [call[0] for call in calls if call[0] in {one["name"] for one in expected}] == [
        one["name"] for one in expected
    ]
    if name != "cerebras-two-turns.jsonl":
        sizes = [len(call[2]) for call in calls if call[0] in {one["name"] for one in expected}]
        assert sizes == [one["args_chars"] for one in expected]
    if sums.get("errors"):
        assert lines[-1].startswith("[error: ")
    elif "finish" in sums:
        mark = MARKS[sums["finish"][-1]]
        assert (lines[-1] == mark) if mark else not lines[-1].startswith(("[error", "[incomplete", "[requires"))


def test_there_are_recordings(recordings: Path) -> None:
    assert len(ENTRIES) == 29


OWN = Path(__file__).resolve().parents[1] / "providers" / "recordings"


@pytest.mark.parametrize("name", ["look-then-answer.sse", "responses-look.sse", "anthropic-look.sse"])
async def test_each_protocol_is_recognised_and_printed(name: str) -> None:
    lines = (await printed(OWN / name)).splitlines()

    assert lines[0].startswith("[thinking] ")
    assert [line for line in lines if "\U0001f50d" in line and not line.startswith("[")]
    assert [line for line in lines if line.startswith("[tool] line_count") and "sicht.md" in line]
    assert lines[-1] == "[requires-action: tool-calls]"
