"""The way of a message into the thread: shown at once, stored and answered when the thread is ready."""

from __future__ import annotations

from collections.abc import Awaitable

import anyio
import attrs

from partwise.adapters import HistoryItem
from partwise.errors import NotSentError
from partwise.runtimes._operation import Operation
from partwise.runtimes._requests import AppendRequest
from partwise.runtimes._stamp import stamped

from ._history import HistoryWriter
from ._host import Host
from ._runs import Runs

__all__ = ["Appender"]


@attrs.frozen
class _Waiting:
    """What a message waits for: that the thread is made, and that those before it went on."""

    barrier: Awaitable[object] | None
    before: anyio.Event | None
    turn: anyio.Event

    async def over(self) -> None:
        failure: Exception | None = None
        if self.barrier is not None:
            try:
                await self.barrier
            except Exception as error:
                failure = error
        if self.before is not None:
            await self.before.wait()
        if failure is not None:
            raise failure


class Appender:
    """Puts messages into the tree, then into the history, then before the model."""

    def __init__(self, host: Host, history: HistoryWriter, runs: Runs) -> None:
        self._host = host
        self._history = history
        self._runs = runs
        self._turn: anyio.Event | None = None

    def append(self, request: AppendRequest) -> Operation:
        """Show a message, store it and answer it; the operation settles when all of it is done.

        Raises:
            ParentNotFoundError: Its parent is unknown; nothing is changed.
        """
        host = self._host
        parent_id = host.document.tree.head_id if request.is_at_tail else request.parent_id
        message = stamped(request.message, host.context)
        host.announce()
        host.document.put(parent_id, message)
        ready = attrs.evolve(request, message=message, parent_id=parent_id, is_at_tail=False)
        operation = Operation()
        try:
            barrier = None if host.options.initialize is None else host.options.initialize()
        except Exception as error:
            operation.settle(self._not_sent(message.id, error))
            return operation
        before = self._turn
        if barrier is None and (before is None or before.is_set()):
            self._proceed(ready, operation)
        else:
            self._turn = turn = anyio.Event()
            host.spawn(self._in_turn, _Waiting(barrier, before, turn), ready, operation, host.generation)
        return operation

    async def _in_turn(self, waiting: _Waiting, request: AppendRequest, operation: Operation, generation: int) -> None:
        try:
            await self._wait_for(waiting, request, operation, generation)
        finally:
            waiting.turn.set()

    async def _wait_for(self, waiting: _Waiting, request: AppendRequest, operation: Operation, generation: int) -> None:
        message_id = request.message.id
        try:
            await waiting.over()
        except Exception as error:
            failure = self._not_sent(message_id, error)
            operation.settle(failure if self._host.generation == generation else None)
            return
        except BaseException as error:
            operation.settle(error)
            raise
        if self._host.generation != generation or message_id not in self._host.document.tree:
            self._take_back(message_id)
            operation.settle()
            return
        # What was before it may have been taken back in the meantime.
        parent_id = self._host.document.tree.get(message_id).parent_id
        self._proceed(attrs.evolve(request, parent_id=parent_id), operation)

    def _not_sent(self, message_id: str, error: Exception) -> NotSentError:
        self._take_back(message_id)
        text = f"Message {message_id!r} was not sent: the thread could not be made: {error}"
        failure = NotSentError(text, message_id=message_id)
        failure.__cause__ = error
        return failure

    def _take_back(self, message_id: str) -> None:
        if message_id in self._host.document.tree:
            self._host.document.delete(message_id)

    def _proceed(self, request: AppendRequest, operation: Operation) -> None:
        message = request.message
        if request.will_run:
            # Before the message is stored, so that what it follows is stored as it will stay.
            self._runs.abandon_pauses(request.parent_id)
        write = self._history.write(
            HistoryItem(parent_id=request.parent_id, message=message, run_config=request.run_config)
        )
        if request.will_run:
            run = self._runs.start(message.id, run_config=request.run_config)
            self._host.spawn(_settle_after, operation, run.operation, write)
        else:
            self._host.document.switch_to(message.id)
            self._host.spawn(_settle_after, operation, write)


async def _settle_after(operation: Operation, *others: Operation) -> None:
    """Settle with the first failure of the others, once all of them have settled."""
    failure: BaseException | None = None
    for other in others:
        try:
            await other
        except Exception as error:
            failure = failure or error
        except BaseException as error:
            operation.settle(error)
            raise
    operation.settle(failure)
