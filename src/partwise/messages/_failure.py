"""Errors as values: what a message's status says about a failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ._frozen import FrozenDict, freeze

__all__ = ["error_record", "is_error_record", "is_not_sent"]

SEVERITIES: Final = frozenset({"critical", "warning", "info"})
DISPLAYS: Final = frozenset({"inline", "toast", "silent", "dev-only"})
_ALLOWED: Final = {"severity": SEVERITIES, "display": DISPLAYS}


def is_error_record(value: object) -> bool:
    """Tell whether ``value`` is a structured error: ``code`` and ``message`` as text, and nothing unheard of.

    ``severity`` (critical, warning, info) and ``display`` (inline, toast, silent, dev-only) may be there too.
    """
    if not isinstance(value, Mapping):
        return False
    record: Mapping[Any, Any] = value  # pyright: ignore[reportUnknownVariableType]  # a foreign value
    return (
        isinstance(record.get("code"), str)
        and isinstance(record.get("message"), str)
        and all(not record.get(key) or _is_one_of(record[key], allowed) for key, allowed in _ALLOWED.items())
    )


def _is_one_of(value: object, allowed: frozenset[str]) -> bool:
    return isinstance(value, str) and value in allowed


def error_record(value: object) -> FrozenDict:
    """Describe whatever went wrong as a structured error.

    Args:
        value: A structured error, which comes back as it is; an exception; a text; or anything else
            that somebody raised or reported.

    Returns:
        A record with ``code`` (``"unknown"`` unless an exception carries a text of its own) and
        ``message``, which is never lost.
    """
    if is_error_record(value):
        record: FrozenDict = freeze(value)
        return record
    if isinstance(value, BaseException):
        return _from_exception(value)
    if isinstance(value, str):
        return FrozenDict(code="unknown", message=value)
    text = _text(value)
    return FrozenDict(code="unknown", message=f"[{type(value).__name__}]{text and ' ' + text}")


def _from_exception(error: BaseException) -> FrozenDict:
    code = getattr(error, "code", None)
    record = {
        "code": code if isinstance(code, str) and code else "unknown",
        "message": _text(error) or type(error).__name__,
    }
    for key, allowed in _ALLOWED.items():
        mark = getattr(error, key, None)
        if isinstance(mark, str) and mark in allowed:
            record[key] = mark
    return FrozenDict(record)


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception:  # the text of a foreign value is a courtesy; failing to give one is no second error
        return ""


def is_not_sent(error: object) -> bool:
    """Tell whether an exception says that nothing reached a backend, so that the draft is the user's again.

    It is recognised by its mark ``was_not_sent``, not by its class, so that several copies of the
    library understand each other.
    """
    return getattr(error, "was_not_sent", False) is True
