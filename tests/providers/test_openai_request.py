from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from partwise.messages import (
    AudioPart,
    CompleteAttachment,
    DataPart,
    FileContent,
    FilePart,
    ImagePart,
    ReasoningPart,
    SystemMessage,
    TextContent,
    TextPart,
    ToolCallPart,
    UserPart,
    freeze,
)
from partwise.providers import openai
from partwise.providers.openai import chat_request
from partwise.tools import ModelContext, Tool

from .conversation import AT, assistant, called, user
from .typed import check_chat


def chat_messages(*arguments: Any, **options: Any) -> list[dict[str, Any]]:
    """The messages of a request, which are such as the SDK knows."""
    found = openai.chat_messages(*arguments, **options)
    check_chat(found)
    return found


def sent_call(call_id: str = "c1", name: str = "look", arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def answered(call_id: str = "c1", content: object = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def test_instructions_come_first_and_texts_are_sent_as_text() -> None:
    system = SystemMessage(id="s", created_at=AT, content=(TextPart("Be kind"),))

    assert chat_messages([system, user("Hi", "there")], system="Be brief") == [
        {"role": "system", "content": "Be brief"},
        {"role": "system", "content": "Be kind"},
        {"role": "user", "content": "Hi\n\nthere"},
    ]


def test_an_answer_without_anything_to_send_is_left_out() -> None:
    assert chat_messages([user(), assistant(), assistant(ReasoningPart("hm"), TextPart(""))]) == [
        {"role": "user", "content": ""}
    ]


@pytest.mark.parametrize(
    ("part", "item"),
    [
        (ImagePart(image="https://a/b.png"), {"type": "image_url", "image_url": {"url": "https://a/b.png"}}),
        (
            FilePart(data="AA==", media_type="image/png"),
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
        ),
        (
            ImagePart(image="data:image/svg+xml,%3Csvg/%3E"),
            {"type": "image_url", "image_url": {"url": "data:image/svg+xml;base64,PHN2Zy8+"}},
        ),
        (
            FilePart(data="AA==", media_type="application/pdf", filename="a.pdf"),
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}},
        ),
        (
            FilePart(data="data:text/plain;base64,AA==", media_type="text/plain", source_type="url"),
            {"type": "file", "file": {"filename": "file", "file_data": "data:text/plain;base64,AA=="}},
        ),
        (
            FilePart(data="file-1", media_type="text/plain", source_type="id"),
            {"type": "file", "file": {"file_id": "file-1"}},
        ),
        (
            AudioPart(data="AA==", format="mp3"),
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
        ),
    ],
)
def test_what_a_user_attaches_is_sent_in_its_own_form(part: UserPart, item: dict[str, Any]) -> None:
    attachment = CompleteAttachment(id="f", type="file", name="f", content=(part, DataPart(name="n", data=1)))

    assert chat_messages([user("Look", attachments=(attachment,))]) == [
        {"role": "user", "content": [{"type": "text", "text": "Look"}, item]}
    ]


def test_a_picture_says_how_closely_it_is_looked_at() -> None:
    part = ImagePart(image="https://a/b.png", provider_metadata=freeze({"openai": {"detail": "low"}}))

    assert chat_messages([user(part)])[0]["content"] == [
        {"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "low"}}
    ]


def test_the_address_of_a_file_is_sent_as_text() -> None:
    part = FilePart(data="https://a/b.pdf", media_type="application/pdf", filename="b.pdf")

    assert chat_messages([user(part)]) == [{"role": "user", "content": "[b.pdf](https://a/b.pdf)"}]


def test_each_roundtrip_is_followed_by_the_results_of_its_calls() -> None:
    sent = chat_messages(
        [
            assistant(
                TextPart("I look"),
                called("c1"),
                called("c2"),
                ReasoningPart("hm"),
                called("c3"),
                TextPart("There"),
            )
        ]
    )

    assert sent == [
        {"role": "assistant", "content": "I look", "tool_calls": [sent_call("c1"), sent_call("c2")]},
        answered("c1"),
        answered("c2"),
        {"role": "assistant", "content": None, "tool_calls": [sent_call("c3")]},
        answered("c3"),
        {"role": "assistant", "content": "There"},
    ]


def test_plain_reasoning_is_sent_where_a_server_wants_it_and_only_of_the_answer_in_progress() -> None:
    thinking = (ReasoningPart("hm"), TextPart("Let me see."), called(), ReasoningPart("so"), TextPart("Done."))
    history = [user("Hi"), assistant(*thinking), user("And?"), assistant(*thinking)]

    plain = chat_messages(history)
    sent = chat_messages(history, reasoning_field="reasoning_content")

    assert [message.pop("reasoning_content", None) for message in sent[-3:]] == ["hm", None, "so"]
    assert sent == plain


def test_signed_and_encrypted_reasoning_goes_back_as_it_came() -> None:
    signed = {"type": "reasoning.text", "signature": "s", "index": 0}
    encrypted = {"type": "reasoning.encrypted", "data": "xyz", "index": 1}
    part = ReasoningPart("hm", provider_metadata=freeze({"openai": {"reasoning_details": [signed, encrypted]}}))
    marked = called(provider_metadata=freeze({"openai": {"reasoning_details": [encrypted]}}))

    for answer, details in [((part, called()), [{**signed, "text": "hm"}, encrypted]), ((marked,), [encrypted])]:
        (first, _) = chat_messages([assistant(*answer)])
        assert first["reasoning_details"] == details
        assert first["tool_calls"] == [sent_call()]


def test_calls_that_nobody_answered_and_calls_of_the_provider_are_left_out() -> None:
    unanswered = ToolCallPart(tool_call_id="c1", tool_name="look")
    ran_there = called("c2", provider_metadata={"openai": {"provider_executed": True}})

    assert chat_messages([assistant(TextPart("a"), unanswered, ran_there)]) == [{"role": "assistant", "content": "a"}]


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ({"result": None}, "null"),
        ({"result": ""}, ""),
        ({"result": {"ä": [1]}}, '{"ä": [1]}'),
        ({"result": {"at": AT}}, '{"at": "2026-01-01 00:00:00+00:00"}'),
        ({"result": 1, "artifact": "for the screen"}, "1"),
        (
            {"model_content": (TextContent("short"), FileContent(data="AA==", media_type="text/csv", filename="t"))},
            [{"type": "text", "text": "short"}, {"type": "text", "text": "[file t (text/csv)]"}],
        ),
    ],
)
def test_a_model_reads_what_is_meant_for_it(fields: dict[str, Any], content: object) -> None:
    assert chat_messages([assistant(called(**fields))])[1] == answered(content=content)


