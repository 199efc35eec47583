"""From chunks to a message, for whoever has no runtime around them."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from datetime import UTC, datetime

from partwise.messages import COMPLETE_UNKNOWN, RUNNING, ArgsReader, AssistantMessage, new_id

from ._chunks import Chunk
from ._fold import Fold
from ._pace import Clock
from ._report import Report

__all__ = ["Accumulator", "accumulate"]


class Accumulator:
    """Builds one message out of chunks.

    Args:
        message: The message to go on with; a new one, running and empty, by default.
        report: Told about each kind of unusable chunk once; logged as a warning by default.
        clock: Milliseconds since 1970; with it, the answer, its reasoning and its calls are timed.
        is_strict: Whether a change of state that cannot be applied is raised.
    """

    __slots__ = ("_fold", "_message")

    def __init__(
        self,
        message: AssistantMessage | None = None,
        *,
        report: Report | None = None,
        clock: Clock | None = None,
        is_strict: bool = False,
    ) -> None:
        if message is None:
            message = AssistantMessage(id=new_id(), created_at=datetime.now(UTC), status=RUNNING)
        self._message = message
        self._fold = Fold(report=report, clock=clock, is_strict=is_strict)

    @property
    def message(self) -> AssistantMessage:
        """The message so far."""
        return self._message

    def apply(self, chunk: Chunk) -> AssistantMessage:
        """Return the message with the chunk applied.

        Raises:
            AdapterError: ``chunk`` is no chunk.
            StateOperationError: A change of state cannot be applied, and the accumulator is strict.
        """
        self._message = self._fold.apply(self._message, chunk)
        return self._message

    def finish(self) -> AssistantMessage:
        """Return the message after the last chunk.

        If nothing has said how it ended, it waits for the results of its calls, or is complete.
        """
        self._message = self._fold.finish(self._message, otherwise=COMPLETE_UNKNOWN)
        return self._message

    def args_reader(self, tool_call_id: str) -> ArgsReader | None:
        """The reader of the arguments of a call; it tells which fields are complete."""
        return self._fold.args_reader(tool_call_id)


async def accumulate(
    chunks: AsyncIterable[Chunk],
    message: AssistantMessage | None = None,
    *,
    report: Report | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[AssistantMessage]:
    """Give the message after every chunk that changes it, and the finished one at last.

    Args:
        chunks: The chunks; what they raise is raised here.
        message: The message to go on with.
        report: Told about each kind of unusable chunk once.
        clock: Milliseconds since 1970; with it, the answer is timed.
    """
    accumulator = Accumulator(message, report=report, clock=clock)
    shown: AssistantMessage | None = None
    async for chunk in chunks:
        if accumulator.apply(chunk) is not shown:
            shown = accumulator.message
            yield shown
    if accumulator.finish() is not shown:
        yield accumulator.message
