"""Calls of the adapter: one after the other for each thread, within a time, with errors that say what failed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TypeVar

import anyio

from partwise.errors import ThreadListError, ThreadNotFoundError

__all__ = ["Calls", "Turn"]

T = TypeVar("T")


class Turn:
    """A place in the line of one thread; ``async with`` waits for those who came before."""

    def __init__(self, before: Turn | None, leave: Callable[[], None]) -> None:
        self._before = before
        self._leave = leave
        self._is_over = anyio.Event()

    async def wait_over(self) -> None:
        """Wait until this turn, and so each one before it, is over."""
        await self._is_over.wait()

    async def __aenter__(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            try:
                await before.wait_over()
            except BaseException:
                self._end()
                raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        self._is_over.set()
        self._leave()


class Calls:
    """Asks the adapter.

    Args:
        timeout: Seconds that the adapter has for an answer.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self._last: dict[str, Turn] = {}

    def turn(self, thread_id: str) -> Turn:
        """Join the line of a thread; the order of these calls is the order in which the adapter is called."""

        def leave() -> None:
            if self._last.get(thread_id) is turn:
                del self._last[thread_id]

        turn = Turn(self._last.get(thread_id), leave)
        self._last[thread_id] = turn
        return turn

    async def wait_idle(self) -> None:
        """Wait until no line is left."""
        while self._last:
            await next(iter(self._last.values())).wait_over()

    async def ask(self, operation: str, thread_id: str | None, call: Callable[[], Awaitable[T]]) -> T:
        """Call the adapter.

        Raises:
            ThreadNotFoundError: The adapter raised it.
            ThreadListError: The adapter raised anything else, or did not answer in time.
        """
        answers: list[T] = []
        try:
            with anyio.move_on_after(self.timeout):
                answers.append(await call())
        except (ThreadListError, ThreadNotFoundError):
            raise
        except Exception as error:
            raise ThreadListError(operation, self._why(operation, thread_id, error), thread_id=thread_id) from error
        if not answers:
            which = "" if thread_id is None else f" of thread {thread_id!r}"
            text = f"did not answer {operation}{which} within {self.timeout:g} seconds; reload the list to see whether"
            raise ThreadListError(operation, f"{text} it was done all the same", thread_id=thread_id)
        return answers[0]

    def _why(self, operation: str, thread_id: str | None, error: Exception) -> str:
        which = "" if thread_id is None else f" thread {thread_id!r}"
        return f"could not {operation}{which}: {str(error) or type(error).__name__}"
