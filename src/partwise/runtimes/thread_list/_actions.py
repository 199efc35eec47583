"""What a user may do to the threads of a list: which statuses allow it, and what has to happen first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from partwise.errors import NotAllowedError, UnsupportedError
from partwise.runtimes._operation import Operation
from partwise.runtimes._tasks import Tasks

from ._board import Board
from ._changes import Deleted
from ._listing import Record
from ._lives import Lives
from ._mutations import Mutations, settled_messages
from ._selection import Selection

__all__ = ["Actions"]


class Actions:
    """Checks, leaves the thread where it must not be in view, and hands over to the mutations."""

    def __init__(self, board: Board, tasks: Tasks, lives: Lives, mutations: Mutations, selection: Selection) -> None:
        self._board = board
        self._tasks = tasks
        self._lives = lives
        self._mutations = mutations
        self._selection = selection

    def rename(self, id: str, title: str) -> Operation:
        """See ``ThreadListRuntime.rename``."""
        return self._mutations.rename(self._allowed(id, "be renamed", "regular", "archived").id, title)

    def update_custom(self, id: str, custom: Mapping[str, Any]) -> Operation:
        """See ``ThreadListRuntime.update_custom``."""
        self._check_can("update_custom")
        record = self._allowed(id, "have custom values", "regular", "archived")
        return self._mutations.update_custom(record.id, custom)

    def generate_title(self, id: str) -> Operation:
        """See ``ThreadListRuntime.generate_title``."""
        self._check_can("generate_title")
        record = self._allowed(id, "have a title made up", "regular", "archived")
        thread = self._lives.thread(record.id)
        if thread is None:
            return Operation.done()
        return self._mutations.generate_title(record.id, settled_messages(tuple(thread.state.messages)))

    def archive(self, id: str) -> Operation:
        """See ``ThreadListRuntime.archive``."""
        record = self._allowed(id, "be archived", "regular")
        return self._once_left(
            record.id, lambda: self._mutations.archive(self._allowed(id, "be archived", "regular").id)
        )

    def unarchive(self, id: str) -> Operation:
        """See ``ThreadListRuntime.unarchive``."""
        record = self._allowed(id, "be unarchived", "archived")
        return self._mutations.unarchive(record.id, before_failing=lambda: self._selection.leave(record.id))

    def delete(self, id: str) -> Operation:
        """See ``ThreadListRuntime.delete``."""
        return self._once_left(self._board.get(id).id, lambda: self._delete(id))

    def close(self, id: str) -> Operation:
        """See ``ThreadListRuntime.close``."""
        return self._once_left(self._board.get(id).id, lambda: self._close(id))

    def _delete(self, id: str) -> Operation:
        record = self._board.get(id)
        closed = self._lives.close(record.id)
        if record.status == "new":
            self._board.note(Deleted(record.id))
            return Operation.done()
        return self._mutations.delete(record.id, closed)

    def _close(self, id: str) -> Operation:
        operation = Operation()
        closed = self._lives.close(self._board.get(id).id)
        if closed is None:
            return Operation.done()
        self._tasks.spawn(_settle_after, closed.wait, operation)
        return operation

    def _once_left(self, id: str, action: Callable[[], Operation]) -> Operation:
        """Do something to a thread once it is not in view; at once when it is not."""
        if self._selection.main_id != id:
            self._selection.give_up(id)
            return action()
        operation = Operation()

        async def leave_and_act() -> None:
            await self._selection.leave(id)
            await action()

        self._tasks.spawn(_settle_after, leave_and_act, operation)
        return operation

    def _allowed(self, id: str, action: str, *statuses: str) -> Record:
        record = self._board.get(id)
        if record.status in statuses:
            return record
        text = f"Thread {id!r} is {record.status}, so it cannot {action}."
        raise NotAllowedError(text, code="thread-status", id=record.id)

    def _check_can(self, action: str) -> None:
        if action not in self._board.state.capabilities:
            raise UnsupportedError(action, f"Give the list an adapter that has {action}.")


async def _settle_after(work: Callable[[], Awaitable[object]], operation: Operation) -> None:
    try:
        await work()
    except Exception as error:
        operation.settle(error)
    except BaseException as error:
        operation.settle(error)
        raise
    operation.settle()
