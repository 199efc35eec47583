"""Chunks that name a part by its place, and the accumulator that folds them."""

from __future__ import annotations

import anyio
import pytest

from partwise.errors import StateOperationError, WireError
from partwise.messages import (
    COMPLETE,
    COMPLETE_STOP,
    COMPLETE_UNKNOWN,
    MISSING,
    REQUIRES_TOOL_CALLS,
    RUNNING,
    Approval,
    DataPart,
    IncompleteStatus,
    ReasoningPart,
    TextPart,
    ToolCallPart,
)
from partwise.stream import (
    Accumulator,
    AppendText,
    Chunk,
    ErrorChunk,
    Finish,
    PartApproval,
    PartArgsFinish,
    PartDelta,
    PartFinish,
    PartResult,
    PartStart,
    SetValue,
    StateUpdate,
    TextDelta,
    ToolApproval,
    ToolResult,
    accumulate,
    read_chunk,
    write_chunk,
)

CALL = ToolCallPart(tool_call_id="c", tool_name="search")


def folded(*chunks: Chunk) -> Accumulator:
    accumulator = Accumulator()
    for chunk in chunks:
        accumulator.apply(chunk)
    return accumulator


def test_parts_are_found_by_their_numbers_while_they_interleave() -> None:
    made = folded(
        PartStart(TextPart("")),
        PartStart(ReasoningPart("")),
        PartDelta([1], "think"),
        PartDelta([0], "say"),
        PartFinish([1]),
    )

    assert made.message.content == (TextPart("say", status=RUNNING), ReasoningPart("think", status=COMPLETE))
    assert made.finish().status == COMPLETE_UNKNOWN


def test_a_part_that_no_chunk_touches_keeps_its_identity() -> None:
    made = folded(PartStart(TextPart("")), PartStart(TextPart("")), PartDelta([0], "a"))
    before = made.message
    made.apply(PartDelta([1], "b"))

    assert made.message.content[0] is before.content[0]
    assert made.apply(PartDelta([1], "")) is made.message


def test_a_preliminary_result_is_no_result() -> None:
    made = folded(PartStart(CALL), PartDelta([0], '{"q": 1}'), PartArgsFinish([0]))
    made.apply(PartResult([0], 40, is_preliminary=True))
    (part,) = made.message.content

    assert isinstance(part, ToolCallPart)
    assert (part.has_result, part.preliminary) == (False, 40)
    assert made.finish().status == REQUIRES_TOOL_CALLS

    made = folded(PartStart(CALL), ToolResult("c", 40, is_preliminary=True), ToolResult("c", 100))
    (part,) = made.message.content
    assert isinstance(part, ToolCallPart)
    assert (part.result, part.preliminary) == (100, MISSING)


def test_chunks_by_id_and_by_place_reach_the_same_call() -> None:
    made = folded(PartStart(CALL), ToolApproval("c", Approval(id="a")), PartResult([0], 1), ToolResult("c", 2))
    (part,) = made.message.content

    assert isinstance(part, ToolCallPart)
    assert (part.approval, part.result) == (Approval(id="a"), 1)
    reader = made.args_reader("c")
    assert reader is not None
    assert reader.is_blank


def test_misplaced_chunks_are_dropped_and_each_kind_is_reported_once() -> None:
    problems: list[WireError] = []
    made = Accumulator(report=problems.append)
    made.apply(PartStart(TextPart("")))
    before = made.message
    for place in ([7], [8], [0, 0], []):
        made.apply(PartDelta(place, "x"))
    made.apply(PartResult([0], 1))
    made.apply(PartApproval([0], Approval(id="a")))
    made.apply(PartArgsFinish([0]))

    assert made.message is before
    assert [str(problem) for problem in problems] == [
        "Dropped text for a part that does not exist (part [7]).",
        "Dropped a result for a text part (part [0]).",
        "Dropped an approval for a text part (part [0]).",
        "Dropped an end of arguments for a text part (part [0]).",
    ]


def test_a_flood_of_bad_chunks_is_neither_logged_nor_remembered_without_end() -> None:
    problems: list[WireError] = []
    made = Accumulator(report=problems.append)
    for number in range(1000):
        made.apply(ToolResult(f"c{number}", 1))
        made.apply(ToolResult(f"c{number}", 2))

    assert len(problems) == 100


def test_a_warning_is_told_and_the_answer_goes_on() -> None:
    problems: list[WireError] = []
    made = Accumulator(report=problems.append)
    made.apply(ErrorChunk({"code": "slow", "message": "still here", "severity": "warning"}))
    made.apply(TextDelta("x"))

    assert made.apply(Finish("stop")).status == COMPLETE_STOP
    assert [(problem.code, "still here" in str(problem)) for problem in problems] == [("slow", True)]


