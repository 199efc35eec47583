"""From the text of a call's arguments to values that a tool may be given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

import pydantic

from partwise.errors import ToolArgumentsError
from partwise.messages import FrozenDict, ToolCallPart, freeze, is_blank, thaw

from ._tool import Tool

__all__ = ["bind_arguments", "parse_arguments"]


def parse_arguments(part: ToolCallPart) -> Mapping[str, Any]:
    """Return the arguments of a call, read strictly: never what a truncated text happens to begin with.

    Without any text the call's ``args`` are taken, which are empty if nothing came at all.

    Raises:
        ToolArgumentsError: The text is no complete JSON object.
    """
    if is_blank(part.args_text):
        return part.args
    try:
        value = json.loads(part.args_text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as cause:
        raise ToolArgumentsError(part.tool_name, part.tool_call_id, f"not complete, valid JSON ({cause})") from cause
    if not isinstance(value, dict):
        raise ToolArgumentsError(part.tool_name, part.tool_call_id, f"not a JSON object but {_json_type(value)}")
    arguments: FrozenDict = freeze(value)
    return arguments


def bind_arguments(tool: Tool, part: ToolCallPart) -> Mapping[str, Any]:
    """Return what the tool's function gets, checked by the tool's own validator.

    Raises:
        ToolArgumentsError: The text is no complete JSON object, or a field does not fit.
    """
    arguments = parse_arguments(part)
    if tool.validate is None:
        plain: dict[str, Any] = thaw(arguments)
        return plain
    try:
        return tool.validate(arguments)
    except pydantic.ValidationError as cause:
        problems = {_path(error["loc"]): error["msg"] for error in cause.errors(include_url=False, include_input=False)}
        text = "; ".join(f"{path}: {problem}" if path else problem for path, problem in problems.items())
        raise ToolArgumentsError(tool.name, part.tool_call_id, text, fields=tuple(problems)) from cause
    except ValueError as cause:
        raise ToolArgumentsError(tool.name, part.tool_call_id, str(cause)) from cause


def _refuse_constant(constant: str) -> NoReturn:
    message = f"{constant} is not JSON"
    raise ValueError(message)


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(str(step) for step in location)


def _json_type(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "a number"
