from __future__ import annotations

import base64
import itertools
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.messages import RUNNING, AssistantMessage, FilePart, ImagePart, UrlSourcePart, Usage
from partwise.providers.openai import ChatDecoder
from partwise.providers.wire import PayloadReader
from partwise.stream import (
    Chunk,
    ErrorChunk,
    Finish,
    Fold,
    PartChunk,
    ReasoningDelta,
    StepFinish,
    StepStart,
    TextDelta,
    ToolArgsDelta,
    ToolArgsFinish,
    ToolCallStart,
    ToolResult,
)


def delta(finish: str | None = None, id: str = "cmpl", **fields: Any) -> dict[str, Any]:
    return {"id": id, "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def call(index: int | None = None, id: object = "", name: object = "", arguments: object = "") -> dict[str, Any]:
    fragment: dict[str, Any] = {"id": id, "function": {"name": name, "arguments": arguments}}
    return fragment if index is None else {**fragment, "index": index}


def decode(*payloads: dict[str, Any], decoder: ChatDecoder | None = None, close: bool = True) -> list[Chunk]:
    decoder = decoder or ChatDecoder()
    chunks = [chunk for payload in payloads for chunk in decoder.decode(payload)]
    return [*chunks, *decoder.close()] if close else chunks


def chunks_of(*payloads: dict[str, Any]) -> list[Chunk]:
    return decode(*payloads, close=False)


# ---------------------------------------------------------------- text


def test_empty_and_absent_text_gives_nothing_and_zero_gives_text() -> None:
    assert chunks_of(delta(role="assistant", content=""), delta(content=None), delta()) == []
    assert chunks_of(delta(content="0")) == [TextDelta("0")]


def test_reasoning_is_read_under_each_of_its_names_and_once() -> None:
    assert chunks_of(
        delta(reasoning_content="a", content=""),
        delta(reasoning="b"),
        delta(reasoning="c", reasoning_content="c"),
        delta(reasoning_details=[{"type": "reasoning.text", "text": "d"}]),
        delta(reasoning="e", reasoning_details=[{"type": "reasoning.text", "text": "e"}]),
    ) == [ReasoningDelta(text) for text in "abcde"]


SIGNED = {"type": "reasoning.text", "signature": "s"}
ENCRYPTED = {"type": "reasoning.encrypted", "data": "xyz"}


@pytest.mark.parametrize(
    ("payloads", "kind"),
    [
        ([delta(reasoning="hm"), delta(content="", reasoning_details=[{**SIGNED, "text": ""}])], "reasoning"),
        ([delta(reasoning="hm", reasoning_details=[SIGNED])], "reasoning"),
        ([delta(content="", reasoning_details=[SIGNED]), delta(reasoning="hm")], "reasoning"),
        ([delta(reasoning_details=[SIGNED]), delta(content="Hi")], "text"),
        ([delta(content="Hi"), delta(reasoning_details=[SIGNED])], "text"),
        (
            [
                delta(reasoning_details=[SIGNED]),
                delta(tool_calls=[{"index": 0, "id": "c", "function": {"name": "look", "arguments": "{}"}}]),
            ],
            "tool-call",
        ),
    ],
)
def test_signatures_and_encrypted_reasoning_are_kept_beside_what_they_stand_at(
    payloads: list[dict[str, Any]], kind: str
) -> None:
    fold = Fold()
    message = AssistantMessage(id="a", created_at=datetime(2026, 1, 1, tzinfo=UTC), status=RUNNING)

    for chunk in chunks_of(*payloads, delta(reasoning_details=[ENCRYPTED])):
        message = fold.apply(message, chunk)

    (part,) = message.content
    assert part.type == kind
    assert part.provider_metadata == {"openai": {"reasoning_details": [SIGNED, ENCRYPTED]}}


def test_each_signature_is_kept_beside_one_part_and_none_twice() -> None:
    def encrypted(data: str) -> list[dict[str, Any]]:
        return [{"type": "reasoning.encrypted", "data": data}]

    def call(index: int) -> list[dict[str, Any]]:
        return [{"index": index, "id": f"c{index}", "function": {"name": "look", "arguments": "{}"}}]

    fold = Fold()
    message = AssistantMessage(id="a", created_at=datetime(2026, 1, 1, tzinfo=UTC), status=RUNNING)
    for chunk in chunks_of(
        delta(reasoning="hm", reasoning_details=encrypted("r1")),
        delta(reasoning="m", reasoning_details=encrypted("r2")),
        delta(reasoning="m", reasoning_details=encrypted("r3")),
        delta(tool_calls=call(0), reasoning_details=encrypted("c0")),
        delta(tool_calls=call(1), reasoning_details=encrypted("c1")),
    ):
        message = fold.apply(message, chunk)

    kept = [
        [mark["data"] for mark in part.provider_metadata["openai"]["reasoning_details"]] for part in message.content
    ]
    assert kept == [["r1", "r2", "r3"], ["c0"], ["c1"]]


def test_many_signatures_of_one_part_are_told_in_all_about_four_times() -> None:
    def told(number: int) -> int:
        decoder = ChatDecoder()
        chunks: list[Any] = []
        for _ in range(number):
            chunks += decoder.decode(delta(reasoning="m", reasoning_details=[ENCRYPTED]))
        chunks += decoder.close()
        metadata = [chunk.provider_metadata for chunk in chunks if getattr(chunk, "provider_metadata", None)]
        return sum(len(said["openai"]["reasoning_details"]) for said in metadata)

    assert told(1_000) <= 4 * 1_000


def test_think_tags_in_one_delta_are_found_wherever_it_is_cut() -> None:
    text = "a<think>b</think>c<<think><thi</think></think>d<think>"
    for cut in range(len(text) + 1):
        decoder = ChatDecoder(think_tags=True)
        chunks = [*decoder.decode(delta(content=text[:cut])), *decoder.decode(delta(content=text[cut:]))]
        chunks += decoder.close()
        kinds: dict[type[Any], str] = {}
        for chunk in chunks:
            if isinstance(chunk, (TextDelta, ReasoningDelta)):
                kinds[type(chunk)] = kinds.get(type(chunk), "") + chunk.text

        assert kinds == {TextDelta: "ac<</think>d", ReasoningDelta: "b<thi"}, cut


def test_content_may_switch_between_a_list_and_a_text() -> None:
    assert chunks_of(
        delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]),
        delta(content=[{"type": "thinking", "thinking": "."}, {"type": "text", "text": "a"}, {"type": "later"}]),
        delta(content="b"),
    ) == [ReasoningDelta("hm"), ReasoningDelta("."), TextDelta("a"), TextDelta("b")]


