"""The thread list runtime: many conversations, any number of them open, one in view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar, cast

import anyio
import reactivex
from reactivex import Observable
from reactivex import operators as ops

from partwise.adapters import ThreadListAdapter, ThreadPage
from partwise.errors import RuntimeClosedError, ThreadNotOpenError
from partwise.messages import MISSING, Missing, is_blank
from partwise.reactive import ErrorHook, Events, Slice, attr, key, log_error
from partwise.runtimes._lifetime import Lifetime
from partwise.runtimes._operation import Operation
from partwise.runtimes._tasks import Tasks
from partwise.runtimes._thread import Thread
from partwise.store import ThreadListEvent, ThreadListState, ThreadRow, ThreadState

from ._actions import Actions
from ._board import Board
from ._calls import Source
from ._changes import Began
from ._control import Control
from ._item import OpenThread, ThreadItem
from ._ledger import exchanged
from ._lives import Lives
from ._loading import Loading
from ._mutations import Mutations
from ._placeholder import Placeholder
from ._selection import Selection
from ._titling import arm_title

__all__ = ["ThreadListRuntime", "is_idle"]

T = TypeVar("T")

_ABILITIES = ("update_custom", "generate_title")


class ThreadListRuntime:
    """Owns a list of threads and the runtimes of those that are open; used with ``async with``.

    Inside the block a thread is always in view: ``main``. Threads that are not in view stay open, with
    their runs, drafts and queues; what belongs to a thread never moves to another one. Changes are shown
    at once, are confirmed by the adapter later, and are taken back alone if it fails.

    Leaving the block closes every thread as its own runtime does, and waits for what the adapter is doing.

    Args:
        open_thread: Called with a ``ThreadItem``, makes the runtime of a thread: any runtime, or an async
            context manager that gives one after opening what the thread needs.
        adapter: Where the list is kept.
        start_id: The thread to begin with, fetched from the adapter; None begins with a new one.
        new_id: The id of the first new thread, when there is no ``start_id``.
        controlled_id: The thread to begin with, when somebody else holds the selection, such as the address of a
            page; None for a new one. It comes before ``start_id``; ``control`` tells of another one.
        on_selected: Told the ``remote_id`` of the thread in view when it becomes another one, and when a new thread
            gets one; None for a new thread. It is not told what ``start_id``, ``controlled_id`` and ``control`` say.
        keep_alive: How many idle threads stay open besides the one in view, counted when another comes
            into view; None: all. Those that run, load, or hold something unsent are never closed by this.
            Messages that no history keeps are lost when their thread is closed.
        adapter_timeout: Seconds that the adapter has for each answer.
        exit_timeout: Seconds that unanswered calls have when the block is left.
        on_error: Told of listeners and selectors that raise; they are logged if it is not given.
    """

    def __init__(
        self,
        open_thread: OpenThread,
        adapter: ThreadListAdapter,
        *,
        start_id: str | None = None,
        new_id: str | None = None,
        controlled_id: str | Missing | None = MISSING,
        on_selected: Callable[[str | None], None] | None = None,
        keep_alive: int | None = None,
        adapter_timeout: float = 30.0,
        exit_timeout: float = 5.0,
        on_error: ErrorHook = log_error,
    ) -> None:
        self._start_id = start_id if controlled_id is MISSING else controlled_id
        self._new_id = new_id
        self._keep_alive = keep_alive
        self._exit_timeout = exit_timeout
        self._is_leaving = False
        self._tasks = Tasks()
        self._lifetime = Lifetime(self._tasks, self._finish, self._close)
        self._board = board = Board(on_error=on_error)
        self._on_error = on_error
        self._placeholder: Placeholder | None = None
        self._told: Events[str | None] = Events(on_error=on_error)
        if on_selected is not None:
            self._told.subscribe(on_selected)
        self._control = Control(board, self._told, wanted=controlled_id, believed=self._start_id)
        self._source = Source(adapter, adapter_timeout)
        self._mutations = Mutations(board, self._tasks, self._source, self._on_initialized)
        self._lives = Lives(
            board,
            self._tasks,
            open_thread,
            self._describe,
            on_first_message=self._on_first_message,
            on_lost=self._on_lost,
        )
        self._loading = Loading(
            board,
            self._tasks,
            self._source,
            kept=self._kept,
            make_room=self._make_room,
            on_replaced=self._on_replaced,
        )
        self._selection = Selection(
            board,
            self._tasks,
            self._lives,
            self._control,
            fetch=self._loading.fetch,
            unarchive=self._unarchive,
            on_moved=self._trim,
        )
        self._actions = Actions(board, self._tasks, self._lives, self._mutations, self._selection)
        board.set(capabilities=_abilities(adapter))
        board.on_written = self._on_written

    # What is shown

    @property
    def state(self) -> ThreadListState:
        """The present snapshot of the list."""
        return self._board.state

    @property
    def events(self) -> Events[ThreadListEvent]:
        """What happens beside the snapshot: what failed, and what the adapter said that cannot be used."""
        return self._board.events

    def select(self, selector: Callable[[ThreadListState], T]) -> Slice[T]:
        """Return what a function of the list's snapshot gives, as a slice that emits only changes."""
        return self._board.store.select(selector)

    def row(self, id: str) -> Slice[ThreadRow]:
        """Return the slice of one row, by its id; it completes when the thread leaves the list."""
        return cast("Slice[ThreadRow]", self._board.store.at(attr("rows"), key(id)))

    @property
    def main(self) -> Thread:
        """The thread in view; while it restarts, an empty thread that is loading and takes nothing.

        Raises:
            RuntimeClosedError: The list was not entered yet.
        """
        main_id = self.state.main_id
        if main_id is None:
            text = "No thread is in view yet. Enter the list with 'async with' first."
            raise RuntimeClosedError(text)
        thread = self._lives.thread(main_id)
        if thread is not None:
            self._placeholder = None
            return thread
        if self._placeholder is None:
            self._placeholder = Placeholder(main_id, on_error=self._on_error)
        return self._placeholder

    def thread(self, id: str) -> Thread:
        """Return an open thread, in view or not.

        Raises:
            ThreadNotFoundError: There is no such thread.
            ThreadNotOpenError: It is not open; ``open`` or ``switch_to`` it first.
        """
        record = self._board.get(id)
        thread = self._lives.thread(record.id)
        if thread is None:
            raise ThreadNotOpenError(record.id, "open it, or switch to it, and await that first")
        return thread

    def follow(self, function: Callable[[Thread], Observable[T]]) -> Observable[T]:
        """Return what a function makes of the thread in view, and of the next one after each switch or restart.

        For example ``threads.follow(lambda thread: thread.events)``, or a slice of its messages. A list that
        changes otherwise gives nothing.
        """

        def which(state: ThreadListState) -> tuple[str | None, bool]:
            row = None if state.main_id is None else state.rows.get(state.main_id)
            return state.main_id, row is not None and row.is_live

        def of(where: tuple[str | None, bool]) -> Observable[T]:
            main_id, is_live = where
            thread = None if main_id is None or not is_live else self._lives.thread(main_id)
            return reactivex.never() if thread is None else function(thread)

        return self.select(which).pipe(ops.map(of), ops.switch_latest())

    # The list

    def load(self) -> Operation:
        """Fetch the first page; asked again, it is the same page, unless that failed.

        Returns:
            An operation that raises ``ThreadListError`` when the adapter failed; the list is as before.
        """
        self._check_open()
        return self._loading.load()

    def reload(self) -> Operation:
        """Fetch the first page again, in the place of all pages; threads that are open stay listed."""
        self._check_open()
        return self._loading.reload()

    def load_more(self) -> Operation:
        """Fetch the next page; without one, or while the first one is on its way, nothing happens."""
        self._check_open()
        return self._loading.load_more()

    def exchange(self, adapter: ThreadListAdapter, open_thread: OpenThread | None = None) -> Operation:
        """Keep the list somewhere else from now on, for example after a reconnect or for another user, and load it.

        What was asked of the adapter before and is not answered fails with ``AdapterChangedError``; so does what is
        asked of its threads until the list is loaded. Then threads that the first page has under the same id stay
        as they are, with their runtimes; new ones stay, and those that were made meanwhile; all others go, and
        their runtimes are closed.

        Args:
            adapter: The list; the one that is in use already changes nothing.
            open_thread: Makes the runtimes that are opened from now on; None: as before.

        Returns:
            The load. If it fails the list stays as it was, and ``load`` tries again.
        """
        self._check_open()
        self._lives.make = open_thread or self._lives.make
        if adapter is self._source.calls.adapter:
            return self._loading.load()
        with self._board.store.batch():
            ledger = exchanged(self._board.ledger)
            self._board.former = frozenset((*ledger.base.regular_ids, *ledger.base.archived_ids))
            self._source.exchange(adapter)
            self._mutations.exchanged()
            self._board.write(ledger)
            self._board.set(capabilities=_abilities(adapter))
            self._selection.exchanged()
            return self._loading.exchanged()

    # Which thread

    def switch_to(self, id: str, *, unarchive: bool = True) -> Operation:
        """Bring a thread into view once its runtime is open, at once if it is; the last request wins.

        Args:
            id: The thread, by either id; an unknown one is fetched.
            unarchive: Whether a thread that was put away is taken back.

        Returns:
            An operation that settles when the thread is in view, or another request came. It raises
            ``ThreadNotFoundError``, ``ThreadListError`` or ``ThreadNotOpenError``; then the view stays.
        """
        self._check_open()
        return self._selection.switch_to(id, unarchive=unarchive)

    def switch_to_new(self) -> Operation:
        """Bring a new thread into view; one that has no message yet is used again."""
        self._check_open()
        return self._selection.switch_to_new()

    def control(self, id: str | None) -> Operation:
        """Bring the thread into view that the holder of the selection asks for; ``on_selected`` is not told of it.

        Args:
            id: The thread, by either id, None for a new one; what was asked for last changes nothing.

        Returns:
            As ``switch_to``; while the list is not loaded from another adapter, its load, after which the view moves.
        """
        self._check_open()
        if not self._control.want(id):
            return Operation.done()
        return self._selection.go_where_wanted() if self._board.former is None else self._loading.load()

    def restart(self, id: str) -> Operation:
        """Close the runtime of a thread and open another one, which begins with what was typed; it stays in view.

        Raises:
            ThreadNotFoundError: There is no such thread.
            AdapterChangedError: It is one of an adapter that was exchanged.
        """
        self._check_open()
        return self._actions.restart(id)

    def reload_main(self) -> Operation:
        """Show the thread in view anew: its messages are asked for again where that can be done, else it restarts.

        A new thread has nothing to reload. What goes wrong after another thread came into view is nobody's concern.
        """
        self._check_open()
        main_id = self.state.main_id
        return Operation.done() if main_id is None else self._actions.reload(main_id)

    def open(self, id: str) -> Operation:
        """Open a thread in the background.

        Raises:
            ThreadNotFoundError: There is no such thread in the list.
            AdapterChangedError: It is one of an adapter that was exchanged.
        """
        self._check_open()
        self._board.check_current("open", self._board.get(id).id)
        return self._lives.open(self._board.get(id).id).opened

    def close(self, id: str) -> Operation:
        """Close the runtime of a thread, which stays listed; one in view makes room for a new thread first.

        Returns:
            An operation that settles when what ran there has ended and is stored.

        Raises:
            ThreadNotFoundError: There is no such thread.
        """
        self._check_open()
        return self._actions.close(id)

    # What is done to threads

    def initialize(self, id: str) -> Operation | None:
        """Make a thread where threads are kept, before its first message; None when that has been done.

        Raises:
            ThreadNotFoundError: There is no such thread.
        """
        self._check_open()
        return self._mutations.initialize(id)

    def rename(self, id: str, title: str) -> Operation:
        """Give a thread another title.

        Raises:
            ThreadNotFoundError: There is no such thread.
            NotAllowedError: It has no message yet (code ``"thread-status"``).
        """
        self._check_open()
        return self._actions.rename(id, title)

    def update_custom(self, id: str, custom: Mapping[str, Any]) -> Operation:
        """Replace the application's values of a thread.

        Raises:
            ThreadNotFoundError: There is no such thread.
            NotAllowedError: It has no message yet (code ``"thread-status"``).
            UnsupportedError: The adapter does not keep such values.
        """
        self._check_open()
        return self._actions.update_custom(id, custom)

    def archive(self, id: str) -> Operation:
        """Put a thread away; one in view makes room for a new thread first.

        Raises:
            ThreadNotFoundError: There is no such thread.
            NotAllowedError: It is not a regular one (code ``"thread-status"``).
        """
        self._check_open()
        return self._actions.archive(id)

    def unarchive(self, id: str) -> Operation:
        """Take a thread back.

        Raises:
            ThreadNotFoundError: There is no such thread.
            NotAllowedError: It was not put away (code ``"thread-status"``).
        """
        self._check_open()
        return self._actions.unarchive(id)

    def delete(self, id: str) -> Operation:
        """Delete a thread for good, after closing it; one in view makes room for a new thread first.

        If the adapter fails, the thread is listed again, closed.

        Raises:
            ThreadNotFoundError: There is no such thread.
        """
        self._check_open()
        return self._actions.delete(id)

    def generate_title(self, id: str) -> Operation:
        """Have the adapter make up a title out of what was said so far; a thread that is not open stays as it is.

        Raises:
            ThreadNotFoundError: There is no such thread.
            NotAllowedError: It has no message yet (code ``"thread-status"``).
            UnsupportedError: The adapter does not make titles.
        """
        self._check_open()
        return self._actions.generate_title(id)

    def set_unread(self, id: str, is_unread: bool) -> None:
        """Mark a thread as read or unread; one in view becomes read when it comes into view.

        Raises:
            ThreadNotFoundError: There is no such thread.
        """
        self._board.set_facts(self._board.get(id).id, is_unread=is_unread)

    # From entering to leaving

    async def __aenter__(self) -> Self:
        """Open the first thread.

        Raises:
            RuntimeClosedError: It was entered before.
            ThreadNotFoundError: There is no thread ``start_id``.
            ThreadListError: The adapter failed.
            ThreadNotOpenError: The runtime of the first thread could not be opened.
        """
        await self._lifetime.enter()
        try:
            if self._start_id is not None:
                await self._selection.switch_to(self._start_id, by_owner=True)
            else:
                self._board.note(Began(self._board.fresh_id() if self._new_id is None else self._new_id))
                await self._selection.switch_to_new(by_owner=True)
        except BaseException as error:
            await self._lifetime.leave(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        """Close every thread, wait for the adapter, and complete every slice."""
        return await self._lifetime.leave(kind, error, traceback)

    async def _finish(self) -> None:
        self._is_leaving = True
        await self._lives.close_all()
        with anyio.move_on_after(self._exit_timeout, shield=True):
            await self._source.calls.wait_idle()

    def _close(self) -> None:
        self._board.store.close()
        self._board.events.close()
        self._told.close()

    def _check_open(self) -> None:
        self._tasks.check_open()
        self._board.store.check_writer()

    # What the pieces tell each other

    def _describe(self, id: str) -> ThreadItem:
        def remote_id() -> str | None:
            record = self._board.listing.find(id)
            return None if record is None else record.remote_id

        return ThreadItem(id, lambda: self._mutations.initialize(id), remote_id)

    def _unarchive(self, id: str) -> Operation:
        return self._actions.unarchive(id)

    def _on_first_message(self, id: str) -> None:
        record = self._board.listing.find(id)
        if record is not None and record.status == "new":
            self._mutations.initialize(id)

    def _on_initialized(self, id: str) -> None:
        if not self._is_leaving:
            arm_title(id, self._board, self._lives, self._actions.generate_title)

    def _on_lost(self, id: str) -> None:
        if not self._is_leaving:
            self._selection.lost(id)

    async def _make_room(self, page: ThreadPage) -> None:
        """Leave a thread that another adapter does not have, before the list is replaced."""
        main = self._board.get(self.state.main_id or "")
        former = self._board.former or frozenset()
        if main.id in former and main.remote_id not in {thread.id for thread in page.threads}:
            await self._selection.leave(main.id, by_owner=self._control.is_held)

    def _on_replaced(self) -> None:
        if self._control.is_held and not self._is_leaving:
            self._selection.go_where_wanted()

    def _kept(self) -> frozenset[str]:
        if self._board.former is not None:
            return frozenset(self._board.listing.ids) - self._board.former
        changed = (entry.change.id for entry in self._board.ledger.entries)
        return frozenset((*(live.id for live in self._lives.all), *changed))

    def _on_written(self) -> None:
        self._close_strays()
        self._control.look()

    def _close_strays(self) -> None:
        """Close threads that are not in the list any more, such as the twin of one that was listed twice."""
        for live in self._lives.all:
            if live.id not in self._board.listing.records:
                self._lives.close(live.id)
        records, main_id = self._board.listing.records, self.state.main_id
        if self._selection.wanted_id in records or main_id not in records:
            return
        self._selection.wanted_id = main_id
        if main_id is not None and not self._is_leaving:
            self._lives.open(main_id)

    def _trim(self) -> None:
        """Close the idle threads that were in view the longest ago, beyond those that are to stay open."""
        if self._keep_alive is None or self._is_leaving:
            return
        spared = {self.state.main_id, self._selection.wanted_id}
        idle = [
            live
            for live in self._lives.all
            if live.id not in spared and live.thread is not None and is_idle(live.thread.state)
        ]
        for live in sorted(idle, key=lambda live: live.used)[: max(0, len(idle) - self._keep_alive)]:
            self._lives.close(live.id)


def _abilities(adapter: ThreadListAdapter) -> frozenset[str]:
    return frozenset(name for name in _ABILITIES if hasattr(adapter, name))


def is_idle(state: ThreadState) -> bool:
    """Tell whether closing a thread would interrupt nothing and lose nothing that was typed."""
    composer = state.composer
    is_typed = not is_blank(composer.text) or composer.attachments or composer.quote is not None or state.edits
    return not (state.is_running or state.is_loading or is_typed or state.queue or state.steer_queue)