def test_the_pictures_and_documents_of_results_follow_in_a_message_of_the_user() -> None:
    picture = FileContent(data="AA==", media_type="image/png", filename="a.png")
    document = FileContent(data="BB==", media_type="application/pdf", filename="b.pdf")
    table = FileContent(data="CC==", media_type="text/csv", filename="c.csv")
    answer = assistant(
        called("c1", model_content=(TextContent("A plot"), picture)),
        called("c2", model_content=(document, table)),
        called("c3"),
        TextPart("Done."),
    )

    assert chat_messages([answer])[1:] == [
        answered("c1", [{"type": "text", "text": "A plot"}, {"type": "text", "text": "[file a.png (image/png)]"}]),
        answered(
            "c2",
            [
                {"type": "text", "text": "[file b.pdf (application/pdf)]"},
                {"type": "text", "text": "[file c.csv (text/csv)]"},
            ],
        ),
        answered("c3"),
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "[file a.png (image/png)], which look gave for c1:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
                {"type": "text", "text": "[file b.pdf (application/pdf)], which look gave for c2:"},
                {"type": "file", "file": {"filename": "b.pdf", "file_data": "data:application/pdf;base64,BB=="}},
            ],
        },
        {"role": "assistant", "content": "Done."},
    ]


def test_a_refusal_is_sent_as_text() -> None:
    refusal = TextPart("I cannot.", provider_metadata=freeze({"openai": {"refusal": True}}))

    assert chat_messages([assistant(refusal)]) == [{"role": "assistant", "content": "I cannot."}]


@pytest.mark.parametrize(
    ("fields", "arguments"),
    [
        ({"args_text": '{"a":  1}', "args": {"a": 1}}, '{"a":  1}'),
        ({"args_text": '{"a": 1,,}', "args": {"a": 1}}, '{"a": 1}'),
        ({"args_text": "", "args": {}}, "{}"),
        ({"args_text": "[1]", "args": {}}, "{}"),
    ],
)
def test_arguments_are_sent_as_they_came_unless_a_server_would_refuse_them(
    fields: dict[str, Any], arguments: str
) -> None:
    assert chat_messages([assistant(called(**fields))])[0]["tool_calls"] == [sent_call(arguments=arguments)]


def test_a_request_carries_tools_settings_and_the_answer_so_far(make_run: Callable[..., Any]) -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    context = ModelContext(
        system="Be brief",
        tools={
            "look": Tool.from_schema("look", schema, lambda _, __: 1, description="Looks"),
            "there": Tool(name="there", kind="backend", parameters=schema),
        },
        call_settings={"temperature": 0, "seed": None, "unheard_of": 1, "headers": {"X-A": "1"}, "stop": ["x"]},
        config={"model_name": "other", "reasoning_effort": "low"},
    )
    run = make_run(user("Hi"), answer=(called(),), context=context)

    assert chat_request(run, "model", {"temperature": 1, "top_p": 0.5, "extra_headers": {"X-B": "2"}}) == {
        "model": "other",
        "temperature": 0,
        "top_p": 0.5,
        "seed": None,
        "stop": ["x"],
        "reasoning_effort": "low",
        "extra_headers": {"X-A": "1", "X-B": "2"},
        "tools": [{"type": "function", "function": {"name": "look", "description": "Looks", "parameters": schema}}],
        "messages": [
            {"role": "system", "content": "Be brief"},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": None, "tool_calls": [sent_call()]},
            answered(),
        ],
    }


def test_a_request_without_tools_names_none(make_run: Callable[..., Any]) -> None:
    assert chat_request(make_run(user("Hi")), "model", {}) == {
        "model": "model",
        "messages": [{"role": "user", "content": "Hi"}],
    }
