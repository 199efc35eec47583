"""Pages of the list, and single threads: fetched once for all who ask, and merged unless they are out of date."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from partwise.adapters import ThreadListAdapter, ThreadPage
from partwise.runtimes._operation import Operation
from partwise.runtimes._tasks import Tasks

from ._board import Board
from ._calls import Calls
from ._ledger import fetch_began, fetch_ended
from ._listing import Listing
from ._pages import checked_page, checked_thread, merged_fresh, merged_more, merged_thread

__all__ = ["Loading"]

Merge: TypeAlias = Callable[[Listing], Listing]


class Loading:
    """Fetches.

    Args:
        kept: Gives the ids of threads that stay in the list although the first page does not have them.
    """

    def __init__(
        self, board: Board, tasks: Tasks, adapter: ThreadListAdapter, calls: Calls, kept: Callable[[], frozenset[str]]
    ) -> None:
        self._board = board
        self._tasks = tasks
        self._adapter = adapter
        self._calls = calls
        self._kept = kept
        self._generation = 0
        self._first: Operation | None = None
        self._more: Operation | None = None
        self._fetches: dict[str, Operation] = {}

    def load(self) -> Operation:
        """Fetch the first page; asked again, it is the same page, unless that failed."""
        if self._first is None or self._first.error is not None:
            return self.reload()
        return self._first

    def reload(self) -> Operation:
        """Fetch the first page again; what is under way for an older one is not looked at."""
        self._generation += 1
        self._more = None
        operation = self._first = Operation()
        self._board.set(is_loading=True, is_loading_more=False)
        self._tasks.spawn(self._load, operation, self._generation)
        return operation

    def load_more(self) -> Operation:
        """Fetch the next page; without one, or while the first one is on its way, nothing happens."""
        cursor = self._board.ledger.base.cursor
        if self._more is not None:
            return self._more
        if cursor is None or self._board.state.is_loading:
            return Operation.done()
        operation = self._more = Operation()
        self._board.set(is_loading_more=True)
        self._tasks.spawn(self._load_more, operation, cursor, self._generation)
        return operation

    def fetch(self, id: str) -> Operation:
        """Fetch one thread into the list."""
        operation = self._fetches.get(id)
        if operation is None:
            operation = self._fetches[id] = Operation()
            self._tasks.spawn(self._fetch, id, operation)
        return operation

    async def _load(self, operation: Operation, generation: int) -> None:
        async def ask() -> Merge:
            page = await self._page(None, generation)
            return lambda listing: merged_fresh(listing, page, self._kept())

        def end() -> None:
            self._board.set(is_loading=False)

        await self._carry_out(operation, "list", None, ask, end, lambda: self._generation == generation)

    async def _load_more(self, operation: Operation, cursor: str, generation: int) -> None:
        async def ask() -> Merge:
            page = await self._page(cursor, generation)
            return lambda listing: merged_more(listing, page)

        def end() -> None:
            self._more = None
            self._board.set(is_loading_more=False)

        await self._carry_out(operation, "list", None, ask, end, lambda: self._generation == generation)

    async def _fetch(self, id: str, operation: Operation) -> None:
        async def ask() -> Merge:
            answer = await self._calls.ask("fetch", id, lambda: self._adapter.fetch(id))
            thread = checked_thread(answer, "fetch")
            return lambda listing: merged_thread(listing, thread)

        def end() -> None:
            self._fetches.pop(id, None)

        await self._carry_out(operation, "fetch", id, ask, end, lambda: True)

    async def _page(self, cursor: str | None, generation: int) -> ThreadPage:
        # The first page is asked for without an argument, as the shortest adapter has it.
        list_ = self._adapter.list
        answer = await self._calls.ask("list", None, list_ if cursor is None else lambda: list_(cursor))
        page, repeated = checked_page(answer)
        for id in repeated if self._generation == generation else ():
            self._board.report(f"a page holds thread {id!r} more than once; the first one counts")
        return page

    async def _carry_out(
        self,
        operation: Operation,
        name: str,
        id: str | None,
        ask: Callable[[], Awaitable[Merge]],
        end: Callable[[], None],
        is_wanted: Callable[[], bool],
    ) -> None:
        """Ask, merge what came and end, in one commit; what is not wanted any more changes nothing."""
        board = self._board
        ledger, fetch = fetch_began(board.ledger)
        board.write(ledger)
        merge: Merge | None = None
        error: Exception | None = None
        try:
            merge = await ask()
        except Exception as raised:
            error = raised
        except BaseException as raised:
            operation.settle(raised)
            raise
        with board.store.batch():
            board.write(fetch_ended(board.ledger, fetch, merge if is_wanted() else None))
            if is_wanted():
                end()
        if error is not None and is_wanted():
            board.tell_failed(name, id, error)
            operation.settle(error)
        operation.settle()
