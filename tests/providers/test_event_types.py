"""Every kind of event that the installed SDKs know is told of in the docs, and is dropped only where they say so."""

from __future__ import annotations

import logging
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import Message, RawContentBlockDelta, RawContentBlockStartEvent, RawMessageStreamEvent
from anthropic.types.beta import (
    BetaMessage,
    BetaRawContentBlockDelta,
    BetaRawContentBlockStartEvent,
    BetaRawMessageStreamEvent,
)
from openai.types.chat.chat_completion_chunk import ChatCompletionChunk, Choice, ChoiceDelta
from openai.types.responses import ResponseOutputItem, ResponseStreamEvent

from partwise.providers.anthropic import MessagesDecoder
from partwise.providers.openai import ResponsesDecoder

PAGE = (Path(__file__).parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("## Every event")[2].partition("\n## ")[0]
NAMED = set(re.findall(r"`([^`]+)`", TABLE))
REPORTED = set(re.findall(r"`([^`]+)`", next(line for line in TABLE.splitlines() if "skipped and logged |" in line)))


def types_in(union: Any) -> Iterator[str]:
    """The values of the field ``type`` of all members of an annotated union."""
    found = typing.get_args(union)
    for member in typing.get_args(found[0]) or found:
        yield from typing.get_args(member.model_fields["type"].annotation)


RESPONSES = sorted(types_in(ResponseStreamEvent))
FIELDS = [
    *(f"delta.{name}" for name in ChoiceDelta.model_fields),
    *(f"choice.{name}" for name in Choice.model_fields),
    *(f"chunk.{name}" for name in ChatCompletionChunk.model_fields),
]
MESSAGES = sorted({*types_in(RawMessageStreamEvent), *types_in(BetaRawMessageStreamEvent)})
DELTAS = sorted({*types_in(RawContentBlockDelta), *types_in(BetaRawContentBlockDelta)})
BLOCKS = sorted(
    {
        kind
        for event in (RawContentBlockStartEvent, BetaRawContentBlockStartEvent)
        for kind in types_in(event.model_fields["content_block"].annotation)
    }
)
ITEMS = sorted(types_in(ResponseOutputItem))
NAMES = [
    *(*RESPONSES, *FIELDS, *MESSAGES, *DELTAS),
    *(f"item.{kind}" for kind in ITEMS),
    *(f"block.{kind}" for kind in BLOCKS),
    *(f"message.{name}" for name in {**Message.model_fields, **BetaMessage.model_fields}),
]
# What a block begins with, as far as the SDK asks for it, and the delta that belongs to it.
GROWS = {
    "text": "text_delta",
    "thinking": "thinking_delta",
    "compaction": "compaction_delta",
    "tool_use": "input_json_delta",
    "server_tool_use": "input_json_delta",
    "mcp_tool_use": "input_json_delta",
}


def is_named(name: str, said: set[str] = NAMED) -> bool:
    """Whether the table holds the name, or a pattern for it."""
    return any(re.fullmatch(re.escape(one).replace(r"\*", "[a-z_.]+"), name) for one in said)


@pytest.mark.parametrize("name", NAMES)
def test_the_table_names_it(name: str) -> None:
    assert is_named(name), f"{name} is new: fold it or say in docs/providers.md that it is dropped"


def reports(caplog: pytest.LogCaptureFixture, what: str) -> list[str]:
    messages = [record.getMessage() for record in caplog.records]
    return [message for message in messages if f"{what} of an unknown type" in message]


@pytest.mark.parametrize("name", RESPONSES)
def test_only_what_the_table_says_is_reported(name: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "partwise.providers"):
        ResponsesDecoder().decode({"type": name})

    assert bool(reports(caplog, "an event")) == is_named(name, REPORTED)


@pytest.mark.parametrize("kind", ITEMS)
def test_only_the_items_that_the_table_says_are_reported(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    decoder = ResponsesDecoder()
    with caplog.at_level(logging.WARNING, "partwise.providers"):
        for verb in ("added", "done"):
            item = {"type": kind, "id": "i", "call_id": "c"}
            decoder.decode({"type": f"response.output_item.{verb}", "output_index": 0, "item": item})

    assert bool(reports(caplog, "an item")) == is_named(f"item.{kind}", REPORTED)


@pytest.mark.parametrize("kind", BLOCKS)
def test_every_block_leaves_something_and_none_is_reported(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    decoder = MessagesDecoder()
    fields = {"type": kind, "id": "i", "name": "n", "tool_use_id": "i", "file_id": "f", "data": "d", "content": {}}
    grows = {"type": GROWS.get(kind), "text": "t", "thinking": "t", "content": "c", "partial_json": "{}"}
    events = [
        {"type": "message_start", "message": {"id": "m"}},
        {"type": "content_block_start", "index": 0, "content_block": fields},
        *([{"type": "content_block_delta", "index": 0, "delta": grows}] if kind in GROWS else []),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_stop"},
    ]
    with caplog.at_level(logging.WARNING, "partwise.providers"):
        step, *chunks = [chunk for event in events for chunk in decoder.decode(event)]
        left = decoder.close()

    assert caplog.records == []
    assert len(chunks) + len(left) > 1, step  # more than the end


@pytest.mark.parametrize("name", [*MESSAGES, *DELTAS])
def test_no_event_of_messages_is_reported(name: str, caplog: pytest.LogCaptureFixture) -> None:
    decoder = MessagesDecoder()
    opener = next((kind for kind, delta in GROWS.items() if delta == name), "thinking" if "sign" in name else "text")
    is_delta = name in DELTAS
    with caplog.at_level(logging.WARNING, "partwise.providers"):
        decoder.decode({"type": "content_block_start", "index": 0, "content_block": {"type": opener}})
        event = {"type": "content_block_delta", "delta": {"type": name}} if is_delta else {"type": name}
        if name != "content_block_delta":
            decoder.decode({**event, "index": 0})

    assert caplog.records == []
