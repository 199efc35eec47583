"""Which thread is in view. Switching moves a pointer, once the runtime of the thread is open; the last request wins."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from partwise.errors import AdapterChangedError, ThreadNotFoundError
from partwise.runtimes._operation import Operation
from partwise.runtimes._tasks import Tasks

from ._board import Board
from ._changes import Began
from ._control import Control
from ._lives import Live, Lives

__all__ = ["Selection"]


@attrs.define(eq=False, kw_only=True)
class _Request:
    """A switch on its way.

    Attributes:
        by_owner: Whether it comes from whoever holds the selection, who needs not be told.
        refusal: Why it leads nowhere any more.
    """

    unarchive: bool = True
    by_owner: bool = False
    operation: Operation = attrs.field(factory=Operation)
    refusal: Exception | None = None


class Selection:
    """Moves the pointer.

    Args:
        control: Told of each thread that comes into view.
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
        control: Control,
        *,
        fetch: Callable[[str], Operation],
        unarchive: Callable[[str], object],
        on_moved: Callable[[], None],
    ) -> None:
        self._board = board
        self._tasks = tasks
        self._lives = lives
        self._control = control
        self._fetch = fetch
        self._unarchive = unarchive
        self._on_moved = on_moved
        self._uses = 0
        self._last = _Request(operation=Operation.done())
        self.wanted_id: str | None = None

    @property
    def main_id(self) -> str | None:
        """The thread in view."""
        return self._board.state.main_id

    def switch_to(self, id: str, *, unarchive: bool = True, by_owner: bool = False) -> Operation:
        """Bring a thread into view; an unknown one is fetched first."""
        record = self._board.listing.find(id)
        if self._board.former is not None and (record is None or record.id in self._board.former):
            return Operation.done(AdapterChangedError("switch_to", thread_id=id))
        request = self._last = _Request(unarchive=unarchive, by_owner=by_owner)
        if record is not None:
            self._go(record.id, request)
        else:
            self.wanted_id = id
            self._tasks.spawn(self._fetch_and_go, id, request)
        return request.operation

    def switch_to_new(self, *, besides: str | None = None, by_owner: bool = False) -> Operation:
        """Bring a new thread into view: the one that there is, or another one."""
        id = next((id for id in self._board.listing.new_ids if id != besides), None)
        if id is None:
            id = self._board.fresh_id()
            self._board.note(Began(id))
        return self.switch_to(id, by_owner=by_owner)

    def go_where_wanted(self) -> Operation:
        """Bring the thread into view that the holder of the selection asked for."""
        wanted = self._control.wanted
        if isinstance(wanted, str):
            return self.switch_to(wanted, by_owner=True)
        record = None if self.main_id is None else self._board.listing.find(self.main_id)
        if self.wanted_id == self.main_id and record is not None and record.remote_id is None:
            return Operation.done()
        return self.switch_to_new(by_owner=True)

    async def leave(self, id: str, *, by_owner: bool = False) -> None:
        """Make sure that a thread is neither in view nor about to be.

        Raises:
            Exception: A new thread had to be opened for that, and could not be.
        """
        while self.main_id == id:
            if self.wanted_id == id:
                await self.switch_to_new(besides=id, by_owner=by_owner)
            else:
                # Somebody is on the way elsewhere; if they do not get there, the next turn opens a new thread.
                try:
                    await self._last.operation
                except Exception:
                    self.wanted_id = self.main_id
        self.give_up(id)

    def give_up(self, id: str) -> None:
        """Stay where we are, if a switch to that thread is under way; whoever waits for it is told by its task."""
        if self.wanted_id == id != self.main_id:
            self._stay()

    def exchanged(self) -> None:
        """Refuse a switch that is under way, unless it leads to a new thread: it was meant for another adapter."""
        id = self.wanted_id
        if id is not None and id != self.main_id and id not in self._board.listing.new_ids:
            self._last.refusal = AdapterChangedError("switch_to", thread_id=id)
            self._stay()

    def lost(self, id: str) -> None:
        """Go on after the runtime of a thread has ended by itself."""
        if self.main_id == id:
            self.wanted_id = id
            self.switch_to_new(besides=id)

    def _stay(self) -> None:
        self._last = _Request(operation=Operation.done())
        self.wanted_id = self.main_id

    async def _fetch_and_go(self, id: str, request: _Request) -> None:
        try:
            await self._fetch(id)
            record = self._board.get(id)
        except Exception as error:
            self._failed(request)
            request.operation.settle(request.refusal or error)
            return
        except BaseException as error:
            request.operation.settle(error)
            raise
        if request is not self._last:
            request.operation.settle(request.refusal)
        else:
            self._go(record.id, request)

    def _go(self, id: str, request: _Request) -> None:
        self.wanted_id = id
        if request.unarchive and self._board.get(id).status == "archived":
            self._unarchive(id)
        live = self._lives.open(id)
        if live.thread is not None:
            self._arrive(live, request)
            request.operation.settle()
        else:
            self._tasks.spawn(self._wait_and_arrive, live, request)

    async def _wait_and_arrive(self, live: Live, request: _Request) -> None:
        try:
            await live.opened
        except Exception as error:
            is_gone = self._board.listing.find(live.id) is None
            self._failed(request)
            why = ThreadNotFoundError(live.id, where="this list any more") if is_gone else error
            request.operation.settle(request.refusal or why)
            return
        except BaseException as error:
            request.operation.settle(error)
            raise
        if request is self._last and self._lives.get(live.id) is live:
            self._arrive(live, request)
        else:
            self._failed(request)
        request.operation.settle(request.refusal)

    def _failed(self, request: _Request) -> None:
        if request is self._last:
            self.wanted_id = self.main_id

    def _arrive(self, live: Live, request: _Request) -> None:
        self._uses += 1
        live.used = self._uses
        has_moved = self.main_id != live.id
        with self._board.store.batch():
            self._board.set(main_id=live.id)
            self._board.set_facts(live.id, is_unread=False)
        if has_moved:
            self._on_moved()
        self._control.arrived(by_owner=request.by_owner)
