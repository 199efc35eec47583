from __future__ import annotations

import json
from datetime import UTC, datetime

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.errors import AdapterError, WireError
from partwise.messages import (
    COMPLETE_STOP,
    COMPLETE_UNKNOWN,
    REQUIRES_TOOL_CALLS,
    RUNNING,
    AssistantMessage,
    AssistantMetadata,
    DataPart,
    Feedback,
    IncompleteStatus,
    ReasoningPart,
    Step,
    TextContent,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
    Usage,
)
from partwise.stream import (
    Chunk,
    ErrorChunk,
    Finish,
    Fold,
    MetadataChunk,
    PartChunk,
    ReasoningDelta,
    StepFinish,
    StepStart,
    TextDelta,
    ToolArgsDelta,
    ToolArgsFinish,
    ToolCallStart,
    ToolResult,
    is_chunk,
)

EMPTY = AssistantMessage(id="a1", created_at=datetime(2026, 1, 1, tzinfo=UTC), status=RUNNING)
SOURCE = UrlSourcePart(id="s1", url="https://example.org")


def fold(*chunks: Chunk, message: AssistantMessage = EMPTY, start: int | None = None) -> AssistantMessage:
    done = Fold(len(message.content) if start is None else start)
    for chunk in chunks:
        message = done.apply(message, chunk)
    return done.finish(message)


def shape(message: AssistantMessage) -> list[tuple[str, str]]:
    return [
        (part.type, part.args_text if isinstance(part, ToolCallPart) else getattr(part, "text", ""))
        for part in message.content
    ]


def call(message: AssistantMessage, at: int = 0) -> ToolCallPart:
    part = message.content[at]
    assert isinstance(part, ToolCallPart)
    return part


# ---------------------------------------------------------------- text and reasoning


def test_deltas_of_one_text_grow_one_part() -> None:
    message = fold(TextDelta("Hel"), TextDelta("lo"), TextDelta("!"))

    assert message.content == (TextPart("Hello!"),)


@pytest.mark.parametrize("delta", [TextDelta, ReasoningDelta])
def test_a_delta_that_replaces_takes_the_place_of_what_had_come(delta: type[TextDelta | ReasoningDelta]) -> None:
    message = fold(delta("Hal", part_id="a"), delta("?", part_id="b"), delta("Hello", part_id="a", replaces=True))

    assert [getattr(part, "text", None) for part in message.content] == ["Hello", "?"]


def test_an_empty_delta_opens_no_part_and_returns_the_message_itself() -> None:
    fold_ = Fold()

    assert fold_.apply(EMPTY, TextDelta("")) is EMPTY
    assert fold_.apply(EMPTY, ReasoningDelta("")) is EMPTY
    message = fold_.apply(EMPTY, TextDelta("0"))
    assert fold_.apply(message, TextDelta("")) is message


def test_text_call_text_gives_three_parts() -> None:
    message = fold(
        TextDelta("I look"),
        ToolCallStart("c1", "look"),
        ToolArgsDelta("c1", "{}"),
        ToolArgsFinish("c1"),
        TextDelta("It is"),
        TextDelta(" there"),
    )

    assert shape(message) == [("text", "I look"), ("tool-call", "{}"), ("text", "It is there")]


def test_arguments_that_arrive_during_a_later_text_do_not_cut_it() -> None:
    message = fold(
        ToolCallStart("c1", "look"), TextDelta("a"), ToolArgsDelta("c1", "{}"), ToolResult("c1", 1), TextDelta("b")
    )

    assert shape(message) == [("tool-call", "{}"), ("text", "ab")]


def test_parts_stand_in_the_order_of_their_first_appearance() -> None:
    message = fold(
        ReasoningDelta("r", part_id="1"),
        TextDelta("t", part_id="1"),
        ReasoningDelta("s", part_id="1"),
        TextDelta("u", part_id="2"),
        TextDelta("v", part_id="1"),
    )

    assert shape(message) == [("reasoning", "rs"), ("text", "tv"), ("text", "u")]


def test_a_source_does_not_cut_the_text_it_belongs_to() -> None:
    message = fold(TextDelta("a"), PartChunk(SOURCE), TextDelta("b"))

    assert message.content == (TextPart("ab"), SOURCE)


@pytest.mark.parametrize("between", [StepStart(), StepFinish(), Finish(), PartChunk(DataPart(name="n", data=1))])
def test_a_step_a_finish_or_another_part_ends_the_text(between: Chunk) -> None:
    message = fold(TextDelta("a"), between, TextDelta("b"))

    assert [text for kind, text in shape(message) if kind == "text"] == ["a", "b"]


