"""From one snapshot to the next: find the readers of what changed, and look at nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import is_not
from typing import Any, cast

from partwise.reactive._diff import changed_positions, shares_order
from partwise.reactive._paths import (
    AT,
    CUT,
    EACH,
    FIRST,
    HAS,
    KEY,
    KEYS,
    MISSING,
    PLACE,
    SIZE,
    TRUTH,
    TYPE,
    Node,
    Reader,
    Step,
)
from partwise.reactive._sequence import KeyedSeq

# The values really are any: whatever the user keeps in the snapshot.
Pending = list[tuple[Node, Any, Any]]
Found = dict[Reader, object]


def changed_readers(root: Node, old: object, new: object) -> Found:
    """Return everybody who read something that differs between two snapshots.

    Goes down only where somebody reads and where the two values are not the same object. A reader
    may be named although its value is equal after all; none is left out. With each goes what now is
    at the last place where it was found, or ``MISSING``: whoever reads no other place has its value.
    """
    found: Found = {}
    pending: Pending = [] if old is new else [(root, old, new)]
    while pending:
        node, before, after = pending.pop()
        if node.readers is not None:
            node.collect(found, after)
        if not node.children and not node.facts:
            continue
        kind: Any = before.__class__
        if kind is not after.__class__:
            node.collect_all(found)
        else:
            walker = WALKERS.get(kind) or _walker(kind)
            walker(node, before, after, pending, found)
    return found


Keyed = KeyedSeq[object, object]
Items = tuple[object, ...]
Table = Mapping[object, object]


def _into_record(node: Node, before: object, after: object, pending: Pending, found: Found) -> None:
    children = node.children
    if children:
        for step, child in children.items():
            if not isinstance(step, str):
                child.collect_all(found)
                continue
            one, other = getattr(before, step, MISSING), getattr(after, step, MISSING)
            if one is not other:
                pending.append((child, one, other))
    if node.facts:
        for step, child in node.facts.items():
            if step is not TYPE:
                child.collect_all(found)


def _into_sequence(node: Node, before: Items, after: Items, pending: Pending, found: Found) -> None:
    children = node.children
    if children:
        old_size, new_size = len(before), len(after)
        for step, child in children.items():
            if not isinstance(step, int):
                child.collect_all(found)
                continue
            one = before[step] if step < old_size else MISSING
            other = after[step] if step < new_size else MISSING
            if one is not other:
                pending.append((child, one, other))
    if node.facts:
        for step, child in node.facts.items():
            if step is not EACH:
                _fact(step, child, before, after, pending, found)
                continue
            for one, other in zip(before, after, strict=False):
                if one is not other:
                    pending.append((child, one, other))


def _compare(child: Node, one: Any, other: Any, pending: Pending) -> None:
    if one is not other:
        pending.append((child, one, other))


def _into_mapping(node: Node, before: Table, after: Table, pending: Pending, found: Found) -> None:
    for step, child in (node.children or {}).items():
        if not isinstance(step, tuple):
            child.collect_all(found)
        elif step[0] == KEY:
            _compare(child, before.get(step[1], MISSING), after.get(step[1], MISSING), pending)
        elif (step[1] in before) is not (step[1] in after):
            child.collect(found)
    for step, child in (node.facts or {}).items():
        if step is EACH:
            for key, one in before.items():
                other = after.get(key, MISSING)
                if one is not other and other is not MISSING:
                    _compare(child, one, other, pending)
        else:
            _fact(step, child, before, after, pending, found)


def _into_keyed(node: Node, before: Keyed, after: Keyed, pending: Pending, found: Found) -> None:
    children = node.children or {}
    facts = node.facts or {}
    if after.origin is before.token and not facts:
        _into_replaced(children, before, after, pending)
        return
    shared = shares_order(before, after)
    if shared:
        _changed_items(children, facts.get(EACH), before, after, pending, found)
    else:
        for step, child in children.items():
            _keyed_child(step, child, before, after, pending, found)
    fixed = shared and len(before) == len(after)
    for step, child in facts.items():
        if step is EACH:
            if not shared:
                _kept_items(child, before, after, pending)
        elif not (fixed and step in _ABOUT_ORDER):
            _fact(step, child, before, after, pending, found)


def _into_replaced(children: dict[Step, Node], before: Keyed, after: Keyed, pending: Pending) -> None:
    """Look up the readers of the one item that differs: what happens for each token of an answer."""
    position = after.place
    for step in (position, (KEY, after.order.keys[position])):
        child = children.get(step)
        if child is not None:
            pending.append((child, before[position], after[position]))


def _kept_items(each: Node, before: Keyed, after: Keyed, pending: Pending) -> None:
    for key, other in after.items():
        one = before.get(key, MISSING)
        if one is not other and one is not MISSING:
            pending.append((each, one, other))


_ABOUT_ORDER = frozenset({KEYS, SIZE, TRUTH, TYPE})


def _changed_items(
    children: dict[Step, Node], each: Node | None, before: Keyed, after: Keyed, pending: Pending, found: Found
) -> None:
    """Look up only the children that the differences of two versions name."""
    keys = after.order.keys
    for position in changed_positions(before, after) if children or each is not None else ():
        change = before[position], after[position]
        for child in (children.get(position), children.get((KEY, keys[position])), each):
            if child is not None:
                pending.append((child, *change))
    if len(before) == len(after) or not children:
        return
    low, high = sorted((len(before), len(after)))
    for position in range(low, high):
        for step in (position, (KEY, keys[position]), (HAS, keys[position])):
            child = children.get(step)
            if child is not None:
                child.collect_all(found)


def _keyed_child(step: Step, child: Node, before: Keyed, after: Keyed, pending: Pending, found: Found) -> None:
    if isinstance(step, int):
        _compare(child, _at(before, step), _at(after, step), pending)
    elif isinstance(step, str):
        child.collect_all(found)
    elif step[0] == KEY:
        _compare(child, before.get(step[1], MISSING), after.get(step[1], MISSING), pending)
    elif (step[1] in before) is not (step[1] in after):
        child.collect(found)


def _at(items: Any, index: int) -> object:
    size = len(items)
    return items[index] if -size <= index < size else MISSING


def _place(items: Keyed, key: object) -> int:
    return items.index_of(key) if key in items else -1


def _same_keys(before: object, after: object) -> bool:
    if len(cast("Items", before)) != len(cast("Items", after)):
        return False
    if isinstance(before, KeyedSeq):
        return cast("Keyed", before).keys() == cast("Keyed", after).keys()
    return tuple(cast("Table", before)) == tuple(cast("Table", after))


def first_with(items: object, name: str, wanted: object) -> object:
    """Return the first item whose attribute ``name`` equals ``wanted``, or ``MISSING``."""
    for item in cast("Items", items):
        if getattr(item, name, MISSING) == wanted:
            return item
    return MISSING


def _fact(step: Step, child: Node, before: Any, after: Any, pending: Pending, found: Found) -> None:
    """Compare one rarely read thing of two values of the same type."""
    if not isinstance(step, tuple):
        child.collect_all(found)
        return
    kind = step[0]
    argument: Any = step[1]
    if kind == AT:
        _compare(child, _at(before, argument), _at(after, argument), pending)
    elif kind == CUT:
        window = slice(*argument)
        one, other = before[window], after[window]
        if len(one) != len(other) or any(map(is_not, one, other)):
            _compare(child, one, other, pending)
    elif kind == FIRST:
        name, wanted = argument
        _compare(child, first_with(before, name, wanted), first_with(after, name, wanted), pending)
    elif kind == PLACE:
        if _place(before, argument) != _place(after, argument):
            child.collect(found)
    elif (
        (step is SIZE and len(before) != len(after))
        or (step is TRUTH and bool(before) is not bool(after))
        or (step is KEYS and not _same_keys(before, after))
    ):
        child.collect(found)


Walker = Callable[[Node, Any, Any, Pending, Found], None]

# How to go into values of a type, for the types met so far.
WALKERS: dict[type, Walker] = {KeyedSeq: _into_keyed, tuple: _into_sequence, list: _into_sequence}


def _walker(kind: type) -> Walker:
    is_table = not hasattr(kind, "__attrs_attrs__") and issubclass(kind, Mapping)
    walker = WALKERS[kind] = _into_mapping if is_table else _into_record
    return walker
