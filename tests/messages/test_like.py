import logging
from datetime import UTC, datetime

import pytest
from hypothesis import given

from partwise.errors import MessageLikeError
from partwise.messages import (
    COMPLETE_UNKNOWN,
    REQUIRES_TOOL_CALLS,
    RUNNING,
    AssistantMessage,
    AudioPart,
    CompleteAttachment,
    DataPart,
    FilePart,
    ImagePart,
    IncompleteStatus,
    LikeIssue,
    Message,
    Metadata,
    PendingAttachment,
    ReasoningPart,
    Step,
    SystemMessage,
    TextPart,
    ToolCallPart,
    Usage,
    UserMessage,
    branches_from_likes,
    message_from_like,
    messages_from_likes,
    parts_from_like,
)
from tests.strategies import messages

WHEN = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


def quiet(_: LikeIssue) -> None:
    pass


def answer(*content: object, **more: object) -> AssistantMessage:
    message = message_from_like({"role": "assistant", "content": list(content), **more}, fallback_id="m", report=quiet)
    assert isinstance(message, AssistantMessage)
    return message


@given(messages())
def test_a_message_comes_back_as_it_is(message: Message) -> None:
    assert message_from_like(message) is message


def test_text_is_what_a_user_says() -> None:
    message = message_from_like("hi", fallback_id="u", fallback_time=WHEN)

    assert message == UserMessage(id="u", created_at=WHEN, content=(TextPart("hi"),))


def test_both_spellings_say_the_same() -> None:
    fields = {
        "tool_call_id": "c",
        "tool_name": "t",
        "args_text": "{}",
        "is_error": False,
        "parent_id": "p",
        "timing": {"started_at": 1, "completed_at": 2},
        "approval": {"id": "a", "is_automatic": True, "option_id": "o", "options": [{"id": "o", "kind": "k"}]},
        "model_content": [{"type": "file", "data": "x", "media_type": "a/b"}],
        "result": {"toolName": "stays", "mimeType": None},
    }
    camel = {
        "toolCallId": "c",
        "toolName": "t",
        "argsText": "{}",
        "isError": False,
        "parentId": "p",
        "timing": {"startedAt": 1, "completedAt": 2},
        "approval": {"id": "a", "isAutomatic": True, "optionId": "o", "options": [{"id": "o", "kind": "k"}]},
        "modelContent": [{"type": "file", "data": "x", "mimeType": "a/b"}],
        "result": {"toolName": "stays", "mimeType": None},
    }

    one, other = (answer({"type": "tool-call", **given}).content for given in (fields, camel))

    assert one == other
    assert one[0].result == {"toolName": "stays", "mimeType": None}  # type: ignore[union-attr]  # a tool call


def test_text_among_parts_is_a_text_part() -> None:
    assert parts_from_like(["a", TextPart("b")], "user", "m") == (TextPart("a"), TextPart("b"))


def test_part_objects_keep_their_identity() -> None:
    parts = (TextPart("a"), ReasoningPart("b"), ToolCallPart(tool_call_id="c", tool_name="t", result=object()))

    assert all(kept is part for kept, part in zip(answer(*parts).content, parts, strict=True))


def test_a_tool_call_without_an_id_gets_the_same_one_every_time() -> None:
    like = {"type": "tool-call", "toolName": "t", "args": {}}

    first, second = (answer({"type": "text", "text": text}, like, like).content[-2:] for text in ("", "grown"))
    assert first == second
    assert [part.tool_call_id for part in first] == ["tool-m-1", "tool-m-2"]  # type: ignore[union-attr]  # tool calls


def test_arguments_and_their_text_agree() -> None:
    given = {"tool_call_id": "c", "tool_name": "t"}
    parts = answer(
        {"type": "tool-call", **given, "args": {"a": "ü"}},
        {"type": "tool-call", **given, "argsText": '{"a": "ü'},
        {"type": "tool-call", **given, "args": {}},
        {"type": "tool-call", **given},
        {"type": "tool-call", **given, "args": None, "args_text": "no json"},
        ToolCallPart(**given, args={"a": 1}),
        ToolCallPart(**given, args_text='{"a":1}'),
    ).content

    assert [(part.args, part.args_text) for part in parts] == [  # type: ignore[union-attr]  # tool calls
        ({"a": "ü"}, '{"a":"ü"}'),
        ({"a": "ü"}, '{"a": "ü'),
        ({}, "{}"),
        ({}, ""),
        ({}, "no json"),
        ({"a": 1}, '{"a":1}'),
        ({"a": 1}, '{"a":1}'),
    ]


def test_none_is_a_result_and_an_absent_result_is_none() -> None:
    with_null, without = answer(
        {"type": "tool-call", "tool_call_id": "c", "tool_name": "t", "result": None},
        {"type": "tool-call", "tool_call_id": "d", "tool_name": "t"},
    ).content

    assert with_null.has_result  # type: ignore[union-attr]  # a tool call
    assert not without.has_result  # type: ignore[union-attr]  # a tool call