def test_a_text_for_another_parent_is_another_part() -> None:
    message = fold(TextDelta("a", parent_id="p"), TextDelta("b", parent_id="p"), TextDelta("c", parent_id="q"))

    assert message.content == (TextPart("ab", parent_id="p"), TextPart("c", parent_id="q"))


def test_metadata_of_providers_is_laid_over_and_never_opens_a_part() -> None:
    message = fold(
        ReasoningDelta("", provider_metadata={"x": {"early": 1}}),
        ReasoningDelta("hm", provider_metadata={"x": {"id": 1}}),
        ReasoningDelta("", provider_metadata={"x": {"signature": "s"}, "y": {}}),
    )

    assert message.content == (ReasoningPart("hm", provider_metadata={"x": {"id": 1, "signature": "s"}, "y": {}}),)


def test_parts_that_a_chunk_does_not_touch_keep_their_identity() -> None:
    fold_ = Fold()
    before = fold_.apply(fold_.apply(EMPTY, ReasoningDelta("r")), TextDelta("t"))
    after = fold_.apply(before, TextDelta("u"))

    assert after.content[0] is before.content[0]
    assert after.metadata is before.metadata
    assert before.content[1] == TextPart("t")


def test_parts_of_earlier_roundtrips_get_no_more_text() -> None:
    message = fold(TextDelta("b"), message=attrs.evolve(EMPTY, content=(TextPart("a"),)))

    assert shape(message) == [("text", "a"), ("text", "b")]


# ---------------------------------------------------------------- tool calls


def test_arguments_can_be_read_while_they_grow() -> None:
    fold_ = Fold()
    message = fold_.apply(EMPTY, ToolCallStart("c1", "write"))
    assert (call(message).args, call(message).args_text) == ({}, "")

    message = fold_.apply(message, ToolArgsDelta("c1", '{"path": "a'))
    assert (call(message).args, call(message).args_text) == ({"path": "a"}, '{"path": "a')

    message = fold_.apply(message, ToolArgsDelta("c1", '.txt", "size": 0}'))
    assert call(message).args == {"path": "a.txt", "size": 0}


@given(
    st.dictionaries(st.text(max_size=5), st.integers() | st.text() | st.lists(st.booleans()), max_size=4),
    st.integers(1, 7),
)
def test_arguments_come_out_as_a_strict_parser_reads_them(arguments: dict[str, object], size: int) -> None:
    text = json.dumps(arguments)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]

    message = fold(ToolCallStart("c1", "t"), *(ToolArgsDelta("c1", piece) for piece in pieces), ToolArgsFinish("c1"))

    assert call(message).args == arguments
    assert call(message).args_text == text


def test_truncated_or_broken_arguments_keep_their_text_and_what_can_be_read_of_it() -> None:
    text = '{"path": "notes/x.txt", "content": "abc'
    cut = fold(ToolCallStart("c1", "write"), ToolArgsDelta("c1", text), Finish("length"))
    assert call(cut).args_text == text
    assert call(cut).args == {"path": "notes/x.txt", "content": "abc"}
    assert cut.status == IncompleteStatus("length")

    broken = fold(ToolCallStart("c1", "t"), ToolArgsDelta("c1", '{"a": 1,,}'), ToolArgsFinish("c1"))
    assert (call(broken).args, call(broken).args_text) == ({"a": 1}, '{"a": 1,,}')


def test_no_arguments_at_all_are_an_empty_object() -> None:
    message = fold(ToolCallStart("c1", "now"), ToolArgsDelta("c1", ""), ToolArgsFinish("c1"))

    assert (call(message).args, call(message).args_text) == ({}, "")


@pytest.mark.parametrize("sent", ["", '{"a"', '{"a": 1}', '{"b": 2}'])
def test_the_closing_text_wins_over_the_sum_of_the_deltas(sent: str) -> None:
    message = fold(ToolCallStart("c1", "t"), ToolArgsDelta("c1", sent), ToolArgsFinish("c1", '{"a": 1}'))

    assert (call(message).args, call(message).args_text) == ({"a": 1}, '{"a": 1}')


