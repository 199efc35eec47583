from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from partwise.messages import (
    AssistantPart,
    AudioPart,
    DataPart,
    FileContent,
    FilePart,
    ImagePart,
    ReasoningPart,
    SystemMessage,
    TextContent,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
    UserPart,
    freeze,
)
from partwise.providers.anthropic import messages_input, messages_request
from partwise.providers.replay import replay
from partwise.tools import ModelContext, Tool

from .conversation import AT, assistant, called, user

OWN = Path(__file__).parent / "recordings"
TEXT = base64.b64encode("Größe".encode()).decode()


def kept(**said: Any) -> Any:
    return freeze({"anthropic": said})


def served(call_id: str = "s1", name: str = "web_search", kind: str = "server_tool_use", **fields: Any) -> ToolCallPart:
    metadata = kept(provider_executed=True, block={"type": kind})
    return called(call_id, **{"tool_name": name, "provider_metadata": metadata, "result": [{"url": "u"}], **fields})


def sent(*messages: Any) -> list[dict[str, Any]]:
    return messages_input(messages)[1]


def blocks(*parts: AssistantPart) -> list[dict[str, Any]]:
    """The blocks of the first message that an answer is sent as; a question follows it."""
    return sent(assistant(*parts), user("And?"))[0]["content"]


def test_instructions_stand_beside_the_messages() -> None:
    system = SystemMessage(id="s", created_at=AT, content=(TextPart("Be kind"),))

    assert messages_input([system, user("Hi", " ")], system="Be brief") == (
        "Be brief\n\nBe kind",
        [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    )
    assert messages_input([user(" ")]) == (None, [])


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (ImagePart(image="https://a/b.png"), {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}}),
        (ImagePart(image="data:image/webp;base64,AA=="),
         {"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": "AA=="}}),
        (FilePart(data="AA==", media_type="application/pdf", filename="a.pdf"),
         {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AA=="},
          "title": "a.pdf"}),
        (FilePart(data=TEXT, media_type="text/markdown", filename="a.md"),
         {"type": "document", "title": "a.md",
          "source": {"type": "text", "media_type": "text/plain", "data": "Größe"}}),
        (FilePart(data="https://a/b.pdf", media_type="application/pdf"),
         {"type": "document", "source": {"type": "url", "url": "https://a/b.pdf"}}),
        (FilePart(data="file_1", source_type="id", media_type="image/png"),
         {"type": "image", "source": {"type": "file", "file_id": "file_1"}}),
        (FilePart(data="AA==", media_type="application/zip", filename="a.zip"),
         {"type": "text", "text": "[file a.zip (application/zip)]"}),
        (AudioPart(data="AA==", format="mp3"), {"type": "text", "text": "[audio (mp3)]"}),
    ],
)  # fmt: skip
def test_what_a_user_attaches_is_sent_in_its_own_form(part: UserPart, block: dict[str, Any]) -> None:
    assert sent(user(part, DataPart(name="n", data=1))) == [{"role": "user", "content": [block]}]


