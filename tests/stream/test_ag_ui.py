"""AG-UI: the events of an agent's run become chunks, and chunks become events that the protocol's own types read."""

from __future__ import annotations

import builtins
import json
import sys
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from ag_ui.core import Event
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from partwise.errors import StateOperationError, WireError
from partwise.messages import (
    RUNNING,
    Approval,
    AssistantMessage,
    AssistantMetadata,
    DataPart,
    GenerativeUIPart,
    ReasoningPart,
    TextContent,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
    Usage,
)
from partwise.stream import (
    Accumulator,
    AppendText,
    Chunk,
    ErrorChunk,
    Finish,
    Fold,
    MetadataChunk,
    PartChunk,
    ReasoningDelta,
    SetValue,
    StepFinish,
    StepStart,
    TextDelta,
    ToolApproval,
    ToolArgsDelta,
    ToolArgsFinish,
    ToolCallStart,
    ToolResult,
    apply_operations,
)
from partwise.stream._json_patch import patch_of, read_patch
from partwise.stream.codecs import AgUiDecoder, AgUiEncoder
from tests.strategies import json_objects, json_values

BORN = datetime(2026, 1, 1, tzinfo=UTC)
RUN = {"threadId": "t", "runId": "r"}
START, END = {"type": "RUN_STARTED", **RUN}, {"type": "RUN_FINISHED", **RUN}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def text(message_id: str, *deltas: str) -> list[dict[str, Any]]:
    grown = [event("TEXT_MESSAGE_CONTENT", messageId=message_id, delta=delta) for delta in deltas]
    return [
        event("TEXT_MESSAGE_START", messageId=message_id, role="assistant"),
        *grown,
        event("TEXT_MESSAGE_END", messageId=message_id),
    ]


def call(call_id: str, *deltas: str, result: str | None = None) -> list[dict[str, Any]]:
    events = [event("TOOL_CALL_START", toolCallId=call_id, toolCallName="search")]
    events += [event("TOOL_CALL_ARGS", toolCallId=call_id, delta=delta) for delta in deltas]
    events.append(event("TOOL_CALL_END", toolCallId=call_id))
    if result is not None:
        events.append(event("TOOL_CALL_RESULT", messageId=f"m-{call_id}", toolCallId=call_id, content=result))
    return events


def wire(events: list[dict[str, Any]]) -> bytes:
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in events)


def read(
    events: list[dict[str, Any]], message: AssistantMessage | None = None
) -> tuple[AssistantMessage, list[WireError]]:
    """Decode a stream and fold it into a message, as a runtime does with one that goes on."""
    reports: list[WireError] = []
    decoder = AgUiDecoder(report=reports.append, message=message)
    folded = AssistantMessage(id="a1", created_at=BORN, status=RUNNING) if message is None else message
    fold = Fold(start=len(folded.content), report=reports.append)
    for chunk in [*decoder.feed(wire(events)), *decoder.close()]:
        folded = fold.apply(folded, chunk)
    return fold.finish(folded), reports


def said(message: AssistantMessage) -> list[Any]:
    """The parts, each as its kind and what it says."""
    out: list[Any] = []
    for part in message.content:
        match part:
            case TextPart() | ReasoningPart():
                out.append((part.type, part.text))
            case ToolCallPart():
                out.append((part.tool_call_id, part.args_text, part.result if part.has_result else "open"))
            case DataPart():
                out.append((part.name, part.data))
            case _:
                out.append(part)
    return out


def status(message: AssistantMessage) -> tuple[str, str | None]:
    return message.status.type, getattr(message.status, "reason", None)


# ---------------------------------------------------------------- reading


