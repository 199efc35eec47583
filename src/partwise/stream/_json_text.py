"""JSON as one line of text, in the same form whoever writes it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from partwise.errors import WireError

__all__ = ["json_bytes", "json_text", "read_json"]

# A payload nested deeper is refused: freezing, showing and sending it would run out of stack.
_MAX_DEPTH = 200


def json_text(value: object) -> str:
    """Return ``value`` as JSON without line ends and without needless blanks.

    What JSON has no number for (a NaN, an infinity) is written as null. Half of a surrogate pair is
    written as an escape, so that the text is always valid UTF-8.

    Raises:
        WireError: Something in it is no JSON.
    """
    try:
        try:
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        except ValueError:
            text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                return json.dumps(_finite(value), separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as cause:
        message = f"A value of type {type(value).__name__} cannot be written as JSON: {cause}."
        raise WireError(message, code="invalid-value") from cause
    return text


def json_bytes(value: object) -> bytes:
    """Return ``value`` as JSON in UTF-8; see `json_text`.

    Raises:
        WireError: Something in it is no JSON.
    """
    return json_text(value).encode()


def read_json(text: str) -> Any:
    """Return the value of a JSON text that came over a wire.

    Raises:
        WireError: It is no JSON, nested too deeply, or has a key that would change the objects of a
            peer written in JavaScript.
    """
    try:
        value: object = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as cause:
        message = f"A payload is no JSON: {text[:100]!r}."
        raise WireError(message, code="invalid-json") from cause
    if ("\\" in text or "proto" in text or text.count("[") + text.count("{") > _MAX_DEPTH) and not _is_safe(value, 0):
        message = f"A payload has a key that no payload may have, or is nested too deeply: {text[:100]!r}."
        raise WireError(message, code="invalid-json")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _is_safe(value: object, depth: int) -> bool:
    if depth > _MAX_DEPTH:
        return False
    if isinstance(value, dict):
        fields: dict[str, object] = value  # pyright: ignore[reportUnknownVariableType]  # read from JSON
        maker = fields.get("constructor")
        if "__proto__" in fields or (isinstance(maker, dict) and "prototype" in maker):
            return False
        return all(_is_safe(inner, depth + 1) for inner in fields.values())
    if isinstance(value, list):
        items: list[object] = value  # pyright: ignore[reportUnknownVariableType]  # read from JSON
        return all(_is_safe(inner, depth + 1) for inner in items)
    return True


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        fields: Mapping[str, object] = value  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
        return {key: _finite(inner) for key, inner in fields.items()}
    if isinstance(value, (list, tuple)):
        items: list[object] | tuple[object, ...] = value  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
        return [_finite(inner) for inner in items]
    return value
