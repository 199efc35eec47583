"""Messages as JSON and back, without loss."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, cast

import attrs
import pydantic

from partwise.errors import WireError

from ._json_values import MAX_DEPTH
from ._messages import Message
from ._times import write_time
from ._validation import describe_invalid, validate

__all__ = ["message_from_json", "message_to_json"]

# Fields that hold whatever JSON somebody put there.
_JSON_FIELDS: Final = frozenset(
    {
        "annotations",
        "args",
        "artifact",
        "custom",
        "data",
        "error",
        "extra",
        "mcp",
        "payload",
        "preliminary",
        "provider_metadata",
        "result",
        "spec",
        "state",
    }
)
# Fields that are written even if they have their default: without them a message would be hard to read.
_ALWAYS_WRITTEN: Final = frozenset({"content", "reason", "status"})


def message_to_json(message: Message) -> dict[str, Any]:
    """Write a message as JSON: plain dicts and lists, with the field names of the values.

    A field that has its default is left out; times are ISO 8601 in UTC. A result that is None is
    written as null, a missing one is absent.

    Raises:
        WireError: A value somewhere in it is no JSON, for example an object that a tool returned.
    """
    try:
        return _write(message, "")
    except WireError as error:
        text = f"Message {message.id!r} cannot be written as JSON: {error}"
        raise WireError(text, where=error.where) from None


def message_from_json(data: object) -> Message:
    """Read a message that ``message_to_json`` wrote.

    Args:
        data: The JSON of the message, as ``json.loads`` gives it.

    Returns:
        A message that equals the one that was written.

    Raises:
        WireError: The data does not describe a message; the error names the message and the place.
    """
    try:
        message: Message = validate("message", data)
    except pydantic.ValidationError as error:
        where, why = describe_invalid(error)
        message_id = cast("Mapping[str, object]", data).get("id") if isinstance(data, Mapping) else None
        name = "A message" if message_id is None else f"Message {message_id!r}"
        text = f"{name} cannot be read from JSON{where and ', at ' + where}: {why}"
        raise WireError(text, where=where) from error
    except RecursionError as error:
        text = "A message cannot be read from JSON: it is nested too deeply"
        raise WireError(text) from error
    return message


def _write(value: object, where: str) -> dict[str, Any]:
    written: dict[str, Any] = {}
    value_class = value.__class__
    if not attrs.has(value_class):
        text = f"the {value_class.__name__} at {where} does not belong there"
        raise WireError(text, where=where)
    for name in ("type", "role", "source_type"):
        mark = getattr(value_class, name, None)
        if isinstance(mark, str):
            written[name] = mark
    for name, default in _fields(value_class):
        content = getattr(value, name)
        if name in _ALWAYS_WRITTEN:
            if content is None:
                continue
        elif content is default or (type(content) is type(default) and content == default):
            continue
        place = f"{where}.{name}" if where else name
        written[name] = _json(content, place, MAX_DEPTH) if name in _JSON_FIELDS else _written(content, place)
    return written


def _written(value: object, where: str) -> object:
    match value:
        case None | str() | bool() | int() | float():
            return _json(value, where, 0)
        case datetime():
            return write_time(value)
        case tuple():
            items = cast("Sequence[object]", value)
            return [_written(item, f"{where}.{index}") for index, item in enumerate(items)]
        case _:
            return _write(value, where)


@cache
def _fields(value_class: type) -> tuple[tuple[str, object], ...]:
    return tuple(_defaults(value_class))


def _defaults(value_class: type) -> Iterator[tuple[str, object]]:
    for field in attrs.fields(value_class):
        # What does not count for equality belongs to the running program: the file of an attachment, for example.
        if field.eq:
            default: Any = field.default
            yield field.name, default.factory() if hasattr(default, "factory") else default


def _json(value: Any, where: str, depth: int) -> Any:
    """Return a copy of ``value`` in plain dicts and lists, or raise WireError at what is no JSON."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        text = f"{value} at {where} is a number that JSON does not have"
        raise WireError(text, where=where)
    if depth == 0:
        text = f"the value at {where} is nested deeper than {MAX_DEPTH} levels"
        raise WireError(text, where=where)
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[object]", value)
        return [_json(item, f"{where}.{index}", depth - 1) for index, item in enumerate(items)]
    if isinstance(value, Mapping):
        return _json_object(cast("Mapping[object, object]", value), where, depth)
    text = f"the {type(value).__name__} at {where} is no JSON; convert it to text, numbers, lists and dicts first"
    raise WireError(text, where=where)


def _json_object(value: Mapping[object, object], where: str, depth: int) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            text = f"the key {key!r} at {where} is no text"
            raise WireError(text, where=where)
        written[key] = _json(item, f"{where}.{key}", depth - 1)
    return written
