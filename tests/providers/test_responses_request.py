from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from openai.types.responses import ResponseInputAudioParam
from pydantic import TypeAdapter

from partwise.messages import (
    Approval,
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
from partwise.providers.openai import responses_input, responses_request
from partwise.providers.replay import replay
from partwise.tools import ModelContext, Tool

from .conversation import AT, assistant, called, user
from .typed import check_items

OWN = Path(__file__).parent / "recordings"


def kept(**said: Any) -> Any:
    return freeze({"openai": said})


def of_item(kind: str, arguments: dict[str, Any] | None = None, **fields: Any) -> ToolCallPart:
    """A call that came as an item of this kind and was answered here."""
    rest = {key: fields.pop(key) for key in ("pending_safety_checks", "status") if key in fields}
    item = {"type": kind, "id": "i1", "call_id": "c1", **rest}
    return called(**{"args": arguments or {}, "provider_metadata": kept(item=item), **fields})


def sent(*messages: Any, **options: Any) -> list[dict[str, Any]]:
    """The input of a request, whose items are such as the SDK knows."""
    found = responses_input(messages, **options)
    check_items(found)
    return found


EXEC = {"type": "exec", "command": ["ls"], "env": {}}
DELETE = {"type": "delete_file", "path": "a"}
CLICK = {"type": "click", "button": "left", "x": 1, "y": 2}
SCREEN = FileContent(data="AA==", media_type="image/png")
REASONING = {"type": "reasoning", "id": "rs", "encrypted_content": "xyz"}
BY_ID = {"type": "reasoning", "id": "rs"}


def test_texts_are_sent_as_text_and_instructions_in_their_place() -> None:
    system = SystemMessage(id="s", created_at=AT, content=(TextPart("Be kind"),))

    assert sent(system, user("Hi", "there"), assistant(TextPart("Hello"), TextPart(""))) == [
        {"role": "system", "content": "Be kind"},
        {"role": "user", "content": "Hi\n\nthere"},
        {"role": "assistant", "content": "Hello"},
    ]


@pytest.mark.parametrize(
    ("part", "item"),
    [
        (ImagePart(image="https://a/b.png"),
         {"type": "input_image", "image_url": "https://a/b.png", "detail": "auto"}),
        (FilePart(data="AA==", media_type="image/png"),
         {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"}),
        (FilePart(data="file_1", source_type="id", media_type="image/png"),
         {"type": "input_image", "file_id": "file_1", "detail": "auto"}),
        (FilePart(data="AA==", media_type="application/pdf", filename="a.pdf"),
         {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}),
        (FilePart(data="https://a/b.pdf", media_type="application/pdf"),
         {"type": "input_file", "file_url": "https://a/b.pdf"}),
        (FilePart(data="file_1", source_type="id", media_type="application/pdf"),
         {"type": "input_file", "file_id": "file_1"}),
    ],
)  # fmt: skip
def test_what_a_user_attaches_is_sent_in_its_own_form(part: UserPart, item: dict[str, Any]) -> None:
    assert sent(user(part, DataPart(name="n", data=1), "Hi")) == [
        {"role": "user", "content": [item, {"type": "input_text", "text": "Hi"}]}
    ]


def test_a_picture_says_how_closely_it_is_looked_at() -> None:
    part = ImagePart(image="https://a/b.png", provider_metadata=kept(detail="low"))

    assert sent(user(part))[0]["content"] == [{"type": "input_image", "image_url": "https://a/b.png", "detail": "low"}]


def test_a_sound_is_sent_as_the_sdk_writes_one() -> None:
    (message,) = responses_input([user(AudioPart(data="AA==", format="mp3"))])  # the SDK names it in no message yet

    (item,) = message["content"]
    assert item == {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}}
    assert TypeAdapter(ResponseInputAudioParam).validate_python(item) == item


def test_each_roundtrip_is_followed_by_the_results_of_its_calls() -> None:
    answer = assistant(
        TextPart("Let me see."),
        called("c1"),
        called("c2", result={"n": 0}, args_text="{", args={"a": 1}),
        UrlSourcePart(id="s", url="http://a"),
        TextPart("Done."),
    )

    assert sent(answer) == [
        {"role": "assistant", "content": "Let me see."},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call", "call_id": "c2", "name": "look", "arguments": '{"a": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        {"type": "function_call_output", "call_id": "c2", "output": '{"n": 0}'},
        {"role": "assistant", "content": "Done."},
    ]


def test_calls_that_nobody_answered_are_left_out() -> None:
    unanswered = ToolCallPart(tool_call_id="c1", tool_name="look", args_text="{")

    assert sent(assistant(unanswered)) == []


@pytest.mark.parametrize(
    ("item", "is_stored", "is_last", "goes"),
    [
        (REASONING, True, True, True),
        (REASONING, True, False, True),
        (REASONING, False, False, True),
        (BY_ID, True, True, True),
        (BY_ID, True, False, False),
        (BY_ID, False, True, False),
    ],
)
def test_reasoning_goes_back_where_the_service_can_read_it(
    item: dict[str, Any], is_stored: bool, is_last: bool, goes: bool
) -> None:
    function = {"type": "function_call", "id": "fc", "call_id": "c1"}
    text = {"type": "message", "id": "m1"}
    answer = assistant(
        ReasoningPart("One.", provider_metadata=kept(summary=True, item=item)),
        called(provider_metadata=kept(item=function)),
        TextPart("Hi", provider_metadata=kept(item=text, before=[{**item, "id": "rs2", "summary": []}])),
    )
    whole = [
        {**item, "summary": [{"type": "summary_text", "text": "One."}]},
        {**function, "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        {**item, "id": "rs2", "summary": []},
        {**text, "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": "Hi", "annotations": []}]},
    ]  # fmt: skip
    plain = [
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        {"role": "assistant", "content": "Hi"},
    ]

    messages = [answer] if is_last else [answer, user("And?")]

    assert sent(*messages, is_stored=is_stored)[: 5 if goes else 3] == (whole if goes else plain)


def test_raw_reasoning_goes_back_as_content() -> None:
    part = ReasoningPart("hm", provider_metadata=kept(item=REASONING))

    assert sent(assistant(part, TextPart("Hi")))[0] == {
        **REASONING,
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "hm"}],
    }


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_refusal_is_one_only_among_items_that_go_back_as_they_came(is_whole: bool) -> None:
    before = [{**REASONING, "summary": []}] if is_whole else []
    refusal = TextPart("No.", provider_metadata=kept(refusal=True, item={"type": "message", "id": "m"}, before=before))
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}

    whole = {**item, "content": [{"type": "refusal", "refusal": "No."}]}
    assert sent(assistant(refusal))[-1] == (whole if is_whole else {"role": "assistant", "content": "No."})


