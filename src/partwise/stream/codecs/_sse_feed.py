"""What decoders of server-sent events have in common: an event is a payload, and the stream has an end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from partwise.errors import WireError
from partwise.stream._chunks import Chunk
from partwise.stream._json_text import read_json
from partwise.stream._sse import SseEvent, SseReader

from ._reading import Reading

__all__ = ["DONE", "SSE_HEADERS", "SseFeed", "missing_done"]

DONE: Final = "[DONE]"
SSE_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {"content-type": "text/event-stream", "cache-control": "no-cache", "connection": "keep-alive"}
)


class SseFeed:
    """Gives a decoder the payloads of its events, until the stream ends or breaks off.

    Attributes:
        has_ended: Whether nothing more is read.
        is_terminal: Set by the decoder once something has said how the answer ended.

    Args:
        reading: What the decoder has read.
        take: Given each payload; a ``WireError`` that it raises is about that payload.
        end: Called when the stream has ended as it should.
        broken: Called after what ended it before its time was told.
        refuse: Told about a payload that cannot be used.
        max_line_length: A longer line ends the reading.
        max_event_length: So does an event with more data than this.

    Raises:
        InvalidInputError: A limit is no whole number above zero.
    """

    __slots__ = ("_broken", "_end", "_reading", "_refuse", "_sse", "_take", "has_ended", "is_terminal")

    def __init__(
        self,
        reading: Reading,
        take: Callable[[Any], object],
        *,
        end: Callable[[], object],
        broken: Callable[[], object],
        refuse: Callable[[WireError], object],
        max_line_length: int,
        max_event_length: int,
    ) -> None:
        self._sse = SseReader(max_line_length=max_line_length, max_event_length=max_event_length)
        self._reading = reading
        self._take = take
        self._end = end
        self._broken = broken
        self._refuse = refuse
        self.has_ended = False
        self.is_terminal = False

    def feed(self, data: bytes) -> list[Chunk]:
        """Return the chunks whose events end in these bytes."""
        if not self.has_ended:
            for event in self._sse.feed(data):
                self._event(event)
                if self.has_ended:
                    break
        return self._reading.taken()

    def close(self, *, has_marker: bool = True) -> list[Chunk]:
        """Return what is left when the bytes have ended.

        Args:
            has_marker: Whether the stream has a marker of its end, which is missing then. Where there is none, the
                last event may lack its blank line; half of one is no JSON, and is reported.
        """
        for event in () if self.has_ended or has_marker else self._sse.close():
            self._event(event)
        if not self.has_ended:
            problem = missing_done()
            if not self.is_terminal or (has_marker and self._reading.is_strict):
                self._fail(problem)
            else:
                if has_marker:
                    self._reading.tell(problem)
                self._finish()
        return self._reading.taken()

    def _event(self, event: SseEvent) -> None:
        if event.problem is not None:
            self._fail(event.problem)
            return
        if event.data == DONE:
            self._finish()
            return
        try:
            self._take(read_json(event.data))
        except WireError as problem:
            self._refuse(problem)
            if self._reading.problem is not None:
                self.has_ended = True
                self._broken()

    def _finish(self) -> None:
        self.has_ended = True
        self._end()

    def _fail(self, problem: WireError) -> None:
        self.has_ended = True
        self._reading.fail(problem)
        self._broken()


def missing_done() -> WireError:
    """Return the problem of a stream that stops before its end marker."""
    return WireError("The stream stopped before its end; what had come has been kept.", code="missing-done")
