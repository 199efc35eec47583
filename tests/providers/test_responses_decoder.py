"""From Responses payloads to the parts of a message, one kind of event after the other."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from partwise.messages import (
    COMPLETE_STOP,
    REQUIRES_TOOL_CALLS,
    RUNNING,
    Approval,
    AssistantMessage,
    DocumentSourcePart,
    ImagePart,
    IncompleteStatus,
    ToolCallPart,
    UrlSourcePart,
    Usage,
)
from partwise.providers.openai import ResponsesDecoder
from partwise.stream import Chunk, ErrorChunk, Fold, StepStart

Json = dict[str, Any]


def on(kind: str, index: int = 0, **fields: Any) -> Json:
    return {"type": f"response.{kind}", "output_index": index, **fields}


def added(item: Json, index: int = 0) -> Json:
    return on("output_item.added", index, item=item)


def done(item: Json, index: int = 0) -> Json:
    return on("output_item.done", index, item=item)


def text(delta: str, index: int = 0, at: int = 0) -> Json:
    return on("output_text.delta", index, content_index=at, delta=delta)


def created(response_id: str = "r1") -> Json:
    return {"type": "response.created", "response": {"id": response_id}}


def completed(**response: Any) -> Json:
    return {"type": "response.completed", "response": {"id": "r1", "output": [], **response}}


def chunks_of(payloads: Iterable[Json], *, close: bool = True) -> list[Chunk]:
    decoder = ResponsesDecoder()
    chunks = [chunk for payload in payloads for chunk in decoder.decode(payload)]
    return [*chunks, *decoder.close()] if close else chunks


def folded(*payloads: Json, ends: bool = True) -> AssistantMessage:
    problems: list[Exception] = []
    fold = Fold(report=problems.append)
    message = AssistantMessage(id="a", created_at=datetime(2026, 1, 1, tzinfo=UTC), status=RUNNING)
    for chunk in chunks_of([created(), *payloads, *([completed()] if ends else [])]):
        message = fold.apply(message, chunk)
    assert problems == []
    return fold.finish(message)


def shown(message: AssistantMessage) -> list[tuple[str, str]]:
    return [(part.type, getattr(part, "text", "") or getattr(part, "args_text", "")) for part in message.content]


def call(message: AssistantMessage, at: int = 0) -> ToolCallPart:
    return [part for part in message.content if isinstance(part, ToolCallPart)][at]


def said(part: Any) -> Any:
    return part.provider_metadata["openai"]


# ---------------------------------------------------------------- texts


def test_text_grows_and_its_ends_repeat_nothing() -> None:
    whole = {"type": "output_text", "text": "Hello", "annotations": []}
    item = {"type": "message", "id": "m1", "phase": "final_answer", "content": [whole]}

    message = folded(
        added({"type": "message", "id": "m1", "phase": "final_answer"}),
        on("content_part.added", content_index=0, part={"type": "output_text", "text": ""}),
        text("Hel"),
        text(""),
        text("lo"),
        on("output_text.done", content_index=0, text="Hello"),
        on("content_part.done", content_index=0, part=whole),
        done(item),
    )

    assert shown(message) == [("text", "Hello")]
    assert said(message.content[0]) == {"item": {"type": "message", "id": "m1", "phase": "final_answer"}}


@pytest.mark.parametrize(
    "end",
    [
        on("output_text.done", content_index=0, text="Hello"),
        on("content_part.done", content_index=0, part={"type": "output_text", "text": "Hello"}),
        done({"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}),
    ],
)
@pytest.mark.parametrize("before", [[], [text("Hel")], [text("He"), text("l")], [text("Hal")], [text("Hello!")]])
def test_an_end_that_says_more_or_something_else_wins(before: list[Json], end: Json) -> None:
    assert shown(folded(*before, end)) == [("text", "Hello")]


def test_an_empty_end_takes_nothing_away() -> None:
    assert shown(folded(text("Hello"), on("output_text.done", content_index=0, text=""))) == [("text", "Hello")]


def test_texts_of_two_items_and_of_two_places_are_parts_of_their_own() -> None:
    message = folded(text("a", 0), text("b", 2), text("c", 2, at=1), text("d", 0))

    assert shown(message) == [("text", "ad"), ("text", "b"), ("text", "c")]


def test_a_refusal_is_a_text_that_says_so() -> None:
    message = folded(
        on("refusal.delta", content_index=0, delta="I ca"),
        on("refusal.done", content_index=0, refusal="I can't"),
    )

    assert shown(message) == [("text", "I can't")]
    assert said(message.content[0])["refusal"] is True
    assert message.status == COMPLETE_STOP


def test_summaries_of_one_item_are_paragraphs_of_one_reasoning() -> None:
    item = {
        "type": "reasoning",
        "id": "rs",
        "encrypted_content": "xyz",
        "summary": [{"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}],
    }
    message = folded(
        added({"type": "reasoning", "id": "rs", "summary": []}),
        on("reasoning_summary_part.added", summary_index=0, part={"type": "summary_text", "text": ""}),
        on("reasoning_summary_text.delta", summary_index=0, delta="One."),
        on("reasoning_summary_text.done", summary_index=0, text="One."),
        on("reasoning_summary_text.delta", summary_index=1, delta="Tw"),
        done(item),
    )

    assert shown(message) == [("reasoning", "One.\n\nTwo.")]
    assert said(message.content[0]) == {
        "summary": True,
        "item": {"type": "reasoning", "id": "rs", "encrypted_content": "xyz"},
    }


def test_a_paragraph_that_ends_otherwise_is_replaced_within_its_reasoning() -> None:
    message = folded(
        on("reasoning_summary_text.delta", summary_index=0, delta="One."),
        on("reasoning_summary_text.delta", summary_index=1, delta="Two."),
        on("reasoning_summary_text.done", summary_index=0, text="Uno."),
    )

    assert shown(message) == [("reasoning", "Uno.\n\nTwo.")]


def test_raw_reasoning_may_stay_open_while_the_text_comes_and_goes() -> None:
    message = folded(
        on("reasoning_text.delta", 0, content_index=0, delta="hm"),
        text("1", 1),
        done({"type": "message", "content": [{"type": "output_text", "text": "1"}]}, 1),
        on("reasoning_text.delta", 0, content_index=0, delta="."),
    )

    assert shown(message) == [("reasoning", "hm."), ("text", "1")]


@pytest.mark.parametrize("kind", ["message", "function_call"])
def test_what_cannot_be_shown_is_kept_beside_what_follows(kind: str) -> None:
    hidden = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "xyz"}
    listed = {"type": "mcp_list_tools", "id": "l", "tools": []}
    following = {
        "message": [text("Hi", 2)],
        "function_call": [done({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, 2)],
    }[kind]

    message = folded(done(hidden, 0), done(listed, 1), *following)

    assert said(message.content[0])["before"] == [hidden, listed]
    assert len(message.content) == 1


def test_what_nothing_follows_is_kept_beside_the_message() -> None:
    compaction = {"type": "compaction", "id": "cmp", "encrypted_content": "xyz"}

    message = folded(text("Hi"), done(compaction, 1))

    assert message.metadata.custom == {"openai": {"after": [compaction]}}


# ---------------------------------------------------------------- sources


def test_each_source_stands_once_after_its_text_with_all_its_places() -> None:
    first = {"type": "url_citation", "url": "http://a", "title": "A", "start_index": 0, "end_index": 2}
    again = {**first, "start_index": 5}
    document = {"type": "file_citation", "file_id": "f1", "filename": "a.pdf", "index": 3}

    message = folded(
        on("output_text.annotation.added", content_index=0, annotation=first),
        text("Hello "),
        on("output_text.annotation.added", content_index=0, annotation=again),
        text("world"),
        on("content_part.done", content_index=0, part={
            "type": "output_text", "text": "Hello world", "annotations": [first, again, document]
        }),
    )  # fmt: skip

    assert shown(message)[0] == ("text", "Hello world")
    assert message.content[1:] == (
        UrlSourcePart(
            id="http://a",
            url="http://a",
            title="A",
            provider_metadata={
                "openai": {"citations": [{"start_index": 0, "end_index": 2}, {"start_index": 5, "end_index": 2}]}
            },
        ),
        DocumentSourcePart(
            id="f1",
            title="a.pdf",
            media_type="application/pdf",
            filename="a.pdf",
            provider_metadata={"openai": {"citations": [{"index": 3}]}},
        ),
    )


# ---------------------------------------------------------------- calls


def function(arguments: str = "", **fields: Any) -> Json:
    return {"type": "function_call", "id": "fc", "call_id": "c1", "name": "f", "arguments": arguments, **fields}


@pytest.mark.parametrize(
    "payloads",
    [
        [added(function()), on("function_call_arguments.delta", delta='{"a"'),
         on("function_call_arguments.delta", delta=": 1}")],
        [added(function()), on("function_call_arguments.done", arguments='{"a": 1}')],
        [added(function()), on("function_call_arguments.delta", delta='{"a"'), done(function('{"a": 1}'))],
        [done(function('{"a": 1}'))],
        [added(function()), added(function()), done(function('{"a": 1}')), done(function('{"a": 1}'))],
    ],
)  # fmt: skip
def test_arguments_come_in_pieces_at_the_end_or_both(payloads: list[Json]) -> None:
    message = folded(*payloads)

    assert (call(message).tool_call_id, call(message).tool_name) == ("c1", "f")
    assert (call(message).args_text, call(message).args) == ('{"a": 1}', {"a": 1})
    assert message.status == REQUIRES_TOOL_CALLS


def test_calls_at_once_are_told_apart_by_their_index_whatever_the_ids() -> None:
    message = folded(
        added(function(id="x1"), 0),
        added(function(id="x2", call_id="c2"), 1),
        on("function_call_arguments.delta", 1, item_id="other", delta="2"),
        on("function_call_arguments.delta", 0, item_id="another", delta="1"),
        done(function("11", id="y1"), 0),
        done(function("22", id="y2", call_id="c2"), 1),
    )

    assert [(part.tool_call_id, part.args_text) for part in (call(message, 0), call(message, 1))] == [
        ("c1", "11"),
        ("c2", "22"),
    ]


@pytest.mark.parametrize(
    ("item", "name", "arguments", "result"),
    [
        ({"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}},
         "web_search", {"type": "search", "query": "q"}, {"status": "completed"}),
        ({"type": "web_search_call", "name": "web_search", "call_id": "", "status": "completed",
          "arguments": '{"query": "q"}', "action": {"type": "search"}},
         "web_search", {"query": "q"}, {"status": "completed"}),
        ({"type": "file_search_call", "status": "completed", "queries": ["q"], "results": [{"file_id": "f"}]},
         "file_search", {"queries": ["q"]}, [{"file_id": "f"}]),
        ({"type": "file_search_call", "status": "completed", "queries": ["q"], "results": None},
         "file_search", {"queries": ["q"]}, None),
        ({"type": "code_interpreter_call", "status": "completed", "code": "1\n", "outputs": [{"logs": "1"}]},
         "code_interpreter", {"code": "1\n"}, [{"logs": "1"}]),
        ({"type": "mcp_call", "name": "m", "status": "completed", "arguments": "{}", "output": "out"},
         "m", {}, "out"),
    ],
)  # fmt: skip
def test_calls_that_the_provider_runs_bring_their_results(item: Json, name: str, arguments: Any, result: Any) -> None:
    begun = {key: item[key] for key in ("type", "name") if key in item}

    message = folded(added({**begun, "status": "in_progress"}), done({"id": "i1", **item}))

    assert (call(message).tool_name, call(message).args, call(message).result) == (name, arguments, result)
    assert said(call(message))["provider_executed"] is True
    assert message.status == COMPLETE_STOP


def test_a_call_that_failed_at_the_provider_is_an_error() -> None:
    item = {"type": "mcp_call", "id": "i", "name": "m", "arguments": "{}", "error": "boom", "status": "failed"}

    assert (call(folded(done(item))).result, call(folded(done(item))).is_error) == ("boom", True)


@pytest.mark.parametrize(
    ("kind", "event", "field"),
    [
        ("custom_tool_call", "custom_tool_call_input", "input"),
        ("code_interpreter_call", "code_interpreter_call_code", "code"),
    ],
)
def test_plain_text_that_streams_is_one_argument(kind: str, event: str, field: str) -> None:
    before = [added({"type": kind, "id": "i", "call_id": "i", "name": "n"})]
    pieces = ['say "', "hi\n", "\N{SLIGHTLY SMILING FACE}"]
    payloads = [*before, *(on(f"{event}.delta", delta=piece) for piece in pieces)]

    growing = folded(*payloads, ends=False)
    assert call(growing).args == {field: "".join(pieces)}
    for end in (on(f"{event}.done", **{field: "".join(pieces)}), done({"type": kind, field: "".join(pieces)})):
        assert call(folded(*payloads, end)).args == {field: "".join(pieces)}
        assert call(folded(*payloads, end)).args_text.endswith('"}')


def test_commands_of_a_shell_stream_one_after_the_other() -> None:
    action = {"commands": ["ls -l", "pwd"], "timeout_ms": 5}
    message = folded(
        added({"type": "shell_call", "id": "i", "call_id": "c", "action": {"commands": []}}),
        on("shell_call_command.added", command_index=0, command=""),
        on("shell_call_command.delta", command_index=0, delta="ls "),
        on("shell_call_command.delta", command_index=0, delta="-l"),
        on("shell_call_command.done", command_index=0, command="ls -l"),
        on("shell_call_command.delta", command_index=1, delta="pwd"),
        done({"type": "shell_call", "id": "i", "call_id": "c", "action": action}),
    )

    assert call(message).args == action
    assert message.status == REQUIRES_TOOL_CALLS


def test_the_output_of_a_hosted_shell_is_the_result_of_its_call() -> None:
    hosted = {"type": "shell_call", "call_id": "c", "environment": {"type": "container_reference"}}
    output = {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "hi"}]}
    message = folded(
        done({**hosted, "action": {"commands": ["ls"]}}),
        added({**output, "output": []}, 1),
        on("shell_call_output_content.delta", 1, delta={"stdout": "hi"}),
        done(output, 1),
    )

    assert call(message).result == [{"stdout": "hi"}]
    assert message.status == COMPLETE_STOP


def test_a_patch_streams_its_diff_into_what_is_known_of_it() -> None:
    operation = {"type": "update_file", "path": "a.py", "diff": ""}
    whole = {**operation, "diff": '-"a"\n+b'}
    base = {"type": "apply_patch_call", "id": "i", "call_id": "c"}
    growing = [
        added({**base, "operation": operation}),
        on("apply_patch_call_operation_diff.delta", delta='-"a"\n'),
    ]

    assert call(folded(*growing, ends=False)).args == {**operation, "diff": '-"a"\n'}
    ended = folded(
        *growing, on("apply_patch_call_operation_diff.done", diff=whole["diff"]), done({**base, "operation": whole})
    )
    assert call(ended).args == whole


def test_a_program_that_the_provider_runs_is_answered_by_the_item_after_it() -> None:
    program = {"type": "program", "id": "p", "call_id": "c", "code": "1 + 1", "fingerprint": "f"}
    output = {"type": "program_output", "id": "o", "call_id": "c", "result": "2", "status": "completed"}

    message = folded(added(program), done(program), added(output, 1), done(output, 1))

    assert (call(message).tool_name, call(message).args, call(message).result) == ("program", {"code": "1 + 1"}, "2")
    assert said(call(message))["provider_executed"] is True
    assert message.status == COMPLETE_STOP


def test_a_search_for_tools_is_answered_by_the_item_after_it() -> None:
    message = folded(
        done({"type": "tool_search_call", "id": "ts", "call_id": None, "execution": "server", "arguments": {"q": 1}}),
        done({"type": "tool_search_output", "id": "to", "call_id": None, "tools": [{"name": "t"}]}, 1),
    )

    assert (call(message).tool_name, call(message).args, call(message).result) == (
        "tool_search",
        {"q": 1},
        [{"name": "t"}],
    )
    assert message.status == COMPLETE_STOP


def test_a_result_for_a_call_of_an_earlier_run_is_kept() -> None:
    message = folded(done({"type": "function_call_output", "call_id": "old", "output": "42"}))

    assert (call(message).tool_call_id, call(message).result) == ("old", "42")


def test_a_request_for_approval_waits_for_it() -> None:
    item = {"type": "mcp_approval_request", "id": "ap", "name": "pay", "arguments": '{"eur": 1}', "server_label": "s"}

    message = folded(added(item), done(item))

    assert (call(message).tool_name, call(message).args) == ("pay", {"eur": 1})
    assert call(message).approval == Approval(id="ap")
    assert message.status == REQUIRES_TOOL_CALLS


@pytest.mark.parametrize("finishes", [True, False])
def test_a_picture_is_shown_as_far_as_it_was_drawn(finishes: bool) -> None:
    item = {"type": "image_generation_call", "id": "ig", "status": "completed", "output_format": "webp"}
    partial = [
        on("image_generation_call.partial_image", partial_image_index=at, partial_image_b64=data, output_format="webp")
        for at, data in enumerate(["AA==", "BB=="])
    ]
    end = [done({**item, "result": "CC=="})] if finishes else []

    message = folded(added({**item, "status": "in_progress"}), *partial, *end)

    shown_last = "CC==" if finishes else "BB=="
    assert message.content[1:] == (ImagePart(image=f"data:image/webp;base64,{shown_last}"),)
    assert "CC==" not in repr(message.content[0])
    assert call(message).has_result is finishes


def test_an_unfinished_call_is_left_open() -> None:
    message = folded(
        added(function()),
        on("function_call_arguments.delta", delta='{"a'),
        done(function('{"a', status="incomplete")),
        {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}},
        ends=False,
    )

    assert call(message).args_text == '{"a'
    assert not call(message).has_result
    assert message.status == IncompleteStatus("length")


# ---------------------------------------------------------------- responses


@pytest.mark.parametrize(
    ("event", "status"),
    [
        (completed(), COMPLETE_STOP),
        ({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}},
         IncompleteStatus("length")),
        ({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "content_filter"}}},
         IncompleteStatus("content-filter")),
        ({"type": "response.incomplete", "response": {}}, IncompleteStatus("other")),
        ({"type": "response.completed", "response": {"status": "cancelled"}}, IncompleteStatus("other")),
        ({"type": "response.later"}, IncompleteStatus("other")),
    ],
)  # fmt: skip
def test_each_end_has_a_meaning(event: Json, status: Any) -> None:
    assert folded(text("Hi"), event, ends=False).status == status


@pytest.mark.parametrize(
    "events",
    [
        [{"type": "error", "code": "c", "message": "m", "param": None}],
        [{"type": "error", "error": {"code": "c", "message": "m"}}],
        [{"type": "response.failed", "response": {"error": {"code": "c", "message": "m"}}}],
        [
            {"type": "error", "error": {"code": "c", "message": "m"}},
            {"type": "response.failed", "response": {"error": {"code": "c", "message": "m"}}},
        ],
        [{"error": {"code": "c", "message": "m"}}],
    ],
)
def test_a_failure_in_any_form_is_told_once_and_keeps_what_arrived(events: list[Json]) -> None:
    chunks = chunks_of([created(), text("Half"), *events])
    message = folded(text("Half"), *events, ends=False)

    assert len([chunk for chunk in chunks if isinstance(chunk, ErrorChunk)]) == 1
    assert shown(message) == [("text", "Half")]
    assert isinstance(message.status, IncompleteStatus)
    assert (message.status.error["code"], message.status.error["message"]) == ("c", "m")


def test_usage_is_that_of_the_terminal_event() -> None:
    usage = {
        "input_tokens": 4,
        "output_tokens": 3,
        "input_tokens_details": {"cached_tokens": 2},
        "output_tokens_details": {"reasoning_tokens": 1},
    }

    message = folded(completed(usage=usage), ends=False)

    (step,) = message.metadata.steps
    assert step.message_id == "r1"
    assert step.usage == Usage(input_tokens=4, output_tokens=3, reasoning_tokens=1, cached_input_tokens=2)


def test_several_responses_are_steps_and_the_last_one_decides() -> None:
    message = folded(
        done(function("{}")),
        completed(usage={"output_tokens": 1}),
        created("r2"),
        {"type": "response.in_progress", "response": {"id": "r2"}},
        text("Done", 0),
        completed(usage={"output_tokens": 2}),
        ends=False,
    )

    assert shown(message) == [("tool-call", "{}"), ("text", "Done")]
    assert [(step.message_id, step.usage.output_tokens) for step in message.metadata.steps if step.usage] == [
        ("r1", 1),
        ("r2", 2),
    ]
    assert message.status == COMPLETE_STOP


def test_a_resumed_response_may_begin_anywhere() -> None:
    chunks = chunks_of([{"type": "response.later"}, text("lo"), {"type": "response.queued", "response": {"id": "r9"}}])

    assert [chunk for chunk in chunks if isinstance(chunk, StepStart)] == [StepStart(None)]


def test_items_that_got_no_end_are_ended_from_the_list_of_the_response() -> None:
    output = [
        {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Hello"}]},
        function('{"a": 1}'),
    ]

    for payloads in ([added({"type": "message", "id": "m"}), text("Hel"), added(function(), 1)], []):
        message = folded(*payloads, completed(output=output), ends=False)
        assert shown(message) == [("text", "Hello"), ("tool-call", '{"a": 1}')]


def test_an_item_of_another_type_at_an_index_is_another_item() -> None:
    message = folded(added(function()), added({"type": "message", "id": "m"}), text("Hi"))
    ended = folded(added(function()), done({"type": "reasoning", "id": "r", "summary": [{"text": "hm"}]}))

    assert shown(message) == [("tool-call", ""), ("text", "Hi")]
    assert shown(ended) == [("tool-call", ""), ("reasoning", "hm")]


def test_unknown_events_and_items_are_reported_once_each(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="partwise"):
        message = folded(
            on("later"), on("later"), on("web_search_call.searching"), added({"type": "hologram"}), text("Hi", 1)
        )

    assert shown(message) == [("text", "Hi")]
    assert [record.getMessage() for record in caplog.records] == [
        "Dropped an event of an unknown type: 'later'",
        "Dropped an item of an unknown type: 'hologram'",
    ]


def test_the_objects_of_the_sdk_are_read_like_their_json() -> None:
    from openai.types.responses import ResponseTextDeltaEvent

    payload = {**text("Hi"), "item_id": "m", "logprobs": [], "sequence_number": 1}

    assert chunks_of([ResponseTextDeltaEvent.model_validate(payload)]) == chunks_of([payload])  # type: ignore[list-item]  # objects too