def test_parallel_calls_keep_their_arguments_apart() -> None:
    message = fold(
        ToolCallStart("c1", "add"),
        ToolArgsDelta("c1", '{"a"'),
        ToolCallStart("c2", "mul"),
        ToolArgsDelta("c2", '{"b"'),
        ToolArgsDelta("c1", ": 1}"),
        ToolArgsDelta("c2", ": 2}"),
    )

    assert [(part.tool_name, part.args) for part in (call(message, 0), call(message, 1))] == [
        ("add", {"a": 1}),
        ("mul", {"b": 2}),
    ]


def test_a_start_said_twice_is_one_call_and_a_late_name_is_learned() -> None:
    fold_ = Fold()
    message = fold_.apply(EMPTY, ToolCallStart("c1", ""))
    message = fold_.apply(message, ToolCallStart("c1", "look", parent_id="p"))
    assert (call(message).tool_name, call(message).parent_id) == ("look", "p")
    assert fold_.apply(message, ToolCallStart("c1", "look")) is message
    assert fold_.apply(message, ToolCallStart("c1", "")) is message


def test_an_id_of_an_earlier_roundtrip_used_again_is_another_call() -> None:
    earlier = ToolCallPart(tool_call_id="call_0", tool_name="t", args_text="{}", result=1)
    message = fold(
        ToolCallStart("call_0", "t"),
        ToolArgsDelta("call_0", '{"a": 1}'),
        ToolResult("call_0", 2),
        message=attrs.evolve(EMPTY, content=(earlier,)),
    )

    assert message.content[0] is earlier
    assert (call(message, 1).tool_call_id, call(message, 1).args, call(message, 1).result) == ("call_0-2", {"a": 1}, 2)


@pytest.mark.parametrize("result", [None, False, 0, "", [], {"a": [1]}])
def test_every_value_is_a_result(result: object) -> None:
    message = fold(
        ToolCallStart("c1", "t"),
        ToolResult("c1", result, is_error=False, artifact=7, model_content=[TextContent("x")]),
    )

    assert call(message).has_result
    assert call(message).result == result
    assert (call(message).is_error, call(message).artifact) == (False, 7)
    assert call(message).model_content == (TextContent("x"),)


def test_a_result_for_an_unknown_call_is_kept_as_a_call_without_a_name() -> None:
    message = fold(ToolResult("c9", "late"))

    assert message.content == (ToolCallPart(tool_call_id="c9", tool_name="", result="late"),)


def test_a_result_finds_the_call_of_an_earlier_roundtrip() -> None:
    earlier = ToolCallPart(tool_call_id="c1", tool_name="t")
    message = fold(ToolResult("c1", 5), message=attrs.evolve(EMPTY, content=(earlier,)))

    assert [part.result for part in message.content if isinstance(part, ToolCallPart)] == [5]


def test_a_whole_call_is_taken_as_it_is_and_replaces_the_streamed_one() -> None:
    whole = ToolCallPart(tool_call_id="c1", tool_name="t", args={"a": 1}, args_text='{"a":1}')

    assert fold(PartChunk(whole)).content == (whole,)
    message = fold(ToolCallStart("c1", "t"), ToolResult("c1", 3), PartChunk(whole))
    assert message.content == (attrs.evolve(whole, result=3),)


def test_unusable_chunks_are_dropped_and_reported_once() -> None:
    reports: list[WireError] = []
    fold_ = Fold(report=reports.append)
    message = fold_.apply(EMPTY, ToolCallStart("c1", "t"))
    message = fold_.apply(message, ToolArgsFinish("c1"))
    message = fold_.apply(message, ToolResult("c1", 1))
    for chunk in [
        ToolArgsDelta("c1", "{}"),
        ToolArgsFinish("c1"),
        ToolResult("c1", 2),
        ToolArgsDelta("c7", "{"),
        ToolArgsFinish("c7"),
    ] * 2:
        assert fold_.apply(message, chunk) is message

    assert [(report.where, str(report)) for report in reports] == [
        ("c1", "Dropped arguments after the end of the arguments (tool call 'c1')."),
        ("c1", "Dropped a second end of the arguments (tool call 'c1')."),
        ("c1", "Dropped a second result (tool call 'c1')."),
        ("c7", "Dropped arguments for a call that was never started (tool call 'c7')."),
        ("c7", "Dropped an end of arguments for a call that was never started (tool call 'c7')."),
    ]


def test_without_a_report_the_log_is_told(caplog: pytest.LogCaptureFixture) -> None:
    fold(ToolResult("c1", 1), ToolResult("c1", 2))

    assert [record.name for record in caplog.records] == ["partwise.stream"]