def test_texts_reasoning_and_calls_are_parts_in_the_order_of_their_appearance() -> None:
    message, reports = read(
        [
            START,
            event("REASONING_START", messageId="r1"),
            event("REASONING_MESSAGE_START", messageId="r1", role="reasoning"),
            event("REASONING_MESSAGE_CONTENT", messageId="r1", delta="hm"),
            event("REASONING_MESSAGE_END", messageId="r1"),
            event("REASONING_END", messageId="r1"),
            *text("m1", "Let me ", "look."),
            *call("c1", '{"q":', '"sun"}', result='{"hits":1}'),
            *text("m2", "A star."),
            END,
        ]
    )

    assert said(message) == [
        ("reasoning", "hm"),
        ("text", "Let me look."),
        ("c1", '{"q":"sun"}', {"hits": 1}),
        ("text", "A star."),
    ]
    assert (status(message), reports) == (("complete", "stop"), [])


def test_chunks_stand_for_start_content_and_end() -> None:
    message, reports = read(
        [
            START,
            event("REASONING_MESSAGE_CHUNK", messageId="r1", delta="h"),
            event("REASONING_MESSAGE_CHUNK", delta="m"),
            event("TEXT_MESSAGE_CHUNK", messageId="m1", role="assistant", delta="a"),
            event("CUSTOM", name="tick", value=1),
            event("TEXT_MESSAGE_CHUNK", delta="b"),
            event("TOOL_CALL_CHUNK", toolCallId="c1", toolCallName="search", delta='{"q"'),
            event("TOOL_CALL_CHUNK", delta=":1}"),
            event("TOOL_CALL_CHUNK", toolCallId="c2", toolCallName="search"),
            event("TEXT_MESSAGE_CHUNK", messageId="m2", delta="c"),
            END,
        ]
    )

    assert said(message) == [
        ("reasoning", "hm"),
        ("text", "ab"),
        ("tick", 1),
        ("c1", '{"q":1}', "open"),
        ("c2", "{}", "open"),
        ("text", "c"),
    ]
    assert (status(message), reports) == (("requires-action", "tool-calls"), [])


def test_a_text_that_goes_on_after_a_call_is_a_second_part() -> None:
    grow = [event("TEXT_MESSAGE_CONTENT", messageId="m1", delta=delta) for delta in ("a", "b")]
    message, reports = read(
        [START, event("TEXT_MESSAGE_START", messageId="m1"), grow[0], *call("c1", result="1"), grow[1], END]
    )

    assert said(message) == [("text", "a"), ("c1", "{}", 1), ("text", "b")]
    assert not reports


def test_what_has_no_words_leaves_no_part() -> None:
    message, reports = read([START, *text("m1"), *text("m2", ""), *text("m3", "0"), END])

    assert said(message) == [("text", "0")]
    assert not reports


def test_the_older_events_about_thinking_are_read() -> None:
    one = [event("THINKING_START"), event("THINKING_TEXT_MESSAGE_START")]
    end = [event("THINKING_TEXT_MESSAGE_END"), event("THINKING_END")]
    grow = [event("THINKING_TEXT_MESSAGE_CONTENT", delta=delta) for delta in ("a", "b")]
    message, reports = read([START, *one, grow[0], *end, *text("m", "x"), *one, grow[1], *end, END])

    assert said(message) == [("reasoning", "a"), ("text", "x"), ("reasoning", "b")]
    assert not reports


def test_snapshots_and_patches_change_the_state() -> None:
    def delta(*operations: dict[str, Any]) -> dict[str, Any]:
        return event("STATE_DELTA", delta=list(operations))

    message, reports = read(
        [
            START,
            event("STATE_SNAPSHOT", snapshot={"a": [1, 3], "b": {"c/d": "x"}}),
            delta({"op": "add", "path": "/a/1", "value": 2}, {"op": "add", "path": "/a/-", "value": 4}),
            delta({"op": "move", "from": "/b/c~1d", "path": "/e"}, {"op": "copy", "from": "/a/0", "path": "/b/f"}),
            delta({"op": "test", "path": "/e", "value": "x"}, {"op": "replace", "path": "/e", "value": None}),
            delta({"op": "remove", "path": "/a/0"}, {"op": "test", "path": "/a/0", "value": 9}),
            END,
        ]
    )

    assert message.metadata.state == {"a": [1, 2, 3, 4], "b": {"f": 1}, "e": None}
    # The last patch fails at its end, so nothing of it counts.
    assert [report.code for report in reports] == ["invalid-patch"]


