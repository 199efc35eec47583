"""A slice: one value derived from the snapshot, observable, readable and awaitable."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq as equals
from threading import RLock
from typing import Generic, TypeVar, cast

from reactivex import Observable, abc
from reactivex.internal import default_error

from partwise.errors import SelectorError
from partwise.reactive._address import GONE, describe
from partwise.reactive._cell import Cell, Comparer, Recipe
from partwise.reactive._engine import Engine
from partwise.reactive._evaluate import Selector, note_untracked_read
from partwise.reactive._iterate import SliceIterator
from partwise.reactive._paths import MISSING
from partwise.reactive._subscription import Subscription

T = TypeVar("T")
U = TypeVar("U")


class Slice(Observable[T], Generic[T]):
    """A value of a store's snapshot and how it changes.

    It is an observable: a subscriber gets the present value at once, then each value that differs
    from the one before (not the same object, and not equal by ``eq``). All subscribers of a slice
    share one evaluation per change. A subscription lives until it is disposed or the slice
    completes; keeping the handle is not needed. ``async for`` gives every value in order.

    A listener that raises stays subscribed; its error goes to the store's error hook.
    """

    # Thousands of slices may be alive: each field that one does not have counts.
    __slots__ = ("_engine", "cell", "memo", "recipe")

    def __init__(self, engine: Engine, recipe: Recipe) -> None:
        # The constructor of Observable is not called: it would make a lock for every slice.
        self._engine = engine
        self.recipe = recipe
        self.cell: Cell | None = None
        self.memo: tuple[int, object] | None = None

    @property
    def lock(self) -> RLock:  # type: ignore[override]  # pyright: ignore[reportIncompatibleVariableOverride] - nobody sets it
        """The lock of the store; operators such as merge and amb take that of their source."""
        return self._engine.lock

    @property
    def origin(self) -> tuple[Engine, Recipe]:
        """What a subclass hands to the constructor to be a slice of the same value."""
        return self._engine, self.recipe

    @property
    def value(self) -> T:
        """The present value, as of the last commit, also of one that is still to be delivered.

        Reading it twice between two commits gives the same object.

        Raises:
            SelectorError: Nothing is at this address.
            Exception: Whatever the selector raises.
        """
        note_untracked_read()
        outcome = self._engine.peek(self)
        if outcome.error is not None:
            raise outcome.error
        if outcome.value is MISSING or outcome.value is GONE:
            where = describe(self.recipe.path)
            text = f"nothing is at {where} in store {self._engine.name!r}; subscribe to hear of a value there"
            raise SelectorError(text)
        return cast("T", outcome.value)

    def subscribe(
        self,
        on_next: abc.ObserverBase[T] | Callable[[T], object] | None = None,
        on_error: abc.OnError | None = None,
        on_completed: abc.OnCompleted | None = None,
        *,
        scheduler: abc.SchedulerBase | None = None,
    ) -> Subscription:
        """Call a function (or an observer) with the present value now and with each later one.

        Args:
            on_next: The function, or an object with ``on_next``, ``on_error`` and ``on_completed``.
            on_error: Called when the selector raises at this subscription; without it, that error
                is raised here. A selector that raises later keeps its last value and is reported.
            on_completed: Called when the store closes or the address has gone.
            scheduler: Ignored: values are delivered where they are committed.

        Returns:
            A handle whose ``dispose()`` ends the subscription; also a context manager.

        Raises:
            WrongThreadError: Another thread owns the store.
        """
        del scheduler
        observer = getattr(on_next, "on_next", None)
        if observer is not None:
            on_error = cast("abc.ObserverBase[T]", on_next).on_error
            on_completed = cast("abc.ObserverBase[T]", on_next).on_completed
            on_next = observer
        subscription = Subscription(
            self._engine,
            self,
            cast("Callable[[object], object]", on_next or _ignore),
            on_error or default_error,
            on_completed,
        )
        self._engine.listen(self, subscription)
        return subscription

    def _subscribe_core(
        self, observer: abc.ObserverBase[T], scheduler: abc.SchedulerBase | None = None
    ) -> abc.DisposableBase:
        return self.subscribe(observer, scheduler=scheduler)

    def select(self, selector: Callable[[T], U], *, eq: Callable[[U, U], bool] = equals) -> Slice[U]:
        """Derive a slice from this one.

        On a slice at an address without a selector, ``selector`` is tracked from there. Otherwise
        it sees plain values, and is called only when the value before it has changed.

        Args:
            selector: A plain function of this slice's value.
            eq: Tells whether two results that are not the same object count as equal.
        """
        return Slice(self._engine, self.recipe.then(cast("Selector", selector), cast("Comparer", eq)))

    def __aiter__(self) -> SliceIterator[T]:
        """Iterate over the present value and every later one, in order, none left out.

        The subscription ends with the loop. Where leaving early must not wait for the iterator to be
        collected, say ``async with aclosing(aiter(slice)) as values: async for value in values: ...``.
        """
        return SliceIterator(self)

    def __repr__(self) -> str:
        return f"<Slice {self.recipe} of store {self._engine.name!r}>"


def _ignore(_value: object) -> None:
    return None


def shallow_equal(one: object, other: object) -> bool:
    """Compare two containers item by item, items by identity.

    Give it as ``eq`` to a selector that builds a new list or dictionary of the same items each time
    and whose items are expensive to compare.
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        mine, theirs = cast("dict[object, object]", one), cast("dict[object, object]", other)
        absent = object()
        return len(mine) == len(theirs) and all(theirs.get(key, absent) is item for key, item in mine.items())
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        left, right = cast("tuple[object, ...]", one), cast("tuple[object, ...]", other)
        return len(left) == len(right) and all(a is b or _leaf_equal(a, b) for a, b in zip(left, right, strict=True))
    return one == other


def _leaf_equal(one: object, other: object) -> bool:
    return isinstance(one, str | int | float) and one == other
