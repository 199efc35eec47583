"""From the bytes of a streamed response to its payloads."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from typing import Any, cast

from partwise.stream import SseEvent, SseReader

__all__ = ["PayloadReader"]

_LOG = logging.getLogger("partwise.providers")


class PayloadReader:
    """Reads the JSON payloads out of the bytes of a response, cut anywhere.

    A payload that is no JSON object is dropped and logged. An event named ``error`` gives a payload
    with an ``error`` field, in whatever form the server put it.
    """

    __slots__ = ("_sse",)

    def __init__(self) -> None:
        self._sse = SseReader()

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Return the payloads that end in these bytes."""
        return list(_payloads(self._sse.feed(data)))

    def close(self) -> list[dict[str, Any]]:
        """Return the payload that was left without its blank line, if it is whole."""
        return list(_payloads(self._sse.close()))


def _payloads(events: Iterable[SseEvent]) -> Iterator[dict[str, Any]]:
    for event in events:
        if event.problem is not None:
            yield {"error": {"code": event.problem.code, "message": str(event.problem)}}
            continue
        data = event.data.strip()
        if not data or data.startswith("[DONE]"):
            continue
        values = _values(data)
        if event.event == "error":
            yield from (value if value.get("error") else {"error": value} for value in values or [{"message": data}])
        elif values is None:
            _LOG.warning("Dropped a payload that is no JSON object: %.200s", data)
        else:
            yield from values


def _values(data: str) -> list[dict[str, Any]] | None:
    """Parse one payload, or several whose server forgot the blank lines between them."""
    whole = _value(data)
    if whole is not None:
        return [whole]
    lines = [_value(line) for line in data.split("\n") if line.strip() and not line.startswith("[DONE]")]
    values = [value for value in lines if value is not None]
    return values if values and len(values) == len(lines) else None


def _value(text: str) -> dict[str, Any] | None:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None