def test_activities_are_data_parts_that_change() -> None:
    def shown(content: dict[str, Any], **fields: Any) -> dict[str, Any]:
        return event("ACTIVITY_SNAPSHOT", messageId="x", activityType="plan", content=content, **fields)

    def changed(message_id: str, value: object) -> dict[str, Any]:
        patch = [{"op": "add", "path": "/steps/-", "value": value}]
        return event("ACTIVITY_DELTA", messageId=message_id, activityType="plan", patch=patch)

    message, reports = read(
        [START, shown({"steps": []}), *text("m", "a"), changed("x", 1), changed("x", 2), changed("y", 3), END]
    )
    kept, _ = read([START, shown({"a": 1}), shown({"a": 2}, replace=False), END])

    assert said(message) == [("plan", {"steps": [1, 2]}), ("text", "a")]
    assert [report.code for report in reports] == ["misplaced"]
    assert said(kept) == [("plan", {"a": 1})]


def test_an_activity_and_a_text_may_share_an_id() -> None:
    activity = event("ACTIVITY_SNAPSHOT", messageId="x", activityType="plan", content={"a": 1})
    thought = [
        event("REASONING_MESSAGE_CONTENT", messageId="x", delta="hm"),
        event("REASONING_MESSAGE_END", messageId="x"),
    ]
    for events in ([activity, *thought, *text("x", "a")], [*text("x", "a"), *thought, activity]):
        message, reports = read([START, *events, END])

        assert sorted(map(str, said(message))) == sorted(
            map(str, [("plan", {"a": 1}), ("reasoning", "hm"), ("text", "a")])
        )
        assert not reports


@pytest.mark.parametrize("is_over_a_message", [True, False])
def test_events_that_are_told_again_change_nothing(is_over_a_message: bool) -> None:
    events = call("c1", '{"q":', "1}", result="[1]")
    once, _ = read([START, *events, END])
    if is_over_a_message:
        twice, reports = read([START, *events, END], once)
    else:
        twice, reports = read([START, *events, *events, *events[:2], END])

    assert twice.content == once.content
    assert {report.code for report in reports} == {"misplaced"}


@given(st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=4), st.data())
def test_a_text_that_is_told_again_is_there_once_however_it_is_cut(deltas: list[str], data: st.DataObject) -> None:
    whole = "".join(deltas)
    end = data.draw(st.integers(1, len(whole)))
    cuts = sorted({0, end, *data.draw(st.lists(st.integers(0, end), max_size=3))})
    again = [whole[one:other] for one, other in pairwise(cuts)]
    for make in (text, thought):
        message, reports = read([START, *make("x", *deltas), *make("x", *again), *make("y", whole), END])

        assert [words for _, words in said(message)] == [whole, whole]
        assert [report.code for report in reports] == ["misplaced"]
        message, reports = read([START, *make("x", *deltas), *make("x", *again, "!"), END])
        more = whole[:end] + "!" if end < len(whole) else "!"
        assert ([words for _, words in said(message)], reports) == ([whole, more], [])


def thought(message_id: str, *deltas: str) -> list[dict[str, Any]]:
    grown = [event("REASONING_MESSAGE_CONTENT", messageId=message_id, delta=delta) for delta in deltas]
    return [
        event("REASONING_MESSAGE_START", messageId=message_id, role="reasoning"),
        *grown,
        event("REASONING_MESSAGE_END", messageId=message_id),
    ]


def test_a_result_reaches_the_call_of_an_earlier_stream() -> None:
    before, _ = read([START, *call("c1", "{}"), END])
    assert status(before) == ("requires-action", "tool-calls")

    after, reports = read([START, call("c1", result='"rainy"')[-1], *text("m", "Rain."), END], before)

    assert said(after) == [("c1", "{}", "rainy"), ("text", "Rain.")]
    assert (status(after), reports) == (("complete", "stop"), [])