@pytest.mark.parametrize(
    ("is_stored", "drawn", "rest"),
    [
        (True, True, {}),
        (False, True, {"status": "completed", "result": "AA=="}),
        (False, False, {"status": "failed", "result": None}),
    ],
)
def test_a_picture_goes_back_by_its_id_or_whole_where_nothing_is_stored(
    is_stored: bool, drawn: bool, rest: dict[str, Any]
) -> None:
    item = {"type": "image_generation_call", "id": "ig"}
    metadata = kept(provider_executed=True, item=item, before=[{**REASONING, "summary": []}])
    drawing = called("ig", tool_name="image_generation", result={}, provider_metadata=metadata)
    pictures = [ImagePart(image="data:image/png;base64,AA==")] if drawn else []

    items = responses_input([assistant(drawing, *pictures, TextPart("Here."))], is_stored=is_stored)

    assert items[1:] == [{**item, **rest}, {"role": "assistant", "content": "Here."}]
    if not is_stored:
        check_items(items)


def test_calls_of_the_provider_go_back_along_with_the_reasoning_they_belong_to() -> None:
    item = {"type": "web_search_call", "id": "ws", "status": "completed"}
    action, before = {"type": "search", "query": "q"}, {**REASONING, "summary": []}
    search = called("ws", tool_name="web_search", args=action, result={"status": "completed"})
    search = attrs.evolve(search, provider_metadata=kept(provider_executed=True, item=item, before=[before]))

    assert sent(assistant(search, TextPart("Hi")))[:2] == [before, {**item, "action": action}]
    alone = attrs.evolve(search, provider_metadata=kept(provider_executed=True, item=item))
    assert sent(assistant(alone, TextPart("Hi"))) == [{"role": "assistant", "content": "Hi"}]


@pytest.mark.parametrize(
    ("part", "items"),
    [
        (of_item("custom_tool_call", {"input": "SELECT 1"}),
         [{"type": "custom_tool_call", "call_id": "c1", "name": "look", "input": "SELECT 1"},
          {"type": "custom_tool_call_output", "call_id": "c1", "output": "ok"}]),
        (of_item("local_shell_call", EXEC, status="completed"),
         [{"type": "local_shell_call", "id": "i1", "call_id": "c1", "action": EXEC, "status": "completed"},
          {"type": "local_shell_call_output", "id": "c1", "output": "ok"}]),
        (of_item("shell_call", {"commands": ["ls"]}, is_error=True),
         [{"type": "shell_call", "id": "i1", "call_id": "c1", "action": {"commands": ["ls"]}},
          {"type": "shell_call_output", "call_id": "c1",
           "output": [{"stdout": "ok", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}]}]),
        (of_item("apply_patch_call", DELETE, status="completed"),
         [{"type": "apply_patch_call", "id": "i1", "call_id": "c1", "operation": DELETE, "status": "completed"},
          {"type": "apply_patch_call_output", "call_id": "c1", "status": "completed", "output": "ok"}]),
        (of_item("computer_call", CLICK, status="completed", pending_safety_checks=[], model_content=(SCREEN,)),
         [{"type": "computer_call", "id": "i1", "call_id": "c1", "action": CLICK, "status": "completed",
           "pending_safety_checks": []},
          {"type": "computer_call_output", "call_id": "c1",
           "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,AA=="}}]),
    ],
)  # fmt: skip
def test_calls_of_other_kinds_go_back_as_what_they_were(part: ToolCallPart, items: list[dict[str, Any]]) -> None:
    assert sent(assistant(part)) == items


