"""A bag of listeners that costs nothing while it is empty or holds one.

Most places of the index and most slices have exactly one listener; a dictionary for each would be
the larger part of a slice's memory. Put and take are constant in time, whatever the number.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar, cast

T = TypeVar("T")

Bag: TypeAlias = dict[T, None] | T | None


def put(bag: Bag[T], item: T) -> Bag[T]:
    """Return the bag with an item in it; putting it twice changes nothing."""
    if bag is None:
        return item
    if type(bag) is dict:
        held = cast("dict[T, None]", bag)
        held[item] = None
        return held
    one = cast("T", bag)
    return one if one is item else {one: None, item: None}


def take(bag: Bag[T], item: T) -> Bag[T]:
    """Return the bag without an item."""
    if type(bag) is dict:
        held = cast("dict[T, None]", bag)
        held.pop(item, None)
        return held or None
    return None if bag is item else bag


def members(bag: Bag[T]) -> tuple[T, ...]:
    """Return the items, in the order in which they were put."""
    if bag is None:
        return ()
    held: Any = bag
    return tuple(held) if type(bag) is dict else (held,)