def test_a_list_of_all_messages_adds_only_what_had_not_come() -> None:
    def answer(message_id: str, content: str | None = None, *call_ids: str) -> dict[str, Any]:
        calls = [
            {"id": call_id, "type": "function", "function": {"name": "search", "arguments": "{}"}}
            for call_id in call_ids
        ]
        return {"id": message_id, "role": "assistant", "content": content, "toolCalls": calls or None}

    user = {"id": "u", "role": "user", "content": "q"}
    tool = {"id": "m-c1", "role": "tool", "toolCallId": "c1", "content": "1"}
    streamed = [START, *text("x", "Hello."), *call("c1")]
    lists: dict[str, list[dict[str, Any]]] = {
        "the same": [user, answer("x", "Hello.", "c1"), tool],
        # The id of the text is given to the message that makes the call.
        "other ids": [user, answer("x", None, "c1"), tool, answer("y", "Hello.")],
        "more": [user, answer("x", "Hello.", "c1"), tool, answer("y", "Bye.", "c2")],
        "longer": [user, answer("x", "Hello. You.", "c1"), tool],
        "earlier runs": [answer("v", "Old."), user, answer("w", "Older run.", "c0"), answer("x", "Hello.", "c1"), tool],
    }
    found = {name: read([*streamed, event("MESSAGES_SNAPSHOT", messages=given), END]) for name, given in lists.items()}

    whole = [("text", "Hello."), ("c1", "{}", 1)]
    assert {name: said(message) for name, (message, _) in found.items()} == {
        "the same": whole,
        "other ids": whole,
        "more": [*whole, ("text", "Bye."), ("c2", "{}", "open")],
        "longer": [*whole, ("text", " You.")],
        "earlier runs": whole,
    }
    assert not [report for _, reports in found.values() for report in reports]


def test_an_answer_that_is_only_listed_is_read() -> None:
    listed = [
        {"id": "u", "role": "user", "content": "q"},
        {"id": "r", "role": "reasoning", "content": "hm"},
        {"id": "a", "role": "assistant", "content": "Yes."},
        {"id": "p", "role": "activity", "activityType": "plan", "content": {"s": 1}},
    ]
    message, _ = read([START, event("MESSAGES_SNAPSHOT", messages=listed), END])

    assert said(message) == [("reasoning", "hm"), ("text", "Yes."), ("plan", {"s": 1})]


def test_interrupts_ask_for_a_permission_or_an_answer() -> None:
    asked = [
        {"id": "i1", "reason": "tool_call", "message": "May I?", "toolCallId": "c1"},
        {"id": "i2", "reason": "input_required", "message": "Which name?"},
    ]
    message, reports = read([START, *call("c1"), {**END, "outcome": {"type": "interrupt", "interrupts": asked}}])

    first, second = message.content
    assert isinstance(first, ToolCallPart)
    assert isinstance(second, ToolCallPart)
    assert first.approval == Approval(id="i1", extra={"prompt": "May I?", "requestReason": "tool_call"})
    assert (second.tool_call_id, second.tool_name, second.args["message"]) == ("i2", "interrupt", "Which name?")
    assert second.interrupt is not None
    assert second.interrupt.payload["reason"] == "input_required"
    assert (status(message), reports) == (("requires-action", "interrupt"), [])


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (END, ("complete", "stop")),
        ({**END, "outcome": {"type": "success"}}, ("complete", "stop")),
        ({**END, "outcome": {"type": "cancelled"}}, ("incomplete", "cancelled")),
        (event("RUN_ERROR", message="boom", code="E1"), ("incomplete", "error")),
        (event("STEP_FINISHED", stepName="s"), ("incomplete", "error")),  # cut off
        (None, ("incomplete", "error")),
    ],
)
def test_the_status_is_how_the_run_ended(end: dict[str, Any] | None, expected: tuple[str, str]) -> None:
    message, _ = read([START, *text("m", "a"), *([] if end is None else [end])])

    assert status(message) == expected
    assert said(message) == [("text", "a")]


