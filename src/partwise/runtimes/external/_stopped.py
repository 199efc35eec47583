"""Answers that were stopped here, and stay so."""

from __future__ import annotations

import attrs

from partwise.messages import INCOMPLETE_CANCELLED, AssistantMessage, Message, RunningStatus, with_status

__all__ = ["Stopped"]


@attrs.define(eq=False)
class _Mark:
    """What became of one answer: the last version that was marked, and as what it is shown."""

    bare: Message | None = None
    shown: Message | None = None


class Stopped:
    """Marks answers as cancelled for as long as their owner tells no status of them and does not go on with them."""

    def __init__(self) -> None:
        self._marks: dict[str, _Mark] = {}

    def __bool__(self) -> bool:
        return bool(self._marks)

    def add(self, message_id: str) -> None:
        """Take note that an answer is being stopped."""
        self._marks.setdefault(message_id, _Mark())

    def discard(self, message_id: str) -> None:
        """Take that back."""
        self._marks.pop(message_id, None)

    def of(self, message: Message) -> Message:
        """Return a message as it is shown; the mark goes once the owner says what it is, or goes on with it."""
        mark = self._marks.get(message.id)
        if mark is None or not isinstance(message, AssistantMessage):
            return message
        if mark.bare is message and mark.shown is not None:
            return mark.shown
        is_running = isinstance(message.status, RunningStatus)
        if not message.status.is_automatic or (is_running and mark.shown is not None):
            del self._marks[message.id]
            return message
        if is_running:
            return message  # it has not heard of it yet
        stopped: Message = with_status(message, INCOMPLETE_CANCELLED)
        if mark.shown is not None and mark.shown == stopped:
            stopped = mark.shown
        mark.bare, mark.shown = message, stopped
        return stopped
