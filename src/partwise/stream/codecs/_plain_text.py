"""Plain text: the text of an answer and nothing else."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from partwise.errors import WireError
from partwise.messages import AssistantPart, TextPart
from partwise.stream._chunk_json import WireChunk
from partwise.stream._chunks import Chunk
from partwise.stream._part_chunks import PartApproval, PartArgsFinish, PartDelta, PartFinish, PartResult, PartStart
from partwise.stream._report import Report
from partwise.stream.writing import Placer, TextWriter

from ._data_stream_encoder import part_number
from ._reading import Reading

__all__ = ["PlainTextDecoder", "PlainTextEncoder"]


class PlainTextEncoder:
    """Writes the text of an answer; everything else is left out.

    Attributes:
        headers: For the HTTP response.

    Args:
        report: Told about what no wire can say.
    """

    headers: ClassVar[Mapping[str, str]] = MappingProxyType({"content-type": "text/plain; charset=utf-8"})

    def __init__(self, *, report: Report | None = None) -> None:
        self._placer = Placer(report=report)
        self._parts: list[AssistantPart] = []
        self._half = ""

    def encode(self, chunk: Chunk) -> bytes:
        """Return the text of a chunk.

        Raises:
            WireError: The chunk names a part that there is not.
        """
        return b"".join(self._text(placed) for placed in self._placer.place(chunk))

    def close(self) -> bytes:
        """Return what ends the stream."""
        half, self._half = self._half, ""
        return half.encode("utf-8", "replace")

    def _text(self, chunk: WireChunk) -> bytes:
        match chunk:
            case PartStart(part, path):
                if path:
                    message = f"A text cannot begin a part inside of part {list(path)}; the chunk was not written."
                    raise WireError(message, code="nested-part")
                self._parts.append(part)
            case PartDelta(path, text):
                if isinstance(self._parts[part_number(path, self._parts)], TextPart):
                    return self._whole(text)
            case PartFinish(path) | PartArgsFinish(path) | PartResult(path) | PartApproval(path):
                part_number(path, self._parts)
            case _:
                pass
        return b""

    def _whole(self, text: str) -> bytes:
        # A character may come in halves; they are written when both are there.
        text = (self._half + text).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return text.removesuffix(self._half).encode("utf-8", "replace")


class PlainTextDecoder:
    """Reads a text from bytes, cut anywhere; it becomes one part. What is no UTF-8 becomes replacement characters.

    Attributes:
        problem: Always None: any bytes are a text.
    """

    problem: WireError | None = None

    def __init__(self, *, report: Report | None = None) -> None:
        self._reading = Reading(is_strict=False, report=report)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._part: TextWriter | None = None
        self._started = False

    def feed(self, data: bytes) -> list[Chunk]:
        """Return the text in these bytes."""
        self._append(self._decoder.decode(data))
        return self._reading.taken()

    def close(self) -> list[Chunk]:
        """Return what is left when the bytes have ended."""
        self._append(self._decoder.decode(b"", final=True))
        if self._part is not None:
            self._part.close()
        return self._reading.taken()

    def _append(self, text: str) -> None:
        if text and not self._started:
            self._started = True
            text = text.removeprefix("\ufeff")
        if not text:
            return
        chunks = self._reading.chunks
        if self._part is None:
            chunks.append(PartStart(TextPart("")))
            self._part = TextWriter(0, chunks.append, lambda _: None, lambda _: None)
        self._part.append(text)
