"""A stream inside of another one: its parts get numbers of the outer one."""

from __future__ import annotations

import attrs

from partwise.errors import WireError
from partwise.stream._chunk_json import WireChunk
from partwise.stream._chunks import Chunk
from partwise.stream._part_chunks import PartApproval, PartArgsFinish, PartDelta, PartFinish, PartResult, PartStart
from partwise.stream._report import Report

from ._parts import PartWriter
from ._placing import Placer

__all__ = ["Merge"]


class Merge:
    """Writes the chunks of one stream into another.

    Args:
        parts: The parts of the outer stream.
        report: Told about a chunk for a part that the inner stream has never begun, which is dropped.
    """

    __slots__ = ("_numbers", "_parts", "_placer", "_report")

    def __init__(self, parts: PartWriter, report: Report) -> None:
        self._parts = parts
        self._report = report
        self._placer = Placer(report=report)
        self._numbers: list[int] = []
        parts.end_current()

    def take(self, chunk: Chunk) -> None:
        """Write a chunk."""
        for placed in self._placer.place(chunk):
            self._write(placed)

    def close(self) -> None:
        """The inner stream has ended."""
        for placed in self._placer.close():
            self._write(placed)

    def _write(self, chunk: WireChunk) -> None:
        match chunk:
            case PartStart():
                self._numbers.append(self._parts.count)
                self._parts.take(chunk, interrupts=False)
            case PartDelta() | PartFinish() | PartArgsFinish() | PartResult() | PartApproval():
                path = chunk.path
                if len(path) != 1 or not 0 <= path[0] < len(self._numbers):
                    message = f"Dropped a chunk for part {list(path)}, which the merged stream has never begun."
                    self._report(WireError(message, where=str(list(path)), code="path-not-found"))
                    return
                self._parts.take(attrs.evolve(chunk, path=(self._numbers[path[0]],)))
            case _:
                self._parts.take(chunk)
