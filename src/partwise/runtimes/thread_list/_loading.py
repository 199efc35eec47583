"""Pages of the list, and single threads: fetched once for all who ask, and merged unless they are out of date."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from partwise.adapters import ThreadPage
from partwise.errors import AdapterChangedError
from partwise.runtimes._operation import Operation
from partwise.runtimes._tasks import Tasks

from ._board import Board
from ._calls import Calls, Source
from ._ledger import fetch_began, fetch_ended
from ._listing import Listing
from ._pages import checked_page, checked_thread, merged_fresh, merged_more, merged_thread

__all__ = ["Loading"]

Merge: TypeAlias = Callable[[Listing], Listing]


class End(Protocol):
    """Tells that a fetch has ended, and whether something came of it."""

    def __call__(self, *, is_merged: bool) -> None:
        """End."""
        ...


class Loading:
    """Fetches.

    Args:
        kept: Gives the ids of threads that stay in the list although the first page does not have them.
        make_room: Awaited before the first page of another adapter takes the place of the list.
        on_replaced: Called after that.
    """

    def __init__(
        self,
        board: Board,
        tasks: Tasks,
        source: Source,
        *,
        kept: Callable[[], frozenset[str]],
        make_room: Callable[[ThreadPage], Awaitable[None]],
        on_replaced: Callable[[], None],
    ) -> None:
        self._board = board
        self._tasks = tasks
        self._source = source
        self._kept = kept
        self._make_room = make_room
        self._on_replaced = on_replaced
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
        self._tasks.spawn(self._load, operation, self._source.calls, self._generation)
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
        self._tasks.spawn(self._load_more, operation, self._source.calls, cursor, self._generation)
        return operation

    def fetch(self, id: str) -> Operation:
        """Fetch one thread into the list."""
        operation = self._fetches.get(id)
        if operation is None:
            operation = self._fetches[id] = Operation()
            self._tasks.spawn(self._fetch, id, operation, self._source.calls)
        return operation

    def exchanged(self) -> Operation:
        """Begin anew with another adapter; what is under way for the one before is not looked at."""
        self._fetches = {}
        return self.reload()

    async def _load(self, operation: Operation, calls: Calls, generation: int) -> None:
        is_replacing = self._board.former is not None

        async def ask() -> Merge:
            page = await self._page(calls, None, generation)
            if is_replacing and self._generation == generation:
                await self._make_room(page)
            return lambda listing: merged_fresh(listing, page, self._kept())

        def end(*, is_merged: bool) -> None:
            self._board.set(is_loading=False)
            if is_merged:
                self._board.former = None

        await self._carry_out(operation, "list", None, ask, end, lambda: self._generation == generation)
        if is_replacing and operation.error is None and self._generation == generation:
            self._on_replaced()

    async def _load_more(self, operation: Operation, calls: Calls, cursor: str, generation: int) -> None:
        async def ask() -> Merge:
            page = await self._page(calls, cursor, generation)
            return lambda listing: merged_more(listing, page)

        def end(*, is_merged: bool) -> None:
            del is_merged
            self._more = None
            self._board.set(is_loading_more=False)

        await self._carry_out(operation, "list", None, ask, end, lambda: self._generation == generation)

    async def _fetch(self, id: str, operation: Operation, calls: Calls) -> None:
        async def ask() -> Merge:
            answer = await calls.ask("fetch", id, lambda: calls.adapter.fetch(id))
            thread = checked_thread(answer, "fetch")
            return lambda listing: merged_thread(listing, thread)

        def end(*, is_merged: bool) -> None:
            del is_merged
            self._fetches.pop(id, None)

        await self._carry_out(operation, "fetch", id, ask, end, lambda: not calls.is_over)

    async def _page(self, calls: Calls, cursor: str | None, generation: int) -> ThreadPage:
        # The first page is asked for without an argument, as the shortest adapter has it.
        list_ = calls.adapter.list
        answer = await calls.ask("list", None, list_ if cursor is None else lambda: list_(cursor))
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
        end: End,
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
                end(is_merged=merge is not None)
        if error is not None and is_wanted():
            board.tell_failed(name, id, error)
            operation.settle(error)
        operation.settle(error if isinstance(error, AdapterChangedError) else None)
