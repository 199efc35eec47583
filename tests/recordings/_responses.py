"""The facts of a Responses recording."""

from __future__ import annotations

import json
from typing import Any

from ._facts import Facts, Json, added, joined

_TEXTS = {
    "response.output_text": ("content_index", "text"),
    "response.refusal": ("content_index", "refusal"),
    "response.reasoning_text": ("content_index", "text"),
    "response.reasoning_summary_text": ("summary_index", "text"),
}
# The calls, where an item keeps their arguments, and what of them is the result, if they bring it.
_CALLS = {
    "function_call": ("arguments", None),
    "custom_tool_call": ("input", None),
    "local_shell_call": ("action", None),
    "shell_call": ("action", None),
    "apply_patch_call": ("operation", None),
    "tool_search_call": ("arguments", None),
    "mcp_approval_request": ("arguments", None),
    "mcp_call": ("arguments", "output"),
    "web_search_call": ("action", None),
    "file_search_call": ("queries", "results"),
    "code_interpreter_call": ("code", "outputs"),
    "image_generation_call": ("", None),
}
_ASKING = ("function_call", "custom_tool_call", "local_shell_call", "apply_patch_call", "mcp_approval_request")


def facts(events: list[Json]) -> Facts:
    """Take the last word about each text and each item, in the order of their first appearance."""
    found = Facts()
    texts: dict[Any, str] = {}
    items: dict[Any, Json] = {}
    responses, failed, terminal = 0, False, None
    is_open = False
    for event in events:
        kind = event.get("type", "error")
        name, _, verb = kind.rpartition(".")
        if kind in ("response.created", "response.queued") and not is_open:
            responses, is_open = responses + 1, True
        at = (responses, event.get("output_index"))
        if name in _TEXTS:
            place, whole = _TEXTS[name]
            key = (*at, name, event[place])
            texts[key] = event[whole] if verb == "done" else texts.get(key, "") + event["delta"]
        elif kind in ("response.output_item.added", "response.output_item.done"):
            items[at] = {**items.get(at, {}), **event["item"]}
        elif kind == "response.output_text.annotation.added":
            found.sources.add(event["annotation"].get("url") or event["annotation"]["file_id"])
        elif kind in ("response.completed", "response.incomplete", "response.failed"):
            is_open, terminal = False, event
            usage = event["response"].get("usage") or {}
            found.output_tokens = added(found.output_tokens, usage.get("output_tokens"))
        failed = failed or kind in ("error", "response.failed")
    found.text = "".join(text for key, text in texts.items() if "reasoning" not in key[2])
    found.reasoning = joined([(key[:3], text) for key, text in texts.items() if "reasoning" in key[2]])
    found.calls = [_call(item) for item in items.values() if item["type"] in _CALLS]
    found.results = dict(pair for item in items.values() for pair in _result(item, list(items.values())))
    for item in items.values():
        picture = item.get("result") if item["type"] == "image_generation_call" else ""
        found.opaque |= {item.get("encrypted_content") or "", picture or ""} - {""}
    waits = any(key[0] == responses and _asks(item, found) for key, item in items.items())
    found.status = ("incomplete", "error") if failed else _status(terminal, waits)
    return found


def _status(terminal: Json | None, waits: bool) -> tuple[str, str]:
    if terminal is None:
        return ("incomplete", "other")
    if terminal["type"] == "response.incomplete":
        reason = terminal["response"]["incomplete_details"]["reason"]
        return ("incomplete", {"max_output_tokens": "length", "content_filter": "content-filter"}[reason])
    return ("requires-action", "tool-calls") if waits else ("complete", "stop")


def _asks(item: Json, found: Facts) -> bool:
    is_local_shell = item["type"] == "shell_call" and item.get("call_id") not in found.results
    return item["type"] in _ASKING or is_local_shell


def _call(item: Json) -> tuple[str, Any]:
    field, _ = _CALLS[item["type"]]
    name = item.get("name") or item["type"].removesuffix("_call")
    value = item.get(field) if field else {}
    if item["type"] == "web_search_call" and isinstance(item.get("arguments"), str):
        value = item["arguments"]
    if field in ("queries", "code", "input"):
        return name, {field: value}
    return name, value or ""


def _result(item: Json, items: list[Json]) -> list[tuple[str, Any]]:
    call_id = item.get("call_id") or item.get("id") or ""
    if item["type"] == "shell_call_output":
        return [(call_id, item["output"])]
    if item["type"] == "tool_search_output":
        asked = next(other for other in items if other["type"] == "tool_search_call")
        return [(asked["id"], item["tools"])]
    _, field = _CALLS.get(item["type"], ("", None))
    return [(call_id, json.loads(json.dumps(item[field])))] if field in item else []
