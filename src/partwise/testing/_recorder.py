"""Writing down what a thread shows, as a user interface would see it."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from reactivex.abc import DisposableBase

from partwise.messages import Message, message_text
from partwise.runtimes import Thread
from partwise.store import ThreadEvent, ThreadState

from ._script import shown, status_of

__all__ = ["ThreadRecorder"]


class ThreadRecorder:
    """Follows a thread until it is disposed, or its ``with`` block ends.

    Attributes:
        running: Every value of the running flag.
        frames: What was shown, each time that it changed; see ``shown``.
        last_texts: Every text of the last message.
        statuses: Every status of the last message, where it is an answer.
        events: The types of the events.
    """

    def __init__(self, thread: Thread) -> None:
        self.running: list[bool] = []
        self.frames: list[list[str]] = []
        self.last_texts: list[str] = []
        self.statuses: list[str] = []
        self.events: list[str] = []
        self._subscriptions: list[DisposableBase] = [
            thread.select(lambda state: state.is_running).subscribe(self.running.append),
            thread.select(lambda state: tuple(state.messages)).subscribe(self._draw),
            thread.select(_last_text).subscribe(self.last_texts.append),
            thread.select(_last_status).subscribe(self.statuses.append),
            thread.events.subscribe(self._note),
        ]

    def _draw(self, messages: tuple[Message, ...]) -> None:
        frame = shown(messages)
        if not self.frames or self.frames[-1] != frame:
            self.frames.append(frame)

    def _note(self, event: ThreadEvent) -> None:
        self.events.append(event.type)

    def dispose(self) -> None:
        """Stop following."""
        for subscription in self._subscriptions:
            subscription.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.dispose()


def _last_text(state: ThreadState) -> str:
    return message_text(state.messages[-1]) if state.messages else ""


def _last_status(state: ThreadState) -> str:
    return status_of(state.messages[-1]) if state.messages else "-"
