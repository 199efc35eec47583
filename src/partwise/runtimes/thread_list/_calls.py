"""Calls of an adapter: one after the other for each thread, within a time, with errors that say what failed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TypeVar

import anyio

from partwise.adapters import ThreadListAdapter
from partwise.errors import AdapterChangedError, ThreadListError, ThreadNotFoundError

__all__ = ["Calls", "Source", "Turn"]

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


class Source:
    """Where the list comes from now; who begins something with ``calls`` goes on with those same calls.

    Args:
        timeout: Seconds that an adapter has for an answer.
    """

    def __init__(self, adapter: ThreadListAdapter, timeout: float) -> None:
        self._timeout = timeout
        self.calls = Calls(adapter, timeout)

    def exchange(self, adapter: ThreadListAdapter) -> None:
        """Ask another adapter from now on, and end what is being asked of this one."""
        before, self.calls = self.calls, Calls(adapter, self._timeout)
        before.end()


class Calls:
    """Asks one adapter, until it is exchanged.

    Args:
        timeout: Seconds that the adapter has for an answer.

    Attributes:
        is_over: Whether another adapter has taken the place of this one.
    """

    def __init__(self, adapter: ThreadListAdapter, timeout: float) -> None:
        self.adapter = adapter
        self.timeout = timeout
        self.is_over = False
        self._last: dict[str, Turn] = {}
        self._asking: set[anyio.CancelScope] = set()

    def end(self) -> None:
        """Cancel what is being asked, and ask nothing any more."""
        self.is_over = True
        for scope in self._asking:
            scope.cancel()

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
            AdapterChangedError: The adapter was exchanged, before or meanwhile.
            ThreadNotFoundError: The adapter raised it.
            ThreadListError: The adapter raised anything else, or did not answer in time.
        """
        answers: list[T] = []
        try:
            await self._await(call, answers)
        except Exception as error:
            if self.is_over:
                raise AdapterChangedError(operation, thread_id=thread_id) from error
            if isinstance(error, (ThreadListError, ThreadNotFoundError)):
                raise
            raise ThreadListError(operation, self._why(operation, thread_id, error), thread_id=thread_id) from error
        if self.is_over:
            raise AdapterChangedError(operation, thread_id=thread_id)
        if not answers:
            which = "" if thread_id is None else f" of thread {thread_id!r}"
            text = f"did not answer {operation}{which} within {self.timeout:g} seconds; reload the list to see whether"
            raise ThreadListError(operation, f"{text} it was done all the same", thread_id=thread_id)
        return answers[0]

    async def _await(self, call: Callable[[], Awaitable[T]], answers: list[T]) -> None:
        if self.is_over:
            return
        with anyio.move_on_after(self.timeout) as scope:
            self._asking.add(scope)
            try:
                answers.append(await call())
            finally:
                self._asking.discard(scope)

    def _why(self, operation: str, thread_id: str | None, error: Exception) -> str:
        which = "" if thread_id is None else f" thread {thread_id!r}"
        return f"could not {operation}{which}: {str(error) or type(error).__name__}"
