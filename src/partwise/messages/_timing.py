"""Measuring an answer while it streams, from the snapshots alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import attrs

from ._messages import AssistantMessage, Message, MessageTiming
from ._parts import ReasoningPart, TextPart, ToolCallPart

__all__ = ["StreamClock", "step_timing"]

_CHARACTERS_PER_TOKEN = 4


@attrs.frozen(kw_only=True)
class StreamClock:
    """What was measured of the answer in flight.

    Attributes:
        started_at: When its first snapshot came, in milliseconds since 1970.
        first_token_after: Milliseconds until the first text; None before it.
        length: Characters of text and reasoning in the last snapshot.
        chunks: How many snapshots brought new text.
    """

    message_id: str
    started_at: float
    first_token_after: float | None = None
    length: int = 0
    chunks: int = 0


def step_timing(
    clock: StreamClock | None,
    messages: Sequence[Message],
    *,
    is_running: bool,
    now: float,
    count_tokens: Callable[[AssistantMessage], int] | None = None,
) -> tuple[StreamClock | None, MessageTiming | None]:
    """Take one snapshot into account.

    Args:
        clock: What the call before returned, or None at first.
        messages: The visible messages.
        is_running: Whether an answer is being made.
        now: Milliseconds since 1970.
        count_tokens: Tokens of the finished answer; by default one for every four characters.

    Returns:
        The clock for the next call, and the timing of the answer if this snapshot ended it.
    """
    message = next((m for m in reversed(messages) if isinstance(m, AssistantMessage)), None)
    if is_running:
        if message is None:
            return clock, None
        if clock is None or clock.message_id != message.id:
            clock = StreamClock(message_id=message.id, started_at=now)
        return _grow(clock, message, now), None
    if clock is None:
        return None, None
    if message is None or message.id != clock.message_id:
        message = next((m for m in messages if isinstance(m, AssistantMessage) and m.id == clock.message_id), None)
    return None, _finish(clock, message, now, count_tokens)


def _grow(clock: StreamClock, message: AssistantMessage, now: float) -> StreamClock:
    length = sum(len(part.text) for part in message.content if isinstance(part, (TextPart, ReasoningPart)))
    if length <= clock.length:
        return clock
    first = clock.first_token_after
    return attrs.evolve(
        clock,
        length=length,
        chunks=clock.chunks + 1,
        first_token_after=now - clock.started_at if first is None else first,
    )


def _finish(
    clock: StreamClock,
    message: AssistantMessage | None,
    now: float,
    count_tokens: Callable[[AssistantMessage], int] | None,
) -> MessageTiming:
    # The last growth may come in the same snapshot as the end.
    clock = clock if message is None else _grow(clock, message, now)
    total = now - clock.started_at
    if message is not None and count_tokens is not None:
        tokens = count_tokens(message)
    else:
        tokens = math.ceil(clock.length / _CHARACTERS_PER_TOKEN)
    calls = 0 if message is None else sum(isinstance(part, ToolCallPart) for part in message.content)
    return MessageTiming(
        stream_start_time=clock.started_at,
        first_token_time=clock.first_token_after,
        total_stream_time=total,
        token_count=tokens or None,
        tokens_per_second=tokens * 1000 / total if tokens > 0 and total > 0 else None,
        total_chunks=clock.chunks,
        tool_call_count=calls,
    )
