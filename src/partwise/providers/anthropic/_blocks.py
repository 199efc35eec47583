"""The blocks of a message: what each kind means."""

from __future__ import annotations

import json
from typing import Any, Final

from partwise.messages import DocumentSourcePart, UrlSourcePart
from partwise.providers.wire import Json, mapping, word

__all__ = [
    "CALLS",
    "CITATIONS",
    "block_of",
    "citation_of",
    "input_text",
    "is_failure",
    "is_result",
    "result_type",
    "source_of",
]

# The blocks that are calls, and whether the provider runs them.
CALLS: Final = {"tool_use": False, "server_tool_use": True, "mcp_tool_use": True}

_OF_DOCUMENT: Final = ("cited_text", "document_index", "document_title")
# What a citation of each kind must have to be sent back.
CITATIONS: Final[dict[str, tuple[str, ...]]] = {
    "char_location": (*_OF_DOCUMENT, "start_char_index", "end_char_index"),
    "page_location": (*_OF_DOCUMENT, "start_page_number", "end_page_number"),
    "content_block_location": (*_OF_DOCUMENT, "start_block_index", "end_block_index"),
    "web_search_result_location": ("cited_text", "encrypted_index", "title", "url"),
    "search_result_location": (
        *("cited_text", "search_result_index", "source", "title"),
        *("start_block_index", "end_block_index"),
    ),
}
_MAY_BE_NULL: Final = ("title", "document_title")


def is_result(kind: str) -> bool:
    """Tell whether a block brings the result of a call."""
    return kind.endswith("_tool_result") or kind == "tool_result"


def is_failure(block: Json) -> bool:
    """Tell whether a result tells of a failure."""
    content = mapping(block.get("content"))
    return bool(block.get("is_error")) or "error_code" in content or word(content.get("type")).endswith("_error")


def result_type(tool_name: str, block: Json) -> str:
    """Return the type of the block that brings the result of a call."""
    if block.get("type") == "mcp_tool_use":
        return "mcp_tool_result"
    name = "tool_search" if tool_name.startswith("tool_search_tool") else tool_name
    return f"{name}_tool_result"


def block_of(block: Json) -> dict[str, Any]:
    """Return what of a call's block is not the call itself."""
    return {key: value for key, value in block.items() if key not in ("id", "name", "input") and value is not None}


def input_text(block: Json) -> str:
    """Return the arguments that a block brings whole, as JSON text; empty if they come later."""
    given = mapping(block.get("input"))
    return json.dumps(given, ensure_ascii=False) if given else ""


def source_of(citation: Json) -> tuple[UrlSourcePart | DocumentSourcePart | None, Json]:
    """Return what is cited, and where in it.

    Documents have no id of their own: they are known by their place in the request.
    """
    place = {key: value for key, value in citation.items() if key not in ("url", "title") and value is not None}
    url = word(citation.get("url"))
    title = word(citation.get("title")) or word(citation.get("document_title"))
    if url:
        return UrlSourcePart(id=url, url=url, title=title or None), place
    if citation.get("type") == "search_result_location":
        where = word(citation.get("source"))
        if where.startswith(("http://", "https://")):
            return UrlSourcePart(id=where, url=where, title=title or None), place
        key = where or f"search-result-{citation.get('search_result_index', 0)}"
        return DocumentSourcePart(id=key, title=title or key, media_type="text/plain"), place
    if "document_index" not in citation:
        return None, place
    key = word(citation.get("file_id")) or f"document-{citation['document_index']}"
    is_paged = citation.get("type") == "page_location"
    media_type = "application/pdf" if is_paged else "text/plain"
    return DocumentSourcePart(id=key, title=title or key, media_type=media_type), place


def citation_of(source: UrlSourcePart | DocumentSourcePart, place: Json) -> dict[str, Any] | None:
    """Return a citation as the provider wrote it, or None if it could not read it.

    Args:
        source: What is cited.
        place: Where in it, as ``source_of`` returned it.
    """
    kind = word(place.get("type"))
    said = {"title": source.title, **place}
    if isinstance(source, UrlSourcePart):
        said["url"] = source.url
    fields = CITATIONS.get(kind, ())
    if not fields or any(said.get(name) is None for name in fields if name not in _MAY_BE_NULL):
        return None
    return {"type": kind, **{name: said.get(name) for name in fields}}
