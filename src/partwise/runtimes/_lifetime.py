"""From entering a runtime to leaving it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType

import anyio
from anyio.abc import TaskGroup

from ._tasks import Tasks

__all__ = ["Lifetime"]


class Lifetime:
    """Opens the task group of a runtime, once, and closes it with everything that still runs in it.

    Args:
        tasks: Started in the group.
        finish: Ends what runs in good order; awaited before the group is cancelled.
        close: Completes what listens; called at the very end.
    """

    def __init__(self, tasks: Tasks, finish: Callable[[], Awaitable[None]], close: Callable[[], None]) -> None:
        self._tasks = tasks
        self._finish = finish
        self._close = close
        self._group: TaskGroup | None = None

    async def enter(self) -> None:
        """Start the task group.

        Raises:
            RuntimeClosedError: It was entered before.
        """
        self._tasks.check_unused()
        self._group = await anyio.create_task_group().__aenter__()
        self._tasks.open(self._group)

    async def leave(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        """End what runs and close; what the block raised leaves as it is."""
        group = self._group
        if group is None:
            return None
        is_swallowed: bool | None = None
        try:
            await self._finish()
        finally:
            group.cancel_scope.cancel()
            try:
                if _tells_of_cancellation(error):
                    is_swallowed = await group.__aexit__(kind, error, traceback)
                else:
                    # What the block raised leaves as it is; a task group would put a group around it.
                    await group.__aexit__(None, None, None)
            finally:
                self._tasks.close()
                self._close()
        return is_swallowed


def _tells_of_cancellation(error: object) -> bool:
    cancelled = anyio.get_cancelled_exc_class()
    return isinstance(error, (cancelled, BaseExceptionGroup)) and not isinstance(error, Exception)
