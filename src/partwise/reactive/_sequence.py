"""An immutable sequence whose items are found by position and by key."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from operator import is_
from typing import Any, Generic, TypeVar, cast, overload

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")

BITS = 5
WIDTH = 1 << BITS
MASK = WIDTH - 1

# A branch is a tuple of branches, a leaf a tuple of values. The height says which is which.
Tree = tuple[object, ...]


class Order(Generic[K]):
    """Which key stands where, shared by every version that only replaced, appended or cut the end.

    Positions at or above a version's own length belong to a longer version and are not looked at.
    """

    __slots__ = ("keys", "positions")

    def __init__(self, keys: list[K]) -> None:
        self.keys = keys
        self.positions: dict[K, int] = dict(zip(keys, range(len(keys)), strict=True))
        if len(self.positions) != len(keys):
            twice = next(key for position, key in enumerate(keys) if self.positions[key] != position)
            text = f"key {twice!r} is used twice; every item needs its own key"
            raise ValueError(text)


class KeyedSeq(Generic[K, V]):
    """Items in order, each under a key of its own; every change gives a new sequence.

    Replacing or appending one of many items copies one short path of the tree that holds them,
    so the cost hardly depends on the length, and versions share all they have in common.
    Inserting and removing in the middle are linear. Items that did not change keep their identity.

    Args:
        items: Pairs of key and value, in order.

    Raises:
        ValueError: A key is used twice.
    """

    __slots__ = ("height", "length", "order", "origin", "place", "token", "tree")

    # Not for users: the diff and the commit walk of this room read them.
    tree: Tree
    height: int
    length: int
    order: Order[K]
    # When this version is another with one item replaced: the token of that one, and the position.
    # A token keeps no version alive.
    token: object
    origin: object
    place: int

    def __init__(self, items: Iterable[tuple[K, V]] = ()) -> None:
        keys: list[K] = []
        values: list[V] = []
        for key, value in items:
            keys.append(key)
            values.append(value)
        self.order = Order(keys)
        self.length = len(keys)
        self.tree, self.height = _build(values, ())
        self.token = object()
        self.origin = None
        self.place = -1

    @classmethod
    def of(cls, values: Iterable[V], *, key: Callable[[V], K]) -> KeyedSeq[K, V]:
        """Build a sequence whose keys are computed from its values.

        Args:
            values: The items, in order.
            key: Gives the key of one item.

        Raises:
            ValueError: Two items have the same key.
        """
        return cls((key(value), value) for value in values)

    # Reading

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[V]:
        level: Iterable[object] = self.tree
        for _ in range(self.height // BITS):
            level = chain.from_iterable(cast("Iterable[Tree]", level))
        return cast("Iterator[V]", iter(level))

    def __reversed__(self) -> Iterator[V]:
        return (self._at(position) for position in range(self.length - 1, -1, -1))

    @overload
    def __getitem__(self, index: int) -> V: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[V, ...]: ...
    def __getitem__(self, index: int | slice) -> V | tuple[V, ...]:
        if isinstance(index, slice):
            chosen = range(self.length)[index]
            if chosen.step == 1:
                return self._between(chosen.start, chosen.stop)
            return tuple(self._at(position) for position in chosen)
        position = index + self.length if index < 0 else index
        if not 0 <= position < self.length:
            text = f"index {index} is outside a sequence of {self.length} items"
            raise IndexError(text)
        return self._at(position)

    def __contains__(self, key: object) -> bool:
        positions: dict[Any, int] = self.order.positions
        position = positions.get(key)
        return position is not None and position < self.length

    @overload
    def get(self, key: K) -> V | None: ...
    @overload
    def get(self, key: K, default: D) -> V | D: ...
    def get(self, key: K, default: object = None) -> object:
        """Return the item under ``key``, or ``default`` when there is none."""
        position = self.order.positions.get(key)
        if position is None or position >= self.length:
            return default
        return self._at(position)

    def by_key(self, key: K) -> V:
        """Return the item under ``key``.

        Raises:
            KeyError: No item has this key.
        """
        return self._at(self.index_of(key))

    def index_of(self, key: K) -> int:
        """Return the position of ``key``.

        Raises:
            KeyError: No item has this key.
        """
        position = self.order.positions.get(key)
        if position is None or position >= self.length:
            raise KeyError(key)
        return position

    def key_at(self, index: int) -> K:
        """Return the key at a position; a negative one counts from the end.

        Raises:
            IndexError: The position does not exist.
        """
        position = index + self.length if index < 0 else index
        if not 0 <= position < self.length:
            text = f"index {index} is outside a sequence of {self.length} items"
            raise IndexError(text)
        return self.order.keys[position]

    def keys(self) -> tuple[K, ...]:
        """Return every key, in order."""
        return tuple(islice(self.order.keys, self.length))

    def items(self) -> Iterator[tuple[K, V]]:
        """Iterate over pairs of key and value, in order."""
        return zip(self.keys(), self, strict=True)

    # New versions

    def replace(self, key: K, value: V) -> KeyedSeq[K, V]:
        """Return a sequence with ``value`` in place of the item under ``key``.

        Giving the item that is already there returns this very sequence.

        Raises:
            KeyError: No item has this key.
        """
        position = self.index_of(key)
        node: Any = self.tree
        path: list[tuple[Tree, int]] = []
        height = self.height
        while height:
            slot = (position >> height) & MASK
            path.append((node, slot))
            node = node[slot]
            height -= BITS
        slot = position & MASK
        if node[slot] is value:
            return self
        fresh = _with_slot(node, slot, value)
        while path:
            node, slot = path.pop()
            fresh = _with_slot(node, slot, fresh)
        version = self._version(fresh, self.height, self.length, self.order)
        version.origin = self.token
        version.place = position
        return version

    def append(self, key: K, value: V) -> KeyedSeq[K, V]:
        """Return a sequence with one more item at its end.

        Raises:
            ValueError: The key is in use.
        """
        if key in self:
            text = f"key {key!r} is in use; replace its item instead"
            raise ValueError(text)
        order = self.order
        length = self.length
        if len(order.keys) != length:
            # A longer version has extended the shared order already; start our own.
            order = Order(order.keys[:length])
        order.keys.append(key)
        order.positions[key] = length
        if length == WIDTH << self.height:
            tree: Tree = (self.tree, _spine(value, self.height))
            return self._version(tree, self.height + BITS, length + 1, order)
        return self._version(_push(self.tree, self.height, length, value), self.height, length + 1, order)

    def insert(self, index: int, key: K, value: V) -> KeyedSeq[K, V]:
        """Return a sequence with one more item before position ``index`` (as ``list.insert``).

        Raises:
            ValueError: The key is in use.
        """
        if index >= self.length:
            return self.append(key, value)
        keys, values = list(self.keys()), list(self)
        keys.insert(index, key)
        values.insert(index, value)
        return self._rebuilt(Order(keys), values)

    def remove(self, key: K) -> KeyedSeq[K, V]:
        """Return a sequence without the item under ``key``.

        Raises:
            KeyError: No item has this key.
        """
        position = self.index_of(key)
        if position == self.length - 1:
            return self.truncate(position)
        keys, values = list(self.keys()), list(self)
        del keys[position], values[position]
        return self._rebuilt(Order(keys), values)

    def truncate(self, length: int) -> KeyedSeq[K, V]:
        """Return a sequence of the first ``length`` items."""
        if length >= self.length:
            return self
        length = max(length, 0)
        tree, height = self.tree, self.height
        while height and length <= WIDTH << (height - BITS):
            tree = cast("Tree", tree[0])
            height -= BITS
        return self._version(_cut(tree, height, length), height, length, self.order)

    def with_items(self, items: Iterable[tuple[K, V]]) -> KeyedSeq[K, V]:
        """Return a sequence of exactly these pairs that shares with this one all it can.

        Use it when a whole list arrives again: what is identical stays shared, so finding the
        differences afterwards costs as much as if they had been made one by one.

        Raises:
            ValueError: A key is used twice.
        """
        keys: list[K] = []
        values: list[V] = []
        for key, value in items:
            keys.append(key)
            values.append(value)
        return self._with(keys, values)

    def with_values(self, values: Iterable[V], *, key: Callable[[V], K]) -> KeyedSeq[K, V]:
        """Return a sequence of exactly these items, each under the key computed from it; as `with_items`, and faster.

        Raises:
            ValueError: Two items have the same key.
        """
        values = list(values)
        return self._with(list(map(key, values)), values)

    def _with(self, keys: list[K], values: list[V]) -> KeyedSeq[K, V]:
        length = len(keys)
        order = self.order
        if length < len(order.keys) or order.keys != keys:
            known = self.length
            if known == len(order.keys) < length and keys[:known] == order.keys:
                tail = Order(keys)
                order.keys.extend(keys[known:])
                order.positions.update(tail.positions)
            elif length > known or keys != order.keys[:length]:
                order = Order(keys)
        if length == self.length and order is self.order and all(map(is_, self, values)):
            return self
        return self._rebuilt(order, values)

    # Comparing

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, KeyedSeq):
            return NotImplemented
        that = cast("KeyedSeq[object, object]", other)
        if self.length != len(that):
            return False
        if self.order is not that.order and self.keys() != that.keys():
            return False
        return all(mine is theirs or mine == theirs for mine, theirs in zip(self, that, strict=True))

    def __hash__(self) -> int:
        return hash((self.keys(), tuple(self)))

    def __repr__(self) -> str:
        return f"KeyedSeq({list(self.items())!r})"

    # Inside

    def _at(self, position: int) -> V:
        node: Any = self.tree
        height = self.height
        while height:
            node = node[(position >> height) & MASK]
            height -= BITS
        item: V = node[position & MASK]
        return item

    def _between(self, start: int, stop: int) -> tuple[V, ...]:
        if stop - start > WIDTH:
            return tuple(islice(self, start, stop))
        return tuple(self._at(position) for position in range(start, stop))

    def _rebuilt(self, order: Order[K], values: list[V]) -> KeyedSeq[K, V]:
        tree, height = _build(values, _leaves(self.tree, self.height))
        return self._version(tree, height, len(values), order)

    def _version(self, tree: Tree, height: int, length: int, order: Order[K]) -> KeyedSeq[K, V]:
        fresh: KeyedSeq[K, V] = _blank(KeyedSeq)
        fresh.tree = tree
        fresh.height = height
        fresh.length = length
        fresh.order = order
        fresh.token = object()
        fresh.origin = None
        return fresh


# Sequence patterns and `isinstance(x, Sequence)` work; `in` asks for a key, unlike other sequences.
cast("ABCMeta", Sequence).register(KeyedSeq)


_blank: Callable[[type], Any] = object.__new__


def _with_slot(branch: Tree, slot: int, value: object) -> Tree:
    copy = list(branch)
    copy[slot] = value
    return tuple(copy)


def _leaves(tree: Tree, height: int) -> Sequence[Tree]:
    if not height:
        return (tree,)
    level = cast("Iterable[Tree]", tree)
    for _ in range(height // BITS - 1):
        level = cast("Iterable[Tree]", chain.from_iterable(level))
    return tuple(level)


def _build(values: Sequence[object], known: Sequence[Tree]) -> tuple[Tree, int]:
    """Build a tree of values, reusing each known leaf whose values are the same objects."""
    level: list[Tree] = []
    for number, start in enumerate(range(0, len(values), WIDTH)):
        leaf = tuple(values[start : start + WIDTH])
        if number < len(known):
            old = known[number]
            if len(old) == len(leaf) and all(map(is_, old, leaf)):
                leaf = old
        level.append(leaf)
    height = 0
    while len(level) > 1:
        level = [tuple(level[start : start + WIDTH]) for start in range(0, len(level), WIDTH)]
        height += BITS
    return (level[0] if level else ()), height


def _spine(value: object, height: int) -> Tree:
    tree: Tree = (value,)
    for _ in range(height // BITS):
        tree = (tree,)
    return tree


def _push(tree: Tree, height: int, position: int, value: object) -> Tree:
    if not height:
        return (*tree, value)
    slot = (position >> height) & MASK
    if slot == len(tree):
        return (*tree, _spine(value, height - BITS))
    return (*tree[:slot], _push(cast("Tree", tree[slot]), height - BITS, position, value))


def _cut(tree: Tree, height: int, length: int) -> Tree:
    if not height or not length:
        return tree[:length]
    slot = ((length - 1) >> height) & MASK
    kept = length - (slot << height)
    return (*tree[:slot], _cut(cast("Tree", tree[slot]), height - BITS, kept))
