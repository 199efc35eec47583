"""Server-sent events: from bytes, cut anywhere, to events."""

from __future__ import annotations

import codecs
import re

import attrs

__all__ = ["SseEvent", "SseReader"]

_LINE_END = re.compile(r"\r\n|\n|\r")


@attrs.frozen
class SseEvent:
    """One event.

    Attributes:
        data: Its data lines, joined by line feeds.
        event: Its name, if it has one.
        is_whole: False for what was left when the bytes ended in the middle of an event.
    """

    data: str
    event: str | None = None
    is_whole: bool = attrs.field(default=True, kw_only=True)


class SseReader:
    """Splits a stream of bytes into server-sent events.

    Bytes may be cut anywhere, in a character or between carriage return and line feed. Comments and
    unknown fields are skipped, with one exception: a line ``error: ...`` is an event named ``error``,
    because some gateways report a failure in this way and in no other.
    """

    __slots__ = ("_after_return", "_data", "_decoder", "_event", "_line", "_started")

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._line: list[str] = []
        self._data: list[str] = []
        self._event: str | None = None
        self._after_return = False
        self._started = False

    def feed(self, data: bytes) -> list[SseEvent]:
        """Return the events that end in these bytes."""
        return self._read(self._decoder.decode(data))

    def close(self) -> list[SseEvent]:
        """Return what is left when the bytes have ended: at most one event, without its blank line."""
        events = self._read(self._decoder.decode(b"", final=True))
        line = "".join(self._line)
        self._line = []
        if line:
            self._take(line, events)
        if self._data:
            events.append(SseEvent("\n".join(self._data), self._event, is_whole=False))
            self._data, self._event = [], None
        return events

    def _read(self, text: str) -> list[SseEvent]:
        events: list[SseEvent] = []
        if not text:
            return events
        if not self._started:
            self._started = True
            text = text.removeprefix("\ufeff")
        if self._after_return:
            text = text.removeprefix("\n")
        self._after_return = text.endswith("\r")
        *lines, rest = _LINE_END.split(text)
        for line in lines:
            self._take("".join(self._line) + line if self._line else line, events)
            self._line = []
        if rest:
            self._line.append(rest)
        return events

    def _take(self, line: str, events: list[SseEvent]) -> None:
        if not line:
            if self._data:
                events.append(SseEvent("\n".join(self._data), self._event))
            self._data, self._event = [], None
            return
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match field:
            case "data":
                self._data.append(value)
            case "event":
                self._event = value or None
            case "error" if value:
                events.append(SseEvent(value, "error"))
            case _:
                pass