def test_a_result_may_be_any_object() -> None:
    result = object()
    (part,) = answer({"type": "tool-call", "tool_call_id": "c", "tool_name": "t", "result": result}).content

    assert part.result is result  # type: ignore[union-attr]  # a tool call


def test_a_conversation_inside_a_tool_call_is_read_too() -> None:
    call = {
        "type": "tool-call",
        "tool_call_id": "c",
        "tool_name": "t",
        "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [{"type": "data-x", "data": 1}]},
        ],
    }
    (part,) = answer(call).content

    assert [message.id for message in part.messages] == ["m-0-0", "m-0-1"]  # type: ignore[union-attr]  # a tool call
    assert part.messages[1].content == (DataPart(name="x", data=1),)  # type: ignore[union-attr, index]  # a tool call


def test_blank_text_of_an_assistant_is_left_out_unless_it_is_still_being_made() -> None:
    blank = [{"type": "text", "text": "\ufeff \n"}, {"type": "reasoning", "text": ""}]

    assert parts_from_like(blank, "assistant", "m") == ()
    assert len(parts_from_like(blank, "assistant", "m", keep_blank=True)) == 2
    assert len(parts_from_like(blank[:1], "user", "m")) == 1


@pytest.mark.parametrize(
    ("image", "is_kept"),
    [
        ("data:IMAGE/PNG;x=y;BASE64,AA==", True),
        ("HTTPS://example.org/a.png", True),
        ("blob:x", True),
        ("http://example.org/a.png", False),
        ("data:image/svg+xml,<svg/>", False),
        ("data:text/html;base64,AA==", False),
        ("javascript:alert(1)", False),
    ],
)
def test_an_assistant_shows_only_images_that_may_be_shown(image: str, is_kept: bool) -> None:
    issues: list[LikeIssue] = []
    for part in ({"type": "image", "image": image}, ImagePart(image=image)):
        parts = parts_from_like([part], "assistant", "m", report=issues.append)
        assert [kept.image for kept in parts] == ([image] if is_kept else [])  # type: ignore[union-attr]  # images

    assert [(issue.code, issue.message_id, issue.part_index) for issue in issues] == [("image", "m", 0)] * (
        0 if is_kept else 2
    )


def test_issues_are_logged_unless_somebody_wants_them(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "partwise.messages"):
        message_from_like({"role": "user", "content": "x", "shoe_size": 9}, fallback_id="u1")

    assert "'shoe_size'" in caplog.text
    assert "'u1'" in caplog.text


def test_unknown_fields_are_left_out_however_deep_and_reported() -> None:
    issues: list[LikeIssue] = []
    like = {
        "type": "tool-call",
        "toolName": "t",
        "colour": 1,
        "approval": {"id": "a", "options": [{"id": "o", "kind": "k", "x": 1}]},
    }
    (part,) = parts_from_like([like], "assistant", "m", report=issues.append)

    assert part.approval.options[0].id == "o"  # type: ignore[union-attr]  # a tool call with an approval
    assert sorted(issue.text.split("'")[-2] for issue in issues) == ["approval.options.0.x", "colour"]
    assert "colour" in like
    assert "x" in like["approval"]["options"][0]  # type: ignore[index]  # a mapping of mappings


def test_unknown_metadata_is_kept_among_the_custom_one() -> None:
    message = message_from_like({"role": "user", "content": "x", "metadata": {"tenant": 5, "custom": {"a": 1}}})

    assert message.metadata.custom == {"tenant": 5, "a": 1}


def test_metadata_of_assistants_is_read_and_left_out_elsewhere() -> None:
    metadata = {"state": 0, "steps": [{"messageId": "s", "usage": {"inputTokens": 1}}], "isOptimistic": True}
    message = answer({"type": "text", "text": "x"}, metadata=metadata)

    assert message.metadata.state == 0
    assert message.metadata.steps == (Step(message_id="s", usage=Usage(input_tokens=1)),)
    assert message.metadata.is_optimistic

    issues: list[LikeIssue] = []
    user = message_from_like({"role": "user", "content": "x", "metadata": {"state": 0}}, report=issues.append)
    assert user.metadata == Metadata()
    assert [issue.code for issue in issues] == ["metadata-role"]


def test_attachments_are_completed() -> None:
    file = object()
    like = {
        "role": "user",
        "content": "x",
        "id": "u",
        "attachments": [
            {"name": "n", "content": "text", "file": file, "lastModified": 3},
            {"id": "a", "type": "image", "name": "n", "contentType": "a/b", "content": [{"type": "chart", "z": 1}]},
        ],
    }
    message = message_from_like(like)

    assert isinstance(message, UserMessage)
    assert message.attachments == (
        CompleteAttachment(
            id="attachment-u-0", type="document", name="n", content=(TextPart("text"),), extra={"lastModified": 3}
        ),
        CompleteAttachment(
            id="a", type="image", name="n", content_type="a/b", content=(DataPart(name="chart", data={"z": 1}),)
        ),
    )
    assert message.attachments[0].file is file


