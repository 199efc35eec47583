"""Validating what comes from outside.

The shapes are loaded when they are first needed: pydantic builds its machinery for them, which takes
longer than loading all the values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pydantic

__all__ = ["describe_invalid", "validate"]


def validate(what: str, data: object) -> Any:
    """Make a value of ``data``; see ``adapter_of`` for the names.

    Raises:
        pydantic.ValidationError: The data does not describe such a value.
    """
    from ._shapes import adapter_of

    return adapter_of(what).validate_python(data)


def describe_invalid(error: pydantic.ValidationError) -> tuple[str, str]:
    """Return the place of the first fault, as a path with dots, and what is wrong there."""
    from ._shapes import UNKNOWN_KIND

    first = error.errors(include_url=False)[0]
    steps = [str(step) for step in first["loc"] if not (isinstance(step, str) and step.startswith("<"))]
    why = first["msg"]
    if first["type"] == UNKNOWN_KIND:
        given: object = first["input"]
        why = f"{_kind(given)!r} {why}"
    return ".".join(steps), why


def _kind(given: object) -> object:
    if not isinstance(given, Mapping):
        return given
    fields = cast("Mapping[str, object]", given)
    return fields.get("type", fields.get("role"))
