"""From Messages payloads to the parts of a message, one kind of block after the other."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

import pytest

from partwise.messages import (
    COMPLETE_STOP,
    REQUIRES_TOOL_CALLS,
    RUNNING,
    AssistantMessage,
    DataPart,
    DocumentSourcePart,
    FilePart,
    IncompleteStatus,
    ToolCallPart,
    UrlSourcePart,
    Usage,
)
from partwise.providers.anthropic import MessagesDecoder
from partwise.stream import Chunk, ErrorChunk, Fold

Json = dict[str, Any]


def start(message_id: str = "m1", **fields: Any) -> Json:
    return {"type": "message_start", "message": {"id": message_id, "content": [], **fields}}


def block(index: int, kind: str, **fields: Any) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}}


def delta(index: int, kind: str, **fields: Any) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stop(index: int) -> Json:
    return {"type": "content_block_stop", "index": index}


def text(index: int, *pieces: str) -> list[Json]:
    return [block(index, "text", text=""), *(delta(index, "text_delta", text=piece) for piece in pieces), stop(index)]


def use(index: int, call_id: str = "c1", *pieces: str, kind: str = "tool_use", **fields: Any) -> list[Json]:
    begun = {"id": call_id, "name": "look", "input": {}, **fields}
    grown = (delta(index, "input_json_delta", partial_json=piece) for piece in ("", *pieces))
    return [block(index, kind, **begun), *grown, stop(index)]


def end(reason: str | None = "end_turn", **fields: Any) -> list[Json]:
    return [{"type": "message_delta", "delta": {"stop_reason": reason}, **fields}, {"type": "message_stop"}]


def chunks_of(*payloads: Any) -> list[Chunk]:
    decoder = MessagesDecoder()
    return [*(chunk for payload in payloads for chunk in decoder.decode(payload)), *decoder.close()]


def folded(*payloads: Json, starts: bool = True) -> AssistantMessage:
    problems: list[Exception] = []
    fold = Fold(report=problems.append)
    message = AssistantMessage(id="a", created_at=datetime(2026, 1, 1, tzinfo=UTC), status=RUNNING)
    for chunk in chunks_of(*([start()] if starts else []), *payloads):
        message = fold.apply(message, chunk)
    assert problems == []
    return fold.finish(message)


def shown(message: AssistantMessage) -> list[tuple[str, str]]:
    return [(part.type, getattr(part, "text", "") or getattr(part, "args_text", "")) for part in message.content]


def call(message: AssistantMessage, at: int = 0) -> ToolCallPart:
    return [part for part in message.content if isinstance(part, ToolCallPart)][at]


def said(part: Any) -> Any:
    return part.provider_metadata["anthropic"]


# ---------------------------------------------------------------- text and thinking


def test_text_grows_also_from_the_start_of_its_block() -> None:
    message = folded(block(0, "text", text="Hel"), delta(0, "text_delta", text="lo"), stop(0), *end())

    assert shown(message) == [("text", "Hello")]
    assert message.status == COMPLETE_STOP


def test_blocks_of_text_that_only_citations_part_are_one_text() -> None:
    assert shown(folded(*text(0, "a"), *text(1, "b"), *end())) == [("text", "ab")]
    assert shown(folded(*text(0, "a"), *use(1), *text(2, "b"), *end())) == [
        ("text", "a"),
        ("tool-call", ""),
        ("text", "b"),
    ]


def test_an_empty_block_leaves_no_part_and_zero_is_a_text() -> None:
    assert shown(folded(*text(0, ""), *end())) == []
    assert shown(folded(*text(0, "0"), *end())) == [("text", "0")]


@pytest.mark.parametrize("signs_first", [True, False])
def test_thinking_keeps_its_signature(signs_first: bool) -> None:
    signature = [delta(0, "signature_delta", signature="si"), delta(0, "signature_delta", signature="gn")]
    thoughts = [delta(0, "thinking_delta", thinking="h"), delta(0, "thinking_delta", thinking="m")]
    deltas = [*signature, *thoughts] if signs_first else [*thoughts, *signature]

    message = folded(block(0, "thinking", thinking="", signature=""), *deltas, stop(0), *text(1, "Hi"), *end())

    assert shown(message) == [("reasoning", "hm"), ("text", "Hi")]
    assert said(message.content[0]) == {"signature": "sign"}


@pytest.mark.parametrize("following", ["text", "thinking", "tool_use"])
def test_what_cannot_be_shown_is_kept_beside_what_follows(following: str) -> None:
    redacted = {"type": "redacted_thinking", "data": "xyz"}
    silent = {"type": "thinking", "thinking": "", "signature": "s"}
    after = {
        "text": text(2, "Hi"),
        "thinking": [block(2, "thinking", thinking=""), delta(2, "thinking_delta", thinking="hm"), stop(2)],
        "tool_use": use(2),
    }[following]

    message = folded(
        block(0, "redacted_thinking", data="xyz"),
        stop(0),
        block(1, "thinking", thinking="", signature=""),
        delta(1, "signature_delta", signature="s"),
        stop(1),
        *after,
        *end(),
    )

    assert len(message.content) == 1
    assert said(message.content[0])["before"] == [redacted, silent]


def test_a_summary_of_the_history_is_kept_even_if_nothing_follows() -> None:
    compacted = [
        block(0, "compaction", content=None),
        delta(0, "compaction_delta", content="We spoke of "),
        delta(0, "compaction_delta", content="files.", encrypted_content="e"),
        stop(0),
    ]
    kept = {"type": "compaction", "content": "We spoke of files.", "encrypted_content": "e"}

    assert said(folded(*compacted, *text(1, "Hi"), *end()).content[0]) == {"before": [kept]}
    assert folded(*compacted, *end("compaction")).metadata.custom == {"anthropic": {"after": [kept]}}


def test_a_block_of_an_unknown_kind_is_data_and_reported_events_change_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, logger="partwise"):
        message = folded(
            {"type": "ping"},
            block(0, "hologram", size=3),
            delta(0, "light_delta", light="x"),
            stop(0),
            delta(7, "text_delta", text="lost"),
            stop(7),
            {"type": "later"},
            {"type": "later"},
            *text(1, "Hi"),
            *end(),
        )

    assert message.content[0] == DataPart(name="hologram", data={"type": "hologram", "size": 3})
    assert shown(message)[1:] == [("text", "Hi")]
    assert [record.getMessage() for record in caplog.records] == [
        "Dropped a delta of type 'light_delta' for a block of type 'hologram'",
        "Dropped a delta for a block that is not open",
        "Dropped an event of an unknown type: 'later'",
    ]


# ---------------------------------------------------------------- sources


def test_sources_stand_after_their_text_once_with_all_their_places() -> None:
    page = {"type": "web_search_result_location", "url": "http://a", "title": "A", "cited_text": "x"}
    message = folded(
        *text(0, "Say "),
        block(1, "text", text="", citations=[]),
        delta(1, "citations_delta", citation=page),
        delta(1, "citations_delta", citation={**page, "cited_text": "y"}),
        delta(1, "text_delta", text="this"),
        delta(1, "citations_delta", citation=page),
        stop(1),
        *text(2, "."),
        *end(),
    )

    assert shown(message)[0] == ("text", "Say this.")
    place = {"type": "web_search_result_location", "cited_text": "x"}
    assert message.content[1:] == (
        UrlSourcePart(
            id="http://a",
            url="http://a",
            title="A",
            provider_metadata={"anthropic": {"citations": [place, {**place, "cited_text": "y"}]}},
        ),
    )


@pytest.mark.parametrize(
    ("citation", "source"),
    [
        ({"type": "char_location", "document_index": 1, "document_title": "D", "start_char_index": 0},
         ("document-1", "D", "text/plain")),
        ({"type": "page_location", "document_index": 0, "document_title": None, "start_page_number": 1},
         ("document-0", "document-0", "application/pdf")),
        ({"type": "content_block_location", "document_index": 0, "file_id": "f1"}, ("f1", "f1", "text/plain")),
        ({"type": "search_result_location", "source": "kb-1", "title": "K"}, ("kb-1", "K", "text/plain")),
    ],
)  # fmt: skip
def test_documents_are_sources_too(citation: Json, source: tuple[str, str, str]) -> None:
    message = folded(block(0, "text", text="x", citations=[citation]), stop(0), *end())

    (found,) = [part for part in message.content if isinstance(part, DocumentSourcePart)]
    assert (found.id, found.title, found.media_type) == source


def test_the_address_of_a_search_result_is_a_page() -> None:
    citation = {"type": "search_result_location", "source": "https://a/b", "title": "K", "search_result_index": 0}
    message = folded(block(0, "text", text="x", citations=[citation]), stop(0), *end())

    assert isinstance(message.content[1], UrlSourcePart)
    assert (message.content[1].url, message.content[1].title) == ("https://a/b", "K")


# ---------------------------------------------------------------- calls


def test_calls_at_once_are_told_apart_by_their_index() -> None:
    message = folded(
        block(0, "tool_use", id="c1", name="look", input={}),
        block(1, "tool_use", id="c2", name="peek", input={}),
        delta(1, "input_json_delta", partial_json='{"b"'),
        delta(0, "input_json_delta", partial_json='{"a": 0}'),
        delta(1, "input_json_delta", partial_json=": null}"),
        stop(1),
        stop(0),
        *end("tool_use"),
    )

    assert [(part.tool_call_id, part.tool_name, part.args) for part in (call(message), call(message, 1))] == [
        ("c1", "look", {"a": 0}),
        ("c2", "peek", {"b": None}),
    ]
    assert message.status == REQUIRES_TOOL_CALLS


def test_arguments_that_stand_in_the_start_are_read() -> None:
    message = folded(
        block(0, "tool_use", id="c1", name="look", input={"a": 1}, caller={"tool_id": "srv"}), stop(0), *end("tool_use")
    )

    assert (call(message).args, call(message).parent_id) == ({"a": 1}, "srv")


def test_a_call_without_arguments_has_none_and_is_whole() -> None:
    message = folded(*use(0), *end("tool_use"))

    assert call(message).args == {}
    assert message.status == REQUIRES_TOOL_CALLS


@pytest.mark.parametrize(
    ("kind", "result", "is_error"),
    [
        ("server_tool_use", {"type": "web_search_tool_result", "content": [{"url": "http://a"}]}, None),
        ("server_tool_use", {"type": "web_search_tool_result", "content": {"type": "web_search_tool_result_error",
                                                                            "error_code": "max_uses_exceeded"}}, True),
        ("mcp_tool_use", {"type": "mcp_tool_result", "is_error": False, "content": [{"type": "text"}]}, None),
        ("mcp_tool_use", {"type": "mcp_tool_result", "is_error": True, "content": []}, True),
    ],
)  # fmt: skip
def test_calls_that_the_provider_runs_get_their_result_and_ask_for_nothing(
    kind: str, result: Json, is_error: bool | None
) -> None:
    message = folded(
        *use(0, "s1", "{}", kind=kind), block(1, **{"kind": result["type"], **_rest(result)}), stop(1), *end()
    )

    assert (call(message).result, call(message).is_error) == (result["content"], is_error)
    assert said(call(message))["provider_executed"] is True
    assert message.status == COMPLETE_STOP


def _rest(result: Json) -> Json:
    return {"tool_use_id": "s1", **{key: value for key, value in result.items() if key != "type"}}


def test_a_result_for_a_call_of_an_earlier_message_or_run_is_kept() -> None:
    result = block(0, "web_fetch_tool_result", tool_use_id="s1", content={"a": 1})

    later = folded(*use(0, "s1", "{}", kind="server_tool_use"), *end(), start("m2"), result, stop(0), *end())
    unknown = folded(result, stop(0), *end())

    for message in (later, unknown):
        assert (call(message).tool_call_id, call(message).result) == ("s1", {"a": 1})


def test_files_that_code_made_are_files() -> None:
    made = {"type": "code_execution_result", "content": [{"type": "code_execution_output", "file_id": "f1"}]}
    message = folded(
        *use(0, "s1", kind="server_tool_use"),
        block(1, "code_execution_tool_result", tool_use_id="s1", content=made),
        stop(1),
        block(2, "container_upload", file_id="f2"),
        stop(2),
        *end(),
    )

    files = [part for part in message.content if isinstance(part, FilePart)]
    assert [(file.data, file.source_type) for file in files] == [("f1", "id"), ("f2", "id")]


def test_calls_of_a_model_that_gives_way_are_settled_and_those_after_it_are_asked_for() -> None:
    hand_over = {"from": {"model": "a"}, "to": {"model": "b"}, "trigger": {"type": "refusal", "category": "bio"}}
    given_up = [*use(0, "c1", "{}"), block(1, "fallback", **hand_over), stop(1)]

    silent = folded(*given_up, *text(2, "Hi"), *end())
    calling = folded(*given_up, *use(2, "c2", "{}"), *end("tool_use"))

    assert (call(silent).is_error, silent.status) == (True, COMPLETE_STOP)
    assert silent.content[1] == DataPart(name="fallback", data={"type": "fallback", **hand_over})
    assert [call(calling).has_result, call(calling, 1).has_result] == [True, False]
    assert calling.status == REQUIRES_TOOL_CALLS


def test_what_is_told_of_a_message_is_kept_beside_it() -> None:
    dropped = [{"type": "thinking_dropped"}]
    delta = {"stop_reason": "stop_sequence", "stop_sequence": "END", "container": {"id": "c"}, "stop_details": None}
    message = folded(
        *text(0, "Hi"), {"type": "message_delta", "delta": delta, "input_transformations": dropped}, *end()
    )

    assert message.metadata.custom == {
        "anthropic": {"container": {"id": "c"}, "input_transformations": dropped, "stop_sequence": "END"}
    }


def test_a_call_cut_short_is_not_to_be_run() -> None:
    message = folded(
        block(0, "tool_use", id="c1", name="look", input={}),
        delta(0, "input_json_delta", partial_json='{"a": "b'),
        *end("max_tokens"),
    )

    assert (call(message).args_text, call(message).has_result) == ('{"a": "b', False)
    assert message.status == IncompleteStatus("length")


# ---------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("end_turn", COMPLETE_STOP),
        ("stop_sequence", COMPLETE_STOP),
        ("tool_use", COMPLETE_STOP),
        ("max_tokens", IncompleteStatus("length")),
        ("model_context_window_exceeded", IncompleteStatus("length")),
        ("refusal", IncompleteStatus("content-filter")),
        ("pause_turn", IncompleteStatus("other")),
        ("of_tomorrow", IncompleteStatus("other")),
        (None, IncompleteStatus("other")),
    ],
)
def test_each_stop_reason_has_a_meaning(reason: str | None, status: Any) -> None:
    assert folded(*text(0, "Hi"), *end(reason)).status == status


def test_open_calls_decide_where_a_server_says_the_turn_ended() -> None:
    assert folded(*use(0), *end("end_turn")).status == REQUIRES_TOOL_CALLS


def test_a_message_without_its_end_is_incomplete() -> None:
    assert folded(*text(0, "Hi"), end()[0]).status == IncompleteStatus("other")
    assert folded(*text(0, "Hi")).status == IncompleteStatus("other")


def test_a_message_that_stands_whole_in_its_start_is_read() -> None:
    content = [
        {"type": "text", "text": "Hi"},
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "tool_use", "id": "c1", "name": "look", "input": {"a": 1}},
    ]
    message = folded(start(content=content, stop_reason="tool_use"), {"type": "message_stop"}, starts=False)

    assert shown(message) == [("text", "Hi"), ("reasoning", "hm"), ("tool-call", '{"a": 1}')]
    assert said(message.content[1]) == {"signature": "s"}
    assert message.status == REQUIRES_TOOL_CALLS


def test_several_messages_are_steps_whose_indices_start_again() -> None:
    message = folded(
        *use(0, "c1", '{"a": 1}'),
        *end("tool_use", usage={"output_tokens": 2}),
        start("m2", usage={"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 4}),
        *use(0, "c1", '{"a": 2}'),
        *text(1, "Done"),
        *end(usage={"output_tokens": 7, "output_tokens_details": {"thinking_tokens": 3}}),
    )

    assert [(part.tool_call_id, part.args) for part in (call(message), call(message, 1))] == [
        ("c1", {"a": 1}),
        ("c1-2", {"a": 2}),
    ]
    assert [(step.message_id, step.usage) for step in message.metadata.steps] == [
        ("m1", Usage(output_tokens=2)),
        ("m2", Usage(input_tokens=5, output_tokens=7, cached_input_tokens=4, reasoning_tokens=3)),
    ]
    assert message.status == REQUIRES_TOOL_CALLS


def test_a_second_start_before_anything_came_is_the_same_message() -> None:
    message = folded(start("m1"), *text(0, "Hi"), *end(usage={"output_tokens": 1}))

    assert [step.message_id for step in message.metadata.steps] == ["m1"]


def test_a_start_in_the_middle_is_a_second_attempt_and_the_first_call_is_not_run() -> None:
    message = folded(
        block(0, "tool_use", id="c1", name="look", input={}),
        delta(0, "input_json_delta", partial_json='{"a": "b'),
        start("m2"),
        *use(0, "c2", '{"a": "bcd"}'),
        *end("tool_use"),
    )

    assert [(part.args_text, part.is_error) for part in (call(message), call(message, 1))] == [
        ('{"a": "b', True),
        ('{"a": "bcd"}', None),
    ]
    assert message.status == REQUIRES_TOOL_CALLS


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"error": {"type": "overloaded_error", "message": "Overloaded"}},
    ],
)
def test_an_error_keeps_what_arrived_and_is_told_once(event: Json) -> None:
    message = folded(*text(0, "Half"), event, event, *end())

    assert len([one for one in chunks_of(start(), event, event) if isinstance(one, ErrorChunk)]) == 1
    assert shown(message) == [("text", "Half")]
    assert isinstance(message.status, IncompleteStatus)
    assert (message.status.error["code"], message.status.error["message"]) == ("overloaded_error", "Overloaded")


def test_what_is_said_of_the_message_is_kept_together() -> None:
    edits = {"applied_edits": [{"type": "clear_thinking"}]}
    message = folded(
        start(container={"id": "box"}),
        *text(0, "Hi"),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "refusal", "stop_details": {"category": "x"}},
            "context_management": edits,
        },
        {"type": "message_stop"},
        starts=False,
    )

    assert message.metadata.custom == {
        "anthropic": {"container": {"id": "box"}, "stop_details": {"category": "x"}, "context_management": edits}
    }


def test_the_objects_of_the_sdk_are_read_like_their_json() -> None:
    from anthropic.types import RawContentBlockDeltaEvent

    payload = delta(0, "text_delta", text="Hi")
    before = (start(), block(0, "text", text=""))

    assert chunks_of(*before, RawContentBlockDeltaEvent.model_validate(payload)) == chunks_of(*before, payload)
