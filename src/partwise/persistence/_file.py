"""One SQLite file, and the worker thread in which all its work is done."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from typing import Self, TypeVar

import anyio
import anyio.to_thread

from partwise.errors import HistoryError

from ._schema import open_database

__all__ = ["SqliteFile"]

T = TypeVar("T")


class SqliteFile:
    """A file of threads and their messages, which several histories and a thread list may share.

    It is opened at the first use, in a worker thread that does all its work, one call at a time in the
    order of the calls. A call that began is finished (or rolled back) also when its caller is cancelled.

    Args:
        path: The file; its folder is made when needed. ``":memory:"`` keeps nothing.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: str = os.path.expanduser(os.fspath(path))
        self.connection: sqlite3.Connection | None = None
        self._is_closed = False
        # A fair lock keeps the order of the calls; a limiter of its own keeps slow tools, which share
        # the default one, from holding up the file.
        self._turn = anyio.Lock()
        self._worker = anyio.CapacityLimiter(1)

    async def perform(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Have a function called with the connection, in the worker thread.

        Raises:
            HistoryError: The file cannot be opened, or was closed.
            Exception: Whatever the function raises.
        """
        outcome: list[T] = []
        with anyio.CancelScope(shield=True):
            async with self._turn:
                outcome.append(await anyio.to_thread.run_sync(self._in_thread, work, limiter=self._worker))
        return outcome[0]

    async def aclose(self) -> None:
        """Close the file, after all that was asked before; later calls raise ``HistoryError``."""
        with anyio.CancelScope(shield=True):
            async with self._turn:
                self._is_closed = True
                connection, self.connection = self.connection, None
                if connection is not None:
                    await anyio.to_thread.run_sync(connection.close, limiter=self._worker)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _in_thread(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._is_closed:
            raise HistoryError(operation="open", text=f"for {self.path!r} is closed")
        if self.connection is None:
            connection = open_database(self.path)
            connection.row_factory = sqlite3.Row
            self.connection = connection
        return work(self.connection)
