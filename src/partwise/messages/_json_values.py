"""What counts as JSON, and when two JSON values are the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["is_json_value", "json_equal"]

# Deeper nesting is refused, so that a value that holds itself cannot keep a walk going for ever.
MAX_DEPTH: Final = 100


def is_json_value(value: object) -> bool:
    """Tell whether ``value`` is JSON: None, bool, str, a finite number, a list of JSON, or a dict of JSON by str.

    Values nested deeper than 100 levels are not.
    """
    return _is_json(value, MAX_DEPTH)


def _is_json(value: Any, depth: int) -> bool:
    if value is None or isinstance(value, (bool, int, str)):
        return True
    if isinstance(value, float):
        return math.isfinite(value)
    if depth == 0:
        return False
    if isinstance(value, (list, tuple)):
        return all(_is_json(item, depth - 1) for item in value)  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_json(item, depth - 1) for key, item in value.items())  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
    return False


def json_equal(one: object, other: object) -> bool:
    """Tell whether two JSON values are the same.

    Unlike ``==``, a boolean never equals a number; the order of keys does not matter, that of items
    does. Values nested deeper than 100 levels are never equal, unless they are the same object.
    """
    return _are_equal(one, other, MAX_DEPTH)


def _are_equal(one: Any, other: Any, depth: int) -> bool:
    if one is other:
        return True
    if isinstance(one, bool) or isinstance(other, bool) or depth == 0:
        return False
    if isinstance(one, (list, tuple)):
        return (
            isinstance(other, (list, tuple))
            and len(one) == len(other)  # pyright: ignore[reportUnknownArgumentType]  # JSON of unknown shape
            and all(_are_equal(mine, yours, depth - 1) for mine, yours in zip(one, other, strict=True))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # JSON of unknown shape
        )
    if isinstance(one, Mapping):
        return (
            isinstance(other, Mapping)
            and one.keys() == other.keys()  # pyright: ignore[reportUnknownMemberType]  # JSON of unknown shape
            and all(_are_equal(one[key], other[key], depth - 1) for key in one)  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
        )
    return bool(one == other)
