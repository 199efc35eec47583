"""The facts of a Chat Completions recording."""

from __future__ import annotations

from typing import Any

from ._facts import Facts, Json, added, ended

_REASONS = {"stop": "stop", "tool_calls": "tool-calls", "length": "length", "content_filter": "content-filter"}


def facts(events: list[Json]) -> Facts:
    """Read the first choice, and what stands beside the choices."""
    found = Facts()
    calls: dict[Any, list[str]] = {}
    executed: dict[Any, list[Any]] = {}
    usage: dict[str, int] = {}
    texts, refusals, failed = [], [], False
    completion, finish, turn = "", None, 0
    for event in events:
        failed = failed or bool(event.get("error"))
        completion_id = event.get("id") or completion
        told = event.get("usage") or (event.get("x_groq") or {}).get("usage") or {}
        for choice in event.get("choices") or []:
            told = told or choice.get("usage") or {}
            if choice.get("index", 0) != 0:
                continue
            delta = choice.get("delta") or {}
            if finish and completion_id != completion:
                turn, finish = turn + 1, None
            _texts(found, texts, delta)
            details = delta.get("reasoning_details") or []
            found.opaque |= {detail[key] for detail in details for key in ("signature", "data") if detail.get(key)}
            refusals.append(delta.get("refusal") or "")
            for fragment in delta.get("tool_calls") or []:
                _fragment(calls, fragment, turn)
            for tool in delta.get("executed_tools") or []:
                first = executed.setdefault(tool["index"], [tool.get("name") or tool["type"], tool["arguments"], None])
                first[2] = first[2] or tool.get("output")
            finish = choice.get("finish_reason") or finish
            found.sources |= {note["url_citation"]["url"] for note in delta.get("annotations") or []}
        completion = completion_id
        if told.get("completion_tokens"):
            usage[completion] = told["completion_tokens"]
        found.sources |= {result["url"] for result in event.get("search_results") or []}
        found.sources |= set(event.get("citations") or [])
    found.text = "".join(texts) + "".join(refusals)
    found.calls = [(name, text) for name, text in calls.values()]
    found.calls += [(name, arguments) for name, arguments, _ in executed.values()]
    found.status = ("incomplete", "error") if failed else ended(finish, any(key[0] == turn for key in calls), _REASONS)
    for tokens in usage.values():
        found.output_tokens = added(found.output_tokens, tokens)
    return found


def _texts(found: Facts, texts: list[str], delta: Json) -> None:
    found.reasoning += delta.get("reasoning_content") or delta.get("reasoning") or ""
    content = delta.get("content") or ""
    for item in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        if item["type"] == "text":
            texts.append(item["text"])
        else:
            found.reasoning += "".join(piece["text"] for piece in item["thinking"])


def _fragment(calls: dict[Any, list[str]], fragment: Json, turn: int) -> None:
    function = fragment.get("function") or {}
    index = fragment.get("index")
    key = (turn, index if index is not None else fragment.get("id") or list(calls)[-1][1])
    call = calls.setdefault(key, ["", ""])
    call[0] = call[0] or function.get("name") or ""
    call[1] += function.get("arguments") or ""