# ---------------------------------------------------------------- what others do meanwhile


def test_what_others_change_meanwhile_is_kept() -> None:
    fold_ = Fold()
    message = fold_.apply(EMPTY, ToolCallStart("c1", "ask"))
    message = attrs.evolve(
        message,
        content=(attrs.evolve(call(message), result="by a human"),),
        metadata=attrs.evolve(message.metadata, submitted_feedback=Feedback("positive")),
    )
    message = fold_.apply(message, ToolArgsDelta("c1", '{"q": 1}'))
    message = fold_.apply(message, TextDelta("ok"))

    assert (call(message).result, call(message).args) == ("by a human", {"q": 1})
    assert message.metadata.submitted_feedback == Feedback("positive")


def test_a_call_that_others_moved_or_removed_is_looked_for() -> None:
    fold_ = Fold()
    message = fold_.apply(fold_.apply(EMPTY, TextDelta("x")), ToolCallStart("c1", "t"))
    moved = attrs.evolve(message, content=message.content[1:])
    assert call(fold_.apply(moved, ToolArgsDelta("c1", "{}"))).args_text == "{}"

    gone = attrs.evolve(message, content=())
    assert fold_.apply(gone, ToolArgsDelta("c1", "{}")) is gone
    assert shape(fold_.apply(gone, TextDelta("y"))) == [("text", "y")]


def test_after_a_reset_text_opens_a_new_part_and_calls_are_found_by_their_id() -> None:
    fold_ = Fold()
    fold_.apply(EMPTY, TextDelta("x"))
    fold_.reset()
    replaced = attrs.evolve(EMPTY, content=(TextPart("whole"), ToolCallPart(tool_call_id="c1", tool_name="t")))
    message = fold_.apply(fold_.apply(replaced, TextDelta("y")), ToolResult("c1", 1))

    assert shape(message) == [("text", "whole"), ("tool-call", ""), ("text", "y")]
    assert call(message, 1).result == 1


# ---------------------------------------------------------------- how it ends


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("stop", COMPLETE_STOP),
        ("unknown", COMPLETE_UNKNOWN),
        ("tool-calls", COMPLETE_UNKNOWN),
        ("length", IncompleteStatus("length")),
        ("content-filter", IncompleteStatus("content-filter")),
        ("other", IncompleteStatus("other")),
        ("error", IncompleteStatus("error")),
    ],
)
def test_a_finish_decides_the_status_of_a_text(reason: str, status: object) -> None:
    assert fold(TextDelta("a"), Finish(reason)).status == status  # type: ignore[arg-type]  # parametrised


@pytest.mark.parametrize("ending", [[Finish("tool-calls")], [Finish("unknown")], []])
def test_a_call_without_a_result_asks_for_one(ending: list[Chunk]) -> None:
    assert fold(ToolCallStart("c1", "t"), *ending).status == REQUIRES_TOOL_CALLS


def test_a_call_with_a_result_asks_for_nothing_unless_the_model_says_so() -> None:
    settled: list[Chunk] = [ToolCallStart("c1", "t"), ToolResult("c1", 1)]

    assert fold(*settled, Finish("stop")).status == COMPLETE_STOP
    assert fold(*settled, Finish("unknown")).status == COMPLETE_UNKNOWN
    assert fold(*settled).status == RUNNING
    assert fold(*settled, Finish("tool-calls")).status == REQUIRES_TOOL_CALLS


def test_calls_of_earlier_roundtrips_do_not_count() -> None:
    before = attrs.evolve(EMPTY, content=(ToolCallPart(tool_call_id="c1", tool_name="t"),))

    assert fold(TextDelta("x"), Finish("tool-calls"), message=before).status == COMPLETE_UNKNOWN
    assert fold(TextDelta("x"), message=before).status == RUNNING


def test_a_stream_that_just_ends_leaves_the_status_to_the_run() -> None:
    assert fold(TextDelta("a")).status == RUNNING


def test_a_finish_said_twice_changes_nothing() -> None:
    fold_ = Fold()
    message = fold_.apply(fold_.apply(EMPTY, TextDelta("a")), Finish("length", Usage(input_tokens=1)))
    assert fold_.is_finished
    assert fold_.apply(message, Finish("length", Usage(input_tokens=1))) is message
    assert fold_.finish(message) is message


def test_an_error_keeps_what_arrived_and_says_more_than_a_finish() -> None:
    message = fold(TextDelta("a"), Finish("length"), ErrorChunk({"code": "400", "message": "no"}), Finish("stop"))

    assert shape(message) == [("text", "a")]
    assert message.status == IncompleteStatus("error", error={"code": "400", "message": "no"})


