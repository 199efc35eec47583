"""What the fields of a Chat Completions payload mean, over all the servers that speak it in their own way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias, cast

from partwise.messages import UrlSourcePart, Usage
from partwise.providers.wire import Json, count, mapping, mappings, word
from partwise.stream import FinishReason

__all__ = [
    "Piece",
    "finish_of",
    "images_of",
    "reasoning_marks",
    "sources_of",
    "text_pieces",
    "unknown_content",
    "usage_of",
]

Piece: TypeAlias = tuple[Literal["text", "reasoning", "refusal"], str]

_FINISHES: dict[str, FinishReason] = {
    "stop": "stop",
    "stop_sequence": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
    "tool_use": "tool-calls",
    "content_filter": "content-filter",
    "error": "error",
}


def text_pieces(delta: Json) -> Iterator[Piece]:
    """Give the text of a delta in reading order: reasoning, text, refusal.

    Reasoning comes under two names, which say the same where both are there. Content is a text, or
    a list of texts and thoughts, and the kind may change from delta to delta.
    """
    reasoning = word(delta.get("reasoning_content")) or word(delta.get("reasoning"))
    if not reasoning and not delta.get("content"):
        reasoning = "".join(_detail_texts(delta))
    if reasoning:
        yield "reasoning", reasoning
    content = delta.get("content")
    if isinstance(content, str):
        yield "text", content
    for item in mappings(content):
        if item.get("type") == "thinking":
            thinking = item.get("thinking")
            yield "reasoning", word(thinking) or "".join(word(piece.get("text")) for piece in mappings(thinking))
        elif item.get("type") == "text":
            yield "text", word(item.get("text"))
    yield "text", word(mapping(delta.get("audio")).get("transcript"))
    yield "refusal", word(delta.get("refusal"))


def images_of(delta: Json) -> Iterator[str]:
    """Give the addresses of the pictures in a delta, which stand beside the text or among it."""
    for item in (*mappings(delta.get("images")), *mappings(delta.get("content"))):
        image = item.get("image_url")
        yield word(image) or word(mapping(image).get("url"))


def unknown_content(delta: Json) -> Iterator[str]:
    """Give the kinds of content that nobody here reads."""
    for item in mappings(delta.get("content")):
        if item.get("type") not in ("text", "thinking", "image_url"):
            yield word(item.get("type"))


def _detail_texts(delta: Json) -> Iterator[str]:
    for detail in mappings(delta.get("reasoning_details")):
        yield word(detail.get("text")) or word(detail.get("summary"))


def reasoning_marks(delta: Json) -> list[Json]:
    """Return signatures and encrypted reasoning: never shown, but needed to send the turn back."""
    return [
        {key: value for key, value in detail.items() if key != "text" or value}
        for detail in mappings(delta.get("reasoning_details"))
        if detail.get("signature") or detail.get("data")
    ]


def finish_of(choice: Json) -> FinishReason | None:
    """Return why a choice ended, or None if it goes on."""
    reason = word(choice.get("finish_reason"))
    return _FINISHES.get(reason, "other") if reason else None


def usage_of(payload: Json, choice: Json) -> Usage | None:
    """Return the usage that a payload tells of, wherever it puts it; one of only zeros tells of none."""
    found = payload.get("usage") or mapping(payload.get("x_groq")).get("usage") or choice.get("usage")
    usage = mapping(found)
    told = Usage(
        input_tokens=count(usage.get("prompt_tokens")),
        output_tokens=count(usage.get("completion_tokens")),
        reasoning_tokens=count(mapping(usage.get("completion_tokens_details")).get("reasoning_tokens")),
        cached_input_tokens=count(mapping(usage.get("prompt_tokens_details")).get("cached_tokens")),
    )
    return told if told.input_tokens or told.output_tokens else None


def sources_of(payload: Json, delta: Json) -> Iterator[UrlSourcePart]:
    """Give the pages that a payload cites. A page's id is its URL, so that it is one source however often it comes."""
    for annotation in mappings(delta.get("annotations")):
        citation = mapping(annotation.get("url_citation"))
        yield from _source(citation.get("url"), citation.get("title"), citation)
    for result in mappings(payload.get("search_results")):
        yield from _source(result.get("url"), result.get("title"), {})
    citations = payload.get("citations")
    for url in cast("list[object]", citations) if isinstance(citations, list) else []:
        yield from _source(url, None, {})


def _source(url: object, title: object, citation: Json) -> Iterator[UrlSourcePart]:
    if not isinstance(url, str) or not url:
        return
    span = {key: citation[key] for key in ("start_index", "end_index", "content") if citation.get(key) is not None}
    yield UrlSourcePart(
        id=url, url=url, title=word(title) or None, provider_metadata={"openai": span} if span else None
    )
