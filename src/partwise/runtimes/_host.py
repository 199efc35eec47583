"""What the pieces of a thread share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import attrs

from partwise.reactive import Events
from partwise.store import Initialize, PersistenceFailed, Report, ThreadEvent
from partwise.tools import ModelContextRegistry

from ._document import Document
from ._tasks import Tasks

__all__ = ["Host"]

Options = TypeVar("Options")


@attrs.define(eq=False)
class Host(Generic[Options]):
    """The document, the events and the options of one thread.

    Attributes:
        tasks: The tasks of the runtime.
        generation: Grows whenever work that waits for something becomes pointless, as on ``detach``.
        is_initialized: Whether the thread was announced.
    """

    document: Document
    events: Events[ThreadEvent]
    options: Options
    context: ModelContextRegistry
    tasks: Tasks
    generation: int = 0
    is_initialized: bool = False

    def spawn(self, function: Callable[..., Any], *args: Any) -> None:
        """Start an async function as a task of the runtime."""
        self.tasks.spawn(function, *args)

    def check_open(self) -> None:
        """Check that the thread can be changed from here and now.

        Raises:
            RuntimeClosedError: The runtime was not entered yet, or was left.
            WrongThreadError: Another thread owns it.
        """
        self.tasks.check_open()
        self.document.check_writer()

    def announce(self) -> None:
        """Tell listeners, once, that the thread is about to have its first message."""
        if not self.is_initialized:
            self.is_initialized = True
            self.events.emit(Initialize())

    def report(self, where: str, text: str, error: BaseException | None = None) -> None:
        """Tell listeners of something that nobody can be told by raising."""
        self.events.emit(Report(where=where, text=text, error=error))

    def report_history(self, operation: str, message_id: str | None, error: BaseException) -> None:
        """Tell listeners that the history failed."""
        self.events.emit(PersistenceFailed(operation=operation, message_id=message_id, error=error))
