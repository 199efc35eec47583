"""The assistant transport: chunks as they are, one server-sent event for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from partwise.errors import WireError
from partwise.stream._chunk_json import WireChunk, read_chunk, write_chunk
from partwise.stream._chunks import Chunk, ErrorChunk, Finish, MetadataChunk
from partwise.stream._json_text import json_text
from partwise.stream._lines import MAX_LINE_LENGTH
from partwise.stream._part_chunks import PartFinish, PartStart
from partwise.stream._report import Report, log_problem
from partwise.stream._sse import sse_frame
from partwise.stream.writing import Placer

from ._reading import Reading
from ._sse_feed import DONE, SSE_HEADERS, SseFeed
from ._unsaid import Unsaid

__all__ = ["AssistantTransportDecoder", "AssistantTransportEncoder"]


class AssistantTransportEncoder:
    """Writes chunks as an assistant transport; all that a chunk says but custom metadata of the message.

    Attributes:
        headers: For the HTTP response.

    Args:
        report: Told about what no wire can say.
    """

    headers: ClassVar[Mapping[str, str]] = SSE_HEADERS

    def __init__(self, *, report: Report | None = None) -> None:
        self._placer = Placer(report=report)
        self._unsaid = Unsaid("An assistant transport", report or log_problem)

    def encode(self, chunk: Chunk) -> bytes:
        """Return the frames of a chunk.

        Raises:
            WireError: The chunk holds what is no JSON.
        """
        if isinstance(chunk, MetadataChunk) and chunk.custom:
            self._unsaid.leave_out("custom metadata of the message")
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
        self._reading = Reading(is_strict=is_strict, report=report)
        self._feed = SseFeed(
            self._reading,
            self._payload,
            end=lambda: None,
            broken=self._broken,
            refuse=self._reading.tell,
            max_line_length=max_line_length,
            max_event_length=max_event_length,
        )
        self._count = 0
        self._open: dict[int, None] = {}

    @property
    def problem(self) -> WireError | None:
        """What has ended the reading before its time."""
        return self._reading.problem

    def feed(self, data: bytes) -> list[Chunk]:
        """Return the chunks whose frames end in these bytes."""
        return self._feed.feed(data)

    def close(self) -> list[Chunk]:
        """Return what is left when the bytes have ended."""
        return self._feed.close()

    def _payload(self, payload: Any) -> None:
        self._take(read_chunk(payload, report=self._reading.tell))

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
                self._feed.is_terminal = True
            case _:
                pass

    def _broken(self) -> None:
        self._reading.chunks.extend(PartFinish((number,)) for number in self._open)
