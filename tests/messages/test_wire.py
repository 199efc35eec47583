import json

import pytest
from hypothesis import given

from partwise.errors import WireError
from partwise.messages import (
    COMPLETE,
    RUNNING,
    AssistantMetadata,
    IncompleteStatus,
    TextPart,
    ToolCallPart,
    UserMessage,
    message_from_json,
    message_to_json,
)
from tests.strategies import messages

from ._answers import WHEN, answer


@given(messages())
def test_every_message_comes_back_from_json_as_it_was(message: object) -> None:
    written = message_to_json(message)  # type: ignore[arg-type]  # any message
    read = message_from_json(json.loads(json.dumps(written)))

    assert read == message
    assert message_to_json(read) == written


def test_what_is_written_is_short_and_readable() -> None:
    written = message_to_json(answer(TextPart("hi", status=COMPLETE), status=RUNNING))

    assert written == {
        "role": "assistant",
        "id": "a1",
        "created_at": "2024-05-06T07:08:09+00:00",
        "content": [{"type": "text", "text": "hi", "status": {"type": "complete"}}],
        "status": {"type": "running"},
    }


def test_a_result_that_is_none_and_no_result_stay_two_things() -> None:
    message = answer(
        ToolCallPart(tool_call_id="c", tool_name="t", result=None), ToolCallPart(tool_call_id="d", tool_name="t")
    )
    written = message_to_json(message)

    assert written["content"][0]["result"] is None
    assert "result" not in written["content"][1]
    read = message_from_json(written)
    assert [part.has_result for part in read.content] == [True, False]  # type: ignore[union-attr]  # tool calls


def test_what_was_written_may_be_changed_without_touching_the_message() -> None:
    message = answer(metadata=AssistantMetadata(custom={"a": [1]}))
    written = message_to_json(message)
    written["metadata"]["custom"]["a"].append(2)

    assert message.metadata.custom == {"a": [1]}


@pytest.mark.parametrize(
    ("part", "where"),
    [
        (ToolCallPart(tool_call_id="c", tool_name="t", result={"rows": [object()]}), "content.1.result.rows.0"),
        (ToolCallPart(tool_call_id="c", tool_name="t", result={1: "x"}), "content.1.result"),
        (ToolCallPart(tool_call_id="c", tool_name="t", artifact=float("nan")), "content.1.artifact"),
        (
            ToolCallPart(
                tool_call_id="c",
                tool_name="t",
                messages=(UserMessage(id="u", created_at=WHEN, attachments=({1},)),),  # type: ignore[arg-type]  # wrong
            ),
            "content.1.messages.0.attachments.0",
        ),
    ],
)
def test_a_value_that_is_no_json_is_refused_with_its_place(part: ToolCallPart, where: str) -> None:
    with pytest.raises(WireError) as caught:
        message_to_json(answer(TextPart("x"), part))

    assert caught.value.where == where
    assert "'a1'" in str(caught.value)


def test_a_value_that_is_nested_too_deep_is_refused() -> None:
    deep: object = 1
    for _ in range(150):
        deep = [deep]

    with pytest.raises(WireError, match="nested deeper than 100"):
        message_to_json(answer(status=IncompleteStatus("error", deep)))


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"content": [{"type": "text", "text": 5}]}, "content.0.text"),
        ({"content": [{"type": "text"}]}, "content.0.text"),
        ({"content": [{"type": "text", "text": "x", "toolName": "t"}]}, "content.0.toolName"),
        ({"content": [{"type": "audio", "data": "", "format": "mp3"}]}, "content.0"),
        ({"content": None}, "content"),
        ({"status": {"type": "incomplete", "reason": "bored"}}, "status.reason"),
        ({"status": {"type": "sleeping"}}, "status"),
        ({"created_at": "yesterday"}, "created_at"),
        ({"created_at": 5}, "created_at"),
        ({"role": "tool"}, ""),
        ({"metadata": {"steps": [{"usage": {"input_tokens": "5"}}]}}, "metadata.steps.0.usage.input_tokens"),
        (
            {"content": [{"type": "tool-call", "tool_call_id": "c", "tool_name": "t", "messages": [{"role": "user"}]}]},
            "content.0.messages.0.id",
        ),
    ],
)
def test_a_bad_row_is_refused_with_its_id_and_place(change: dict[str, object], where: str) -> None:
    row = {**message_to_json(answer()), **change}

    with pytest.raises(WireError) as caught:
        message_from_json(row)

    assert caught.value.where == where
    assert "'a1'" in str(caught.value)


@pytest.mark.parametrize("data", [None, 5, "x", [], {}, {"role": "system", "id": "s", "content": []}])
def test_what_is_no_message_is_refused(data: object) -> None:
    with pytest.raises(WireError):
        message_from_json(data)


def test_a_time_without_zone_is_taken_as_utc() -> None:
    written = {**message_to_json(answer()), "created_at": "2024-05-06T07:08:09"}

    assert message_from_json(written).created_at == WHEN