def test_changes_of_state_are_strict_or_lenient_as_asked() -> None:
    bad = StateUpdate([SetValue(("n",), 1), AppendText(("n",), "x"), SetValue(("m",), 2)])
    problems: list[WireError] = []
    lenient = Accumulator(report=problems.append)

    assert lenient.apply(bad).metadata.state == {"n": 1, "m": 2}
    assert [problem.code for problem in problems] == ["not-a-string"]
    with pytest.raises(StateOperationError):
        Accumulator(is_strict=True).apply(bad)


def test_what_was_measured_is_in_the_message_once_it_ends() -> None:
    now = [1000.0]
    made = Accumulator(clock=lambda: now[0])
    for chunk in (PartStart(ReasoningPart("")), PartDelta([0], "abcd"), PartFinish([0]), PartStart(CALL)):
        now[0] += 10
        made.apply(chunk)
    assert made.message.metadata.timing is None
    now[0] += 10
    made.apply(PartResult([1], "r"))
    timing = made.finish().metadata.timing
    thought, call = made.message.content

    assert isinstance(thought, ReasoningPart)
    assert isinstance(call, ToolCallPart)
    assert thought.timing is not None
    assert call.timing is not None
    assert (thought.timing.started_at, thought.timing.completed_at) == (1010, 1030)
    assert (call.timing.started_at, call.timing.completed_at) == (1040, 1050)
    assert timing is not None
    assert (timing.first_token_time, timing.total_stream_time, timing.token_count) == (20, 50, 1)
    assert (timing.total_chunks, timing.tool_call_count) == (5, 1)


def test_a_part_of_an_unknown_kind_is_data_and_keeps_the_numbers_right() -> None:
    video = read_chunk({"type": "part-start", "path": [], "part": {"type": "video", "url": "u"}})
    broken = read_chunk({"type": "part-start", "path": [], "part": {"type": "file"}}, report=lambda problem: None)
    made = folded(video, broken, PartStart(TextPart("")), PartDelta([2], "x"))

    assert made.message.content == (
        DataPart(name="video", data={"url": "u"}),
        DataPart(name="file", data={}),
        TextPart("x", status=RUNNING),
    )


@pytest.mark.parametrize(
    "chunk",
    [
        {"type": "text-delta", "path": [0], "textDelta": "x", "providerMetadata": {"a": {"k": 1}}},
        {"type": "result", "path": [0], "result": None, "isError": True, "artifact": [1], "isPreliminary": True},
        {"type": "result", "path": [0], "result": 1, "isError": False, "modelContent": [{"type": "text", "text": "m"}]},
        {"type": "tool-call-approval", "path": [0], "approval": {"signature": "s", "id": "a", "approved": False}},
        {"type": "update-state", "path": [], "operations": [{"type": "set", "path": ["a"], "value": None}]},
        {"type": "step-finish", "path": [], "finishReason": "stop", "usage": {"inputTokens": 1}, "isContinued": True},
        {"type": "error", "path": [], "error": "e", "code": "c", "severity": "critical"},
    ],
)
def test_a_chunk_survives_its_wire_form(chunk: dict[str, object]) -> None:
    (written,) = write_chunk(read_chunk(chunk))

    assert written == chunk


@pytest.mark.parametrize(
    ("chunk", "code"),
    [
        (None, "invalid-value"),
        ({"type": "sparkle"}, "unsupported-type"),
        ({"type": 5}, "unsupported-type"),
        ({"type": "text-delta", "path": [-1], "textDelta": "x"}, "invalid-value"),
        ({"type": "text-delta", "path": [True], "textDelta": "x"}, "invalid-value"),
        ({"type": "text-delta", "path": [0], "textDelta": None}, "invalid-value"),
        ({"type": "part-start", "path": []}, "invalid-value"),
        ({"type": "message-finish", "finishReason": 1}, "invalid-value"),
    ],
)
def test_what_is_no_chunk_is_refused_with_a_reason(chunk: object, code: str) -> None:
    with pytest.raises(WireError) as caught:
        read_chunk(chunk)
    assert caught.value.code == code


async def test_accumulate_gives_every_change_and_the_end() -> None:
    send, receive = anyio.create_memory_object_stream[Chunk](10)
    for chunk in (TextDelta("a"), TextDelta(""), TextDelta("b"), ErrorChunk("broken")):
        await send.send(chunk)
    send.close()

    async with receive:
        seen = [message async for message in accumulate(receive)]

    assert [[part.text for part in message.content if isinstance(part, TextPart)] for message in seen] == [
        ["a"],
        ["ab"],
        ["ab"],
    ]
    assert isinstance(seen[-1].status, IncompleteStatus)
