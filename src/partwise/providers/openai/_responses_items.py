"""The kinds of output items that are tool calls, and how each of them writes its arguments and its result."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable
from typing import Any, Literal

import attrs

from partwise.messages import MISSING
from partwise.providers.wire import Json, mapping, word

__all__ = [
    "KINDS",
    "OUTPUTS",
    "ItemKind",
    "Unclaimed",
    "arguments_of",
    "is_at_provider",
    "name_of",
    "rest_of",
    "restored",
    "result_of",
]


@attrs.frozen
class ItemKind:
    """Where an item keeps what a tool call has.

    Attributes:
        form: ``text``: the field holds the arguments as JSON text. ``object``: it holds them as an
            object. ``value``: it is itself the one argument.
        arguments: That field.
        result: The field of the result, for items that bring their own.
        runs_there: Whether the provider runs the call.
    """

    form: Literal["text", "object", "value"]
    arguments: str
    result: str = ""
    runs_there: bool = False


class Unclaimed:
    """Items of a list, each to be taken once: by its id, or else as the next one of its kind."""

    __slots__ = ("_by_id", "_by_kind", "_taken")

    def __init__(self, items: Iterable[Json]) -> None:
        self._by_id: dict[str, deque[tuple[int, Json]]] = {}
        self._by_kind: dict[str, deque[tuple[int, Json]]] = {}
        self._taken: set[int] = set()
        for place in enumerate(items):
            self._by_id.setdefault(word(place[1].get("id")), deque()).append(place)
            self._by_kind.setdefault(word(place[1].get("type")), deque()).append(place)

    def take(self, item_id: str, kind: str) -> Json | None:
        """Return an item that nobody has taken, or None if there is none of this id or kind."""
        for places in (self._by_id.get(item_id), self._by_kind.get(kind)):
            while places:
                number, item = places.popleft()
                if number not in self._taken:
                    self._taken.add(number)
                    return item
        return None


KINDS = {
    "function_call": ItemKind("text", "arguments"),
    "custom_tool_call": ItemKind("value", "input"),
    "local_shell_call": ItemKind("object", "action"),
    "shell_call": ItemKind("object", "action"),
    "apply_patch_call": ItemKind("object", "operation"),
    "computer_call": ItemKind("object", "action"),
    "tool_search_call": ItemKind("object", "arguments"),
    "mcp_approval_request": ItemKind("text", "arguments"),
    "mcp_call": ItemKind("text", "arguments", "output", runs_there=True),
    "web_search_call": ItemKind("object", "action", runs_there=True),
    "file_search_call": ItemKind("value", "queries", "results", runs_there=True),
    "code_interpreter_call": ItemKind("value", "code", "outputs", runs_there=True),
    "program": ItemKind("value", "code"),
    "image_generation_call": ItemKind("object", "", "result", runs_there=True),
}

# The items that bring the result of an earlier one, and the field that holds it.
OUTPUTS = {
    "shell_call_output": ("shell_call", "output"),
    "local_shell_call_output": ("local_shell_call", "output"),
    "apply_patch_call_output": ("apply_patch_call", "output"),
    "computer_call_output": ("computer_call", "output"),
    "tool_search_output": ("tool_search_call", "tools"),
    "function_call_output": ("function_call", "output"),
    "custom_tool_call_output": ("custom_tool_call", "output"),
    "program_output": ("program", "result"),
}

_HOSTED = "container_reference"


def is_at_provider(item: Json) -> bool:
    """Tell whether the provider runs a call; a shell may be either's, and so may a search for tools."""
    kind = word(item.get("type"))
    if kind == "shell_call":
        return mapping(item.get("environment")).get("type") == _HOSTED
    if kind == "tool_search_call":
        return item.get("execution") != "client"
    return kind == "program" or (kind in KINDS and KINDS[kind].runs_there)


def name_of(item: Json) -> str:
    """Return the name of the tool that an item calls."""
    return word(item.get("name")) or word(item.get("type")).removesuffix("_call")


def arguments_of(item: Json) -> str:
    """Return the arguments of an item as JSON text; empty if they have not come yet."""
    kind = KINDS[word(item.get("type"))]
    written = item.get("arguments")
    if kind.form == "text" or (kind.arguments == "action" and written and isinstance(written, str)):
        return word(written)
    value = item.get(kind.arguments)
    if kind.form == "value":
        return "" if value in (None, "", []) else _as_text({kind.arguments: value})
    if value is None and item.get("actions"):
        return _as_text({"actions": item["actions"]})
    if isinstance(value, str):
        return value
    fields = mapping(value)
    streamed = {key: fields[key] for key in ("commands",) if key in fields}  # what streams comes first ...
    late = {key: fields[key] for key in ("diff",) if key in fields}  # ... or last, so that text is only added
    rest = {key: item for key, item in fields.items() if key not in streamed and key not in late}
    return _as_text({**streamed, **rest, **late}) if fields else ""


def _as_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def result_of(item: Json) -> tuple[Any, bool]:
    """Return the result that an item brings, ``MISSING`` if it brings none, and whether it tells of a failure."""
    kind = KINDS[word(item.get("type"))]
    status = word(item.get("status"))
    error = item.get("error")
    if not kind.runs_there or status in ("in_progress", "incomplete", "searching", "interpreting", "generating"):
        return MISSING, False
    if error is not None:
        return error, True
    if kind.result in item and kind.result != "result":
        return item[kind.result], status == "failed"
    said = {key: value for key, value in item.items() if key not in ("type", "id", "call_id", "name", "result")}
    return {key: value for key, value in said.items() if key not in (kind.arguments, "arguments")}, status == "failed"


def rest_of(item: Json) -> dict[str, Any]:
    """Return what of an item is neither arguments nor result; with these it is the whole item again."""
    kind = KINDS.get(word(item.get("type")), ItemKind("object", ""))
    left_out = {kind.arguments, kind.result, "name", *(["actions"] if item.get("type") == "computer_call" else [])}
    return {key: value for key, value in item.items() if key not in left_out and value is not None}


def restored(rest: Json, name: str, arguments_text: str, arguments: object, result: object) -> dict[str, Any]:
    """Put an item together again, to send it back.

    Args:
        rest: What ``rest_of`` returned.
        name: The name of the tool.
        arguments_text: The arguments as JSON text.
        arguments: The arguments as an object.
        result: What the tool answered; ``MISSING`` for a call that somebody else answers.
    """
    kind_name = word(rest.get("type"))
    kind = KINDS[kind_name]
    item = dict(rest)
    if kind_name == "image_generation_call":
        return {"type": kind_name, "id": rest.get("id")}
    if kind_name in ("function_call", "custom_tool_call", "mcp_call", "mcp_approval_request"):
        item["name"] = name
    fields = mapping(arguments)
    if kind.form == "text":
        item[kind.arguments] = arguments_text
    elif kind.form == "value":
        item[kind.arguments] = fields.get(kind.arguments)
    elif kind_name == "computer_call" and "actions" in fields:
        item["actions"] = fields["actions"]
    elif "arguments" not in rest or kind.arguments == "arguments":
        item[kind.arguments] = arguments
    if kind.result and result is not MISSING and "error" not in rest:
        item[kind.result] = result
    return item
