"""Laws of every wire: any way of cutting any bytes gives the same chunks, and nothing that was said is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.errors import WireError
from partwise.messages import (
    AssistantMessage,
    DataPart,
    FilePart,
    IncompleteStatus,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
    Usage,
)
from partwise.stream import (
    Accumulator,
    Chunk,
    Finish,
    MetadataChunk,
    PartChunk,
    PartResult,
    ReasoningDelta,
    SetValue,
    StateUpdate,
    StepFinish,
    StepStart,
    TextDelta,
    ToolArgsDelta,
    ToolArgsFinish,
    ToolCallStart,
    ToolResult,
)
from partwise.stream.codecs import CODECS, Decoder
from tests.strategies import json_objects, json_values

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6) | st.sampled_from(
    ["🙂", "\n\n", "data: [DONE]\n\n", '0:"x"\n', "\u2028", "\ufeff"]
)
NAMES = sorted(CODECS)
SSE = ("ag-ui", "assistant-transport", "ui-message-stream")


@st.composite
def calls(draw: st.DrawFn, call_id: str) -> list[Chunk]:
    """One tool call, from its start to its end, with or without a result."""
    text = json.dumps(draw(json_objects))
    at = draw(st.integers(0, len(text)))
    chunks: list[Chunk] = [ToolCallStart(call_id, "search")]
    chunks += [ToolArgsDelta(call_id, piece) for piece in (text[:at], text[at:])]
    chunks.append(ToolArgsFinish(call_id))
    if draw(st.booleans()):
        chunks.append(ToolResult(call_id, draw(json_values), is_error=draw(st.booleans())))
    return chunks


@st.composite
def answers(draw: st.DrawFn) -> list[Chunk]:
    """What a model may yield: text, reasoning, calls, whole parts and marks, in any order."""
    chunks: list[Chunk] = []
    for number in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(["text", "reasoning", "call", "part", "mark"]))
        match kind:
            case "text":
                chunks += [TextDelta(text) for text in draw(st.lists(texts, min_size=1, max_size=3))]
            case "reasoning":
                chunks += [ReasoningDelta(text) for text in draw(st.lists(texts, min_size=1, max_size=3))]
            case "call":
                chunks += draw(calls(f"c{number}"))
            case "part":
                part = st.sampled_from(
                    [
                        UrlSourcePart(id=f"s{number}", url="https://example.org/a", title="A"),
                        FilePart(data="data:image/png;base64,aGk=", media_type="image/png"),
                        DataPart(name="chart", data={"x": [1]}),
                    ]
                )
                chunks.append(PartChunk(draw(part)))
            case _:
                mark = st.sampled_from(
                    [
                        StepStart(f"m{number}"),
                        StepFinish(Usage(input_tokens=1, output_tokens=2), reason="stop"),
                        StateUpdate([SetValue((), {"a": number})]),
                        MetadataChunk(annotations=[{"a": 1}]),
                    ]
                )
                chunks.append(draw(mark))
    return [*chunks, Finish(draw(st.sampled_from(["stop", "length", "unknown"])))]


def written(name: str, chunks: list[Chunk]) -> bytes:
    encoder = CODECS[name].encoder()
    return b"".join(encoder.encode(chunk) for chunk in chunks) + encoder.close()


def decoder(name: str) -> Decoder:
    made: Callable[..., Any] = CODECS[name].decoder
    return made(report=lambda problem: None)


def read(name: str, pieces: list[bytes]) -> tuple[list[Chunk], WireError | None]:
    reading = decoder(name)
    chunks = [chunk for piece in pieces for chunk in reading.feed(piece)]
    return [*chunks, *reading.close()], reading.problem


def folded(chunks: list[Chunk]) -> AssistantMessage:
    accumulator = Accumulator(report=lambda problem: None)
    for chunk in chunks:
        accumulator.apply(chunk)
    return accumulator.finish()


def pieces(data: bytes, ends: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(end % (len(data) + 1) for end in ends)})
    return [data[start:end] for start, end in pairwise(places)]


def content(message: AssistantMessage) -> list[Any]:
    """The parts of a message as all wires can say them: neighbours of one kind joined, no empty text, no status."""
    sources = [part for part in message.content if isinstance(part, UrlSourcePart)]
    out: list[Any] = []
    for part in message.content:
        match part:
            case TextPart(text) | ReasoningPart(text):
                if text and out and isinstance(out[-1], tuple) and out[-1][0] == part.type:
                    out[-1] = (part.type, out[-1][1] + text)
                elif text:
                    out.append((part.type, text))
            case ToolCallPart():
                said = (part.tool_name, part.args, part.result if not part.is_error else "error", bool(part.is_error))
                out.append((part.tool_call_id, said))
            case UrlSourcePart():  # stands beside the text, not in it
                pass
            case _:
                out.append(part)
    return [*out, *sources]


def without_status(message: AssistantMessage) -> Any:
    parts = [
        attrs.evolve(part, status=None) if isinstance(part, (TextPart, ReasoningPart)) else part
        for part in message.content
    ]
    parts = [
        attrs.evolve(part, is_error=bool(part.is_error) if part.has_result else None)
        if isinstance(part, ToolCallPart)
        else part
        for part in parts
    ]
    return parts, message.status, message.metadata


# ---------------------------------------------------------------- there and back


@given(answers(), st.lists(st.integers(0, 10_000), max_size=5))
def test_the_transport_loses_nothing(chunks: list[Chunk], ends: list[int]) -> None:
    received, problem = read("assistant-transport", pieces(written("assistant-transport", chunks), ends))

    assert problem is None
    assert without_status(folded(received)) == without_status(folded(chunks))


@pytest.mark.parametrize("name", ["ag-ui", "data-stream", "ui-message-stream"])
@given(chunks=answers(), ends=st.lists(st.integers(0, 10_000), max_size=5))
def test_the_parts_arrive_on_the_other_wires(name: str, chunks: list[Chunk], ends: list[int]) -> None:
    received, problem = read(name, pieces(written(name, chunks), ends))
    sent, arrived = folded(chunks), folded(received)

    assert problem is None
    assert content(arrived) == content(sent)
    assert arrived.status == sent.status


@given(answers())
def test_the_text_arrives_as_plain_text(chunks: list[Chunk]) -> None:
    text = written("plain-text", chunks).decode()

    assert text == "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


# ---------------------------------------------------------------- any bytes


# What a sub-agent said, without ids and times.
NESTED = (
    b'["hi",{"role":"assistant","content":[{"type":"tool-call","toolCallId":"n","toolName":"t","args":{},'
    b'"messages":["deep"]}]}]'
)
FRAMES: dict[str, list[Any]] = {
    "data-stream": [
        b'0:"a"', b'g:"b"', b'b:{"toolCallId":"c","toolName":"t"}', b'c:{"toolCallId":"c","argsTextDelta":"{"}',
        b'c:{"toolCallId":"d","argsTextDelta":"}","isFinal":true}', b'a:{"toolCallId":"c","result":[null]}',
        b'9:{"toolCallId":"d","toolName":"t","args":{"a":1}}', b'd:{"finishReason":"stop"}', b'e:{"finishReason":5}',
        b'3:"boom"', b"2:[1]", b"8:{}", b'h:{"sourceType":"url","id":"s","url":"u"}', b'k:{"data":1}', b"zz:1", b"0:{",
        b'a:{"toolCallId":"c","result":1,"messages":' + NESTED + b"}",
        b"aui-state:[{}]", b'aui-data:{"name":"n","data":[[[[]]]]}', b'aui-text-delta:{"textDelta":"x","parentId":"p"}',
    ],
    "assistant-transport": [
        b'{"type":"part-start","part":{"type":"text"}}', b'{"type":"text-delta","path":[0],"textDelta":"x"}',
        b'{"type":"text-delta","path":[7],"textDelta":"x"}', b'{"type":"part-start","part":{"type":"odd","a":[1]}}',
        b'{"type":"part-start","part":{"type":"tool-call","toolCallId":"c","toolName":"t"}}', b"{", b"[]", b"[DONE]",
        b'{"type":"result","path":[0],"result":1}', b'{"type":"error"}', b'{"type":"update-state","operations":[1]}',
        b'{"type":"message-finish","finishReason":"stop"}', b'{"type":"step-finish","finishReason":{}}', b"null",
        b'{"type":"result","path":[0],"result":1,"isPreliminary":true,"messages":' + NESTED + b"}",
    ],
    "ui-message-stream": [
        b'{"type":"start","messageMetadata":{"a":1}}', b'{"type":"text-start","id":"t"}', b'{"type":"abort"}',
        b'{"type":"text-delta","id":"t","delta":"x"}', b'{"type":"text-delta","delta":5}', b'{"type":"text-end"}',
        b'{"type":"tool-input-start","toolCallId":"c","toolName":"t"}', b'{"type":"finish"}', b"[DONE]", b"7",
        b'{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"{\\"a\\":"}', b'{"type":"data-x","id":"i"}',
        b'{"type":"tool-input-available","toolCallId":"c","toolName":"t","input":{"b":[1]}}', b'{"type":"source-url"}',
        b'{"type":"tool-output-available","toolCallId":"c","output":1}', b'{"type":"tool-output-denied"}',
        b'{"type":"tool-approval-request","approvalId":"a","toolCallId":"c"}', b'{"type":"tool-call-start"}',
        b'{"type":"file","url":5}', b'{"type":"finish-step","usage":"x"}', b'{"type":[]}', b'{"type":"error"}',
    ],
    "plain-text": [b"a", "é🙂".encode()],
    "ag-ui": [
        b'{"type":"RUN_STARTED","threadId":"t","runId":"r"}', b'{"type":"RUN_FINISHED","threadId":"t","runId":"r"}',
        b'{"type":"TEXT_MESSAGE_START","messageId":"m"}', b"[DONE]",
        b'{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}',
        b'{"type":"TEXT_MESSAGE_END","messageId":"m"}', b'{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"y"}',
        b'{"type":"REASONING_MESSAGE_CHUNK","delta":"z"}', b'{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"h"}',
        b'{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"e"}',
        b'{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"t"}', b'{"type":"TOOL_CALL_CHUNK","delta":"{"}',
        b'{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\\"a\\":"}', b'{"type":"TOOL_CALL_END","toolCallId":"c"}',
        b'{"type":"TOOL_CALL_RESULT","toolCallId":"c","content":"[1]"}',
        b'{"type":"STATE_SNAPSHOT","snapshot":{"a":[1]}}',
        b'{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a/-","value":2},{"op":"remove","path":"/b"}]}',
        b'{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"plan","content":{"s":[]}}', b'{"type":7}', b"[]",
        b'{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"plan","patch":[{"op":"add","path":"/s/0","value":1}]}',
        b'{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"x","role":"assistant","content":"xy"}]}', b'{"type":"RAW"}',
        b'{"type":"CUSTOM","name":"partwise.chunk","value":{"type":"part-start","part":{"type":"odd"}}}',
        b'{"type":"CUSTOM","name":"partwise.chunk","value":{"type":"result","path":[0],"result":1,"messages":'
        + NESTED + b"}}",
        b'{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i",'
        b'"reason":"tool_call","toolCallId":"c"},{"id":"j","reason":"input"}]}}', b'{"type":"RUN_ERROR","message":"b"}',
    ],
}  # fmt: skip
JUNK = [
    b"\xff",
    b"\xf0\x9f",
    b"\r",
    b"\n",
    b"\r\n",
    b"\0",
    b": ping",
    b"event: x",
    b"data",
    b"\xef\xbb\xbf",
    b"{" * 300,
]


def _stream(name: str, frames: list[bytes]) -> bytes:
    return b"".join((b"data: " + frame + b"\n\n") if name in SSE else frame + b"\n" for frame in frames)


@st.composite
def streams(draw: st.DrawFn, name: str) -> bytes:
    """Bytes that look like a stream of this wire, more or less."""
    whole = [_stream(name, [frame]) for frame in FRAMES[name]]
    chosen = draw(st.lists(st.sampled_from([*whole, *whole, *JUNK, b"data: [DONE]\n\n"]) | st.binary(max_size=4)))
    data = b"".join(chosen)
    return data[: len(data) - draw(st.integers(0, 3))] if draw(st.booleans()) else data


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_any_bytes_in_any_pieces_give_the_same_chunks(name: str, data: st.DataObject) -> None:
    stream = data.draw(streams(name))
    ends = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))

    chunks, problem = read(name, [stream])
    cut, cut_problem = read(name, pieces(stream, ends))
    single, single_problem = read(name, [stream[at : at + 1] for at in range(len(stream))])

    if name == "plain-text":  # the size of its deltas follows the pieces
        assert content(folded(chunks)) == content(folded(cut)) == content(folded(single))
        return
    assert chunks == cut == single
    assert str(problem) == str(cut_problem) == str(single_problem)
    folded(chunks)  # whatever was read can be shown


@pytest.mark.parametrize("name", ["data-stream", "assistant-transport"])
def test_the_messages_of_a_sub_agent_are_the_same_when_they_are_told_again(name: str) -> None:
    [frame] = [frame for frame in FRAMES[name] if NESTED in frame]
    start = next(frame for frame in FRAMES[name] if b'"toolName":"t"' in frame)
    first, second = (
        [chunk.messages for chunk in read(name, [_stream(name, [start, frame])])[0] if isinstance(chunk, kinds)][-1]
        for kinds in [(PartResult, ToolResult)] * 2
    )
    assert first == second
    assert first is not None
    assert [message.role for message in first] == ["user", "assistant"]
    assert len({message.id for message in first}) == 2


@pytest.mark.parametrize("name", ["data-stream", *SSE])
@given(chunks=answers(), data=st.data())
def test_a_stream_that_is_cut_off_is_an_error_that_keeps_what_had_come(
    name: str, chunks: list[Chunk], data: st.DataObject
) -> None:
    stream = written(name, chunks)
    end = data.draw(st.integers(0, len(stream) - 1))

    received, problem = read(name, [stream[:end]])
    message = folded(received)

    if problem is not None:
        assert isinstance(message.status, IncompleteStatus)
        assert message.status.reason == "error"
        assert message.status.error["code"] == problem.code
    assert not [part for part in message.content if getattr(part, "status", None) and part.status.type == "running"]  # type: ignore[union-attr]  # parts with a status
    assert _said(message) in _said(folded(chunks))


def _said(message: AssistantMessage) -> str:
    return "".join(part.text for part in message.content if isinstance(part, TextPart))