def test_each_roundtrip_is_followed_by_the_results_of_its_calls() -> None:
    answer = assistant(
        TextPart("Let me see."),
        called("c1"),
        called("c2", result={"n": 0}, is_error=True),
        TextPart("And"),
        called("c3", result=""),
        UrlSourcePart(id="s", url="http://a"),
        TextPart("Done."),
    )

    assert sent(answer) == [
        {"role": "assistant", "content": [
            {"type": "text", "text": "Let me see."},
            {"type": "tool_use", "id": "c1", "name": "look", "input": {}},
            {"type": "tool_use", "id": "c2", "name": "look", "input": {}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "ok"},
            {"type": "tool_result", "tool_use_id": "c2", "content": '{"n": 0}', "is_error": True},
        ]},
        {"role": "assistant", "content": [
            {"type": "text", "text": "And"},
            {"type": "tool_use", "id": "c3", "name": "look", "input": {}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c3", "content": ""}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ]  # fmt: skip


def test_thinking_goes_back_signed_and_in_its_place() -> None:
    redacted = {"type": "redacted_thinking", "data": "xyz"}
    thinking = ReasoningPart("hm", provider_metadata=kept(signature="s", before=[redacted]))
    unsigned = ReasoningPart("not sent")

    assert blocks(
        unsigned, thinking, called(provider_metadata=kept(before=[redacted], block={"type": "tool_use"}))
    ) == [
        redacted,
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        redacted,
        {"type": "tool_use", "id": "c1", "name": "look", "input": {}},
    ]


def test_an_answer_never_ends_with_thinking_but_with_the_summary_of_the_history() -> None:
    summary = {"type": "compaction", "content": "We spoke."}
    silent = {"type": "thinking", "thinking": "", "signature": "s"}

    answer = assistant(TextPart("Hi"), anthropic={"after": [silent, summary]})

    assert sent(answer, user("And?"))[0]["content"] == [{"type": "text", "text": "Hi"}, summary]


def test_calls_that_nobody_answered_are_left_out() -> None:
    unanswered = ToolCallPart(tool_call_id="c1", tool_name="look", args_text="{")

    assert sent(assistant(unanswered)) == []
    assert blocks(TextPart("Hi"), unanswered) == [{"type": "text", "text": "Hi"}]


def test_calls_of_the_provider_go_back_with_their_results() -> None:
    assert blocks(served(), served("m1", "echo", "mcp_tool_use", result=[], is_error=True)) == [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"url": "u"}]},
        {"type": "mcp_tool_use", "id": "m1", "name": "echo", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": True, "content": []},
    ]


def test_a_call_that_the_provider_is_running_is_sent_only_to_go_on_with_it() -> None:
    running = attrs.evolve(served(), result=ToolCallPart(tool_call_id="x", tool_name="x").result)
    use = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}

    assert sent(user("Hi"), assistant(TextPart("One"), running))[1]["content"][1:] == [use]
    assert blocks(TextPart("One"), running) == [{"type": "text", "text": "One"}]


def test_calls_made_by_code_that_the_provider_runs_stand_before_the_result_of_the_code() -> None:
    code = served("s1", "code_execution", result={"stdout": "3"})
    inner = called(
        "c1", parent_id="s1", provider_metadata=kept(block={"type": "tool_use", "caller": {"tool_id": "s1"}})
    )

    assert [
        [block["type"] for block in message["content"]] for message in sent(assistant(code, inner, TextPart("3")))
    ] == [
        ["server_tool_use", "tool_use"],
        ["tool_result"],
        ["code_execution_tool_result", "text"],
    ]


def test_calls_of_another_provider_are_not_sent() -> None:
    other = called(
        provider_metadata=freeze({"openai": {"provider_executed": True, "item": {"type": "web_search_call"}}})
    )

    assert blocks(TextPart("Hi"), other) == [{"type": "text", "text": "Hi"}]


def test_ids_that_the_api_refuses_are_written_in_other_letters() -> None:
    use, result = (message["content"][0] for message in sent(assistant(called("call.1:ä"))))

    assert use["id"] == result["tool_use_id"] == "call_1__"


def test_a_model_sees_the_pictures_that_a_tool_gives_it() -> None:
    picture = FileContent(data="AA==", media_type="image/png")
    answer = assistant(called(model_content=(TextContent("A plot"), picture)))

    assert sent(answer)[1]["content"][0]["content"] == [
        {"type": "text", "text": "A plot"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
    ]


def test_a_request_carries_tools_settings_and_the_answer_so_far(make_run: Callable[..., Any]) -> None:
    schema = {"type": "object", "properties": {}}
    context = ModelContext(
        system="Be brief",
        tools={"look": Tool.from_schema("look", schema, lambda _, __: 1, description="Look")},
        call_settings={"temperature": 0, "stop": "X", "tool_choice": "required", "seed": 1, "headers": {"h": "1"}},
        config={"model_name": "other", "reasoning_effort": "low"},
    )
    run = make_run(user("Hi"), answer=(called(),), context=context)

    request = messages_request(run, "m", {"tools": [{"type": "web_search_20250305"}], "extra_headers": {"g": "2"}})

    assert request == {
        "model": "other",
        "max_tokens": 8192,
        "system": "Be brief",
        "stop_sequences": ["X"],
        "tool_choice": {"type": "any"},
        "output_config": {"effort": "low"},
        "extra_body": {"temperature": 0},
        "extra_headers": {"g": "2", "h": "1"},
        "tools": [
            {"type": "web_search_20250305"},
            {"name": "look", "description": "Look", "input_schema": schema},
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]},
        ],
    }


def test_settings_of_the_run_win_over_the_defaults(make_run: Callable[..., Any]) -> None:
    run = make_run(user("Hi"), context=ModelContext(call_settings={"max_tokens": 5}))

    assert messages_request(run, "m", {"max_tokens": 9, "thinking": {"type": "disabled"}})["max_tokens"] == 5
    assert messages_request(make_run(user("Hi")), "m", {"max_tokens": 9})["max_tokens"] == 9


@pytest.mark.anyio
async def test_what_was_answered_goes_back_as_it_came(answer: Callable[..., Any]) -> None:
    file = OWN / "anthropic-look.sse"
    message = await answer(replay(file))
    content = tuple(
        attrs.evolve(part, result="2") if isinstance(part, ToolCallPart) and not part.has_result else part
        for part in message.content
    )

    back, results = sent(attrs.evolve(message, content=content))

    assert [block["type"] for block in back["content"]] == [
        "thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result", "text", "tool_use", "tool_use"
    ]  # fmt: skip
    raw = {
        block["content_block"]["type"]: block["content_block"] for block in _events(file) if "content_block" in block
    }
    assert back["content"][0]["signature"] == "own-signature=="
    assert back["content"][1] == raw["redacted_thinking"]
    assert back["content"][3] == raw["web_search_tool_result"]
    assert [block["input"] for block in back["content"][-2:]] == [
        {"path": "Übersicht.md"},
        {"path": "b.md", "what": 0},
    ]
    assert [block["tool_use_id"] for block in results["content"]] == ["toolu_a", "toolu_b"]


def _events(file: Path) -> list[dict[str, Any]]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return [json.loads(line.removeprefix("data:")) for line in lines if line.startswith("data:")]