def test_an_exception_becomes_a_record() -> None:
    status = fold(ErrorChunk(ValueError("broken"))).status

    assert status == IncompleteStatus("error", error={"code": "unknown", "message": "broken"})


def test_an_error_leaves_open_calls_alone() -> None:
    message = fold(ToolCallStart("c1", "t"), ToolArgsDelta("c1", '{"a'), ErrorChunk("gone"))

    assert call(message).args_text == '{"a'
    assert message.status == IncompleteStatus("error", error={"code": "unknown", "message": "gone"})


# ---------------------------------------------------------------- steps and metadata


def usage(tokens: int) -> Usage:
    return Usage(input_tokens=tokens)


@pytest.mark.parametrize(
    ("chunks", "steps"),
    [
        ([Finish()], ()),
        ([Finish("stop", usage(1))], (Step(message_id="step-0", usage=usage(1)),)),
        ([Finish("stop", total_usage=usage(1))], ()),
        ([StepFinish(usage(1)), Finish("stop", usage(1))], (Step(message_id="step-0", usage=usage(1)),)),
        ([StepFinish(), Finish("stop", usage(1))], (Step(message_id="step-0", usage=usage(1)),)),
        ([StepStart()], (Step(),)),
        (
            [StepStart("m1"), StepStart("m2"), StepFinish(usage(1))],
            (Step(message_id="m1"), Step(message_id="m2", usage=usage(1))),
        ),
        ([StepStart("m1"), Finish("stop", usage(1))], (Step(message_id="m1", usage=usage(1)),)),
        ([StepStart("m1"), StepFinish(usage(1))], (Step(message_id="m1", usage=usage(1)),)),
        ([StepStart("m1"), StepStart("m2"), Finish()], (Step(message_id="m1"), Step(message_id="m2"))),
        (
            [StepFinish(usage(1)), StepStart(), StepFinish(usage(2)), Finish("stop", usage(3))],
            (Step(message_id="step-0", usage=usage(1)), Step(usage=usage(2))),
        ),
        (
            [Finish("stop", usage(1)), Finish("stop", Usage(output_tokens=2))],
            (Step(message_id="step-0", usage=Usage(input_tokens=1, output_tokens=2)),),
        ),
    ],
)
def test_each_roundtrip_is_one_step(chunks: list[Chunk], steps: tuple[Step, ...]) -> None:
    assert fold(*chunks).metadata.steps == steps


def test_steps_of_earlier_roundtrips_stay() -> None:
    before = attrs.evolve(EMPTY, metadata=AssistantMetadata(steps=(Step(message_id="m0"),)))

    steps = fold(StepFinish(usage(1)), message=before).metadata.steps
    assert steps == (Step(message_id="m0"), Step(message_id="step-1", usage=usage(1)))


def test_metadata_is_added_to_what_is_there() -> None:
    before = attrs.evolve(EMPTY, metadata=AssistantMetadata(annotations=(1,), custom={"a": 1, "b": 1}))
    after = fold(MetadataChunk(state=None, annotations=[{"x": [2]}], data=[3], custom={"b": 2}), message=before)

    assert after.metadata == AssistantMetadata(annotations=(1, {"x": [2]}), data=(3,), custom={"a": 1, "b": 2})
    assert Fold().apply(after, MetadataChunk(state=None, custom={"b": 2})) is after


def test_a_source_or_data_with_a_known_id_is_replaced_in_its_place() -> None:
    later = UrlSourcePart(id="s1", url="https://example.org", title="T")
    message = fold(
        PartChunk(SOURCE),
        PartChunk(DataPart(name="n", id="d", data=1)),
        PartChunk(later),
        PartChunk(DataPart(name="n", id="d", data=2)),
        PartChunk(DataPart(name="n", data=3)),
        PartChunk(DataPart(name="n", data=3)),
    )

    assert message.content == (
        later,
        DataPart(name="n", id="d", data=2),
        DataPart(name="n", data=3),
        DataPart(name="n", data=3),
    )


def test_what_is_no_chunk_is_refused() -> None:
    assert is_chunk(TextDelta("x"))
    assert not is_chunk("x")
    with pytest.raises(AdapterError, match="yielded a str, which is no chunk"):
        Fold().apply(EMPTY, "x")  # type: ignore[arg-type]  # what a careless adapter yields
