"""The store of a list, and the ledger behind it, kept in step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from partwise.errors import AdapterChangedError, ThreadNotFoundError
from partwise.messages import new_id
from partwise.reactive import ErrorHook, Events, Store
from partwise.store import ThreadListEvent, ThreadListFailed, ThreadListReport, ThreadListState

from ._changes import Change
from ._ledger import Ledger, began, confirmed, failed, noted, revised, view
from ._listing import Listing, Record
from ._rows import NOTHING_LIVE, Facts, shown

__all__ = ["Board"]


class Board:
    """Holds what is known of all threads and commits what is to be shown; its owner is the only writer.

    Attributes:
        listing: What is shown: the base with all changes that are not taken back.
        former: The threads of an adapter that was exchanged, until the list is loaded from the new one; None
            when the list is that of its adapter.
        on_written: Called after each change of the listing.
    """

    def __init__(self, *, on_error: ErrorHook) -> None:
        self.store: Store[ThreadListState] = Store(ThreadListState(), name="thread list", on_error=on_error)
        self.events: Events[ThreadListEvent] = Events(on_error=on_error)
        self.ledger = Ledger()
        self.listing = Listing()
        self.former: frozenset[str] | None = None
        self.on_written: Callable[[], None] | None = None
        self._facts: dict[str, Facts] = {}

    @property
    def state(self) -> ThreadListState:
        """The present snapshot."""
        return self.store.value

    def get(self, id: str) -> Record:
        """Return the shown record with an id of either kind.

        Raises:
            ThreadNotFoundError: There is none.
        """
        record = self.listing.find(id)
        if record is None:
            advice = "It was deleted, or is on a page that was not loaded; switch_to fetches such a thread."
            raise ThreadNotFoundError(id, where="this list", advice=advice)
        return record

    def check_current(self, operation: str, id: str) -> None:
        """Check that a thread is the present adapter's to change.

        Raises:
            AdapterChangedError: It is one of the adapter before.
        """
        if self.former is not None and id in self.former:
            raise AdapterChangedError(operation, thread_id=id)

    def fresh_id(self) -> str:
        """Return an id that no known thread has."""
        while True:
            id = f"thread-{new_id()}{new_id()}"
            if self.listing.find(id) is None and self.ledger.base.find(id) is None:
                return id

    # Changes

    def begin(self, change: Change) -> int:
        """Show a change that the adapter has yet to confirm; returns its number."""
        ledger, number = began(self.ledger, change)
        self.write(ledger)
        return number

    def revise(self, number: int, change: Change) -> None:
        """Show more of a change."""
        self.write(revised(self.ledger, number, change))

    def confirm(self, number: int, change: Change | None = None) -> None:
        """Keep a change, as it was or as it turned out."""
        ledger = self.ledger if change is None else revised(self.ledger, number, change)
        self.write(confirmed(ledger, number))

    def fail(self, number: int) -> None:
        """Take a change back."""
        self.write(failed(self.ledger, number))

    def note(self, change: Change) -> None:
        """Make a change that no adapter has a say in."""
        self.write(noted(self.ledger, change))

    def write(self, ledger: Ledger) -> None:
        """Take a ledger over and commit what it shows."""
        self.store.check_writer()
        self.ledger = ledger
        self.listing = view(ledger)
        with self.store.batch():
            self._commit(shown(self.state, self.listing, self._facts))
            main = None if self.state.main_id is None else self.listing.find(self.state.main_id)
            if main is not None:
                # Two records turned out to be one thread, and the one in view went.
                self.set(main_id=main.id)
            if self.on_written is not None:
                self.on_written()

    def set(self, **fields: Any) -> None:
        """Commit fields that do not come from the ledger."""
        state = self.state
        changed = {name: value for name, value in fields.items() if getattr(state, name) != value}
        if changed:
            self._commit(attrs.evolve(state, **changed))

    def facts(self, id: str) -> Facts:
        """Return what only this process knows of a thread."""
        return self._facts.get(id, NOTHING_LIVE)

    def set_facts(self, id: str, **fields: Any) -> None:
        """Change what only this process knows of a thread."""
        before = self.facts(id)
        facts = attrs.evolve(before, **fields)
        if facts == before:
            return
        self._facts[id] = facts
        if facts == NOTHING_LIVE:
            del self._facts[id]
        row = self.state.rows.get(id)
        if row is not None:
            self._commit(attrs.evolve(self.state, rows=self.state.rows.replace(id, attrs.evolve(row, **fields))))

    # What cannot be shown

    def tell_failed(self, operation: str, thread_id: str | None, error: BaseException) -> None:
        """Tell listeners of something that failed; that an adapter was exchanged is known to who did it."""
        if isinstance(error, AdapterChangedError):
            return
        self.events.emit(ThreadListFailed(operation=operation, thread_id=thread_id, error=error))

    def report(self, text: str) -> None:
        """Tell listeners what the adapter said that cannot be used."""
        self.events.emit(ThreadListReport(where="thread list adapter", text=text))

    def _commit(self, state: ThreadListState) -> None:
        if state is not self.state:
            self.store.commit(state)
