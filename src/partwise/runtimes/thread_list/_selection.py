"""Which thread is in view. Switching moves a pointer, once the runtime of the thread is open; the last request wins."""

from __future__ import annotations

from collections.abc import Callable

from partwise.errors import ThreadNotFoundError
from partwise.runtimes._operation import Operation
from partwise.runtimes._tasks import Tasks

from ._board import Board
from ._changes import Began
from ._lives import Live, Lives

__all__ = ["Selection"]


class Selection:
    """Moves the pointer.

    Args:
        fetch: Fetches an unknown thread into the list; asked twice, it is the same request.
        unarchive: Takes a thread back that was put away.
        on_moved: Called when another thread came into view.

    Attributes:
        wanted_id: Where the last request leads; the id in view when there is none under way.
    """

    def __init__(
        self,
        board: Board,
        tasks: Tasks,
        lives: Lives,
        *,
        fetch: Callable[[str], Operation],
        unarchive: Callable[[str], object],
        on_moved: Callable[[], None],
    ) -> None:
        self._board = board
        self._tasks = tasks
        self._lives = lives
        self._fetch = fetch
        self._unarchive = unarchive
        self._on_moved = on_moved
        self._request = 0
        self._uses = 0
        self._current = Operation.done()
        self.wanted_id: str | None = None

    @property
    def main_id(self) -> str | None:
        """The thread in view."""
        return self._board.state.main_id

    def switch_to(self, id: str, *, unarchive: bool = True) -> Operation:
        """Bring a thread into view; an unknown one is fetched first."""
        self._request += 1
        operation = self._current = Operation()
        record = self._board.listing.find(id)
        if record is not None:
            self._go(record.id, operation, unarchive=unarchive)
        else:
            self.wanted_id = id
            self._tasks.spawn(self._fetch_and_go, id, operation, self._request, unarchive)
        return operation

    def switch_to_new(self, *, besides: str | None = None) -> Operation:
        """Bring a new thread into view: the one that there is, or another one."""
        id = next((id for id in self._board.listing.new_ids if id != besides), None)
        if id is None:
            id = self._board.fresh_id()
            self._board.note(Began(id))
        return self.switch_to(id)

    async def leave(self, id: str) -> None:
        """Make sure that a thread is neither in view nor about to be.

        Raises:
            Exception: A new thread had to be opened for that, and could not be.
        """
        while self.main_id == id:
            if self.wanted_id == id:
                await self.switch_to_new(besides=id)
            else:
                # Somebody is on the way elsewhere; if they do not get there, the next turn opens a new thread.
                try:
                    await self._current
                except Exception:
                    self.wanted_id = self.main_id
        self.give_up(id)

    def give_up(self, id: str) -> None:
        """Stay where we are, if a switch to that thread is under way; whoever waits for it is told by its task."""
        if self.wanted_id == id != self.main_id:
            self._request += 1
            self.wanted_id = self.main_id

    def lost(self, id: str) -> None:
        """Go on after the runtime of a thread has ended by itself."""
        if self.main_id == id:
            self.wanted_id = id
            self.switch_to_new(besides=id)

    async def _fetch_and_go(self, id: str, operation: Operation, request: int, unarchive: bool) -> None:
        try:
            await self._fetch(id)
            record = self._board.get(id)
        except Exception as error:
            self._failed(request)
            operation.settle(error)
            return
        except BaseException as error:
            operation.settle(error)
            raise
        if request != self._request:
            operation.settle()
        else:
            self._go(record.id, operation, unarchive=unarchive)

    def _go(self, id: str, operation: Operation, *, unarchive: bool) -> None:
        self.wanted_id = id
        if unarchive and self._board.get(id).status == "archived":
            self._unarchive(id)
        live = self._lives.open(id)
        if live.thread is not None:
            self._arrive(live)
            operation.settle()
        else:
            self._tasks.spawn(self._wait_and_arrive, live, operation, self._request)

    async def _wait_and_arrive(self, live: Live, operation: Operation, request: int) -> None:
        try:
            await live.opened
        except Exception as error:
            is_gone = self._board.listing.find(live.id) is None
            self._failed(request)
            operation.settle(ThreadNotFoundError(live.id, where="this list any more") if is_gone else error)
            return
        except BaseException as error:
            operation.settle(error)
            raise
        if request == self._request and self._lives.get(live.id) is live:
            self._arrive(live)
        else:
            self._failed(request)
        operation.settle()

    def _failed(self, request: int) -> None:
        if request == self._request:
            self.wanted_id = self.main_id

    def _arrive(self, live: Live) -> None:
        self._uses += 1
        live.used = self._uses
        has_moved = self.main_id != live.id
        with self._board.store.batch():
            self._board.set(main_id=live.id)
            self._board.set_facts(live.id, is_unread=False)
        if has_moved:
            self._on_moved()
