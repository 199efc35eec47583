"""From messages of LangChain to items of a feed: an answer is everything between two questions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

__all__ = ["CANCELLED", "Item", "items_of", "with_interrupts"]

Item: TypeAlias = dict[str, Any]

# Marks an answer that is not whole in what the graph remembers.
CANCELLED = "partwise_cancelled"


def items_of(messages: Iterable[BaseMessage]) -> list[Item]:
    """Make items of a row of messages.

    Answers and results of tools that follow each other become one answer, with the id of its first message.
    A result whose call is not there is left out.
    """
    items: list[Item] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            _put_result(items, message)
        elif isinstance(message, AIMessage):
            if not items or items[-1]["role"] != "assistant":
                items.append({"id": str(message.id), "role": "assistant", "content": []})
            items[-1]["content"] += [*_texts(message), *(_call(call) for call in message.tool_calls)]
            if message.response_metadata.get(CANCELLED):
                items[-1]["status"] = {"type": "incomplete", "reason": "cancelled"}
        else:
            role = {"human": "user", "system": "system"}.get(message.type, "user")
            items.append({"id": str(message.id), "role": role, "content": _texts(message)})
    return items


def with_interrupts(items: Sequence[Item], interrupts: Mapping[str, Any], approvals: Iterable[str]) -> list[Item]:
    """Show what a graph waits for as calls of the last answer: permissions, and questions to a human."""
    if not interrupts:
        return list(items)
    asked = set(approvals)
    parts: list[Item] = []
    for id, value in interrupts.items():
        args = cast("dict[str, Any]", value) if isinstance(value, dict) else {"value": value}
        part = {"type": "tool-call", "tool_call_id": id, "tool_name": "interrupt", "args": args}
        part |= {"approval": {"id": id}} if id in asked else {"interrupt": {"type": "human", "payload": value}}
        parts.append(part)
    if items and items[-1]["role"] == "assistant":
        return [*items[:-1], {**items[-1], "content": [*items[-1]["content"], *parts]}]
    return [*items, {"id": f"interrupt-{next(iter(interrupts))}", "role": "assistant", "content": parts}]


def _texts(message: BaseMessage) -> list[Item]:
    content = cast("Any", message.content)
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    parts: list[Item] = []
    for block in cast("list[Any]", content):
        if isinstance(block, str):
            parts.append({"type": "text", "text": block})
        elif block.get("type") in {"text", "reasoning", "image", "file"}:
            parts.append(dict(block))
    return parts


def _call(call: Any) -> Item:
    return {
        "type": "tool-call",
        "tool_call_id": str(call["id"]),
        "tool_name": call["name"],
        "args": call["args"],
        "args_text": json.dumps(call["args"], ensure_ascii=False, default=str),
    }


def _put_result(items: list[Item], message: ToolMessage) -> None:
    for item in reversed(items):
        for part in item["content"]:
            if part.get("tool_call_id") == message.tool_call_id:
                part["result"] = cast("Any", message.content)
                part["is_error"] = message.status == "error"
                return
