"""The wires: what is written, what is read, and what ends a reading."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from partwise.errors import InvalidInputError, WireError
from partwise.messages import (
    REQUIRES_TOOL_CALLS,
    Approval,
    DataPart,
    GenerativeUIPart,
    ImagePart,
    IncompleteStatus,
    TextPart,
    ToolCallPart,
    Usage,
)
from partwise.stream import (
    Accumulator,
    Chunk,
    ErrorChunk,
    Finish,
    MetadataChunk,
    PartChunk,
    PartStart,
    ReasoningDelta,
    SetValue,
    StateUpdate,
    StepStart,
    TextDelta,
    ToolApproval,
    ToolArgsDelta,
    ToolArgsFinish,
    ToolCallStart,
    ToolResult,
)
from partwise.stream.codecs import (
    CODECS,
    AssistantTransportDecoder,
    DataStreamDecoder,
    DataStreamEncoder,
    UIMessageStreamDecoder,
    UIMessageStreamEncoder,
    decode,
    encode,
)

pytestmark = pytest.mark.anyio


def folded(chunks: list[Chunk]) -> Any:
    accumulator = Accumulator(report=lambda problem: None)
    for chunk in chunks:
        accumulator.apply(chunk)
    return accumulator.finish()


def events(*values: object, done: bool = True) -> bytes:
    frames = [f"data: {json.dumps(value)}\n\n" for value in values]
    return "".join([*frames, *(["data: [DONE]\n\n"] if done else [])]).encode()


def shown(data: bytes) -> list[Any]:
    payloads = [frame.removeprefix("data: ") for frame in data.decode().split("\n\n") if frame]
    return [payload if payload == "[DONE]" else json.loads(payload) for payload in payloads]


async def given(*items: Any) -> AsyncIterator[Any]:
    for item in items:
        if isinstance(item, Exception):
            raise item
        yield item


# ---------------------------------------------------------------- writing


@pytest.mark.parametrize("name", CODECS)
async def test_what_a_model_yields_goes_over_every_wire(name: str) -> None:
    chunks = given(TextDelta("Hel"), TextDelta("lo"), Finish("stop"))
    data = [piece async for piece in encode(chunks, CODECS[name].encoder())]

    received = [chunk async for chunk in decode(given(*data), CODECS[name].decoder())]

    assert [part.text for part in folded(received).content] == ["Hello"]


@pytest.mark.parametrize("name", ["data-stream", "assistant-transport", "ui-message-stream"])
async def test_a_writer_that_raises_ends_the_stream_with_an_error(name: str) -> None:
    data: list[bytes] = []

    async def write() -> None:
        async for piece in encode(given(TextDelta("Hel"), ValueError("gone")), CODECS[name].encoder()):
            data.append(piece)  # noqa: PERF401 - a comprehension would lose what came before the exception

    with pytest.raises(ValueError, match="gone"):
        await write()
    received = [chunk async for chunk in decode(given(*data), CODECS[name].decoder())]

    message = folded(received)
    assert [part.text for part in message.content] == ["Hel"]
    assert isinstance(message.status, IncompleteStatus)
    assert "gone" in message.status.error["message"]


async def test_a_server_that_hangs_up_is_an_error_of_the_message() -> None:
    pieces = given(b'0:"Hel"\n', OSError("connection reset"))

    message = folded([chunk async for chunk in decode(pieces, DataStreamDecoder())])

    assert [part.text for part in message.content] == ["Hel"]
    assert message.status.reason == "error"
    assert "connection reset" in message.status.error["message"]


def test_a_data_stream_refuses_two_calls_with_one_id() -> None:
    encoder = DataStreamEncoder()
    part = PartStart(ToolCallPart(tool_call_id="c", tool_name="t"))
    encoder.encode(part)

    with pytest.raises(WireError, match="'c' begins a second time"):
        encoder.encode(part)


def test_what_a_wire_cannot_say_is_reported_once() -> None:
    reports: list[WireError] = []
    encoder = UIMessageStreamEncoder(report=reports.append)

    for _ in range(3):
        encoder.encode(StateUpdate([SetValue((), 1)]))
        encoder.encode(TextDelta("a", parent_id="p"))
        encoder.encode(ErrorChunk({"code": "slow", "message": "slow", "severity": "warning"}))
        encoder.encode(MetadataChunk(annotations=[1]))

    assert [str(report).partition(" for ")[2].partition(";")[0] for report in reports] == [
        "changes of state",
        "the parent of a part",
        "a warning",
        "annotations and data of the message",
    ]


def test_the_ai_dialect_of_a_whole_turn() -> None:
    encoder = UIMessageStreamEncoder()
    chunks: list[Chunk] = [
        StepStart("m"),
        ReasoningDelta("hm"),
        TextDelta("a"),
        ToolCallStart("c", "search"),
        ToolArgsDelta("c", '{"q":1}'),
        ToolArgsFinish("c"),
        ToolApproval("c", Approval(id="ap")),
        ToolApproval("c", Approval(id="ap", approved=True)),
        ToolResult("c", 1, is_preliminary=True),
        ToolResult("c", {"r": 2}),
        ToolCallStart("d", "search"),
        ToolArgsDelta("d", "{"),
        ToolArgsFinish("d"),
        ToolResult("d", "no JSON", is_error=True),
        PartChunk(ImagePart(image="data:image/png;base64,aGk=")),
        PartChunk(DataPart(name="chart", data=1, id="x")),
        PartChunk(DataPart(name="chart", data=2, id="x")),
        PartChunk(GenerativeUIPart(spec={"root": "a"})),
        MetadataChunk(custom={"k": 1}),
        Finish("tool-calls", Usage(input_tokens=1)),
    ]

    written = [event for chunk in chunks for event in shown(encoder.encode(chunk))] + shown(encoder.close())

    assert [event if event == "[DONE]" else event["type"] for event in written] == [
        "start", "start-step", "reasoning-start", "reasoning-delta", "reasoning-end", "text-start", "text-delta",
        "text-end", "tool-input-start", "tool-input-delta", "tool-input-available", "tool-approval-request",
        "tool-output-available", "tool-output-available", "tool-input-start", "tool-input-delta", "tool-input-error",
        "tool-output-error", "file", "data-chart", "data-chart", "data-generative-ui", "message-metadata",
        "finish-step", "finish", "[DONE]",
    ]  # fmt: skip
    assert written[0] == {"type": "start", "messageId": "m"}
    assert written[-2] == {"type": "finish", "finishReason": "tool-calls", "usage": {"inputTokens": 1}}


# ---------------------------------------------------------------- reading


@pytest.mark.parametrize("decoder", [DataStreamDecoder, AssistantTransportDecoder, UIMessageStreamDecoder])
def test_an_endless_line_ends_the_reading_within_bounds(decoder: Any) -> None:
    reading = decoder(max_line_length=1000)

    chunks = [chunk for _ in range(50) for chunk in reading.feed(b"x" * 100)]

    assert reading.problem.code == "line-too-long"
    assert [chunk.error["code"] for chunk in chunks] == ["line-too-long"]
    assert reading.feed(b"\n0:1\n") == []
    assert reading.close() == []


@pytest.mark.parametrize("decoder", [DataStreamDecoder, AssistantTransportDecoder, UIMessageStreamDecoder])
def test_a_limit_that_makes_no_sense_is_refused(decoder: Any) -> None:
    with pytest.raises(InvalidInputError, match="whole number"):
        decoder(max_line_length=0)


def test_a_strict_reader_ends_at_a_frame_that_it_cannot_use() -> None:
    reading = DataStreamDecoder(is_strict=True)

    chunks = reading.feed(b'0:"a"\nzz:1\n0:"b"\n')

    assert reading.problem is not None
    assert reading.problem.code == "unsupported-type"
    assert [part.text for part in folded([*chunks, *reading.close()]).content] == ["a"]


def test_a_lenient_reader_reports_each_kind_once_and_goes_on() -> None:
    reports: list[WireError] = []
    reading = DataStreamDecoder(report=reports.append)

    chunks = reading.feed(b'zz:1\nzz:2\n0:"a"\nyy:1\n0:1\n0:2\n0:"b"\n') + reading.close()

    assert [(report.code, report.where) for report in reports] == [
        ("unsupported-type", "zz"),
        ("unsupported-type", "yy"),
        ("invalid-value", "0"),
    ]
    assert [part.text for part in folded(chunks).content] == ["ab"]


def test_arguments_of_a_ui_stream_are_shown_while_they_stream() -> None:
    reading = UIMessageStreamDecoder()
    start = {"type": "tool-input-start", "toolCallId": "c", "toolName": "search"}
    delta = {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": '{"q":"su'}

    (call,) = folded(reading.feed(events(start, delta, done=False))).content

    assert (call.tool_name, call.args) == ("search", {"q": "su"})


@pytest.mark.parametrize(
    ("streamed", "value", "text"),
    [
        ('{"a":1', {"a": 1}, '{"a":1}'),
        ('{"a": 1}', {"a": 1}, '{"a": 1}'),
        ('{"a":2', {"a": 1}, '{"a":1}'),
        ("", {"a": 1}, '{"a":1}'),
    ],
)
def test_the_input_at_the_end_wins_over_what_was_streamed(streamed: str, value: object, text: str) -> None:
    reading = UIMessageStreamDecoder()
    data = events(
        {"type": "tool-input-start", "toolCallId": "c", "toolName": "t"},
        {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": streamed},
        {"type": "tool-input-available", "toolCallId": "c", "toolName": "t", "input": value},
        {"type": "finish"},
    )

    message = folded(reading.feed(data))

    assert (message.content[0].args, message.content[0].args_text) == (value, text)
    assert message.status == REQUIRES_TOOL_CALLS


def test_a_data_event_with_the_same_id_replaces_the_part() -> None:
    told: list[tuple[Any, ...]] = []
    reading = UIMessageStreamDecoder(on_data=lambda *event: told.append(event))
    data = events(
        {"type": "data-chart", "id": "x", "data": 1},
        {"type": "text-delta", "id": "t", "delta": "a"},
        {"type": "data-chart", "id": "x", "data": 2},
        {"type": "data-note", "data": 3, "transient": True},
        {"type": "text-delta", "id": "t", "delta": "b"},
        {"type": "finish"},
    )

    message = folded(reading.feed(data))

    assert [part if isinstance(part, DataPart) else part.text for part in message.content] == [
        DataPart(name="chart", data=2, id="x"),
        "ab",
    ]
    assert told == [("chart", 1, "x", False), ("chart", 2, "x", False), ("note", 3, None, True)]


def test_a_finish_makes_the_end_marker_needless() -> None:
    reports: list[WireError] = []
    reading = UIMessageStreamDecoder(report=reports.append)

    chunks = reading.feed(events({"type": "text-delta", "delta": "a"}, {"type": "finish"}, done=False))
    chunks += reading.close()

    assert reading.problem is None
    assert [report.code for report in reports] == ["missing-done"]
    assert folded(chunks).status.type == "complete"


def test_an_abort_is_a_cancelled_answer() -> None:
    reading = UIMessageStreamDecoder()

    message = folded(reading.feed(events({"type": "text-delta", "delta": "a"}, {"type": "abort"})))

    assert message.status == IncompleteStatus("cancelled")
    assert message.content == (TextPart("a", status=message.content[0].status),)


def test_a_call_id_that_is_used_again_after_its_result_is_another_call() -> None:
    call = [
        {"type": "tool-input-start", "toolCallId": "c", "toolName": "t"},
        {"type": "tool-input-available", "toolCallId": "c", "toolName": "t", "input": {}},
        {"type": "tool-output-available", "toolCallId": "c", "output": 1},
    ]

    message = folded(UIMessageStreamDecoder().feed(events(*call, *call, {"type": "finish"})))

    assert [(part.tool_call_id, part.result) for part in message.content] == [("c", 1), ("c-2", 1)]


@pytest.mark.parametrize(
    ("deltas", "args", "expected"),
    [
        ([], {"a": 1}, '{"a":1}'),
        ([], {}, "{}"),
        (['{"a"', ":1}"], {"a": 1}, '{"a":1}'),
        (['{ "a": 1 }'], {"a": 1}, '{ "a": 1 }'),  # the same in other words: what was streamed stays
        (['{"a":'], {"a": 1}, '{"a":1}'),  # the rest was never streamed
        (['{"a":"'], {"b": [2]}, '{"b":[2]}'),  # trimmed on the way
        (['{"a":1}'], {"a": 2}, '{"a":2}'),
        (['{"a":1'], None, '{"a":1'),
    ],
)
@pytest.mark.parametrize("name", ["data-stream", "ui-message-stream"])
def test_the_closing_value_of_arguments_wins_over_what_was_streamed_of_them(
    name: str, deltas: list[str], args: object, expected: str
) -> None:
    if name == "data-stream":
        lines = ['b:{"toolCallId":"c","toolName":"t"}']
        lines += [f"c:{json.dumps({'toolCallId': 'c', 'argsTextDelta': delta})}" for delta in deltas]
        lines.append(f"9:{json.dumps({'toolCallId': 'c', 'toolName': 't', 'args': args})}")
        data = "".join(f"{line}\n" for line in lines).encode()
    else:
        named = {"toolCallId": "c", "toolName": "t"}
        grown = [{"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": delta} for delta in deltas]
        data = events(
            {"type": "tool-input-start", **named}, *grown, {"type": "tool-input-available", **named, "input": args}
        )
    decoder = CODECS[name].decoder()
    (part,) = folded([*decoder.feed(data), *decoder.close()]).content

    assert part.args_text == expected
    assert args is None or part.args == args