@pytest.mark.parametrize("cut", [0, 1, 2, 3, 30])
def test_the_last_event_may_lack_its_blank_line_and_half_an_event_does_not_count(cut: int) -> None:
    data = wire([START, *text("m", "a"), END])
    decoder = AgUiDecoder(report=lambda problem: None)
    accumulator = Accumulator(report=lambda problem: None)
    for chunk in [*decoder.feed(data[: len(data) - cut]), *decoder.close()]:
        accumulator.apply(chunk)
    message = accumulator.finish()

    assert said(message) == [("text", "a")]
    assert status(message) == (("complete", "stop") if cut < 3 else ("incomplete", "error"))


def test_a_second_run_on_the_connection_has_to_end_too() -> None:
    message, _ = read([START, *text("m", "a"), END, START, *text("n", "b")])

    assert status(message) == ("incomplete", "error")
    assert said(message) == [("text", "a"), ("text", "b")]


def test_the_costs_of_all_models_are_added_up() -> None:
    costs = [{"inputTokens": 1, "outputTokens": 2}, {"inputTokens": 10, "reasoningTokens": 3}]
    message, _ = read([START, {**END, "usage": costs}])

    assert [step.usage for step in message.metadata.steps] == [
        Usage(input_tokens=11, output_tokens=2, reasoning_tokens=3)
    ]


def test_what_a_message_has_no_place_for_is_reported() -> None:
    message, reports = read(
        [
            START,
            event("RAW", event={"a": 1}),
            event("LATER_THAN_US", a=1),
            event("TEXT_MESSAGE_START", messageId="u", role="user"),
            event("TEXT_MESSAGE_CONTENT", messageId="u", delta="q"),
            event("TEXT_MESSAGE_END", messageId="u"),
            event("TOOL_CALL_ARGS", toolCallId="nobody", delta="{"),
            event("TOOL_CALL_START", toolCallId=5, toolCallName="t"),
            *text("m", "a"),
            {**END, "result": 1},
        ]
    )

    assert said(message) == [("text", "a")]
    assert [report.code for report in reports] == [
        "unread",
        "unsupported-type",
        "foreign-message",
        "unknown-tool-call",
        "invalid-value",
        "unread",
    ]


def test_what_only_a_provider_can_read_is_kept_where_it_belongs() -> None:
    def sealed(subtype: str, entity: str) -> dict[str, Any]:
        return event("REASONING_ENCRYPTED_VALUE", subtype=subtype, entityId=entity, encryptedValue=entity)

    message, reports = read(
        [
            START,
            event("REASONING_MESSAGE_CONTENT", messageId="r1", delta="hm"),
            sealed("message", "r1"),
            event("REASONING_MESSAGE_END", messageId="r1"),
            sealed("message", "r2"),
            *text("m1", "a"),
            sealed("message", "m1"),
            *call("c1", result="1"),
            sealed("tool-call", "c1"),
            END,
        ]
    )

    kept = [part.provider_metadata for part in message.content if not isinstance(part, (DataPart, GenerativeUIPart))]
    assert kept == [{"ag-ui": {"encryptedValue": entity}} for entity in ("r1", "r2", "m1", "c1")]
    assert not reports


def test_the_work_of_a_subagent_stands_under_its_call() -> None:
    message, reports = read(
        [
            START,
            *call("c1", "{}"),
            event("SUBAGENT_STARTED", subagentRunId="s1", name="helper", parentToolCallId="c1"),
            event("TEXT_MESSAGE_START", messageId="m", subagentRunId="s1"),
            event("TEXT_MESSAGE_CONTENT", messageId="m", subagentRunId="s1", delta="a"),
            event("TOOL_CALL_START", toolCallId="c2", toolCallName="t", subagentRunId="s1"),
            END,
        ]
    )

    assert [part.parent_id for part in message.content] == [None, "c1", "c1"]
    assert [report.code for report in reports] == ["unread"]


