"""Writes to the history: one after the other, parents before children, none forgotten."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Literal, TypeAlias

import anyio
import attrs

from partwise.adapters import History, HistoryItem
from partwise.errors import HistoryError
from partwise.messages import Message, RequiresActionStatus
from partwise.runtimes._operation import Operation

from ._host import Host
from ._step import abandoned, cancelled, is_unfinished

__all__ = ["HistoryWriter"]

Verb: TypeAlias = Literal["append", "update"]


@attrs.define(eq=False)
class _Write:
    item: HistoryItem
    history: History
    operation: Operation = attrs.field(factory=Operation)
    started: Awaitable[object] | Exception | None = None

    @property
    def message_id(self) -> str:
        return self.item.message.id


@attrs.define(eq=False)
class _Deletion:
    """A message to be deleted, and what follows from that in the thread."""

    item: HistoryItem
    delete: Callable[[tuple[HistoryItem, ...]], Awaitable[object]]
    then: Callable[[], None]
    operation: Operation = attrs.field(factory=Operation)


class HistoryWriter:
    """Stores and deletes messages in the order in which they were given, each after the one before has settled.

    A write that failed is kept and tried again before the next one, so nothing is stored whose parent is
    not. Failures are announced as events and fail the operation of the write, never the answer.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._given: set[str] = set()
        self._written: set[str] = set()
        self._stored: set[str] = set()
        self._waiting: deque[_Write | _Deletion] = deque()
        # Deleted messages, and where what hung under them went.
        self._deleted: dict[str, str | None] = {}
        self._unsaved: dict[str, HistoryItem] = {}
        self._head_id: str | None = None
        self._stored_head_id: str | None = None
        self._is_busy = False
        self._idle = anyio.Event()

    @property
    def can_update(self) -> bool:
        """Whether the history can overwrite a message, and so keep one that is paused."""
        return hasattr(self._host.options.history, "update")

    @property
    def unsaved(self) -> tuple[str, ...]:
        """The ids of messages that the history did not take, in the order in which it will be given them again."""
        return tuple(self._unsaved)

    def has(self, message_id: str) -> bool:
        """Tell whether the history has, or is about to have, this message."""
        return message_id in self._given

    def take_note(self, message_ids: Iterable[str]) -> None:
        """Remember messages that came from the history itself."""
        known = tuple(message_ids)
        self._given.update(known)
        self._stored.update(known)

    def write(self, item: HistoryItem) -> Operation:
        """Store a message: for the first time, or again where the history can do that."""
        history = self._host.options.history
        if history is None or self._is_final(item.message.id):
            return Operation.done()
        self._give_ancestors(history, item.parent_id)
        return self._give(history, item)

    def delete(
        self,
        item: HistoryItem,
        delete: Callable[[tuple[HistoryItem, ...]], Awaitable[object]],
        then: Callable[[], None],
    ) -> Operation:
        """Delete a message once everything given before is stored; whatever is given later does not bring it back.

        Args:
            item: The message.
            delete: The history's own function.
            then: Called when the history has deleted it, before anything else is stored.
        """
        deletion = _Deletion(item, delete, then)
        self._waiting.append(deletion)
        self._work()
        return deletion.operation

    def _is_final(self, message_id: str) -> bool:
        """Whether a message can be stored only once and has been."""
        return not self.can_update and message_id in self._written and message_id not in self._unsaved

    def _give_ancestors(self, history: History, message_id: str | None) -> None:
        """Store what is above a message first; an answer in progress as far as it has come."""
        above: str | None = None
        for message in () if message_id is None else self._host.document.tree.path_to(message_id):
            if message.id not in self._given:
                self._give(history, HistoryItem(parent_id=above, message=_so_far(message)))
            above = message.id

    def _give(self, history: History, item: HistoryItem) -> Operation:
        write = _Write(item, history)
        if item.message.id in self._host.document.tree:
            self._deleted.pop(item.message.id, None)
        self._given.add(item.message.id)
        self._written.add(item.message.id)
        self._waiting.append(write)
        if not self._is_busy and not self._unsaved:
            # Called at once, so that a write begins with the action that it belongs to.
            write.started = self._call(history, item)
        self._work()
        return write.operation

    def head_moved(self, head_id: str | None) -> None:
        """Let the history remember which branch is shown, if it can."""
        self._head_id = head_id
        if hasattr(self._host.options.history, "set_head"):
            self._work()

    def head_loaded(self) -> None:
        """Take note that the branch which is shown is the one that the history remembers."""
        self._stored_head_id = self._head_id

    def _work(self) -> None:
        if not self._is_busy:
            self._is_busy = True
            self._idle = anyio.Event()
            self._host.spawn(self._drain)

    async def wait(self) -> None:
        """Wait until everything that was given has been stored, or has failed."""
        while self._is_busy:
            await self._idle.wait()

    async def _drain(self) -> None:
        try:
            while self._waiting or self._head_id != self._stored_head_id:
                if not self._waiting:
                    await self._store_head()
                    continue
                task = self._waiting.popleft()
                try:
                    perform = self._perform(task) if isinstance(task, _Write) else self._perform_deletion(task)
                    task.operation.settle(await perform)
                except BaseException as error:
                    for undone in (task, *self._waiting):
                        undone.operation.settle(error)
                    raise
        finally:
            self._is_busy = False
            self._idle.set()

    async def _store_head(self) -> None:
        head_id = self._stored_head_id = self._head_id
        set_head = getattr(self._host.options.history, "set_head", None)
        if set_head is None:
            return
        error = await _outcome(set_head(head_id))
        if error is not None:
            self._host.report_history("set_head", head_id, error)

    async def _perform_deletion(self, deletion: _Deletion) -> HistoryError | None:
        item = self._as_hung(deletion.item)
        message_id = item.message.id
        try:
            await deletion.delete((item,))
        except Exception as error:
            failure = HistoryError("delete", f"could not delete message {message_id!r}: {error}", message_id=message_id)
            failure.__cause__ = error
            self._host.report_history("delete", message_id, error)
            return failure
        self._deleted[message_id] = item.parent_id
        for known in (self._given, self._written, self._stored):
            known.discard(message_id)
        self._unsaved.pop(message_id, None)
        deletion.then()
        return None

    async def _perform(self, write: _Write) -> HistoryError | None:
        if write.message_id in self._deleted:
            return None
        for message_id, item in list(self._unsaved.items()):
            if message_id not in self._host.document.tree:
                # Deleted since: storing it now would bring it back.
                del self._unsaved[message_id]
            elif message_id != write.message_id and await self._store(_Write(item, write.history)) is not None:
                self._unsaved[write.message_id] = write.item
                text = f"did not get message {write.message_id!r}, because {message_id!r} before it is not stored"
                return HistoryError("append", text, message_id=write.message_id)
        return await self._store(write)

    async def _store(self, write: _Write) -> HistoryError | None:
        message_id = write.message_id
        verb = self._verb(message_id)
        started = self._call(write.history, write.item) if write.started is None else write.started
        error = started if isinstance(started, Exception) else await _outcome(started)
        if error is not None:
            self._unsaved[message_id] = write.item
            failure = HistoryError(verb, f"could not {verb} message {message_id!r}: {error}", message_id=message_id)
            failure.__cause__ = error
            self._host.report_history(verb, message_id, error)
            return failure
        self._unsaved.pop(message_id, None)
        self._stored.add(message_id)
        return None

    def _verb(self, message_id: str) -> Verb:
        return "update" if message_id in self._stored and self.can_update else "append"

    def _call(self, history: History, item: HistoryItem) -> Awaitable[object] | Exception:
        try:
            awaitable: Awaitable[object] = getattr(history, self._verb(item.message.id))(self._as_hung(item))
        except Exception as error:
            return error
        return awaitable

    def _as_hung(self, item: HistoryItem) -> HistoryItem:
        """Return an item under what is left above it: messages between may have been deleted since it was given."""
        parent_id = item.parent_id
        while parent_id is not None and parent_id in self._deleted:
            parent_id = self._deleted[parent_id]
        return item if parent_id == item.parent_id else attrs.evolve(item, parent_id=parent_id)


def _so_far(message: Message) -> Message:
    """What is stored of a message when something below it is: an answer in progress may never be more."""
    if not is_unfinished(message):
        return message
    return abandoned(message) if isinstance(message.status, RequiresActionStatus) else cancelled(message)


async def _outcome(awaitable: Awaitable[object]) -> Exception | None:
    try:
        await awaitable
    except Exception as error:
        return error
    return None