def test_pictures_among_the_text_are_images_and_unknown_content_is_reported_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    picture = {"type": "image_url", "image_url": {"url": "http://a/b.png"}}
    content = [{"type": "text", "text": "See"}, picture, {"type": "reference", "reference_ids": [1]}]

    with caplog.at_level("WARNING", logger="partwise"):
        chunks = chunks_of(delta(content=content), delta(content=[picture, {"type": "reference"}]))

    assert chunks == [TextDelta("See"), PartChunk(ImagePart(image="http://a/b.png"))]
    assert [record.getMessage() for record in caplog.records] == ["Dropped content of an unknown type: 'reference'"]


def test_a_refusal_is_a_text_of_its_own_that_says_so() -> None:
    assert chunks_of(delta(content=None, refusal="No")) == [
        TextDelta("No", part_id="refusal", provider_metadata={"openai": {"refusal": True}})
    ]


def test_only_the_first_choice_is_read() -> None:
    def choice(index: int, text: str, finish: str | None = None) -> dict[str, Any]:
        return {"index": index, "delta": {"content": text}, "finish_reason": finish}

    payload = {"choices": [choice(1, "x", "stop"), choice(0, "a"), choice(2, "y")]}
    assert decode(payload, {"choices": [choice(2, "z", "stop")]}, {"choices": [choice(0, "b", "length")]}) == [
        TextDelta("a"),
        TextDelta("b"),
        Finish("length"),
    ]


def test_the_cumulative_message_beside_a_delta_is_not_read() -> None:
    payload = {"choices": [{"index": 0, "delta": {"content": "b"}, "message": {"content": "ab"}}]}

    assert chunks_of(payload) == [TextDelta("b")]


