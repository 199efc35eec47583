"""The threads of an external store: which there are, which one is in view, and what its owner does with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import reactivex
from reactivex import Observable
from reactivex import operators as ops

from partwise.reactive import ErrorHook, Slice, Store, attr, key
from partwise.runtimes._operation import Operation
from partwise.runtimes._tasks import Tasks
from partwise.store import ThreadListState, ThreadRow

from ._host import asked, refused, require
from ._host_threads import ExternalThreads, listed
from ._thread import ExternalThread

__all__ = ["ExternalThreadList"]

T = TypeVar("T")


class ExternalThreadList:
    """The list that the owner of an external store gives. Made by ``ExternalStoreRuntime``; see there.

    Everything is asked of the owner. What it gave no function for fails with ``UnsupportedError`` when the
    operation is awaited, and is missing from ``state.capabilities``.
    """

    def __init__(self, tasks: Tasks, *, on_error: ErrorHook) -> None:
        self._tasks = tasks
        self.store: Store[ThreadListState] = Store(ThreadListState(), name="threads", on_error=on_error)
        self._given = ExternalThreads()
        self._main: ExternalThread | None = None

    # What is shown

    @property
    def state(self) -> ThreadListState:
        """The present snapshot of the list."""
        return self.store.value

    def select(self, selector: Callable[[ThreadListState], T]) -> Slice[T]:
        """Return what a function of the list's snapshot gives, as a slice that emits only changes."""
        return self.store.select(selector)

    def row(self, id: str) -> Slice[ThreadRow]:
        """Return the slice of one row; it completes when the thread leaves the list."""
        return cast("Slice[ThreadRow]", self.store.at(attr("rows"), key(id)))

    @property
    def main(self) -> ExternalThread:
        """The thread in view."""
        assert self._main is not None
        return self._main

    def follow(self, function: Callable[[ExternalThread], Observable[T]]) -> Observable[T]:
        """Return what a function makes of the thread in view, and of the next one after each change of thread.

        For example ``threads.follow(lambda thread: thread.select(lambda state: state.messages))``. The slices
        of a thread itself complete when another one comes into view.
        """

        def of(main_id: str | None) -> Observable[T]:
            return reactivex.never() if main_id is None else function(self.main)

        return self.select(lambda state: state.main_id).pipe(ops.map(of), ops.switch_latest())

    # What is done to threads

    def switch_to(self, id: str) -> Operation:
        """Ask the owner to bring a thread into view; the one that is in view already is not asked for."""
        if id == self.state.main_id:
            return Operation.done()
        return self._ask("switch_to", id)

    def switch_to_new(self) -> Operation:
        """Ask the owner for a new thread."""
        return self._ask("switch_to_new")

    def rename(self, id: str, title: str) -> Operation:
        """Ask the owner to give a thread another title."""
        return self._ask("rename", id, title)

    def update_custom(self, id: str, custom: Mapping[str, Any]) -> Operation:
        """Hand the owner what an application keeps with a thread."""
        return self._ask("update_custom", id, custom)

    def archive(self, id: str) -> Operation:
        """Ask the owner to put a thread away."""
        return self._ask("archive", id)

    def unarchive(self, id: str) -> Operation:
        """Ask the owner to take a thread back."""
        return self._ask("unarchive", id)

    def delete(self, id: str) -> Operation:
        """Ask the owner to delete a thread."""
        return self._ask("delete", id)

    def load_more(self) -> Operation:
        """The owner says what there is, so there is nothing to fetch."""
        return Operation.done()

    def reload_main(self) -> Operation:
        """Ask the owner to look for the newest messages of the thread in view, if it can."""
        return self.main.refetch() if "refetch" in self.main.capabilities else Operation.done()

    def initialize(self, id: str) -> str:
        """Return the id under which the owner keeps a thread: there is nothing to make here."""
        row = self.state.rows.get(id)
        return id if row is None or row.remote_id is None else row.remote_id

    def _ask(self, action: str, *args: Any) -> Operation:
        name = f"on_{action}"
        function: Callable[..., Any] | None = getattr(self._given, name)
        return refused(lambda: asked(self._tasks, require(function, action, f"threads.{name}"), *args))

    # For the runtime

    def show(self, given: ExternalThreads, thread: ExternalThread) -> None:
        """Show what the owner says; called by the runtime."""
        self._given, self._main = given, thread
        self.show_running()

    def show_running(self) -> None:
        """Show whether an answer is being made in the thread in view; called by the runtime."""
        state = listed(self._given, self.state, is_running=self.main.state.is_running)
        if state != self.state:
            self.store.commit(state)
