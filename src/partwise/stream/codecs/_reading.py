"""What every decoder does with what it reads: collect chunks, report what it drops, end at what it cannot survive."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from partwise.errors import WireError
from partwise.messages import FrozenDict
from partwise.stream._chunks import Chunk, ErrorChunk, ToolArgsFinish
from partwise.stream._json_text import json_text, read_json
from partwise.stream._report import Report, log_problem
from partwise.stream.writing import CallWriter

__all__ = ["Reading", "in_turns", "settle_args"]

Part = TypeVar("Part")

# A strict reader ends at these; no reader ends at a payload that is no JSON.
_STRICT: Final = frozenset(
    {"duplicate-tool-call", "invalid-value", "unknown-event", "unknown-tool-call", "unsupported-type"}
)
_MOST_REPORTS: Final = 100


class Reading:
    """The chunks that one decoder has read.

    Attributes:
        chunks: What was read and is not taken yet.
        problem: What has ended the reading, if anything has.
        is_strict: Whether a frame that cannot be used ends the reading; otherwise it is dropped and reported.
    """

    __slots__ = ("_report", "_reported", "chunks", "is_strict", "problem")

    def __init__(self, *, is_strict: bool, report: Report | None) -> None:
        self.chunks: list[Chunk] = []
        self.problem: WireError | None = None
        self.is_strict = is_strict
        self._report = report or log_problem
        self._reported: set[tuple[str, str]] = set()

    def taken(self) -> list[Chunk]:
        """Return the chunks, once."""
        chunks = list(self.chunks)
        self.chunks.clear()
        return chunks

    def tell(self, problem: WireError) -> None:
        """Report a problem, each kind once."""
        kind = (problem.code, problem.where)
        # A source that is wrong everywhere fills neither the log nor the memory.
        if kind in self._reported or len(self._reported) >= _MOST_REPORTS:
            return
        self._reported.add(kind)
        self._report(problem)

    def refuse(self, problem: WireError) -> None:
        """Drop a frame, or end with it."""
        if self.is_strict and problem.code in _STRICT:
            self.fail(problem)
        else:
            self.tell(problem)

    def fail(self, problem: WireError) -> None:
        """End the reading: what has come so far stays, and the message will say that it broke off."""
        if self.problem is None:
            self.problem = problem
            self.chunks.append(ErrorChunk(FrozenDict({"code": problem.code, "message": str(problem)})))


def in_turns(chunks: list[Chunk], parts: Iterable[Part], close: Callable[[Part], object]) -> None:
    """Close parts that were written side by side, one chunk of each in turn.

    Args:
        chunks: Where ``close`` puts the chunks.
        parts: What to close.
        close: Closes one.
    """
    start = len(chunks)
    rows: list[list[Chunk]] = []
    for part in parts:
        close(part)
        rows.append(chunks[start:])
        del chunks[start:]
    for turn in range(max(map(len, rows), default=0)):
        chunks.extend(row[turn] for row in rows if turn < len(row))


def settle_args(call: CallWriter, value: Any, emit: Callable[[Chunk], object]) -> None:
    """End the arguments of a call with their value, which wins over the sum of the deltas.

    Args:
        call: The call; if its arguments have ended, they stay as they are.
        value: The arguments.
        emit: Given the chunk that replaces what was streamed.
    """
    if call.has_ended_args:
        return
    text, streamed = json_text(value), call.args_text
    if not streamed or text.startswith(streamed):
        rest = text[len(streamed) :]
        if rest:
            call.append_args(rest)
    elif not _is_same(streamed, value):
        emit(ToolArgsFinish(call.tool_call_id, text))
        call.has_ended_args = True
    call.end_args()


def _is_same(streamed: str, value: object) -> bool:
    try:
        return bool(read_json(streamed) == value)
    except WireError:
        return False