@given(st.lists(st.integers(0, 60), max_size=8))
def test_think_tags_cut_anywhere_split_reasoning_from_text(places: list[int]) -> None:
    text = "<think>a <b> c</think>d </think <think>e"
    edges = [0, *sorted(place % len(text) for place in places), len(text)]
    pieces = [text[start:stop] for start, stop in itertools.pairwise(edges)]

    chunks = decode(*(delta(content=piece) for piece in pieces), decoder=ChatDecoder(think_tags=True))

    joined: list[list[str]] = []
    for chunk in chunks[:-1]:
        assert isinstance(chunk, (TextDelta, ReasoningDelta))
        kind = type(chunk).__name__
        if joined and joined[-1][0] == kind:
            joined[-1][1] += chunk.text
        else:
            joined.append([kind, chunk.text])
    assert joined == [["ReasoningDelta", "a <b> c"], ["TextDelta", "d </think "], ["ReasoningDelta", "e"]]


# ---------------------------------------------------------------- tool calls


def test_fragments_with_an_index_belong_to_the_call_at_it() -> None:
    assert chunks_of(
        delta(tool_calls=[call(0, "c1", "add", "")]),
        delta(tool_calls=[call(0, None, None, '{"a"')]),
        delta(tool_calls=[call(1, "c2", "mul", '{"b"')]),
        delta(content="text between"),
        delta(tool_calls=[call(0, "", "", ": 1}"), call(1, "c2", "mul", ": 2}")]),
        delta("tool_calls"),
    ) == [
        ToolCallStart("c1", "add"),
        ToolArgsDelta("c1", '{"a"'),
        ToolCallStart("c2", "mul"),
        ToolArgsDelta("c2", '{"b"'),
        TextDelta("text between"),
        ToolArgsDelta("c1", ": 1}"),
        ToolArgsDelta("c2", ": 2}"),
        ToolArgsFinish("c1"),
        ToolArgsFinish("c2"),
    ]


def test_fragments_without_an_index_belong_by_id_by_name_or_to_the_last_call() -> None:
    assert chunks_of(
        delta(tool_calls=[call(None, "c1", "add", "{")]),
        delta(tool_calls=[call(None, None, None, "}")]),
        delta(tool_calls=[call(None, "c2", "mul", "{")]),
        delta(tool_calls=[call(None, "c2", "", "}")]),
        delta("tool_calls"),
    ) == [
        ToolCallStart("c1", "add"),
        ToolArgsDelta("c1", "{"),
        ToolArgsDelta("c1", "}"),
        ToolArgsFinish("c1"),
        ToolCallStart("c2", "mul"),
        ToolArgsDelta("c2", "{"),
        ToolArgsDelta("c2", "}"),
        ToolArgsFinish("c2"),
    ]


def test_another_id_and_name_at_a_known_index_is_another_call() -> None:
    assert chunks_of(delta(tool_calls=[call(0, "c1", "t", "{}"), call(0, "c2", "t", "{}")]))[2:] == [
        ToolCallStart("c2", "t"),
        ToolArgsFinish("c1"),
        ToolArgsDelta("c2", "{}"),
    ]


def test_a_call_without_an_id_gets_one_that_stays() -> None:
    chunks = chunks_of(
        delta(tool_calls=[call(0, None, "t", "{")]),
        delta(tool_calls=[call(0, "late", "t", "}")]),
        delta(tool_calls=[call(1, "", "t", "")]),
    )

    assert chunks == [
        ToolCallStart("cmpl-0", "t"),
        ToolArgsDelta("cmpl-0", "{"),
        ToolArgsDelta("cmpl-0", "}"),
        ToolCallStart("cmpl-1", "t"),
    ]


def test_a_late_name_is_learned_and_a_repeated_one_is_not_appended() -> None:
    assert chunks_of(
        delta(tool_calls=[call(0, "c1")]),
        delta(tool_calls=[call(0, "", "look")]),
        delta(tool_calls=[call(0, "", "look", "{}")]),
    ) == [ToolCallStart("c1", ""), ToolCallStart("c1", "look"), ToolArgsDelta("c1", "{}")]


def test_arguments_that_are_no_text_become_one() -> None:
    assert chunks_of(delta(tool_calls=[call(0, "c1", "t", {"a": "ä"})]))[1:] == [ToolArgsDelta("c1", '{"a": "ä"}')]
    assert chunks_of(delta(tool_calls=[call(0, "c1", "t", None)]))[1:] == []


def test_the_older_form_of_a_call_is_read() -> None:
    assert decode(
        delta(function_call={"name": "t", "arguments": ""}),
        delta(function_call={"arguments": "{}"}),
        delta("function_call"),
    ) == [ToolCallStart("cmpl-0", "t"), ToolArgsDelta("cmpl-0", "{}"), ToolArgsFinish("cmpl-0"), Finish("tool-calls")]


