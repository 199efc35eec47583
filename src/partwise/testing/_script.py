"""Answers that a test has written beforehand."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from typing import TypeAlias

import anyio

from partwise.adapters import RunContext
from partwise.messages import AssistantMessage, Message, message_text
from partwise.stream import Chunk, TextDelta

__all__ = ["Script", "Step", "shown", "status_of"]

# A piece of text, an event to be waited for, or what goes wrong.
Step: TypeAlias = str | anyio.Event | Exception


class Script:
    """Plays one turn for each time it is asked; the last one again and again.

    It is a chat model by itself; a source of your own plays ``pieces()`` as its agent's answer.

    Args:
        turns: Each a text, or a row of steps.

    Attributes:
        asked: What was said last, each time that an answer was asked for.
        closed: How many answers have ended, however.
    """

    def __init__(self, *turns: str | Sequence[Step]) -> None:
        self._turns: tuple[Sequence[Step], ...] = tuple((turn,) if isinstance(turn, str) else turn for turn in turns)
        self._played = 0
        self.asked: list[str] = []
        self.closed = 0

    async def pieces(self, question: str = "") -> AsyncGenerator[str, None]:
        """Yield the pieces of the next answer."""
        turn = self._turns[min(self._played, len(self._turns) - 1)] if self._turns else ()
        self._played += 1
        self.asked.append(question)
        try:
            for step in turn:
                if isinstance(step, anyio.Event):
                    await step.wait()
                elif isinstance(step, Exception):
                    raise step
                else:
                    yield step
        finally:
            self.closed += 1

    async def run(self, run: RunContext) -> AsyncIterator[Chunk]:
        """Answer, as a chat model does."""
        stream = self.pieces(message_text(run.messages[-1]) if run.messages else "")
        try:
            async for piece in stream:
                yield TextDelta(piece)
        finally:
            await stream.aclose()


def shown(messages: Iterable[Message]) -> list[str]:
    """Write messages as short texts: the first letter of the role, and what is said."""
    return [f"{one.role[0]}:{message_text(one)}" for one in messages]


def status_of(message: Message) -> str:
    """Write how far a message has come, such as ``"incomplete/cancelled"``; ``"-"`` if it is no answer."""
    if not isinstance(message, AssistantMessage):
        return "-"
    status = message.status
    reason = getattr(status, "reason", None)
    return status.type if reason is None else f"{status.type}/{reason}"