def test_media_in_a_result_are_for_the_model() -> None:
    content = [{"type": "text", "text": "ok"}, {"type": "text", "text": "!"}]
    message, _ = read(
        [START, *call("c1"), event("TOOL_CALL_RESULT", messageId="m", toolCallId="c1", content=content), END]
    )

    (part,) = message.content
    assert isinstance(part, ToolCallPart)
    assert (part.result, part.model_content) == ("ok!", (TextContent("ok"), TextContent("!")))


# ---------------------------------------------------------------- writing


def written(*chunks: Chunk) -> list[dict[str, Any]]:
    encoder = AgUiEncoder(thread_id="t", run_id="r")
    data = b"".join(encoder.encode(chunk) for chunk in chunks) + encoder.close()
    events = [json.loads(frame.removeprefix("data: ")) for frame in data.decode().split("\n\n") if frame]
    for one in events:
        TypeAdapter(Event).validate_python(one)  # the protocol's own types read it
    return events


def kinds(*chunks: Chunk) -> list[str]:
    return [one["type"] for one in written(*chunks)]


def test_a_run_is_written_in_the_order_that_clients_demand() -> None:
    assert kinds(
        StepStart("s"),
        ReasoningDelta("hm"),
        TextDelta("a"),
        ToolCallStart("c", "t"),
        ToolArgsDelta("c", "{}"),
        ToolResult("c", 1),
        TextDelta("b"),
        Finish("stop"),
        StepFinish(),
    ) == [
        "RUN_STARTED", "STEP_STARTED", "REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END", "REASONING_END", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END",
        "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT", "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_FINISHED",
    ]  # fmt: skip


def test_what_is_open_is_closed_before_the_run_ends() -> None:
    events = kinds(StepStart("s"), StepStart("s"), TextDelta("a"), ToolCallStart("c", "t"), ToolArgsDelta("c", "{"))

    assert events[-4:] == ["TOOL_CALL_END", "STEP_FINISHED", "STEP_FINISHED", "RUN_FINISHED"]
    assert events.count("TEXT_MESSAGE_END") == 1


def test_an_error_is_the_last_word() -> None:
    events = written(TextDelta("a"), ErrorChunk({"code": "E1", "message": "boom"}), Finish("error"), TextDelta("b"))

    assert events[-1] == {"type": "RUN_ERROR", "message": "boom", "code": "E1"}
    assert [one["type"] for one in events].count("RUN_FINISHED") == 0


def test_an_open_approval_is_an_interrupt() -> None:
    approval = Approval(id="p", reason="why", extra={"prompt": "May I?"})
    events = written(ToolCallStart("c", "t"), ToolArgsFinish("c"), ToolApproval("c", approval), Finish("tool-calls"))
    message, _ = read(events)

    assert events[-1]["outcome"]["interrupts"][0]["toolCallId"] == "c"
    (part,) = message.content
    assert isinstance(part, ToolCallPart)
    assert part.approval == approval
    assert status(message) == ("requires-action", "tool-calls")


@pytest.mark.parametrize(
    "chunk",
    [
        ToolResult("c", "5"),
        ToolResult("c", "plain"),
        ToolResult("c", ["x", None], is_error=True),
        ToolResult("c", "a\nb", artifact={"a": 1}, model_content=[TextContent("seen")]),
        ToolResult("c", "\ud83d"),
        PartChunk(UrlSourcePart(id="s", url="https://example.org/", title="S")),
        PartChunk(GenerativeUIPart(spec={"root": "x"})),
        PartChunk(DataPart(name="chart", data=[1], id="d")),
        PartChunk(DataPart(name="chart", data={"a": 1}, parent_id="c")),
        TextDelta("a", parent_id="c", provider_metadata={"p": {"k": 1}}),
        ReasoningDelta("a", provider_metadata={"p": {"k": 1}}),
        MetadataChunk(annotations=[1], data=[2], custom={"a": 1}),
        MetadataChunk(state={"a": 1}),
        StepFinish(Usage(input_tokens=1), reason="stop", is_continued=True),
        StepStart("step"),
        StepStart(None),
    ],
)
def test_what_a_chunk_says_comes_back(chunk: Chunk) -> None:
    chunks: list[Chunk] = [ToolCallStart("c", "t"), ToolArgsDelta("c", "{}"), chunk, Finish("stop")]
    accumulator = Accumulator(AssistantMessage(id="a1", created_at=BORN, status=RUNNING))
    for one in chunks:
        accumulator.apply(one)
    sent, (received, reports) = accumulator.finish(), read(written(*chunks))

    def plain(message: AssistantMessage) -> Any:
        return [
            (part.type, *(getattr(part, name, None) for name in NAMES)) for part in message.content
        ], message.metadata

    assert plain(received) == plain(sent)
    assert not reports


