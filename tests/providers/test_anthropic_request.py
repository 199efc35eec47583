from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import attrs
import pytest
from anthropic.types.beta import BetaTextCitationParam

from partwise.messages import (
    MISSING,
    AssistantPart,
    AudioPart,
    DataPart,
    DocumentSourcePart,
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
    thaw,
)
from partwise.providers.anthropic import messages_input, messages_request
from partwise.providers.anthropic._blocks import CITATIONS
from partwise.providers.replay import replay
from partwise.tools import ModelContext, Tool

from .conversation import AT, assistant, called, user
from .typed import check_blocks

PAGES = freeze([{"type": "web_search_result", "url": "u", "title": "U", "encrypted_content": "e"}])
OWN = Path(__file__).parent / "recordings"
TEXT = base64.b64encode("Größe".encode()).decode()


def kept(**said: Any) -> Any:
    return freeze({"anthropic": said})


def served(call_id: str = "s1", name: str = "web_search", kind: str = "server_tool_use", **fields: Any) -> ToolCallPart:
    metadata = kept(provider_executed=True, block={"type": kind})
    return called(call_id, **{"tool_name": name, "provider_metadata": metadata, "result": PAGES, **fields})


def sent(*messages: Any) -> list[dict[str, Any]]:
    """The messages of a request, which are such as the SDK knows."""
    found = messages_input(messages)[1]
    check_blocks(found)
    return found


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
        (ImagePart(image="data:image/jpg;base64,AA=="),
         {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "AA=="}}),
        (ImagePart(image="data:image/svg+xml,<svg/>", filename="a.svg"),
         {"type": "text", "text": "[file a.svg (image/svg+xml)]"}),
        (FilePart(data="https://a/b.csv", media_type="text/csv", filename="b.csv"),
         {"type": "text", "text": "[b.csv](https://a/b.csv)"}),
        (FilePart(data="data:text/plain,Gr%C3%B6%C3%9Fe", media_type="text/plain"),
         {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Größe"}}),
        (AudioPart(data="AA==", format="mp3"), {"type": "text", "text": "[audio (mp3)]"}),
    ],
)  # fmt: skip
def test_what_a_user_attaches_is_sent_in_its_own_form(part: UserPart, block: dict[str, Any]) -> None:
    assert sent(user(part, DataPart(name="n", data=1))) == [{"role": "user", "content": [block]}]


def test_a_part_of_the_user_says_how_the_provider_is_to_treat_it() -> None:
    cached = {"cache_control": {"type": "ephemeral"}}
    asked = kept(citations={"enabled": True}, context="A draft.", title="T", **cached, other=1)
    parts = (
        FilePart(data=TEXT, media_type="text/plain", filename="a.txt", provider_metadata=asked),
        ImagePart(image="https://a/b.png", provider_metadata=asked),
        TextPart("Hi", provider_metadata=asked),
        FilePart(data="AA==", media_type="application/zip", provider_metadata=asked),
    )

    document, *others = sent(user(*parts))[0]["content"]

    assert document == {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "Größe"},
        "title": "T",
        "context": "A draft.",
        "citations": {"enabled": True},
        **cached,
    }
    assert [{key: block[key] for key in block.keys() - {"type", "text", "source"}} for block in others] == [cached] * 3


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
    block = {"type": "mcp_tool_use", "server_name": "s"}
    of_server = kept(provider_executed=True, block=block)

    assert blocks(served(), served("m1", "echo", result=[], is_error=True, provider_metadata=of_server)) == [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": thaw(PAGES)},
        {"type": "mcp_tool_use", "id": "m1", "name": "echo", "server_name": "s", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": True, "content": []},
    ]


def test_a_call_that_the_provider_is_running_is_sent_only_to_go_on_with_it() -> None:
    running = attrs.evolve(served(), result=ToolCallPart(tool_call_id="x", tool_name="x").result)
    use = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}

    assert sent(user("Hi"), assistant(TextPart("One"), running))[1]["content"][1:] == [use]
    assert blocks(TextPart("One"), running) == [{"type": "text", "text": "One"}]


def test_calls_made_by_code_that_the_provider_runs_stand_before_the_result_of_the_code() -> None:
    ran = {"type": "code_execution_result", "stdout": "3", "stderr": "", "return_code": 0, "content": []}
    code = served("s1", "code_execution", result=ran)
    caller = {"type": "code_execution_20250825", "tool_id": "s1"}
    inner = called("c1", parent_id="s1", provider_metadata=kept(block={"type": "tool_use", "caller": caller}))

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