def test_a_second_completion_is_a_new_step_whose_calls_start_again() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 2}
    chunks = decode(
        {**delta("tool_calls", "one", tool_calls=[call(0, "c", "t", "{}")]), "usage": usage},
        {**delta("tool_calls", "one"), "usage": usage},
        delta(None, "two", content="again"),
        delta("tool_calls", "two", tool_calls=[call(0, "c", "t", "{}")]),
    )

    assert chunks == [
        ToolCallStart("c", "t"),
        ToolArgsDelta("c", "{}"),
        ToolArgsFinish("c"),
        StepFinish(Usage(input_tokens=1, output_tokens=2)),
        StepStart(),
        TextDelta("again"),
        ToolCallStart("c-2", "t"),
        ToolArgsDelta("c-2", "{}"),
        ToolArgsFinish("c-2"),
        Finish("tool-calls"),
    ]


def test_a_tool_that_the_provider_ran_is_a_call_with_its_result() -> None:
    begun = {"index": 0, "type": "search", "arguments": '{"q": 1}', "search_results": {"results": []}}
    done = {**begun, "output": "found"}

    assert decode(
        delta(executed_tools=[begun]), delta(executed_tools=[done]), delta("stop", executed_tools=[done])
    ) == [
        ToolCallStart("cmpl-0", "search", provider_metadata={"openai": {"provider_executed": True}}),
        ToolArgsFinish("cmpl-0", '{"q": 1}'),
        ToolResult("cmpl-0", {"search_results": {"results": []}, "output": "found"}),
        Finish("stop"),
    ]


# ---------------------------------------------------------------- sources, images, sound


def test_sources_come_once_when_the_answer_ends() -> None:
    cited = {"type": "url_citation", "url_citation": {"url": "https://a", "title": "A", "start_index": 0}}
    chunks = decode(
        {
            **delta(content="x"),
            "citations": ["https://b", "https://c", "", 7],
            "search_results": [{"url": "https://b"}],
        },
        {**delta("stop", annotations=[cited]), "citations": ["https://b"]},
        delta("stop", annotations=[cited]),
    )

    assert chunks == [
        TextDelta("x"),
        PartChunk(UrlSourcePart(id="https://b", url="https://b")),
        PartChunk(UrlSourcePart(id="https://c", url="https://c")),
        PartChunk(
            UrlSourcePart(id="https://a", url="https://a", title="A", provider_metadata={"openai": {"start_index": 0}})
        ),
        Finish("stop"),
    ]


def test_images_and_sound_are_parts() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    sound = [base64.b64encode(piece).decode() for piece in (b"a", b"bc")]
    chunks = decode(
        delta(images=[image]),
        delta(images=[image]),
        delta(audio={"data": sound[0], "transcript": "hi"}),
        delta(audio={"data": "*", "id": "x"}),
        delta("stop", audio={"data": sound[1]}),
    )

    assert chunks == [
        PartChunk(ImagePart(image="data:image/png;base64,AA==")),
        TextDelta("hi"),
        PartChunk(FilePart(data=base64.b64encode(b"abc").decode(), media_type="audio/pcm")),
        Finish("stop"),
    ]


# ---------------------------------------------------------------- the end


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "content-filter"),
        ("model_length", "length"),
        ("error", "error"),
        ("something new", "other"),
        ("tool_calls", "stop"),
    ],
)
def test_each_finish_reason_has_a_meaning(reason: str, finish: Any) -> None:
    assert decode(delta(reason)) == [Finish(finish)]


def test_open_calls_decide_where_a_server_just_says_stop() -> None:
    assert decode(delta("stop", tool_calls=[call(0, "c", "t", "{}")]))[-1] == Finish("tool-calls")


def test_without_a_finish_reason_the_answer_is_incomplete_and_its_calls_stay_open() -> None:
    assert decode(delta(tool_calls=[call(0, "c", "t", '{"a')]), delta("")) == [
        ToolCallStart("c", "t"),
        ToolArgsDelta("c", '{"a'),
        Finish("other"),
    ]


