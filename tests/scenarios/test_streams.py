"""Streams that arrive in odd pieces, in an odd order, or not to their end."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.messages import ReasoningPart, TextPart, ToolCallPart, message_from_json, message_to_json
from partwise.stream import Accumulator, Finish, ReasoningDelta, TextDelta, ToolArgsDelta, ToolCallStart
from partwise.stream.codecs import CODECS
from partwise.tools import Toolkit
from tests.runtimes.scenes import Script, last, talking, tool_call

TEXT = "星が🙂 見え\u0301る 별 ⭐"


def folded(name: str, data: bytes, sizes: list[int]) -> tuple[Any, Any]:
    decoder = CODECS[name].decoder()
    accumulator = Accumulator(report=lambda problem: None)
    chunks: list[Any] = []
    at = 0
    for size in [*sizes, len(data)]:
        chunks += decoder.feed(data[at : at + size])
        at += size
    chunks += decoder.close()
    for chunk in chunks:
        accumulator.apply(chunk)
    return accumulator.finish(), chunks


def events(*values: Any) -> list[str]:
    return [json.dumps(value, ensure_ascii=False) for value in values]


WIRES: dict[str, list[str]] = {
    "ui-message-stream": [
        *events(
            {"type": "text-start", "id": "t"},
            {"type": "text-delta", "id": "t", "delta": TEXT},
            {"type": "text-end", "id": "t"},
            {"type": "finish", "finishReason": "stop"},
        ),
        "[DONE]",
    ],
    "assistant-transport": [
        *events(
            {"type": "part-start", "path": [], "part": {"type": "text"}},
            {"type": "text-delta", "path": [0], "textDelta": TEXT},
            {"type": "part-finish", "path": [0]},
            {"type": "message-finish", "path": [], "finishReason": "stop"},
        ),
        "[DONE]",
    ],
    "ag-ui": events(
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
        {"type": "TEXT_MESSAGE_START", "messageId": "m"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": TEXT},
        {"type": "TEXT_MESSAGE_END", "messageId": "m"},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"},
    ),
}


def plain(payload: str) -> list[str]:
    return [f"data: {payload}", ""]


def bare(payload: str) -> list[str]:
    return [f"data:{payload}", ""]


def named_and_commented(payload: str) -> list[str]:
    return [": ping", "event: message", "id: 1", f"data: {payload}", ":", ""]


def in_several_lines(payload: str) -> list[str]:
    head, colon, tail = payload.partition(":")
    lines = [f"data: {head}{colon}", f"data: {tail}"] if colon else [f"data: {payload}"]
    return [*lines, ""]


@pytest.mark.parametrize("name", WIRES)
@pytest.mark.parametrize("framed", [plain, bare, named_and_commented, in_several_lines])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@given(sizes=st.lists(st.integers(1, 9), max_size=40))
def test_pieces_of_the_network_are_no_events(
    name: str, framed: Callable[[str], list[str]], line_end: str, sizes: list[int]
) -> None:  # B87
    lines = [line for payload in WIRES[name] for line in framed(payload)]
    data = "".join(line + line_end for line in lines).encode()
    whole, chunks = folded(name, data, [])

    assert [part.text for part in whole.content if isinstance(part, TextPart)] == [TEXT]
    assert (whole.status.type, whole.status.reason) == ("complete", "stop")
    for pieces in (sizes, [1] * len(data)):
        assert folded(name, data, pieces)[1] == chunks


@pytest.mark.parametrize("name", WIRES)
def test_a_tail_that_is_cut_off_is_told(name: str) -> None:  # B87
    data = "".join(f"data: {payload}\n\n" for payload in WIRES[name]).encode()
    end = data.index(TEXT.encode()) + 4  # in the middle of a character

    message, chunks = folded(name, data[:end], [])

    assert chunks == folded(name, data[:end], [1] * end)[1]
    assert (message.status.type, message.status.reason) == ("incomplete", "error")
    assert message.status.error["code"] == "missing-done"


def test_parts_stand_in_the_order_of_their_beginning_live_and_when_loaded_again() -> None:  # B86
    order = [
        {"type": "text-start", "id": "t"},
        {"type": "text-delta", "id": "t", "delta": "a"},
        {"type": "reasoning-start", "id": "r"},
        {"type": "reasoning-delta", "id": "r", "delta": "hm"},
        {"type": "tool-input-start", "toolCallId": "c", "toolName": "t"},
        {"type": "text-delta", "id": "t", "delta": "b"},
        {"type": "text-start", "id": "u"},
        {"type": "text-delta", "id": "u", "delta": "c"},
        {"type": "tool-input-available", "toolCallId": "c", "toolName": "t", "input": {}},
        {"type": "text-end", "id": "u"},
        {"type": "tool-output-available", "toolCallId": "c", "output": 1},
        {"type": "reasoning-delta", "id": "r", "delta": "!"},
        {"type": "reasoning-end", "id": "r"},
        {"type": "text-end", "id": "t"},
        {"type": "finish"},
    ]
    data = "".join(f"data: {payload}\n\n" for payload in [*events(*order), "[DONE]"]).encode()

    message, _ = folded("ui-message-stream", data, [])

    assert [getattr(part, "text", part.type) for part in message.content] == ["ab", "hm!", "tool-call", "c"]
    assert message_from_json(message_to_json(message)).content == message.content


def test_a_call_in_the_middle_of_a_text_cuts_it_in_two() -> None:  # B91
    accumulator = Accumulator()
    for chunk in [
        TextDelta("a"),
        ReasoningDelta("hm"),
        TextDelta("b"),
        ToolCallStart("c", "t"),
        ToolArgsDelta("c", "{}"),
        TextDelta("c"),
        TextDelta("d"),
        Finish("stop"),
    ]:
        accumulator.apply(chunk)
    content = accumulator.finish().content

    assert [type(part) for part in content] == [TextPart, ReasoningPart, TextPart, ToolCallPart, TextPart]
    assert [part.text for part in content if isinstance(part, TextPart)] == ["a", "b", "cd"]


@pytest.mark.parametrize("ending", ["length", "lost", "silent"])
async def test_a_call_whose_arguments_broke_off_is_not_executed(ending: str) -> None:  # B90
    written: list[str] = []
    tools = Toolkit()

    @tools.frontend(needs_approval=False)
    async def write(path: str, content: str) -> str:
        """Write a file."""
        written.append(path + content)
        return "done"

    broken = '{"path":"notes/x.txt","content":"abc'
    end: list[Any] = {"length": [Finish("length")], "lost": [OSError("connection lost")], "silent": []}[ending]
    model = Script([ToolCallStart("c0", "write"), ToolArgsDelta("c0", broken), *end], [TextDelta("I see."), Finish()])

    async with talking(model, tools=tools) as thread:
        with contextlib.suppress(OSError):
            await thread.append("Write it down.")

        assert written == []
        part = tool_call(thread)
        assert part.args_text == broken
        assert (part.args["path"], part.args["content"]) == ("notes/x.txt", "abc")
        if ending == "silent":  # nothing says that it broke off, so the model is told what was wrong
            assert part.is_error
            assert len(model.calls) == 2
        else:
            assert last(thread).status.type == "incomplete"
            assert not part.has_result or part.is_error
