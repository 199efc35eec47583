"""The fields of JSON payloads, read with distrust."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, cast

from partwise.messages import FrozenDict, Usage, freeze

__all__ = [
    "FreeIds",
    "Json",
    "Payload",
    "Unknown",
    "count",
    "error_of",
    "fields_of",
    "mapping",
    "mappings",
    "merge_usage",
    "word",
]

_LOG = logging.getLogger("partwise.providers")
_MOST_REPORTS = 100

Json: TypeAlias = Mapping[str, Any]


class _Dumpable(Protocol):
    def model_dump(self, **options: Any) -> dict[str, Any]: ...


Payload: TypeAlias = Mapping[str, Any] | _Dumpable
"""A payload as JSON, or the SDK's object for it."""


def fields_of(payload: Payload) -> Json:
    """Return a payload as JSON."""
    return (
        payload
        if isinstance(payload, Mapping)
        else payload.model_dump(by_alias=True, exclude_unset=True, warnings=False)
    )


def mapping(value: object) -> Json:
    """Return a JSON object, or an empty one in place of anything else."""
    return cast("Json", value) if isinstance(value, Mapping) else {}


def mappings(value: object) -> list[Json]:
    """Return the JSON objects of a list, or nothing in place of anything else."""
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Json", item) for item in items if isinstance(item, Mapping)]


def word(value: object) -> str:
    """Return a text, or an empty one in place of anything else: absent, null and "" mean the same for ids and names."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """Return a whole number, or None in place of anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def merge_usage(old: Usage | None, new: Usage | None) -> Usage | None:
    """Lay a later snapshot of the usage over an earlier one, field by field."""
    if old is None or new is None:
        return new or old
    return Usage(
        input_tokens=old.input_tokens if new.input_tokens is None else new.input_tokens,
        output_tokens=old.output_tokens if new.output_tokens is None else new.output_tokens,
        reasoning_tokens=old.reasoning_tokens if new.reasoning_tokens is None else new.reasoning_tokens,
        cached_input_tokens=old.cached_input_tokens if new.cached_input_tokens is None else new.cached_input_tokens,
    )


def error_of(error: object) -> FrozenDict:
    """Describe an error that a server sent as a structured error; what else it says stays beside it."""
    fields = mapping(error)
    code = next((str(fields[key]) for key in ("code", "type", "status_code") if fields.get(key)), "provider-error")
    message = word(fields.get("message")) or word(fields.get("detail")) or (error if isinstance(error, str) else "")
    kept = {key: value for key, value in fields.items() if key not in ("severity", "display")}
    return FrozenDict({**freeze(kept), "code": code, "message": message or f"The provider reported an error: {error}"})


class Unknown:
    """Reports what was dropped because nobody here knows it: each kind once, so that no log is filled."""

    __slots__ = ("_told",)

    def __init__(self) -> None:
        self._told: set[str] = set()

    def report(self, what: str) -> None:
        """Log that something was dropped.

        Args:
            what: What it was, and of which kind.
        """
        if what not in self._told and len(self._told) < _MOST_REPORTS:
            self._told.add(what)
            _LOG.warning("Dropped %s", what)


class FreeIds:
    """Gives out ids that are unique within one answer."""

    __slots__ = ("_times", "_used")

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._times: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._used)

    def take(self, wanted: str) -> str:
        """Return the id that is wanted, with a number behind it if it is taken."""
        free, number = wanted, self._times.get(wanted, 1)
        while free in self._used:
            number += 1
            free = f"{wanted}-{number}"
        self._times[wanted] = number
        self._used.add(free)
        return free
