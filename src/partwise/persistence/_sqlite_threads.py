"""The list of the threads of an SQLite file."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from typing import Any, Self, TypeVar

from partwise.adapters import StoredThread, ThreadIds, ThreadPage, TitleFunction
from partwise.errors import HistoryError, ThreadListError, ThreadNotFoundError, WireError
from partwise.messages import Message

from ._file import SqliteFile
from ._problems import HistoryProblem, ReportProblem, log_problem
from ._sqlite import SqliteHistory
from ._thread_table import add_thread, change_thread, custom_text, delete_thread, read_page, read_thread
from ._titles import title_pieces

__all__ = ["SqliteThreadList"]

T = TypeVar("T")
logger = logging.getLogger("partwise.persistence")


class SqliteThreadList:
    """Keeps the list of threads in the file in which ``SqliteHistory`` keeps their messages.

    Args:
        path: The file, or a ``SqliteFile`` that is shared with others and closed by whoever made it.
        title: Makes a title out of messages when the list is asked for one, for example ``simple_title``.
        page_size: How many threads a page has at most.
        report: Is told, on the event loop, what could not be used as it was; the default logs it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | SqliteFile,
        *,
        title: TitleFunction | None = None,
        page_size: int = 50,
        report: ReportProblem = log_problem,
    ) -> None:
        self._owns_file = not isinstance(path, SqliteFile)
        self._file = path if isinstance(path, SqliteFile) else SqliteFile(path)
        self.path: str = self._file.path
        self._title = title
        self._page_size = page_size
        self._report = report
        self._reported: set[HistoryProblem] = set()

    def history(self, thread_id: str) -> SqliteHistory:
        """Return the history of one thread of the file; it is usable until the list is closed."""
        return SqliteHistory(self._file, thread_id, report=self._tell_one)

    async def list(self, cursor: str | None = None, /) -> ThreadPage:
        """Return a page of threads, the one with the newest message first.

        Raises:
            ThreadListError: The file cannot be read, or the cursor is none.
        """
        size = self._page_size
        page, problems = await self._perform("list", None, lambda connection: read_page(connection, cursor, size))
        self._tell(problems)
        return page

    async def fetch(self, thread_id: str, /) -> StoredThread:
        """Return one thread.

        Raises:
            ThreadNotFoundError: There is none.
            ThreadListError: The file cannot be read.
        """
        thread, problems = await self._perform(
            "fetch", thread_id, lambda connection: read_thread(connection, thread_id)
        )
        self._tell(problems)
        return thread

    async def initialize(self, local_id: str, /) -> ThreadIds:
        """Make a thread; it is kept under the id that it has already."""
        await self._perform("initialize", local_id, lambda connection: add_thread(connection, local_id))
        return ThreadIds(id=local_id)

    async def rename(self, thread_id: str, title: str, /) -> None:
        """Give a thread a title."""
        await self._change("rename", thread_id, "title", title)

    async def archive(self, thread_id: str, /) -> None:
        """Put a thread away."""
        await self._change("archive", thread_id, "status", "archived")

    async def unarchive(self, thread_id: str, /) -> None:
        """Take a thread back."""
        await self._change("unarchive", thread_id, "status", "regular")

    async def delete(self, thread_id: str, /) -> None:
        """Delete a thread and its messages."""
        await self._perform("delete", thread_id, lambda connection: delete_thread(connection, thread_id))

    async def update_custom(self, thread_id: str, custom: Mapping[str, Any], /) -> None:
        """Replace the custom values of a thread; they must be JSON."""
        operation = "update_custom"
        try:
            text = custom_text(custom)
        except (TypeError, ValueError, RecursionError) as error:
            why = f"cannot store the custom values of thread {thread_id!r}: they are no JSON: {error}"
            raise ThreadListError(operation, why, thread_id=thread_id) from error
        await self._change(operation, thread_id, "custom", text)

    async def generate_title(self, thread_id: str, messages: tuple[Message, ...], /) -> AsyncGenerator[str, None]:
        """Yield a title in pieces, and store it when it is whole; yield nothing without a title function."""
        whole = ""
        async for piece in title_pieces(self._title, messages):
            whole += piece
            yield piece
        if whole:
            await self.rename(thread_id, whole)

    async def aclose(self) -> None:
        """Close the file, unless it is shared, after all that was asked before."""
        if self._owns_file:
            await self._file.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _change(self, operation: str, thread_id: str, column: str, value: str) -> None:
        await self._perform(
            operation, thread_id, lambda connection: change_thread(connection, thread_id, column, value)
        )

    async def _perform(self, operation: str, thread_id: str | None, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await self._file.perform(work)
        except ThreadNotFoundError:
            raise
        except (HistoryError, WireError, sqlite3.Error, OSError, ValueError) as error:
            which = "" if thread_id is None else f" thread {thread_id!r}"
            text = f"could not {operation}{which} in {self.path!r}: {error}"
            raise ThreadListError(operation, text, thread_id=thread_id) from error

    def _tell(self, problems: Iterable[HistoryProblem]) -> None:
        for problem in problems:
            if problem not in self._reported:
                self._tell_one(problem)

    def _tell_one(self, problem: HistoryProblem) -> None:
        self._reported.add(problem)
        try:
            self._report(problem)
        except Exception:
            logger.exception("The report hook of a thread list raised; the problem was: %s", problem)
