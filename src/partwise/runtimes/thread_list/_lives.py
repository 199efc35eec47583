"""The runtimes of the threads that are open: each in a task of its own, as many as there are."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import anyio
import attrs
from reactivex import abc

from partwise.errors import ThreadNotOpenError, UnsupportedError
from partwise.runtimes._operation import Operation
from partwise.runtimes._tasks import Tasks
from partwise.runtimes._thread import Thread
from partwise.store import ComposerState, ThreadEvent

from ._board import Board
from ._item import OpenThread, ThreadItem

__all__ = ["Live", "Lives"]


@attrs.define(eq=False)
class Live:
    """One open thread.

    Attributes:
        before: The end of the runtime that the thread had before; this one waits for it.
        thread: None until the runtime is open.
        used: Grows with each time that the thread comes into view.
        draft: What was typed in the runtime before.
        opening: Cancelled when the thread is closed before it is open.
    """

    item: ThreadItem
    before: anyio.Event | None
    thread: Thread | None = None
    used: int = 0
    draft: ComposerState | None = None
    opened: Operation = attrs.field(factory=Operation)
    leaving: anyio.Event = attrs.field(factory=anyio.Event)
    opening: anyio.CancelScope = attrs.field(factory=anyio.CancelScope)
    closed: anyio.Event = attrs.field(factory=anyio.Event)
    watching: list[abc.DisposableBase] = attrs.field(factory=list[abc.DisposableBase])

    @property
    def id(self) -> str:
        """The thread."""
        return self.item.id


class Lives:
    """Opens and closes the runtimes of threads.

    Args:
        make: Makes the runtime of a thread; another function may take its place later.
        describe: Makes what that is told.
        on_first_message: Told the id of a thread that is about to get a message.
        on_lost: Told the id of a thread whose runtime ended by itself.
    """

    def __init__(
        self,
        board: Board,
        tasks: Tasks,
        make: OpenThread,
        describe: Callable[[str], ThreadItem],
        *,
        on_first_message: Callable[[str], None],
        on_lost: Callable[[str], None],
    ) -> None:
        self._board = board
        self._tasks = tasks
        self.make = make
        self._describe = describe
        self._on_first_message = on_first_message
        self._on_lost = on_lost
        self._by_id: dict[str, Live] = {}
        self._closing: dict[str, Live] = {}

    @property
    def all(self) -> tuple[Live, ...]:
        """The threads that are open, or about to be."""
        return tuple(self._by_id.values())

    def get(self, id: str) -> Live | None:
        """Return an open thread."""
        return self._by_id.get(id)

    def thread(self, id: str) -> Thread | None:
        """Return the thread of an open runtime."""
        live = self._by_id.get(id)
        return None if live is None else live.thread

    def open(self, id: str) -> Live:
        """Open a thread; one that is open, or about to be, is that one."""
        live = self._by_id.get(id)
        if live is None:
            earlier = self._closing.get(id)
            live = Live(self._describe(id), None if earlier is None else earlier.closed)
            self._by_id[id] = live
            self._tasks.spawn(self._host, live)
        return live

    def close(self, id: str) -> anyio.Event | None:
        """Begin to close a thread; returns its end, or None when it is not open."""
        live = self._by_id.pop(id, None)
        if live is None:
            earlier = self._closing.get(id)
            return None if earlier is None else earlier.closed
        self._closing[id] = live
        self._unwatch(live)
        live.leaving.set()
        if live.thread is None:
            live.opening.cancel()
        return live.closed

    def restart(self, id: str) -> Live:
        """Close the runtime of a thread and open another one, which begins with what was typed in the first."""
        before = self._by_id.get(id)
        if before is None or before.thread is None:
            return self.open(id)
        draft = attrs.evolve(before.thread.state.composer, is_sending=False)
        self.close(id)
        live = self.open(id)
        live.used, live.draft = before.used, draft
        return live

    async def close_all(self) -> None:
        """Close every thread, and wait until that is done."""
        for live in self.all:
            self.close(live.id)
        for live in tuple(self._closing.values()):
            await live.closed.wait()

    async def _host(self, live: Live) -> None:
        with live.opening:
            await self._run(live)

    async def _run(self, live: Live) -> None:
        try:
            if live.before is not None:
                await live.before.wait()
            if not live.leaving.is_set():
                async with self.make(live.item) as runtime:
                    self._begin(live, runtime.thread)
                    await live.leaving.wait()
        except Exception as error:
            self._tell(live, error)
        finally:
            self._end(live)

    def _begin(self, live: Live, thread: Thread) -> None:
        live.thread = thread
        if live.leaving.is_set():
            return
        if live.draft is not None:
            thread.composer.restore(live.draft)
        self._board.set_facts(live.id, is_live=True)
        self._watch(live, thread)
        record = self._board.listing.find(live.id)
        if record is not None and record.status != "new":
            # A load that fails is told by the thread, and can be asked for again there.
            with suppress(UnsupportedError):
                thread.load()
        live.opened.settle()

    def _watch(self, live: Live, thread: Thread) -> None:
        def on_event(event: ThreadEvent) -> None:
            if event.type == "initialize":
                self._on_first_message(live.id)

        live.watching += [
            thread.select(lambda state: state.is_running).subscribe(lambda it: self._note_running(live, is_running=it)),
            thread.events.subscribe(on_event),
        ]

    def _note_running(self, live: Live, *, is_running: bool) -> None:
        board = self._board
        has_ended = board.facts(live.id).is_running and not is_running
        if has_ended and board.state.main_id != live.id:
            board.set_facts(live.id, is_running=False, is_unread=True)
        else:
            board.set_facts(live.id, is_running=is_running)

    def _tell(self, live: Live, error: Exception) -> None:
        if not live.opened.is_done:
            failure = ThreadNotOpenError(live.id, f"its runtime could not be opened: {error}")
            failure.__cause__ = error
            live.opened.settle(failure)
            self._board.tell_failed("open", live.id, error)
        else:
            self._board.tell_failed("close" if live.leaving.is_set() else "run", live.id, error)

    def _unwatch(self, live: Live) -> None:
        for subscription in live.watching:
            subscription.dispose()
        live.watching.clear()
        self._board.set_facts(live.id, is_live=False, is_running=False)

    def _end(self, live: Live) -> None:
        live.opened.settle(ThreadNotOpenError(live.id, "it was closed before its runtime was open"))
        live.closed.set()
        if self._closing.get(live.id) is live:
            del self._closing[live.id]
        if self._by_id.get(live.id) is live:
            del self._by_id[live.id]
            self._unwatch(live)
            self._on_lost(live.id)
