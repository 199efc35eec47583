"""Server-sent events: from bytes, cut anywhere, to events, and back."""

from __future__ import annotations

import re

import attrs

from partwise.errors import WireError

from ._lines import MAX_LINE_LENGTH, LineReader, check_limit

__all__ = ["SseEvent", "SseReader", "sse_frame"]

_DIGITS = re.compile(r"[0-9]{1,15}")


@attrs.frozen
class SseEvent:
    """One event.

    Attributes:
        data: Its data lines, joined by line feeds.
        event: Its name, if it has one.
        id: The last id that was sent, with this event or before it.
        retry: The last reconnection time that was sent, in milliseconds.
        is_whole: False for what was left when the bytes ended in the middle of an event.
        problem: Set in place of an event that is longer than allowed, which has no data then.
    """

    data: str
    event: str | None = None
    id: str | None = attrs.field(default=None, kw_only=True)
    retry: int | None = attrs.field(default=None, kw_only=True)
    is_whole: bool = attrs.field(default=True, kw_only=True)
    problem: WireError | None = attrs.field(default=None, kw_only=True)


class SseReader:
    """Splits a stream of bytes into server-sent events.

    Bytes may be cut anywhere, in a character or between carriage return and line feed. Comments and
    unknown fields are skipped, with one exception: a line ``error: ...`` is an event named ``error``,
    because some gateways report a failure in this way and in no other.

    Args:
        max_line_length: A longer line, and the event it belongs to, is given as a problem.
        max_event_length: So is an event with more data than this.

    Raises:
        InvalidInputError: A limit is no whole number above zero.
    """

    __slots__ = ("_data", "_event", "_id", "_length", "_lines", "_max_event", "_max_line", "_retry", "_skips")

    def __init__(self, *, max_line_length: int = MAX_LINE_LENGTH, max_event_length: int = MAX_LINE_LENGTH) -> None:
        self._lines = LineReader(max_line_length)
        self._max_line = max_line_length
        self._max_event = check_limit("event", max_event_length)
        self._data: list[str] = []
        self._length = 0
        self._event: str | None = None
        self._id: str | None = None
        self._retry: int | None = None
        self._skips = False

    def feed(self, data: bytes) -> list[SseEvent]:
        """Return the events that end in these bytes."""
        events: list[SseEvent] = []
        for line in self._lines.feed(data):
            self._take(line, events)
        return events

    def close(self) -> list[SseEvent]:
        """Return what is left when the bytes have ended: at most one event, without its blank line."""
        events: list[SseEvent] = []
        for line in self._lines.close():
            self._take(line, events)
        if self._data and not self._skips:
            events.append(self._made(is_whole=False))
        self._reset()
        return events

    def _take(self, line: str | None, events: list[SseEvent]) -> None:
        if line is None:
            self._reset()
            events.append(_problem("line-too-long", f"A line is longer than {self._max_line} characters"))
            return
        if not line:
            if self._data and not self._skips:
                events.append(self._made())
            self._reset()
            return
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match field:
            case "data":
                self._add(value, events)
            case "event":
                self._event = value
            case "id" if "\0" not in value:
                self._id = value
            case "retry" if _DIGITS.fullmatch(value):
                self._retry = int(value)
            case "error" if value:
                events.append(SseEvent(value, "error", id=self._id, retry=self._retry))
            case _:
                pass

    def _add(self, value: str, events: list[SseEvent]) -> None:
        if self._skips:
            return
        self._length += len(value) + bool(self._data)
        if self._length > self._max_event:
            self._data, self._skips = [], True
            events.append(_problem("event-too-long", f"An event is longer than {self._max_event} characters"))
            return
        self._data.append(value)

    def _made(self, *, is_whole: bool = True) -> SseEvent:
        data = self._data[0] if len(self._data) == 1 else "\n".join(self._data)
        return SseEvent(data, self._event, id=self._id, retry=self._retry, is_whole=is_whole)

    def _reset(self) -> None:
        self._data, self._length, self._event, self._skips = [], 0, None, False


def sse_frame(data: str) -> bytes:
    """Return an event with this data, which must be free of line ends, as bytes."""
    return b"data: " + data.encode("utf-8", "surrogatepass") + b"\n\n"


def _problem(code: str, text: str) -> SseEvent:
    return SseEvent("", problem=WireError(f"{text}; it was dropped.", code=code))
