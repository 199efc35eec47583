"""What is done to threads of a list: shown at once, then done by the adapter, and taken back if that fails."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from typing import Any, cast

import anyio

from partwise.errors import ThreadListError
from partwise.messages import AssistantMessage, Message, RunningStatus
from partwise.runtimes._operation import Operation
from partwise.runtimes._tasks import Tasks

from ._board import Board
from ._calls import Calls, Source, Turn
from ._changes import Change, Customized, Deleted, Initialized, Moved, Renamed
from ._pages import checked_ids

__all__ = ["Mutations", "settled_messages"]

Call = Callable[[str], Awaitable[Any]]
Wait = Callable[[], Awaitable[object]]


class Mutations:
    """Makes changes and settles them.

    Args:
        on_initialized: Told the id of a thread that was made where threads are kept.
    """

    def __init__(
        self,
        board: Board,
        tasks: Tasks,
        source: Source,
        on_initialized: Callable[[str], None],
    ) -> None:
        self._board = board
        self._tasks = tasks
        self._source = source
        self._on_initialized = on_initialized
        self._initializing: dict[str, Operation] = {}

    def initialize(self, id: str) -> Operation | None:
        """Make a new thread where threads are kept; None when that has been done; asked again, it is the same."""
        record = self._board.get(id)
        pending = self._initializing.get(record.id)
        if pending is not None or record.remote_id is not None:
            return pending
        operation = self._initializing[record.id] = Operation()
        number = self._board.begin(Initialized(record.id))
        calls = self._source.calls
        self._tasks.spawn(self._initialize, record.id, number, calls, calls.turn(record.id), operation)
        return operation

    def exchanged(self) -> None:
        """Begin anew with another adapter; what is under way settles by itself."""
        self._initializing.clear()

    async def _initialize(self, id: str, number: int, calls: Calls, turn: Turn, operation: Operation) -> None:
        async def work() -> None:
            answer = await calls.ask("initialize", id, lambda: calls.adapter.initialize(id))
            change = Initialized(id, checked_ids(answer, id))
            del self._initializing[id]
            self._board.confirm(number, change)

        await self._settle("initialize", id, number, turn, operation, work)
        if self._initializing.get(id) is operation:
            del self._initializing[id]
        if operation.error is None:
            self._on_initialized(id)

    def rename(self, id: str, title: str) -> Operation:
        """Give a thread another title."""
        adapter = self._source.calls.adapter
        return self._make("rename", Renamed(id, title), lambda remote_id: adapter.rename(remote_id, title))

    def update_custom(self, id: str, custom: Mapping[str, Any]) -> Operation:
        """Replace the application's values."""
        adapter = cast("Any", self._source.calls.adapter)
        change = Customized(id, custom)
        return self._make("update_custom", change, lambda remote_id: adapter.update_custom(remote_id, change.custom))

    def archive(self, id: str) -> Operation:
        """Put a thread away."""
        return self._make("archive", Moved(id, "archived"), self._source.calls.adapter.archive)

    def unarchive(self, id: str, *, before_failing: Wait) -> Operation:
        """Take a thread back."""
        call = self._source.calls.adapter.unarchive
        return self._make("unarchive", Moved(id, "regular"), call, before_failing=before_failing)

    def delete(self, id: str, closed: anyio.Event | None) -> Operation:
        """Delete a thread, once its runtime has ended: what that still stores must not come back."""
        call = self._source.calls.adapter.delete
        return self._make("delete", Deleted(id), call, first=None if closed is None else closed.wait)

    def _make(
        self,
        operation: str,
        change: Change,
        call: Call,
        *,
        first: Wait | None = None,
        before_failing: Wait | None = None,
    ) -> Operation:
        number = self._board.begin(change)
        calls = self._source.calls
        turn = calls.turn(change.id)
        settled = Operation()

        async def work() -> None:
            if first is not None:
                await first()
            remote_id = self._remote_id(change.id)
            if remote_id is not None:
                await calls.ask(operation, change.id, lambda: call(remote_id))
            elif not isinstance(change, Deleted):
                raise _never_made(operation, change.id)
            self._board.confirm(number)

        self._tasks.spawn(self._settle, operation, change.id, number, turn, settled, work, before_failing)
        return settled

    def _remote_id(self, id: str) -> str | None:
        """Return under which id a thread is kept; it may be hidden by a change that deletes it."""
        record = self._board.listing.find(id) or self._board.ledger.base.find(id)
        if record is not None and record.remote_id is not None:
            return record.remote_id
        for entry in self._board.ledger.entries:
            if isinstance(entry.change, Initialized) and entry.change.id == id and entry.change.ids is not None:
                return entry.change.ids.id
        return None

    # Titles

    def generate_title(self, id: str, messages: tuple[Message, ...]) -> Operation:
        """Let the adapter make up a title, and show it as it comes."""
        number = self._board.begin(Renamed(id, None))
        calls = self._source.calls
        turn = calls.turn(id)
        operation = Operation()
        name = "generate_title"

        async def work() -> None:
            remote_id = self._remote_id(id)
            if remote_id is None:
                raise _never_made(name, id)
            make = cast("Any", calls.adapter).generate_title
            text = await calls.ask(name, id, lambda: self._read_title(id, number, make(remote_id, messages)))
            if text:
                self._board.confirm(number)
            else:
                self._board.fail(number)

        self._tasks.spawn(self._settle, name, id, number, turn, operation, work)
        return operation

    async def _read_title(self, id: str, number: int, stream: AsyncIterable[str]) -> str:
        title = ""
        try:
            async for piece in stream:
                title += piece
                self._board.revise(number, Renamed(id, title))
        finally:
            aclose = getattr(stream, "aclose", None)
            if aclose is not None:
                with anyio.move_on_after(1, shield=True):
                    await aclose()
        return title

    # The end of each

    async def _settle(
        self,
        name: str,
        id: str,
        number: int,
        turn: Turn,
        operation: Operation,
        work: Wait,
        before_failing: Wait | None = None,
    ) -> None:
        try:
            async with turn:
                await work()
        except Exception as error:
            await self._fail(name, id, number, error, before_failing)
            operation.settle(error)
        except BaseException as error:
            operation.settle(error)
            self._board.tell_failed(name, id, operation.error or error)
            raise
        operation.settle()

    async def _fail(self, name: str, id: str, number: int, error: Exception, before_failing: Wait | None) -> None:
        if before_failing is not None:
            try:
                await before_failing()
            except Exception as other:
                self._board.tell_failed("switch", id, other)
        self._board.fail(number)
        self._board.tell_failed(name, id, error)


def _never_made(operation: str, id: str) -> ThreadListError:
    return ThreadListError(operation, f"could not {operation} thread {id!r}: it was never made there", thread_id=id)


def settled_messages(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages that have stopped growing."""
    return tuple(
        message
        for message in messages
        if not (isinstance(message, AssistantMessage) and isinstance(message.status, RunningStatus))
    )