def test_a_part_that_is_not_allowed_anywhere_else_is_allowed_here() -> None:
    parts = parts_from_like(
        [{"type": "audio", "audio": {"data": "AA", "format": "mp3"}}, {"type": "file", "data": "x", "mimeType": "a/b"}],
        "user",
        "m",
    )

    assert parts == (AudioPart(data="AA", format="mp3"), FilePart(data="x", media_type="a/b"))


@pytest.mark.parametrize(
    ("like", "code", "says"),
    [
        (5, "not-a-message", "int"),
        ({"role": "tool", "content": "x"}, "unknown-role", "'tool'"),
        ({"content": "x"}, "unknown-role", "None"),
        ({"role": "user"}, "content", "NoneType"),
        ({"role": "user", "content": {"text": "x"}}, "content", "dict"),
        ({"role": "user", "content": [None]}, "part", "part 0"),
        ({"role": "user", "content": [{"type": "text"}]}, "part", "part 0: text"),
        ({"role": "user", "content": [{"type": "text", "text": 5}]}, "part", "text"),
        ({"role": "user", "content": [5]}, "part", "int is no part"),
        ({"role": "user", "content": [ReasoningPart("x")]}, "unsupported-part", "'reasoning'"),
        ({"role": "user", "content": [{}]}, "unsupported-part", "None"),
        ({"role": "assistant", "content": [{"type": "source", "id": "s"}]}, "part", "source"),
        ({"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c"}]}, "part", "tool_name"),
        ({"role": "assistant", "content": [{"type": "tool-call", "toolName": "t", "args": [1]}]}, "part", "args"),
        ({"role": "assistant", "content": [{"type": "tool-call", "toolName": "t", "args": {"a": {1}}}]}, "args", "set"),
        ({"role": "assistant", "content": "x", "status": "running"}, "status", "'running'"),
        ({"role": "assistant", "content": "x", "status": {"type": "lost"}}, "status", "'lost'"),
        ({"role": "assistant", "content": "x", "attachments": [1]}, "attachments-role", "user"),
        ({"role": "user", "content": "x", "status": RUNNING}, "status-role", "status"),
        ({"role": "user", "content": "x", "metadata": {"steps": []}}, "steps-role", "steps"),
        ({"role": "user", "content": "x", "metadata": 5}, "metadata", "int"),
        ({"role": "user", "content": "x", "metadata": {"custom": 5}}, "metadata", "custom"),
        ({"role": "user", "content": "x", "attachments": [5]}, "attachment", "attachment 0"),
        ({"role": "user", "content": "x", "attachments": [{"content": []}]}, "attachment", "name"),
        (
            {"role": "user", "content": "x", "attachments": [PendingAttachment(id="a", type="file", name="n")]},
            "attachment",
            "Pending",
        ),
        ({"role": "system", "content": [{"type": "image", "image": "https://x"}]}, "system-content", "one text"),
        ({"role": "system"}, "system-content", "one text"),
        ({"role": "user", "content": "x", "createdAt": "noon"}, "created-at", "'noon'"),
        ({"role": "user", "content": "x", "id": 5}, "id", "int"),
    ],
)
def test_what_breaks_a_rule_is_refused_with_the_rule(like: object, code: str, says: str) -> None:
    with pytest.raises(MessageLikeError) as caught:
        message_from_like(like, fallback_id="m1")

    assert caught.value.code == code
    assert says in str(caught.value)
    if code != "not-a-message":
        assert repr(caught.value.message_id) in str(caught.value)


def test_a_list_becomes_a_conversation_and_a_bad_message_refuses_it() -> None:
    ids = iter("abc")
    chain = messages_from_likes(["q", {"role": "assistant", "content": "a", "id": "x"}], make_id=lambda: next(ids))

    assert [message.id for message in chain] == ["a", "x"]
    with pytest.raises(MessageLikeError):
        messages_from_likes(["q", {"role": "system", "content": []}])


def test_messages_of_a_tree_need_ids() -> None:
    root = SystemMessage(id="s", created_at=WHEN, content=(TextPart("x"),))

    assert branches_from_likes([(root, None)]) == ((root, None),)
    for like in ("x", {"role": "user", "content": "x"}, {"role": "user", "content": "x", "id": ""}):
        with pytest.raises(MessageLikeError) as caught:
            branches_from_likes([(like, None)])
        assert caught.value.code == "id-required"


def test_a_status_without_a_reason_gets_the_usual_one() -> None:
    kinds = ["running", "complete", "incomplete", "requires-action"]

    assert [answer(status={"type": kind}).status for kind in kinds] == [
        RUNNING,
        COMPLETE_UNKNOWN,
        IncompleteStatus("other"),
        REQUIRES_TOOL_CALLS,
    ]


def test_stale_or_odd_stream_statuses_do_no_harm() -> None:
    odd = [
        "running",
        {"type": "paused"},
        None,
        {"type": "incomplete", "reason": "bored"},
        {"type": "complete", "reason": "x"},
    ]
    parts = answer(*({"type": "text", "text": "x", "status": status} for status in odd)).content

    assert [getattr(part.status, "type", None) for part in parts] == [None, None, None, "incomplete", "complete"]  # type: ignore[union-attr]  # texts
