"""The blocks of a message: what each kind means."""

from __future__ import annotations

import json
from typing import Any, Final

from partwise.messages import DocumentSourcePart, UrlSourcePart
from partwise.providers.wire import Json, mapping, word

__all__ = ["CALLS", "block_of", "input_text", "is_failure", "is_result", "result_type", "source_of"]

# The blocks that are calls, and whether the provider runs them.
CALLS: Final = {"tool_use": False, "server_tool_use": True, "mcp_tool_use": True}


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
