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

_SAYS = {
    "archive": "be archived",
    "generate_title": "have a title made up",
    "rename": "be renamed",
    "unarchive": "be unarchived",
    "update_custom": "have custom values",
}


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
        return self._mutations.rename(self._allowed(id, "rename", "regular", "archived").id, title)

    def update_custom(self, id: str, custom: Mapping[str, Any]) -> Operation:
        """See ``ThreadListRuntime.update_custom``."""
        self._check_can("update_custom")
        record = self._allowed(id, "update_custom", "regular", "archived")
        return self._mutations.update_custom(record.id, custom)

    def generate_title(self, id: str) -> Operation:
        """See ``ThreadListRuntime.generate_title``."""
        self._check_can("generate_title")
        record = self._allowed(id, "generate_title", "regular", "archived")
        thread = self._lives.thread(record.id)
        if thread is None:
            return Operation.done()
        return self._mutations.generate_title(record.id, settled_messages(tuple(thread.state.messages)))

    def archive(self, id: str) -> Operation:
        """See ``ThreadListRuntime.archive``."""
        record = self._allowed(id, "archive", "regular")
        return self._once_left(record.id, lambda: self._mutations.archive(self._allowed(id, "archive", "regular").id))

    def unarchive(self, id: str) -> Operation:
        """See ``ThreadListRuntime.unarchive``."""
        record = self._allowed(id, "unarchive", "archived")
        return self._mutations.unarchive(record.id, before_failing=lambda: self._selection.leave(record.id))

    def delete(self, id: str) -> Operation:
        """See ``ThreadListRuntime.delete``."""
        record = self._board.get(id)
        self._board.check_current("delete", record.id)
        return self._once_left(record.id, lambda: self._delete(id))

    def close(self, id: str) -> Operation:
        """See ``ThreadListRuntime.close``."""
        return self._once_left(self._board.get(id).id, lambda: self._close(id))

    def restart(self, id: str) -> Operation:
        """See ``ThreadListRuntime.restart``."""
        record = self._board.get(id)
        self._board.check_current("restart", record.id)
        return self._lives.restart(record.id).opened

    def reload(self, id: str) -> Operation:
        """Show a thread anew; see ``ThreadListRuntime.reload_main``."""
        if self._board.get(id).status == "new":
            return Operation.done()
        operation = Operation()
        self._tasks.spawn(_settle_after, lambda: self._reload(id), operation)
        return operation

    async def _reload(self, id: str) -> None:
        try:
            thread = self._lives.thread(id)
            if thread is not None and "refetch" in thread.capabilities:
                await thread.refetch()
                return
            await self.restart(id)
            thread = self._lives.thread(id)
            if thread is not None:
                await thread.load()
        except UnsupportedError:
            return
        except Exception:
            if self._selection.main_id == id:
                raise

    def _delete(self, id: str) -> Operation:
        record = self._board.get(id)
        self._board.check_current("delete", record.id)
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

    def _allowed(self, id: str, operation: str, *statuses: str) -> Record:
        record = self._board.get(id)
        self._board.check_current(operation, record.id)
        if record.status in statuses:
            return record
        text = f"Thread {id!r} is {record.status}, so it cannot {_SAYS[operation]}."
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
