"""How fast an answer comes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import attrs

from partwise.messages import (
    RUNNING,
    AssistantMessage,
    MessageTiming,
    ReasoningPart,
    TextPart,
    Timing,
    ToolCallPart,
)

from ._chunks import Chunk, Finish, ReasoningDelta, StepFinish, TextDelta, ToolArgsDelta
from ._part_chunks import PartDelta

__all__ = ["Clock", "Pace", "with_completion"]

Clock: TypeAlias = Callable[[], float]

_UNITS_PER_TOKEN = 4


class Pace:
    """Measures one answer, chunk by chunk.

    Args:
        clock: Milliseconds since 1970.
    """

    __slots__ = ("_chunks", "_clock", "_finish_tokens", "_first", "_started", "_step_tokens")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._started = clock()
        self._first: float | None = None
        self._chunks = 0
        self._step_tokens = 0
        self._finish_tokens = 0

    def now(self) -> float:
        """Milliseconds since 1970."""
        return self._clock()

    def count(self, chunk: Chunk, *, was_used: bool) -> None:
        """Take a chunk into account."""
        self._chunks += 1
        match chunk:
            case TextDelta() | ReasoningDelta() | ToolArgsDelta() | PartDelta():
                if self._first is None and was_used:
                    self._first = self._clock() - self._started
            case StepFinish(usage) if usage is not None:
                self._step_tokens += usage.output_tokens or 0
            case Finish(usage=usage, total_usage=total) if usage is not None or total is not None:
                told = total or usage
                self._finish_tokens = (told and told.output_tokens) or 0
            case _:
                pass

    def written(self, message: AssistantMessage) -> AssistantMessage:
        """Return the message with its timing, once its status is final."""
        if message.status == RUNNING:
            return message
        total = self._clock() - self._started
        tokens = self._finish_tokens or self._step_tokens or _estimated(message)
        timing = MessageTiming(
            stream_start_time=self._started,
            first_token_time=self._first,
            total_stream_time=total,
            token_count=tokens or None,
            tokens_per_second=tokens * 1000 / total if tokens and total > 0 else None,
            total_chunks=self._chunks,
            tool_call_count=len({part.tool_call_id for part in message.content if isinstance(part, ToolCallPart)}),
        )
        return attrs.evolve(message, metadata=attrs.evolve(message.metadata, timing=timing))


def with_completion(timing: Timing | None, pace: Pace | None) -> Timing | None:
    """Return the timing of a part that ends now; the first end counts."""
    if timing is None or pace is None or timing.completed_at is not None:
        return timing
    return attrs.evolve(timing, completed_at=pace.now())


def _estimated(message: AssistantMessage) -> int:
    units = sum(_utf16_length(part.text) for part in message.content if isinstance(part, (TextPart, ReasoningPart)))
    return math.ceil(units / _UNITS_PER_TOKEN)


def _utf16_length(text: str) -> int:
    # A character outside of the basic plane, an emoji for example, is rarely one token.
    return len(text) if text.isascii() else len(text) + sum(letter > "\uffff" for letter in text)
