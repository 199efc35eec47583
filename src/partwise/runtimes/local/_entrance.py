"""Where a new message goes: to the load that it must wait for, to the queue, or into the thread."""

from __future__ import annotations

from collections import deque
from contextlib import suppress

from partwise.runtimes._operation import Operation
from partwise.runtimes._requests import AppendRequest

from ._append import Appender
from ._host import Host
from ._load import Loader
from ._queueing import Queueing

__all__ = ["Entrance"]


class Entrance:
    """Takes messages in. While the history is being loaded they wait, so that they follow what it holds."""

    def __init__(self, host: Host, loader: Loader, queue: Queueing, appender: Appender) -> None:
        self._host = host
        self._loader = loader
        self._queue = queue
        self._appender = appender
        self._waiting: deque[tuple[AppendRequest, Operation]] = deque()

    def take(self, request: AppendRequest) -> Operation:
        """Take a message in; see ``LocalThread.append``."""
        pending = self._loader.pending
        if pending is None and not self._waiting:
            return self._route(request)
        operation = Operation()
        self._waiting.append((request, operation))
        if pending is not None and len(self._waiting) == 1:
            self._host.spawn(self._take_waiting, pending)
        return operation

    def _route(self, request: AppendRequest) -> Operation:
        options = self._host.options
        if options.has_queue and request.will_run:
            if request.is_at_tail:
                self._queue.add(request)
                return Operation.done()
            if options.clears_queue_on_rewind:
                self._queue.messages.clear()
        operation = self._appender.append(request)
        if options.has_queue:
            self._queue.free()
        return operation

    async def _take_waiting(self, pending: Operation) -> None:
        try:
            # A load that failed is told to whoever asked for it; the messages go in all the same.
            with suppress(Exception):
                await pending
        except BaseException as error:
            for _, operation in self._waiting:
                operation.settle(error)
            raise
        while self._waiting:
            request, operation = self._waiting.popleft()
            try:
                routed = self._route(request)
            except Exception as error:
                operation.settle(error)
            else:
                self._host.spawn(_pass_on, routed, operation)


async def _pass_on(routed: Operation, operation: Operation) -> None:
    try:
        await routed
    except BaseException as error:
        operation.settle(error)
        if not isinstance(error, Exception):
            raise
    operation.settle()
