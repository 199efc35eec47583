"""The queue of a local thread: what is sent during a run waits for its end."""

from __future__ import annotations

from partwise.messages import AssistantMessage, RequiresActionStatus, is_not_sent
from partwise.runtimes._operation import Operation
from partwise.runtimes._queue import MessageQueue
from partwise.runtimes._requests import AppendRequest

from ._append import Appender
from ._host import Host

__all__ = ["Queueing"]


class Queueing:
    """Sends queued messages one by one, each after the answer to the one before.

    While the last message waits for a human, nothing is sent: the conversation is not the user's yet. If it
    stops waiting without a run, as when another branch is shown, the next message that is sent, answered or
    not, frees the queue.
    """

    def __init__(self, host: Host, appender: Appender) -> None:
        self._host = host
        self._appender = appender
        self._dispatch: object | None = None
        self._runs_started = 0
        # Whether the last run ended with a question to a human, which nothing has answered.
        self._is_held = False
        self.messages = self._fresh()

    @property
    def is_dispatching(self) -> bool:
        """Whether the run in progress answers a message that came out of the queue."""
        return self._dispatch is not None

    def add(self, request: AppendRequest) -> None:
        """Let a message wait, or send it at once when the thread is free."""
        self.free()
        steers = self.is_dispatching if request.steers is None else request.steers
        if steers:
            self.messages.steer(request)
        else:
            self.messages.enqueue(request)

    def free(self) -> None:
        """Let the queue go on if it waits for an answer that is not waited for any more."""
        if self._is_held and not self._is_waiting_for_human():
            self._is_held = False
            self.messages.notify_idle()

    def on_busy(self) -> None:
        """A run started."""
        self._runs_started += 1
        self._is_held = False
        self.messages.notify_busy()

    def on_idle(self) -> None:
        """A run ended; the next message goes on the next turn, never inside the end of the run."""
        self._host.spawn(self._release)

    def on_cancelled(self) -> None:
        """The user pressed stop."""
        if self._host.options.clears_queue_on_cancel:
            self.messages.clear()
        self.messages.notify_cancelled()

    def drop(self) -> None:
        """Forget the queue and everything in it."""
        self._dispatch = None
        self._is_held = False
        self.messages = self._fresh()
        self._show()

    def run(self, request: AppendRequest, /, *, steer: bool) -> None:
        """Send a message that left the queue, at the end of the visible branch as it is now."""
        del steer
        token = self._dispatch = object()
        runs_before = self._runs_started
        operation = self._appender.append(request)
        self._host.spawn(self._after, token, request, operation, runs_before)

    async def _after(self, token: object, request: AppendRequest, operation: Operation, runs_before: int) -> None:
        is_lost = False
        try:
            await operation
        except Exception as error:
            is_lost = is_not_sent(error)
            self._host.report("queue", f"a queued message failed: {error}", error)
        if self._dispatch is token:
            self._dispatch = None
            if is_lost:
                self.messages.give_back(request)
            if self._runs_started == runs_before:
                self.messages.notify_idle()

    async def _release(self) -> None:
        self._is_held = self._is_waiting_for_human()
        if not self._is_held:
            self.messages.notify_idle()

    def _is_waiting_for_human(self) -> bool:
        messages = self._host.document.state.messages
        last = messages[-1] if messages else None
        return isinstance(last, AssistantMessage) and isinstance(last.status, RequiresActionStatus)

    def _fresh(self) -> MessageQueue:
        return MessageQueue(self, on_change=self._show, on_failure=self._failed)

    def _show(self) -> None:
        self._host.document.set(queue=self.messages.items, steer_queue=self.messages.steer_items)

    def _failed(self, error: Exception) -> None:
        self._host.report("queue", f"could not send the next message: {error}", error)
