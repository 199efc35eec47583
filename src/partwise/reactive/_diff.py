"""What differs between two versions of a keyed sequence."""

from __future__ import annotations

from itertools import compress
from operator import is_not
from typing import Generic, TypeVar, cast

import attrs

from partwise.reactive._sequence import BITS, KeyedSeq, Tree

K = TypeVar("K")
V = TypeVar("V")


@attrs.frozen(kw_only=True)
class Difference(Generic[K]):
    """How one version of a keyed sequence differs from another.

    Attributes:
        changed: Keys of both whose item is not the same object, in the new order.
        added: Keys only the new version has, in its order.
        removed: Keys only the old version had, in its order.
        reordered: Whether the keys that both have stand in another order.
    """

    changed: tuple[K, ...] = ()
    added: tuple[K, ...] = ()
    removed: tuple[K, ...] = ()
    reordered: bool = False

    def __bool__(self) -> bool:
        return bool(self.changed or self.added or self.removed or self.reordered)


def diff(old: KeyedSeq[K, V], new: KeyedSeq[K, V]) -> Difference[K]:
    """Tell which keys changed, came and went.

    When ``new`` was made from ``old`` by replacing, appending or cutting the end, the cost is that
    of the differences; otherwise it is linear.
    """
    if old is new:
        return Difference()
    if shares_order(old, new):
        keys = new.order.keys
        common = min(len(old), len(new))
        return Difference(
            changed=tuple(keys[position] for position in changed_positions(old, new)),
            added=tuple(keys[common : len(new)]),
            removed=tuple(keys[common : len(old)]),
        )
    changed: list[K] = []
    added: list[K] = []
    kept: list[K] = []
    for key, value in new.items():
        if key not in old:
            added.append(key)
            continue
        kept.append(key)
        if old.by_key(key) is not value:
            changed.append(key)
    before = old.keys()
    removed = tuple(key for key in before if key not in new)
    return Difference(
        changed=tuple(changed),
        added=tuple(added),
        removed=removed,
        reordered=kept != ([key for key in before if key in new] if removed else list(before)),
    )


def shares_order(old: KeyedSeq[K, V], new: KeyedSeq[K, V]) -> bool:
    """Tell whether every position that both versions have holds the same key."""
    return old.order is new.order


def changed_positions(old: KeyedSeq[K, V], new: KeyedSeq[K, V]) -> list[int]:
    """Return the positions that both have and where the items are not the same object.

    Walks both trees and skips every branch they share.
    """
    if new.origin is old.token:
        return [new.place]
    before, after = old.tree, new.tree
    low, high = old.height, new.height
    while high > low:
        after = cast("Tree", after[0])
        high -= BITS
    while low > high:
        before = cast("Tree", before[0])
        low -= BITS
    found: list[int] = []
    if before is not after:
        _collect(before, after, low, 0, found)
    return found


def _collect(before: Tree, after: Tree, height: int, base: int, found: list[int]) -> None:
    width = min(len(before), len(after))
    for slot in compress(range(width), map(is_not, before, after)):
        if height:
            below = base + (slot << height)
            _collect(cast("Tree", before[slot]), cast("Tree", after[slot]), height - BITS, below, found)
        else:
            found.append(base + slot)
