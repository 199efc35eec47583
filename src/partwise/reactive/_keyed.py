"""A list as the steps that lead from one version to the next, for widgets that hold rows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, cast

import attrs
from reactivex import Observable, abc

from partwise.reactive._diff import changed_positions, shares_order
from partwise.reactive._sequence import KeyedSeq

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class ItemInserted:
    """An item is new at a position; later ones move down."""

    index: int
    key: object
    value: object


@attrs.frozen(kw_only=True)
class ItemRemoved:
    """The item at a position is gone; later ones move up."""

    index: int
    key: object


@attrs.frozen(kw_only=True)
class ItemMoved:
    """An item left one position and stands at another, counted after it was taken out."""

    index: int
    to: int
    key: object


@attrs.frozen(kw_only=True)
class ItemUpdated:
    """Another value stands at a position, under the same key."""

    index: int
    key: object
    value: object


ItemChange = ItemInserted | ItemRemoved | ItemMoved | ItemUpdated
Rows = KeyedSeq[object, object]


def keyed_changes(
    key: Callable[[T], object] | None = None,
) -> Callable[[Observable[Iterable[T]]], Observable[tuple[ItemChange, ...]]]:
    """Turn versions of a list into changes that, done in order, lead from each to the next.

    The first version is a row of insertions. A version without a difference gives nothing. Items
    that only moved are moved, as few of them as possible.

    Args:
        key: Gives the key of an item; may be left out for keyed sequences, which have keys.
    """

    def operator(source: Observable[Iterable[T]]) -> Observable[tuple[ItemChange, ...]]:
        def subscribe(
            observer: abc.ObserverBase[tuple[ItemChange, ...]], scheduler: abc.SchedulerBase | None = None
        ) -> abc.DisposableBase:
            before: Rows = KeyedSeq()

            def on_next(items: Iterable[T]) -> None:
                nonlocal before
                try:
                    after = _rows(items, cast("Callable[[object], object] | None", key), before)
                except Exception as error:  # a key function that raises ends the sequence, as in Rx
                    observer.on_error(error)
                    return
                changes = changes_between(before, after)
                before = after
                if changes:
                    observer.on_next(changes)

            return source.subscribe(on_next, observer.on_error, observer.on_completed, scheduler=scheduler)

        return Observable(subscribe)

    return operator


def _rows(items: Iterable[object], key: Callable[[object], object] | None, before: Rows) -> Rows:
    if key is not None:
        return before.with_items((key(item), item) for item in items)
    if isinstance(items, KeyedSeq):
        return cast("Rows", items)
    text = f"keyed_changes needs a key function for a {type(items).__name__}; only a KeyedSeq has keys of its own"
    raise TypeError(text)


def changes_between(before: Rows, after: Rows) -> tuple[ItemChange, ...]:
    """Return the changes that, done in order, turn one keyed sequence into another."""
    if before is after:
        return ()
    if shares_order(before, after):
        return _changes_in_place(before, after)
    return _changes_in_order(before, after)


def _changes_in_place(before: Rows, after: Rows) -> tuple[ItemChange, ...]:
    changes: list[ItemChange] = []
    low = min(len(before), len(after))
    changes.extend(ItemRemoved(index=at, key=before.key_at(at)) for at in range(len(before) - 1, low - 1, -1))
    changes.extend(
        ItemUpdated(index=at, key=after.key_at(at), value=after[at]) for at in changed_positions(before, after)
    )
    changes.extend(ItemInserted(index=at, key=after.key_at(at), value=after[at]) for at in range(low, len(after)))
    return tuple(changes)


def _changes_in_order(before: Rows, after: Rows) -> tuple[ItemChange, ...]:
    """Take out what is gone, move what changed places, put in what is new, update the rest."""
    old_keys, new_items = before.keys(), tuple(after.items())
    changes: list[ItemChange] = [
        ItemRemoved(index=at, key=old_keys[at]) for at in range(len(old_keys) - 1, -1, -1) if old_keys[at] not in after
    ]
    changes += _moves([key for key in old_keys if key in after], [key for key, _ in new_items if key in before], after)
    changes += [
        ItemInserted(index=at, key=key, value=value) for at, (key, value) in enumerate(new_items) if key not in before
    ]
    changes += [
        ItemUpdated(index=at, key=key, value=value)
        for at, (key, value) in enumerate(new_items)
        if key in before and before.by_key(key) is not value
    ]
    return tuple(changes)


def _moves(current: list[object], wanted: list[object], after: Rows) -> Iterable[ItemMoved]:
    """Give the moves from one order of some keys to another; a longest row that is right stays."""
    if current == wanted:
        return
    staying = _longest_rising(current, after)
    for number, key in enumerate(wanted):
        if key in staying:
            continue
        origin = current.index(key)
        del current[origin]
        # Right behind the key that is to be in front of it, which stands where it should by now.
        to = current.index(wanted[number - 1]) + 1 if number else 0
        current.insert(to, key)
        yield ItemMoved(index=origin, to=to, key=key)


def _longest_rising(kept: Sequence[object], after: Rows) -> frozenset[object]:
    """Return the keys of a longest run that is in the same order before and after."""
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    goals = [after.index_of(key) for key in kept]
    for number, goal in enumerate(goals):
        length = bisect_left(tails, goal)
        previous.append(ends[length - 1] if length else -1)
        if length == len(tails):
            tails.append(goal)
            ends.append(number)
        else:
            tails[length] = goal
            ends[length] = number
    found: set[object] = set()
    number = ends[-1] if ends else -1
    while number >= 0:
        found.add(kept[number])
        number = previous[number]
    return frozenset(found)
