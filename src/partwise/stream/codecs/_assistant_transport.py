"""The assistant transport: chunks as they are, one server-sent event for each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final

from partwise.errors import WireError
from partwise.stream._chunk_json import WireChunk, read_chunk, write_chunk
from partwise.stream._chunks import Chunk, ErrorChunk, Finish
from partwise.stream._json_text import json_text, read_json
from partwise.stream._lines import MAX_LINE_LENGTH
from partwise.stream._part_chunks import PartFinish, PartStart
from partwise.stream._report import Report
from partwise.stream._sse import SseEvent, SseReader, sse_frame
from partwise.stream.writing import Placer

from ._reading import Reading

__all__ = ["DONE", "SSE_HEADERS", "AssistantTransportDecoder", "AssistantTransportEncoder", "missing_done"]

DONE: Final = "[DONE]"
SSE_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {"content-type": "text/event-stream", "cache-control": "no-cache", "connection": "keep-alive"}
)


class AssistantTransportEncoder:
    """Writes chunks as an assistant transport; nothing that a chunk says is lost.

    Attributes:
        headers: For the HTTP response.

    Args:
        report: Told about what no wire can say.
    """

    headers: ClassVar[Mapping[str, str]] = SSE_HEADERS

    def __init__(self, *, report: Report | None = None) -> None:
        self._placer = Placer(report=report)

    def encode(self, chunk: Chunk) -> bytes:
        """Return the frames of a chunk.

        Raises:
            WireError: The chunk holds what is no JSON.
        """
        return b"".join(_frames(placed) for placed in self._placer.place(chunk))

    def close(self) -> bytes:
        """Return what ends the stream; also after an error, or readers take it for cut off."""
        return b"".join(_frames(placed) for placed in self._placer.close()) + sse_frame(DONE)


def _frames(chunk: WireChunk) -> bytes:
    return b"".join(sse_frame(json_text(written)) for written in write_chunk(chunk))


class AssistantTransportDecoder:
    """Reads an assistant transport from bytes, cut anywhere.

    A stream without its end marker was cut off, unless it has said how the answer ended.

    Attributes:
        problem: What has ended the reading before its time; the last chunk, an ``ErrorChunk``, says so too.

    Args:
        is_strict: Whether a missing end marker always counts; otherwise only if nothing has said how the answer ended.
        report: Told about each kind of dropped frame once; logged as a warning by default.
        max_line_length: A longer line ends the reading.
        max_event_length: So does an event with more data than this.

    Raises:
        InvalidInputError: A limit is no whole number above zero.
    """

    def __init__(
        self,
        *,
        is_strict: bool = False,
        report: Report | None = None,
        max_line_length: int = MAX_LINE_LENGTH,
        max_event_length: int = MAX_LINE_LENGTH,
    ) -> None:
        self._sse = SseReader(max_line_length=max_line_length, max_event_length=max_event_length)
        self._reading = Reading(is_strict=is_strict, report=report)
        self._has_ended = False
        self._is_terminal = False
        self._count = 0
        self._open: dict[int, None] = {}

    @property
    def problem(self) -> WireError | None:
        """What has ended the reading before its time."""
        return self._reading.problem

    def feed(self, data: bytes) -> list[Chunk]:
        """Return the chunks whose frames end in these bytes."""
        if not self._has_ended:
            for event in self._sse.feed(data):
                self._event(event)
                if self._has_ended:
                    break
        return self._reading.taken()

    def close(self) -> list[Chunk]:
        """Return what is left when the bytes have ended."""
        if not self._has_ended:
            problem = missing_done()
            if self._reading.is_strict or not self._is_terminal:
                self._fail(problem)
            else:
                self._reading.tell(problem)
        return self._reading.taken()

    def _event(self, event: SseEvent) -> None:
        if event.problem is not None:
            self._fail(event.problem)
        elif event.data == DONE:
            self._has_ended = True
        else:
            try:
                self._take(read_chunk(read_json(event.data), report=self._reading.tell))
            except WireError as problem:
                self._reading.tell(problem)

    def _take(self, chunk: WireChunk) -> None:
        self._reading.chunks.append(chunk)
        match chunk:
            case PartStart(part):
                if part.type in ("text", "reasoning"):
                    self._open[self._count] = None
                self._count += 1
            case PartFinish(path):
                self._open.pop(path[0] if len(path) == 1 else -1, None)
            case Finish() | ErrorChunk():
                self._is_terminal = True
            case _:
                pass

    def _fail(self, problem: WireError) -> None:
        self._has_ended = True
        self._reading.fail(problem)
        self._reading.chunks.extend(PartFinish((number,)) for number in self._open)


def missing_done() -> WireError:
    """Return the problem of a stream that stops before its end marker."""
    return WireError("The stream stopped before its end; what had come has been kept.", code="missing-done")
