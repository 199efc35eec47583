"""Stand-ins for tuples, lists, mappings and keyed sequences."""

from __future__ import annotations

import operator
from abc import ABCMeta
from collections.abc import ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from types import MappingProxyType
from typing import Any, cast

from partwise.reactive._paths import AT, CUT, EACH, HAS, KEY, KEYS, PLACE, SIZE, TRUTH
from partwise.reactive._sequence import KeyedSeq
from partwise.reactive._standin import StandIn, is_stand_in, note, whole, wrap_as
from partwise.reactive._tracking import CLASSIFIERS, WRAPPERS, Place, Wrap

Items = tuple[object, ...]
Keyed = KeyedSeq[object, object]
Table = Mapping[object, object]


def raw(value: object) -> object:
    """Return what a stand-in stands for, as a whole; any other value as it is."""
    return whole(value) if is_stand_in(value) else value


class SequenceStandIn(StandIn):
    """What tuples, lists and keyed sequences have in common."""

    __slots__ = ()

    def __len__(self) -> int:
        note(self, SIZE)
        return len(self.pw_raw)

    def __bool__(self) -> bool:
        note(self, TRUTH)
        return bool(self.pw_raw)

    def __getitem__(self, index: int | slice) -> object:
        items = self.pw_raw
        if isinstance(index, slice):
            place = self.pw_node.fact((CUT, (index.start, index.stop, index.step)))
            self.pw_read = True
            return self.pw_ctx.take(items[index], place)
        position = operator.index(index)
        place = self.pw_node.fact((AT, position)) if position < 0 else self.pw_node.child(position)
        self.pw_read = True
        try:
            value = items[position]
        except IndexError:
            self.pw_ctx.reads[place] = None
            raise
        return self.pw_ctx.take(value, place)

    def __iter__(self) -> Iterator[object]:
        self.pw_note_iteration()
        return self.pw_each(iter(self.pw_raw))

    def __reversed__(self) -> Iterator[object]:
        self.pw_note_iteration()
        return self.pw_each(reversed(self.pw_raw))

    def pw_note_iteration(self) -> None:
        """Record that the number or order of the items matters."""
        note(self, SIZE)

    def pw_each(self, items: Iterator[object]) -> Iterator[object]:
        """Hand out items one by one, all at one place."""
        take = self.pw_ctx.take
        place: Place | None = None
        for value in items:
            if place is None:
                place = self.pw_node.fact(EACH)
            yield take(value, place)


class ItemsStandIn(SequenceStandIn):
    """Stands for a tuple or a list."""

    __slots__ = ()

    def __contains__(self, item: object) -> bool:
        return raw(item) in cast("Items", whole(self))

    def index(self, item: object, *bounds: int) -> int:
        """Return the first position of a value."""
        return cast("Items", whole(self)).index(raw(item), *bounds)

    def count(self, item: object) -> int:
        """Count the items equal to a value."""
        return cast("Items", whole(self)).count(raw(item))

    def __add__(self, other: object) -> object:
        return self.pw_copy() + cast("Items", _own_copy(other))

    def __radd__(self, other: object) -> object:
        return cast("Items", other) + self.pw_copy()

    def __mul__(self, times: int) -> object:
        return self.pw_copy() * times

    __rmul__ = __mul__

    def __lt__(self, other: object) -> bool:
        return cast("Items", whole(self)) < cast("Items", raw(other))

    def __le__(self, other: object) -> bool:
        return cast("Items", whole(self)) <= cast("Items", raw(other))

    def __gt__(self, other: object) -> bool:
        return cast("Items", whole(self)) > cast("Items", raw(other))

    def __ge__(self, other: object) -> bool:
        return cast("Items", whole(self)) >= cast("Items", raw(other))

    def copy(self) -> object:
        """Return a new list of the items."""
        if type(self.pw_raw) is tuple:
            text = "'tuple' object has no attribute 'copy'"
            raise AttributeError(text)
        return self.pw_copy()

    def pw_copy(self) -> Any:
        """Return the items in a new container of the same type."""
        return list(self) if type(self.pw_raw) is list else tuple(self)


def _own_copy(value: object) -> object:
    return value.pw_copy() if isinstance(value, ItemsStandIn) else value


