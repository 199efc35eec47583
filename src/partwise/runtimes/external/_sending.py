"""Handing what people write to the owner, at once or by way of the queue."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs

from partwise.runtimes._operation import Operation
from partwise.runtimes._queue import MessageQueue
from partwise.runtimes._requests import AppendRequest
from partwise.runtimes._stamp import stamped

from ._host import Host, asked, left_unsent, require
from ._mirror import Mirror

__all__ = ["Sending"]


class Sending:
    """Decides whether a message is new or an edited one, and whether it waits."""

    def __init__(self, host: Host, mirror: Mirror) -> None:
        self._host = host
        self._mirror = mirror
        self._queue: MessageQueue | None = None
        self._unsubscribe: Callable[[], None] | None = None

    def take(self, request: AppendRequest) -> Operation:
        """Hand a message over; see ``ExternalThread.append``."""
        host, options = self._host, self._host.options
        is_edit = self.is_edit(request)
        host.announce()
        barrier = self._begin_initializing()
        if options.queue is not None and not is_edit:
            return self._enqueue(options.queue, request, barrier)
        if barrier is not None:
            # Nobody waits for it here: an owner who needs the thread's record first waits for it itself.
            host.spawn(self._watch, barrier)
        request = attrs.evolve(request, message=stamped(request.message, host.context))
        if is_edit:
            on_edit = require(options.on_edit, "edit", "on_edit")
            self._mirror.keep(request.source_id)
            return asked(host, on_edit, request)
        return asked(host, require(options.on_new, "append", "on_new"), request)

    def is_edit(self, request: AppendRequest) -> bool:
        """Tell whether a message is another version of one, or belongs elsewhere than to the end."""
        return request.source_id is not None or not request.is_at_tail

    def use_queue(self, queue: MessageQueue | None) -> None:
        """Let another queue decide when messages go, and show what waits in it."""
        if queue is self._queue:
            return
        if self._queue is not None and self._queue.transform == self._leaving:
            self._queue.transform = None
        if self._unsubscribe is not None:
            self._unsubscribe()
        self._queue = queue
        if queue is not None:
            queue.transform = self._leaving
            self._unsubscribe = queue.subscribe(self.show_queue)
        self.show_queue()

    def show_queue(self) -> None:
        """Show what waits."""
        queue = self._queue
        self._host.document.set(
            queue=() if queue is None else queue.items, steer_queue=() if queue is None else queue.steer_items
        )

    def _leaving(self, request: AppendRequest) -> AppendRequest:
        """Make the last changes to a message that leaves the queue: it goes to the end as it is now."""
        return attrs.evolve(
            request,
            message=stamped(request.message, self._host.context),
            parent_id=self._host.document.state.head_id,
            is_at_tail=True,
        )

    def _enqueue(self, queue: MessageQueue, request: AppendRequest, barrier: Awaitable[object] | None) -> Operation:
        operation = Operation()
        if barrier is None:
            self._admit(queue, request)
            operation.settle()
        else:
            self._host.spawn(self._enqueue_after, barrier, queue, request, operation, self._host.generation)
        return operation

    async def _enqueue_after(
        self,
        barrier: Awaitable[object],
        queue: MessageQueue,
        request: AppendRequest,
        operation: Operation,
        generation: int,
    ) -> None:
        try:
            await barrier
        except BaseException as error:
            operation.settle(error)
            if not isinstance(error, Exception):
                raise
            return
        if self._host.generation != generation:
            operation.settle(left_unsent())
            return
        self._admit(queue, request)
        operation.settle()

    def _admit(self, queue: MessageQueue, request: AppendRequest) -> None:
        steers = self._host.document.state.is_running if request.steers is None else request.steers
        if steers:
            queue.steer(request)
        else:
            queue.enqueue(request)

    def _begin_initializing(self) -> Awaitable[object] | None:
        initialize = self._host.options.initialize
        if initialize is None:
            return None
        try:
            barrier = initialize()
        except Exception as error:
            self._host.report("initialize", f"failed: {error}", error)
            return None
        return barrier

    async def _watch(self, barrier: Awaitable[object]) -> None:
        try:
            await barrier
        except Exception as error:
            self._host.report("initialize", f"failed: {error}", error)