def test_what_a_tool_says_is_never_empty_where_the_api_refuses_that() -> None:
    silent = called(model_content=(TextContent(" "),))
    failed = [called("c1", result="", is_error=True), called("c2", model_content=(), is_error=True)]

    assert sent(assistant(silent))[1]["content"][0]["content"] == []
    assert [block["content"] for block in sent(assistant(*failed))[1]["content"]] == ["failed", "failed"]


CITED = [
    (UrlSourcePart(id="http://a", url="http://a", title="A"),
     {"type": "web_search_result_location", "cited_text": "x", "encrypted_index": "e"},
     {"url": "http://a", "title": "A"}),
    (DocumentSourcePart(id="document-0", title="D", media_type="text/plain"),
     {"type": "char_location", "cited_text": "x", "document_index": 0, "start_char_index": 1, "end_char_index": 2},
     {"document_title": None}),
    (DocumentSourcePart(id="document-0", title="D", media_type="application/pdf"),
     {"type": "page_location", "cited_text": "x", "document_index": 0, "document_title": "D", "start_page_number": 1,
      "end_page_number": 2},
     {}),
    (DocumentSourcePart(id="document-0", title="D", media_type="text/plain"),
     {"type": "content_block_location", "cited_text": "x", "document_index": 0, "document_title": "D",
      "start_block_index": 0, "end_block_index": 1},
     {}),
    (UrlSourcePart(id="http://a", url="http://a", title="A"),
     {"type": "search_result_location", "cited_text": "x", "search_result_index": 0, "source": "http://a",
      "start_block_index": 0, "end_block_index": 1},
     {"title": "A"}),
]  # fmt: skip


@pytest.mark.parametrize(("source", "place", "added"), CITED, ids=[place["type"] for _, place, _ in CITED])
def test_sources_go_back_as_citations_of_the_text_before_them(
    source: Any, place: dict[str, Any], added: dict[str, Any]
) -> None:
    unread = {"type": place["type"], "cited_text": "y"}
    cited = attrs.evolve(source, provider_metadata=kept(citations=[{**place, "file_id": "f"}, unread]))
    other = UrlSourcePart(id="o", url="http://o", provider_metadata=freeze({"openai": {"citations": [place]}}))

    assert blocks(cited, TextPart("One"), TextPart("Two"), cited, other) == [
        {"type": "text", "text": "One"},
        {"type": "text", "text": "Two", "citations": [{**place, **added}]},
    ]


def test_every_kind_of_citation_that_the_sdk_takes_is_sent() -> None:
    kinds = {get_type_hints(kind)["type"].__args__[0]: kind for kind in get_args(BetaTextCitationParam)}

    assert {kind: {"type", *fields} for kind, fields in CITATIONS.items()} == {
        name: set(get_type_hints(kind)) for name, kind in kinds.items()
    }
    assert {place["type"] for _, place, _ in CITED} == kinds.keys()


@pytest.mark.parametrize("thinking", [{"type": "redacted_thinking", "data": "x"}, None])
def test_an_answer_that_broke_off_while_thinking_does_not_end_with_it(thinking: dict[str, Any] | None) -> None:
    before = {"before": [thinking]} if thinking else {}
    thought = ReasoningPart("hm", provider_metadata=kept(signature="s", **before))
    unanswered = ToolCallPart(tool_call_id="c1", tool_name="look", args_text="{")

    assert sent(user("Hi"), assistant(thought, unanswered)) == sent(user("Hi"))
    assert blocks(TextPart("Hi"), thought, unanswered) == [{"type": "text", "text": "Hi"}]


HAND_OVER = {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}, "trigger": None}
TOOLS = {"type": "mcp_tool_listing", "mcp_server_name": "s", "tools": [{"name": "echo", "input_schema": {}}]}


def test_blocks_that_the_provider_wants_back_stand_in_their_place_and_other_data_is_not_sent() -> None:
    def data(block: dict[str, Any]) -> DataPart:
        return DataPart(name=block["type"], data=freeze(block))

    other = DataPart(name="fallback", data="mine")

    assert blocks(data(TOOLS), TextPart("One"), other, data(HAND_OVER), DataPart(name="n", data={}), TextPart("2")) == [
        TOOLS,
        {"type": "text", "text": "One"},
        HAND_OVER,
        {"type": "text", "text": "2"},
    ]
    assert sent(assistant(data(HAND_OVER)), user("And?")) == sent(user("And?"))


def test_calls_of_a_model_that_gave_way_are_not_sent() -> None:
    hand_over = DataPart(name="fallback", data=freeze(HAND_OVER))
    answer = (called("c1"), served("s1"), served("s2", result=MISSING), hand_over, called("c2"))

    assert [block.get("id", block["type"]) for block in blocks(*answer)] == [
        "s1", "web_search_tool_result", "fallback", "c2"
    ]  # fmt: skip


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
    check_blocks([back, results])
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