@pytest.mark.parametrize(
    "payload",
    [
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}},
        {"choices": [], "x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 4}}},
        {"choices": [{"index": 0, "delta": {}, "usage": {"prompt_tokens": 3, "completion_tokens": 4}}]},
    ],
)
def test_usage_is_the_last_snapshot_wherever_it_stands(payload: dict[str, Any]) -> None:
    zeros = {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}}
    early = {"choices": [], "usage": {"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": 2}}}

    assert decode(delta("stop"), early, payload, zeros, {"choices": [], "usage": None})[-1] == Finish(
        "stop", Usage(input_tokens=3, output_tokens=4, cached_input_tokens=2)
    )


def test_an_error_is_told_once_and_says_more_than_a_finish() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 0}
    error = {"code": 400, "message": "Token limit reached", "param": "x"}
    chunks = decode(delta("length", reasoning="hm"), {**delta(), "error": error, "usage": usage}, {"error": "again"})

    assert chunks == [
        ReasoningDelta("hm"),
        ErrorChunk({"code": "400", "message": "Token limit reached", "param": "x"}),
        StepFinish(Usage(input_tokens=1, output_tokens=0)),
    ]


@pytest.mark.parametrize(
    ("error", "record"),
    [
        ("too busy", {"code": "provider-error", "message": "too busy"}),
        ({"type": "overloaded", "message": "busy"}, {"type": "overloaded", "code": "overloaded", "message": "busy"}),
        ({"detail": "busy"}, {"detail": "busy", "code": "provider-error", "message": "busy"}),
        (["busy"], {"code": "provider-error", "message": "The provider reported an error: ['busy']"}),
    ],
)
def test_an_error_in_any_form_becomes_a_record(error: object, record: dict[str, Any]) -> None:
    assert chunks_of({"error": error}) == [ErrorChunk(record)]


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"choices": None},
        {"choices": [None, 7]},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"index": 0, "delta": {"content": 7, "tool_calls": [None], "annotations": "x", "images": [{}]}}]},
        {"choices": [{"index": 0, "delta": {"reasoning": {"a": 1}, "audio": []}}], "citations": {"a": 1}, "usage": 7},
    ],
)
def test_fields_of_another_kind_than_expected_are_passed_over(payload: dict[str, Any]) -> None:
    assert chunks_of(payload) == []


def test_the_objects_of_the_sdk_are_read_like_their_json() -> None:
    from openai.types.chat import ChatCompletionChunk

    payload = delta("stop", content=[{"type": "text", "text": "a"}], reasoning="b", tool_calls=[call(None, "c", "t")])
    typed = ChatCompletionChunk.construct(**payload)

    assert ChatDecoder().decode(typed) == chunks_of(payload)


# ---------------------------------------------------------------- payloads


def payloads(data: bytes) -> list[dict[str, Any]]:
    reader = PayloadReader()
    return [*reader.feed(data), *reader.close()]


def test_payloads_are_read_past_the_end_mark() -> None:
    assert payloads(b'data: {"a": 1}\n\ndata: [DONE]\n\ndata: {"b": 2}') == [{"a": 1}, {"b": 2}]


def test_a_missing_blank_line_between_payloads_is_forgiven() -> None:
    assert payloads(b'data: {"a": 1}\ndata: {"b": 2}\ndata: [DONE]\n\n') == [{"a": 1}, {"b": 2}]
    assert payloads(b'data: {"a":\ndata: 1}\n\n') == [{"a": 1}]


def test_a_payload_that_is_no_object_is_dropped_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert payloads(b'data: {"a"\n\ndata: [1]\n\ndata: {"b": 2}\n\ndata: {"tail') == [{"b": 2}]
    assert [record.name for record in caplog.records] == ["partwise.providers"] * 3


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b'event: error\ndata: {"error": {"message": "m"}}\n\n', {"error": {"message": "m"}}),
        (b'event: error\ndata: {"message": "m"}\n\n', {"error": {"message": "m"}}),
        (b"event: error\ndata: down\n\n", {"error": {"message": "down"}}),
        (b'error: {"detail": "d"}\n\n', {"error": {"detail": "d"}}),
    ],
)
def test_error_events_give_an_error_field(data: bytes, error: dict[str, Any]) -> None:
    assert payloads(data) == [error]


def test_escapes_and_raw_characters_are_the_same_text() -> None:
    text = "a\u003cb \U0001f642"
    for ascii_only in (True, False):
        data = json.dumps(delta(content=text), ensure_ascii=ascii_only).encode()
        (payload,) = payloads(b"data: " + data + b"\n\n")
        assert chunks_of(payload) == [TextDelta(text)]