class KeyedStandIn(SequenceStandIn):
    """Stands for a keyed sequence."""

    __slots__ = ()

    def pw_note_iteration(self) -> None:
        """Record that the order of the items matters."""
        note(self, KEYS)

    def __contains__(self, key: object) -> bool:
        key = raw(key)
        self.pw_ctx.reads[self.pw_node.child((HAS, key))] = None
        self.pw_read = True
        return key in self.pw_raw

    def get(self, key: object, default: object = None) -> object:
        """Return the item under a key."""
        return _by_key(self, self.pw_raw, raw(key), default)

    def by_key(self, key: object) -> object:
        """Return the item under a key, which must exist."""
        found = _by_key(self, self.pw_raw, raw(key), _ABSENT)
        if found is _ABSENT:
            raise KeyError(key)
        return found

    def index_of(self, key: object) -> int:
        """Return the position of a key."""
        key = raw(key)
        note(self, (PLACE, key))
        return cast("Keyed", self.pw_raw).index_of(key)

    def key_at(self, index: int) -> object:
        """Return the key at a position."""
        note(self, KEYS)
        return self.pw_raw.key_at(index)

    def keys(self) -> Items:
        """Return every key, in order."""
        note(self, KEYS)
        return cast("Keyed", self.pw_raw).keys()

    def items(self) -> Iterator[tuple[object, object]]:
        """Iterate over pairs of key and value."""
        return zip(self.keys(), self, strict=True)


class MappingStandIn(StandIn):
    """Stands for a mapping."""

    __slots__ = ()

    def __len__(self) -> int:
        note(self, SIZE)
        return len(self.pw_raw)

    def __bool__(self) -> bool:
        note(self, TRUTH)
        return bool(self.pw_raw)

    def __contains__(self, key: object) -> bool:
        key = raw(key)
        self.pw_ctx.reads[self.pw_node.child((HAS, key))] = None
        self.pw_read = True
        return key in self.pw_raw

    def __getitem__(self, key: object) -> object:
        found = _by_key(self, self.pw_raw, raw(key), _ABSENT)
        if found is _ABSENT:
            raise KeyError(key)
        return found

    def get(self, key: object, default: object = None) -> object:
        """Return the value under a key."""
        return _by_key(self, self.pw_raw, raw(key), default)

    def __iter__(self) -> Iterator[object]:
        note(self, KEYS)
        return iter(self.pw_raw)

    def __reversed__(self) -> Iterator[object]:
        note(self, KEYS)
        return reversed(cast("dict[object, object]", self.pw_raw))

    def keys(self) -> KeysView[object]:
        """Return the keys."""
        return KeysView(cast("Table", self))

    def values(self) -> ValuesView[object]:
        """Return the values, each recorded when it is met."""
        return _Values(self)

    def items(self) -> ItemsView[object, object]:
        """Return pairs of key and value, each recorded when it is met."""
        return _Items(self)

    def pw_pairs(self) -> Iterator[tuple[object, object]]:
        """Hand out pairs of key and value, all values at one place."""
        note(self, KEYS)
        take = self.pw_ctx.take
        for key, value in self.pw_raw.items():
            yield key, take(value, self.pw_node.fact(EACH))

    def __or__(self, other: object) -> object:
        return {**cast("Table", self), **cast("Table", other)}

    def __ror__(self, other: object) -> object:
        return {**cast("Table", other), **cast("Table", self)}

    def copy(self) -> object:
        """Return a new mapping of the same items."""
        return dict(cast("Table", self))


class _Values(ValuesView[object]):
    __slots__ = ("_of",)

    def __init__(self, of: MappingStandIn) -> None:
        super().__init__(cast("Table", of))
        self._of = of

    def __iter__(self) -> Iterator[object]:
        return (value for _, value in self._of.pw_pairs())


class _Items(ItemsView[object, object]):
    __slots__ = ("_of",)

    def __init__(self, of: MappingStandIn) -> None:
        super().__init__(cast("Table", of))
        self._of = of

    def __iter__(self) -> Iterator[tuple[object, object]]:
        return self._of.pw_pairs()


_ABSENT = object()


def _by_key(stand_in: StandIn, source: Any, key: object, default: object) -> object:
    place = stand_in.pw_node.child((KEY, key))
    # Only now: an unhashable key raises, and nothing was read but the type.
    stand_in.pw_read = True
    value = source.get(key, _ABSENT)
    if value is _ABSENT:
        stand_in.pw_ctx.reads[place] = None
        return default
    return stand_in.pw_ctx.take(value, place)


# Structural patterns ask the real type of the subject whether it is a sequence or a mapping.
cast("ABCMeta", Sequence).register(SequenceStandIn)
cast("ABCMeta", Mapping).register(MappingStandIn)


def _mapping_class(kind: type) -> Wrap | None:
    return wrap_as(MappingStandIn) if issubclass(kind, dict | MappingProxyType) else None


WRAPPERS[tuple] = WRAPPERS[list] = wrap_as(ItemsStandIn)
WRAPPERS[KeyedSeq] = wrap_as(KeyedStandIn)
CLASSIFIERS.append(_mapping_class)
