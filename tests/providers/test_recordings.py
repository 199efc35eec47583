"""What is particular about some recorded answers; `tests/recordings` holds all of them against their events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from partwise.messages import (
    COMPLETE_STOP,
    REQUIRES_TOOL_CALLS,
    RUNNING,
    AssistantMessage,
    IncompleteStatus,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
    Usage,
)
from partwise.providers.openai import ChatDecoder
from partwise.providers.replay import read_recording, replay
from partwise.providers.wire import PayloadReader
from partwise.stream import Fold

OWN = Path(__file__).parent / "recordings"


@pytest.fixture
def folder(recordings: Path) -> Path:
    return recordings / "openai-chat"


def folded(payloads: Iterable[dict[str, Any]], decoder: ChatDecoder | None = None) -> AssistantMessage:
    decoder = decoder or ChatDecoder()
    fold = Fold()
    message = AssistantMessage(id="a1", created_at=datetime(2026, 1, 1, tzinfo=UTC), status=RUNNING)
    for payload in payloads:
        for chunk in decoder.decode(payload):
            message = fold.apply(message, chunk)
    for chunk in decoder.close():
        message = fold.apply(message, chunk)
    return fold.finish(message)


def payloads_of(pieces: Iterable[bytes]) -> list[dict[str, Any]]:
    reader = PayloadReader()
    return [*(payload for piece in pieces for payload in reader.feed(piece)), *reader.close()]


def length(message: AssistantMessage, kind: type[TextPart | ReasoningPart]) -> int:
    return sum(len(part.text) for part in message.content if isinstance(part, kind))


def test_two_completions_in_one_recording_are_two_steps_with_a_call_each(folder: Path) -> None:
    message = folded(payloads_of(read_recording(folder / "cerebras-two-turns.jsonl").pieces))

    assert [part.type for part in message.content] == ["reasoning", "tool-call", "reasoning", "text", "tool-call"]
    assert [part.args for part in message.content if isinstance(part, ToolCallPart)] == [{}, {}]
    assert [step.usage for step in message.metadata.steps] == [
        Usage(input_tokens=322, output_tokens=104, reasoning_tokens=97, cached_input_tokens=256),
        Usage(input_tokens=433, output_tokens=122, reasoning_tokens=108, cached_input_tokens=256),
    ]


def test_a_tool_that_the_service_ran_has_its_result_and_asks_for_nothing(folder: Path) -> None:
    message = folded(payloads_of(read_recording(folder / "groq-executed-tools.sse").pieces))
    (executed,) = [part for part in message.content if isinstance(part, ToolCallPart)]

    assert executed.result.keys() >= {"output", "search_results"}
    assert executed.provider_metadata == {"openai": {"provider_executed": True}}
    assert message.status == COMPLETE_STOP


def test_sources_repeated_on_every_event_come_once_after_their_text(folder: Path) -> None:
    message = folded(payloads_of(read_recording(folder / "perplexity-search-results.sse").pieces))
    sources = [part for part in message.content if isinstance(part, UrlSourcePart)]

    assert isinstance(message.content[0], TextPart)
    assert len(sources) == len({source.url for source in sources}) == 8
    assert all(source.title for source in sources)


def test_an_error_outside_of_the_data_is_the_error_of_the_answer(folder: Path) -> None:
    message = folded(payloads_of(read_recording(folder / "gpustack-truncated.sse").pieces))

    assert isinstance(message.status, IncompleteStatus)
    assert message.status.error["message"].startswith("failed to decode")


def test_thinking_in_tags_is_text_unless_asked_for(folder: Path) -> None:
    payloads = payloads_of(read_recording(folder / "huggingface-think-tags.sse").pieces)
    plain, split = folded(payloads), folded(payloads, ChatDecoder(think_tags=True))

    assert [part.type for part in plain.content] == ["text"]
    assert [part.type for part in split.content] == ["reasoning", "text"]
    assert length(split, ReasoningPart) + length(split, TextPart) == 4002 - len("<think></think>")


# ---------------------------------------------------------------- our own recordings, there on every machine


@pytest.mark.anyio
async def test_a_recording_is_replayed_from_its_start_each_time(
    answer: Callable[..., Awaitable[AssistantMessage]],
) -> None:
    model = replay(OWN / "look-then-answer.sse", speed=100_000)
    first, second = await answer(model), await answer(model)

    assert first == second
    assert first.content == (
        ReasoningPart("A file …"),
        TextPart("Ich sehe nach \U0001f50d \u2013 gleich."),
        ToolCallPart(
            tool_call_id="call_own",
            tool_name="line_count",
            args={"path": "Übersicht.md"},
            args_text='{"path": "Übersicht.md"}',
        ),
    )
    assert first.status == REQUIRES_TOOL_CALLS
    assert [step.usage for step in first.metadata.steps] == [Usage(input_tokens=12, output_tokens=9)]


def test_our_own_recording_cut_at_any_byte_gives_the_same_answer() -> None:
    data = (OWN / "look-then-answer.sse").read_bytes()
    whole = payloads_of([data])

    for text in (data, data.replace(b"\n", b"\r\n"), data.replace(b"\n", b"\r")):
        for at in range(len(text)):
            assert payloads_of([text[:at], text[at:]]) == whole


@pytest.mark.anyio
async def test_an_error_line_keeps_what_arrived(answer: Callable[..., Awaitable[AssistantMessage]]) -> None:
    message = await answer(replay(OWN / "error-line.sse"))

    assert message.content == (TextPart("Half an ans"),)
    assert message.status == IncompleteStatus("error", error={"code": "provider-error", "message": "the worker died"})


@pytest.mark.anyio
async def test_a_stream_without_a_finish_is_incomplete(answer: Callable[..., Awaitable[AssistantMessage]]) -> None:
    message = await answer(replay(OWN / "no-finish.jsonl"))

    assert message.content == (TextPart("Just the beginning"),)
    assert message.status == IncompleteStatus("other")
