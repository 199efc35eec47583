"""The fields of a payload that came over a wire, each checked when it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast

from partwise.errors import WireError
from partwise.messages import Usage

from ._chunks import FinishReason

__all__ = ["Fields", "read_reason", "read_usage"]

_REASONS: Mapping[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content-filter": "content-filter",
    "tool-calls": "tool-calls",
    "interrupt": "interrupt",
    "other": "other",
    "error": "error",
    "unknown": "unknown",
    "cancelled": "cancelled",
}


class Fields:
    """An object of a payload.

    Args:
        value: The payload.
        where: What it is, for the error.

    Raises:
        WireError: The payload is no object; so does every method when the field is not what it asks for.
    """

    __slots__ = ("raw", "where")

    def __init__(self, value: object, where: str) -> None:
        self.where = where
        if not isinstance(value, Mapping):
            self.refuse("is no object")
        self.raw = cast("Mapping[str, Any]", value)

    def refuse(self, why: str, name: str = "") -> NoReturn:
        """Raise an error about this object, or one of its fields."""
        place = f"{self.where}.{name}" if name else self.where
        message = f"{place} {why}; it was dropped."
        raise WireError(message, where=place, code="invalid-value")

    def has(self, name: str) -> bool:
        """Whether the field is there, and not null."""
        return self.raw.get(name) is not None

    def text(self, name: str) -> str:
        """A text that must be there."""
        value = self.raw.get(name)
        if not isinstance(value, str):
            self.refuse("is no text", name)
        return value

    def maybe_text(self, name: str) -> str | None:
        """A text, or None if there is none."""
        return self.text(name) if self.has(name) else None

    def name(self, name: str) -> str | None:
        """A text that is not empty, or None if there is none."""
        return self.maybe_text(name) or None

    def flag(self, name: str) -> bool | None:
        """True or False, or None if it is not there."""
        value = self.raw.get(name)
        if value is not None and not isinstance(value, bool):
            self.refuse("is neither true nor false", name)
        return value

    def items(self, name: str) -> Sequence[Any]:
        """A list that must be there."""
        value = self.raw.get(name)
        if not isinstance(value, (list, tuple)):
            self.refuse("is no list", name)
        return cast("Sequence[Any]", value)

    def object(self, name: str) -> Mapping[str, Any] | None:
        """An object, or None if there is none."""
        value = self.raw.get(name)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            self.refuse("is no object", name)
        return cast("Mapping[str, Any]", value)

    def any(self, name: str) -> Any:
        """Any value, null too, that must be there."""
        if name not in self.raw:
            self.refuse("is missing", name)
        return self.raw[name]


def read_reason(fields: Fields, name: str = "finishReason") -> FinishReason:
    """Read why something ended; a reason that nobody knows is ``"other"``."""
    return _REASONS.get(fields.text(name), "other")


def read_usage(fields: Fields, name: str = "usage") -> Usage | None:
    """Read what something cost, in either spelling; None if no number is given."""
    given = fields.object(name)
    if given is None:
        return None
    usage = Usage(
        input_tokens=_count(given, "inputTokens", "promptTokens"),
        output_tokens=_count(given, "outputTokens", "completionTokens"),
        reasoning_tokens=_count(given, "reasoningTokens"),
        cached_input_tokens=_count(given, "cachedInputTokens"),
    )
    return None if usage == Usage() else usage


def _count(given: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = given.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
            return int(value)
    return None
