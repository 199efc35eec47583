"""A history in an SQLite file."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Iterable
from typing import Self, TypeVar

from partwise.adapters import HistoryItem, LoadedHistory
from partwise.errors import HistoryError

from ._file import SqliteFile
from ._problems import HistoryProblem, ReportProblem, log_problem
from ._table import ThreadTable

__all__ = ["SqliteHistory"]

T = TypeVar("T")
logger = logging.getLogger("partwise.persistence")


class SqliteHistory:
    """The messages of one thread in an SQLite file; several threads may share a file.

    All work is done in a worker thread, see ``SqliteFile``. What was written is safe from a killed
    process; see the notes on opening for power cuts.

    Loading gives everything that can be read. A row that cannot (broken JSON, a kind of part that this
    version does not know, a later format) is reported once, stays in the file, and its children come
    under its nearest readable ancestor. An answer that was stored while it was running is loaded as
    incomplete, reason "other"; one that waits for a human keeps waiting.

    The branch that was shown is remembered: by ``set_head`` where the caller tells it, otherwise it is
    the one that was written to last.

    Args:
        path: The file; its folder is made when needed. ``":memory:"`` keeps nothing. A ``SqliteFile`` is
            shared with others, and closed by whoever made it.
        thread_id: Which thread of the file.
        report: Is told, on the event loop, what could not be used as it was; the default logs it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | SqliteFile,
        thread_id: str = "default",
        *,
        report: ReportProblem = log_problem,
    ) -> None:
        self._owns_file = not isinstance(path, SqliteFile)
        self._file = path if isinstance(path, SqliteFile) else SqliteFile(path)
        self.path: str = self._file.path
        self.thread_id = thread_id
        self._report = report
        self._reported: set[HistoryProblem] = set()
        self._table = ThreadTable(thread_id)

    async def load(self) -> LoadedHistory | None:
        """Return everything readable of the thread, or None when nothing is.

        Raises:
            HistoryError: The file cannot be opened or read; its path is in the text.
        """
        loaded, problems = await self._perform("load", self._table.load)
        self._tell(problems)
        return loaded

    async def append(self, item: HistoryItem, /) -> None:
        """Store a message; one that is stored already is replaced in its place.

        Raises:
            HistoryError: It was not written.
        """
        await self._store("append", item)

    async def update(self, item: HistoryItem, /) -> None:
        """Store a message again; one that is not stored yet is added.

        Raises:
            HistoryError: It was not written.
        """
        await self._store("update", item)

    async def delete(self, items: tuple[HistoryItem, ...], /) -> None:
        """Delete messages, all or none; the children of each come under the parent that its item names.

        Raises:
            HistoryError: Nothing was deleted.
        """
        message_id = items[0].message.id if items else None
        await self._perform("delete", lambda connection: self._table.delete(connection, items), message_id)

    async def set_head(self, message_id: str | None, /) -> None:
        """Remember the end of the branch that is shown.

        A message that is not stored yet becomes the head when it is; until then the old head stands,
        so that an answer lost in flight does not lose the branch.

        Raises:
            HistoryError: It was not written.
        """
        await self._perform("set_head", lambda connection: self._table.set_head(connection, message_id), message_id)

    async def aclose(self) -> None:
        """Close the file, unless it is shared, after all that was asked before; then calls raise HistoryError."""
        if self._owns_file:
            await self._file.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _store(self, operation: str, item: HistoryItem) -> None:
        self._tell(
            await self._perform(operation, lambda connection: self._table.put(connection, item), item.message.id)
        )

    async def _perform(
        self, operation: str, work: Callable[[sqlite3.Connection], T], message_id: str | None = None
    ) -> T:
        try:
            return await self._file.perform(work)
        except HistoryError:
            raise
        except (sqlite3.Error, OSError, ValueError, TypeError, RecursionError) as error:
            text = f"could not {operation} in {self.path!r}: {error}"
            raise HistoryError(operation, text, message_id=message_id) from error

    def _tell(self, problems: Iterable[HistoryProblem]) -> None:
        for problem in problems:
            if problem in self._reported:
                continue
            self._reported.add(problem)
            try:
                self._report(problem)
            except Exception:
                logger.exception("The report hook of a history raised; the problem was: %s", problem)
