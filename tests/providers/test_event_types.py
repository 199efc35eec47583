"""Every kind of event that the installed SDKs know is told of in the docs, and is dropped only where they say so."""

from __future__ import annotations

import logging
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import RawContentBlockDelta, RawMessageStreamEvent
from openai.types.chat.chat_completion_chunk import ChatCompletionChunk, Choice, ChoiceDelta
from openai.types.responses import ResponseStreamEvent

from partwise.providers.openai import ResponsesDecoder

PAGE = (Path(__file__).parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("## Every event")[2].partition("\n## ")[0]
NAMED = set(re.findall(r"`([^`]+)`", TABLE))
REPORTED = set(re.findall(r"`([^`]+)`", next(line for line in TABLE.splitlines() if "skipped and logged |" in line)))


def types_in(union: Any) -> Iterator[str]:
    """The values of the field ``type`` of all members of an annotated union."""
    for member in typing.get_args(typing.get_args(union)[0]):
        yield from typing.get_args(member.model_fields["type"].annotation)


RESPONSES = sorted(types_in(ResponseStreamEvent))
FIELDS = [
    *(f"delta.{name}" for name in ChoiceDelta.model_fields),
    *(f"choice.{name}" for name in Choice.model_fields),
    *(f"chunk.{name}" for name in ChatCompletionChunk.model_fields),
]
MESSAGES = [*types_in(RawMessageStreamEvent), *types_in(RawContentBlockDelta)]


def is_named(name: str) -> bool:
    """Whether the table holds the name, or a pattern for it."""
    return any(re.fullmatch(re.escape(said).replace(r"\*", "[a-z_.]+"), name) for said in NAMED)


@pytest.mark.parametrize("name", [*RESPONSES, *FIELDS, *MESSAGES])
def test_the_table_names_it(name: str) -> None:
    assert is_named(name), f"{name} is new: fold it or say in docs/providers.md that it is dropped"


@pytest.mark.parametrize("name", RESPONSES)
def test_only_what_the_table_says_is_reported(name: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "partwise.providers"):
        ResponsesDecoder().decode({"type": name})

    is_reported = any("an event of an unknown type" in record.getMessage() for record in caplog.records)
    assert is_reported == any(re.fullmatch(re.escape(said).replace(r"\*", "[a-z_.]+"), name) for said in REPORTED)
