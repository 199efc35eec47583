"""What an action returns: something that may be awaited, and need not be."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import anyio

from partwise.errors import RuntimeClosedError

__all__ = ["Operation"]


class Operation:
    """An action that has begun.

    Its visible part has happened when the call returns; awaiting waits for the rest and raises what
    went wrong. Nothing is lost by not awaiting: the outcome is also in the snapshot or an event.
    Cancelling the task that awaits ends the waiting, not the action; use ``cancel_run`` for that.
    """

    __slots__ = ("_error", "_event", "_is_done")

    def __init__(self) -> None:
        self._event = anyio.Event()
        self._error: BaseException | None = None
        self._is_done = False

    @property
    def is_done(self) -> bool:
        """Whether the action has settled."""
        return self._is_done

    @property
    def error(self) -> BaseException | None:
        """What went wrong, once the action has settled."""
        return self._error

    async def wait(self) -> None:
        """Wait until the action has settled, and raise what went wrong."""
        await self._event.wait()
        if self._error is not None:
            raise self._error

    def __await__(self) -> Generator[Any, None, None]:
        return self.wait().__await__()

    def settle(self, error: BaseException | None = None) -> None:
        """Tell that the action has settled; the first outcome stays.

        A cancellation is its task's own affair: whoever waits elsewhere hears that the runtime ended.
        """
        if not self._is_done:
            self._is_done = True
            if error is not None and not isinstance(error, Exception):
                error = RuntimeClosedError("The runtime was left before this had settled.")
            self._error = error
            self._event.set()

    @classmethod
    def done(cls, error: BaseException | None = None) -> Operation:
        """Return an action that has settled already."""
        operation = cls()
        operation.settle(error)
        return operation
