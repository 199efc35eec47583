"""From the bytes of a streamed response to its payloads."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from typing import Any, cast

from partwise.stream import SseEvent, SseReader

__all__ = ["PageReader", "PayloadReader"]

_LOG = logging.getLogger("partwise.providers")

_PAGE_BYTES = 65_536
_SHOWN = 200


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


class PageReader:
    """Reads the one error that a page has to tell, from a server that should have streamed.

    Args:
        kind: The media type that the server says the page has.
    """

    __slots__ = ("_kind", "_text")

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._text = bytearray()

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Take more of the page; what is said with too many words is cut."""
        self._text += data[: _PAGE_BYTES - len(self._text)]
        return []

    def close(self) -> list[dict[str, Any]]:
        """Return the error."""
        text = self._text.decode("utf-8", "replace").strip()
        said = (_value(text) or {}).get("error")
        if said:
            return [{"error": said}]
        shown = "" if self._kind == "text/html" or not text else f": {text[:_SHOWN]}"
        message = f"The server answered with {self._kind} in place of a stream{shown}"
        return [{"error": {"code": "not-a-stream", "message": message}}]


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
