"""What a user interface may do with a list of threads, whoever keeps it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from partwise.reactive import Slice
from partwise.store import ThreadListState, ThreadRow

from ._operation import Operation
from ._thread import Thread

__all__ = ["ThreadList"]

T = TypeVar("T")


class ThreadList(Protocol):
    """A list of threads, one of them in view: of ``ThreadListRuntime``, or of the owner of an external store."""

    @property
    def state(self) -> ThreadListState:
        """The present snapshot of the list."""
        ...

    @property
    def main(self) -> Thread:
        """The thread in view."""
        ...

    def select(self, selector: Callable[[ThreadListState], T]) -> Slice[T]:
        """Return a function of the list's snapshot as a slice that emits only changes."""
        ...

    def row(self, id: str) -> Slice[ThreadRow]:
        """Return the slice of one row."""
        ...

    def switch_to(self, id: str) -> Operation:
        """Bring a thread into view."""
        ...

    def switch_to_new(self) -> Operation:
        """Bring a new thread into view."""
        ...

    def load_more(self) -> Operation:
        """Fetch the next page; without one nothing happens."""
        ...

    def rename(self, id: str, title: str) -> Operation:
        """Give a thread another title."""
        ...

    def archive(self, id: str) -> Operation:
        """Put a thread away."""
        ...

    def unarchive(self, id: str) -> Operation:
        """Take a thread back."""
        ...

    def delete(self, id: str) -> Operation:
        """Delete a thread."""
        ...