NAMES = (
    "text", "name", "data", "id", "url", "spec", "parent_id", "provider_metadata", "args_text", "result", "artifact",
    "model_content",
)  # fmt: skip


def test_the_deltas_of_a_text_may_hold_half_a_character() -> None:
    message, reports = read(written(TextDelta("\ud83d"), TextDelta("\ude42"), Finish("stop")))

    assert said(message)[0][1].encode("utf-16", "surrogatepass").decode("utf-16") == "🙂"
    assert not reports


def test_without_the_package_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refusing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("ag_ui"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    for name in [name for name in sys.modules if name.startswith("ag_ui")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", refusing)

    with pytest.raises(ImportError, match=r"partwise\[ag-ui\]"):
        AgUiEncoder()


# ---------------------------------------------------------------- patches


PATHS = st.lists(st.sampled_from(["a", "b/c", "~", "0", "1"]), max_size=3)
OPERATIONS = st.builds(SetValue, PATHS, json_values) | st.builds(AppendText, PATHS, st.text(max_size=3))


@given(json_objects, st.lists(OPERATIONS, max_size=5))
def test_a_patch_of_operations_says_the_same(state: dict[str, Any], operations: list[Any]) -> None:
    ours: Any = state
    theirs: Any = state
    for operation in operations:
        try:
            ours, patch = patch_of(ours, operation)
        except StateOperationError:
            continue
        theirs, read_back = read_patch(theirs, patch)
        assert apply_operations(state, read_back) is not None or theirs is None
        assert theirs == ours


@given(json_objects, st.lists(OPERATIONS, max_size=5))
def test_the_operations_of_a_patch_lead_to_the_same_state(state: dict[str, Any], operations: list[Any]) -> None:
    patches: list[dict[str, Any]] = []
    after: Any = state
    for operation in operations:
        try:
            after, patch = patch_of(after, operation)
        except StateOperationError:
            continue
        patches += patch
    patched, ours = read_patch(state, patches)

    assert patched == after == apply_operations(state, ours)


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/nowhere"},
        {"op": "replace", "path": "/a/9", "value": 1},
        {"op": "add", "path": "/a/9", "value": 1},
        {"op": "add", "path": "/a/01", "value": 1},
        {"op": "add", "path": "/x/y", "value": 1},
        {"op": "add", "path": "a", "value": 1},
        {"op": "add", "path": "/__proto__", "value": 1},
        {"op": "move", "from": "/a", "path": "/a/0"},
        {"op": "copy", "from": "/x", "path": "/a/0"},
        {"op": "test", "path": "/b", "value": 1},
        {"op": "odd", "path": "/b"},
    ],
)
def test_a_patch_that_does_not_fit_changes_nothing(operation: dict[str, Any]) -> None:
    state = {"a": [1], "b": True}
    with pytest.raises(StateOperationError):
        read_patch(state, [{"op": "add", "path": "/c", "value": 1}, operation])
    message = AssistantMessage(id="a1", created_at=BORN, status=RUNNING, metadata=AssistantMetadata(state=state))
    after, _ = read([START, END], message)
    assert after.metadata.state == state