@pytest.mark.parametrize("approved", [True, False])
def test_a_decision_is_sent_and_an_open_request_is_not(approved: bool) -> None:
    item = {"type": "mcp_approval_request", "id": "ap", "server_label": "s"}
    asked = ToolCallPart(
        tool_call_id="ap",
        tool_name="pay",
        args_text='{"eur": 1}',
        approval=Approval(id="ap"),
        provider_metadata=kept(item=item),
    )
    decision = attrs.evolve(asked, approval=Approval(id="ap", approved=approved, reason="why"))
    if not approved:
        decision = attrs.evolve(decision, result="denied", is_error=True)

    assert sent(assistant(asked)) == []
    assert sent(assistant(decision)) == [
        {**item, "name": "pay", "arguments": '{"eur": 1}'},
        {"type": "mcp_approval_response", "approval_request_id": "ap", "approve": approved, "reason": "why"},
    ]


def test_a_model_sees_the_pictures_and_files_that_a_tool_gives_it() -> None:
    content = (
        TextContent("A plot"),
        FileContent(data="AA==", media_type="image/png"),
        FileContent(data="BB==", media_type="application/pdf", filename="b.pdf"),
    )

    assert sent(assistant(called(model_content=content)))[1]["output"] == [
        {"type": "input_text", "text": "A plot"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
        {"type": "input_file", "filename": "b.pdf", "file_data": "data:application/pdf;base64,BB=="},
    ]


def test_the_compacted_history_is_sent_after_its_answer() -> None:
    compaction = {"type": "compaction", "id": "cmp", "encrypted_content": "xyz"}

    assert sent(assistant(TextPart("Hi"), openai={"after": [compaction, {"type": "mcp_list_tools"}]}))[1:] == [
        compaction
    ]


def test_a_request_carries_tools_settings_and_the_answer_so_far(make_run: Callable[..., Any]) -> None:
    schema = {"type": "object", "properties": {}}
    context = ModelContext(
        system="Be brief",
        tools={"look": Tool.from_schema("look", schema, lambda _, __: 1, description="Look")},
        call_settings={"temperature": 0, "max_tokens": 5, "unheard_of": 1, "headers": {"h": "1"}},
        config={"model_name": "other", "reasoning_effort": "low"},
    )
    run = make_run(user("Hi"), answer=(called(),), context=context)
    defaults = {"tools": [{"type": "web_search"}], "reasoning": {"effort": "high", "summary": "auto"}, "store": False}

    assert responses_request(run, "m", defaults) == {
        "model": "other",
        "instructions": "Be brief",
        "temperature": 0,
        "max_output_tokens": 5,
        "store": False,
        "reasoning": {"effort": "low", "summary": "auto"},
        "extra_headers": {"h": "1"},
        "tools": [
            {"type": "web_search"},
            {"type": "function", "name": "look", "description": "Look", "parameters": schema, "strict": False},
        ],
        "input": [
            {"role": "user", "content": "Hi"},
            {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        ],
    }


@pytest.mark.anyio
async def test_what_was_answered_goes_back_as_it_came(answer: Callable[..., Any]) -> None:
    message = await answer(replay(OWN / "responses-look.sse"))
    content = tuple(
        attrs.evolve(part, result="2") if isinstance(part, ToolCallPart) and not part.has_result else part
        for part in message.content
    )

    items = sent(attrs.evolve(message, content=content), user("And?"), is_stored=False)

    assert [item.get("type") for item in items[:-1]] == [
        "reasoning", "web_search_call", "message", "function_call", "function_call",
        "function_call_output", "function_call_output",
    ]  # fmt: skip
    assert items[0]["encrypted_content"] == "gAAAA-own-encrypted"
    assert "".join(paragraph["text"] for paragraph in items[0]["summary"]) == "Erst suchen, …\n\ndann zählen."
    assert items[1]["action"] == {"type": "search", "query": "Übersicht", "queries": ["Übersicht"]}
    assert [item["arguments"] for item in items[3:5]] == ['{"path": "Übersicht.md"}', '{"path": "b.md", "what": 0}']
