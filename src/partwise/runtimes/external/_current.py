"""The thread whose messages the owner of a store gives: the same one until the owner names another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from partwise.errors import WrongThreadError
from partwise.reactive import ErrorHook, Subscription
from partwise.runtimes._returned import has_something, merged
from partwise.runtimes._tasks import Tasks
from partwise.store import ComposerState

from ._host_threads import ExternalThreads, twice_listed
from ._options import ExternalOptions
from ._thread import ExternalThread
from ._thread_list import ExternalThreadList

__all__ = ["Current"]


class Current:
    """Takes in what the owner says, and begins a new thread when it is about another one.

    A new thread inherits nothing: its tree holds what the owner gives from then on. What was typed in a
    thread and not sent is there again when the owner comes back to it.

    Attributes:
        thread: The present one.
        list: Shows which threads there are.
    """

    def __init__(self, source: object, options: ExternalOptions, tasks: Tasks, *, on_error: ErrorHook) -> None:
        self._tasks = tasks
        self._on_error = on_error
        self._given = options.threads or ExternalThreads()
        self._drafts: dict[str, ComposerState] = {}
        self._edits: dict[str, Mapping[str, ComposerState]] = {}
        self._running: Subscription | None = None
        self.list = ExternalThreadList(tasks, on_error=on_error)
        self.thread = ExternalThread(source, options, tasks, on_error=on_error)
        self._tell_of_doubles(self._given)
        self._come_into_view()

    def update(self, source: object, changes: dict[str, Any], *, is_new: bool) -> None:
        """Take in what the owner says; see ``ExternalStoreRuntime.update``."""
        self._take_posted()
        changes = dict(changes)
        about: str | None = changes.pop("thread_id", None)
        given = (changes["threads"] or ExternalThreads()) if "threads" in changes else self._given
        if about is not None and about != given.current_id:
            text = f"Messages of thread {about!r} came while {given.current_id!r} is in view; they are left out."
            self.thread.remark("late-feed", about, text)
            return
        if given is not self._given:
            self._tell_of_doubles(given)
        if given.current_id == self._given.current_id:
            self.thread.update(source, changes, is_new=is_new)
            if given is not self._given:
                self._given = given
                self.list.show(given, self.thread)
            return
        options = attrs.evolve(self.thread.options, **changes)
        thread = ExternalThread(source if is_new else (), options, self._tasks, on_error=self._on_error)
        before, self.thread = self.thread, thread
        left_id, self._given = self._given.current_id, given
        self._come_into_view()
        before.leave()
        if before.state.edits:
            self._edits[left_id] = before.state.edits
        self._keep(left_id, before.composer.take_out())
        # What comes back later: of an upload that fails, or a message that nobody took.
        before.select(lambda state: state.composer).subscribe(lambda draft: self._came_back(left_id, before, draft))
        if (draft := self._drafts.pop(given.current_id, None)) is not None:
            thread.composer.put_back(draft)
        thread.reopen_edits(self._edits.pop(given.current_id, {}))

    def put(self, item: object) -> None:
        """Take in one item; see ``ExternalStoreRuntime.put``."""
        self._take_posted()
        self.thread.put(item)

    def remove(self, message_id: str) -> None:
        """Take one message out; see ``ExternalStoreRuntime.remove``."""
        self._take_posted()
        self.thread.remove(message_id)

    def post(self, source: object, changes: dict[str, Any], *, is_new: bool) -> None:
        """Do what ``update`` does, at once or soon, from any thread of execution; failures are reported."""

        def take() -> None:
            try:
                self.update(source, changes, is_new=is_new)
            except Exception as error:
                self.report("feed", error)

        try:
            self.list.store.check_writer()
        except WrongThreadError:
            self.list.store.post(take)
        else:
            take()

    def report(self, where: str, error: Exception) -> None:
        """Tell of a failure of the feed, from any thread of execution."""
        self.list.store.post(lambda: self.thread.report(where, error))

    def _take_posted(self) -> None:
        """Take in first what other threads of execution said before; without an event loop it waits for this."""
        self.list.store.drain()

    def close(self) -> None:
        """Complete every slice."""
        if self._running is not None:
            self._running.dispose()
        self.thread.close()
        self.list.store.close()

    def _came_back(self, thread_id: str, left: ExternalThread, draft: ComposerState) -> None:
        if has_something(draft):
            self._keep(thread_id, left.composer.take_out())

    def _keep(self, thread_id: str, draft: ComposerState) -> None:
        """Keep what was typed in a thread that is not in view, or put it where it is again."""
        if not has_something(draft):
            return
        if thread_id == self._given.current_id:
            self.thread.composer.put_back(draft)
        else:
            known = self._drafts.get(thread_id, ComposerState())
            self._drafts[thread_id] = merged(draft, known)

    def _come_into_view(self) -> None:
        if self._running is not None:
            self._running.dispose()
        self.list.show(self._given, self.thread)
        self._running = self.thread.select(lambda state: state.is_running).subscribe(lambda _: self.list.show_running())

    def _tell_of_doubles(self, given: ExternalThreads) -> None:
        for id in twice_listed(given):
            text = f"Thread {id!r} is listed more than once; its first row is shown. List each thread once."
            self.thread.remark("duplicate-thread", id, text)
