"""The store: one immutable snapshot, one writer, and slices of it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from operator import eq as equals
from typing import Generic, TypeVar, cast

import attrs

from partwise.reactive._address import AddressStep
from partwise.reactive._cell import Comparer, Recipe
from partwise.reactive._engine import Engine
from partwise.reactive._evaluate import Selector, note_untracked_read
from partwise.reactive._paths import count_entries
from partwise.reactive._report import ErrorHook, log_error
from partwise.reactive._slice import Slice

S = TypeVar("S")
T = TypeVar("T")


@attrs.frozen(kw_only=True)
class StoreStatistics:
    """What a store has done and holds.

    Attributes:
        commits: Snapshots committed.
        evaluations: Times a selector was run or an address looked up.
        deliveries: Values handed to listeners, first ones included.
        live_slices: Slices with at least one listener.
        index_entries: Registrations in the index of paths that slices read.
    """

    commits: int
    evaluations: int
    deliveries: int
    live_slices: int
    index_entries: int


class Store(Generic[S]):
    """Holds one snapshot and tells those who listen what changed in it.

    The store belongs to the thread that made it. Three rules hold: there is one writer; all slices
    evaluated for a commit see the same snapshot; and a commit made while values are delivered is
    delivered after them, so that nobody sees an older value after a newer one. Such a commit can be
    read at once through ``value``.

    Args:
        initial: The first snapshot; immutable, as all later ones.
        name: For messages of errors.
        on_error: Called once for each error of a listener, a selector or a posted function, which
            reach nobody else. Logs by default. What it raises itself surfaces from the commit,
            after everybody was served.
        debug: Check every evaluation against an untracked one and warn (``SelectorWarning``) where
            they differ. Slow.
    """

    def __init__(
        self, initial: S, *, name: str = "store", on_error: ErrorHook = log_error, debug: bool = False
    ) -> None:
        self._engine = Engine(initial, name=name, on_error=on_error, debug=debug)

    @property
    def value(self) -> S:
        """The newest snapshot; readable from any thread."""
        note_untracked_read()
        return cast("S", self._engine.value)

    def commit(self, state: S) -> None:
        """Replace the snapshot and deliver what changed.

        During a delivery, or in a batch, the delivery waits for the end of that.

        Raises:
            WrongThreadError: Another thread owns the store; use ``post``.
            StoreClosedError: The store was closed.
        """
        self._engine.commit(state)

    def check_writer(self) -> None:
        """Check that the caller may commit, before anything else is changed with it.

        Raises:
            WrongThreadError: Another thread owns the store; use ``post``.
            StoreClosedError: The store was closed.
        """
        self._engine.check_writer()

    def update(self, function: Callable[[S], S]) -> None:
        """Commit what a function makes of the newest snapshot.

        Raises:
            WrongThreadError: Another thread owns the store; use ``post``.
            StoreClosedError: The store was closed.
        """
        self._engine.check_writer()
        self._engine.commit(function(cast("S", self._engine.value)))

    @contextmanager
    def batch(self) -> Generator[None]:
        """Deliver all commits of a block as one, at its end; reads inside see them at once.

        Batches may be nested; the outermost counts. When the block raises, what it had committed
        stays and is delivered.
        """
        self._engine.begin_batch()
        try:
            yield
        finally:
            self._engine.end_batch()

    def select(self, selector: Callable[[S], T], *, eq: Callable[[T, T], bool] = equals) -> Slice[T]:
        """Make a slice whose value is a function of the snapshot.

        While it has listeners, the function runs again only when something that it read has changed.
        It gets a stand-in that behaves like the snapshot; only ``type(x)`` tells the difference,
        so ask ``isinstance`` instead. What leaves the slice is plain.

        Args:
            selector: A plain function of the snapshot.
            eq: Tells whether two results that are not the same object count as equal.
        """
        return Slice(self._engine, Recipe((), (cast("Selector", selector),), cast("Comparer", eq)))

    def at(self, *steps: AddressStep) -> Slice[object]:
        """Make a slice of the value at an address, looked up directly at each commit that touches it.

        While a position or attribute of the address does not exist, there is no value; once a key of
        it does not exist, the slice completes.

        Args:
            steps: Made by ``attr``, ``index``, ``key`` and ``first``.
        """
        return Slice(self._engine, Recipe(tuple(step.step for step in steps), (), equals))

    def post(self, function: Callable[[], object]) -> None:
        """Have a function called on the store's own event loop, soon and in order; from any thread.

        Without an event loop, it is called by the next ``drain`` or after the next commit. Its
        errors go to the error hook.
        """
        self._engine.door.put(function)

    def drain(self) -> None:
        """Call the posted functions that are waiting.

        Raises:
            WrongThreadError: Another thread owns the store.
            StoreClosedError: The store was closed.
        """
        self._engine.check_writer()
        self._engine.door.drain()

    def close(self) -> None:
        """Complete every slice. The last snapshot can still be read; posted functions are dropped."""
        self._engine.close()

    def statistics(self) -> StoreStatistics:
        """Return what the store has done and holds."""
        engine = self._engine
        return StoreStatistics(
            commits=engine.commits,
            evaluations=engine.evaluations,
            deliveries=engine.deliveries,
            live_slices=len(engine.cells),
            index_entries=count_entries(engine.root),
        )

    def __repr__(self) -> str:
        return f"<Store {self._engine.name!r} of {type(self._engine.value).__name__}>"
