"""Addresses: where in a snapshot a value is, said in steps instead of by a selector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import attrs

from partwise.reactive._paths import AT, FIRST, KEY, MISSING, Missing, Step
from partwise.reactive._sequence import KeyedSeq
from partwise.reactive._walk import first_with


@attrs.frozen
class AddressStep:
    """One step of an address; made by ``attr``, ``index``, ``key`` and ``first``."""

    step: Step


GONE = Missing()


def attr(name: str) -> AddressStep:
    """Step to an attribute."""
    return AddressStep(name)


def index(position: int) -> AddressStep:
    """Step to a position; a negative one counts from the end."""
    return AddressStep((AT, position) if position < 0 else position)


def key(value: object) -> AddressStep:
    """Step to the item under a key, of a keyed sequence or a mapping.

    Once no item has the key, slices at the address complete.
    """
    return AddressStep((KEY, value))


def first(name: str, value: object) -> AddressStep:
    """Step to the first item whose attribute ``name`` equals ``value``."""
    return AddressStep((FIRST, (name, value)))


def resolve(path: tuple[Step, ...], value: object) -> object:
    """Follow a path.

    Returns:
        The value; ``MISSING`` when nothing is there (yet); ``GONE`` when a key is not there.
    """
    for step in path:
        if isinstance(step, str):
            value = _attribute(value, step)
        elif isinstance(step, int):
            value = _item(value, step)
        elif step[0] == KEY:
            value = _by_key(value, step[1])
        elif step[0] == AT:
            value = _item(value, cast("int", step[1]))
        else:
            value = _first(value, cast("tuple[str, object]", step[1]))
        if value is MISSING or value is GONE:
            break
    return value


def describe(path: tuple[Step, ...]) -> str:
    """Write a path as it would be written in code."""
    words = ["state"]
    for step in path:
        if isinstance(step, str):
            words.append(f".{step}")
        elif isinstance(step, int):
            words.append(f"[{step}]")
        elif step[0] == FIRST:
            name, value = cast("tuple[str, object]", step[1])
            words.append(f"[first with {name}={value!r}]")
        else:
            words.append(f"[{step[1]!r}]")
    return "".join(words)


def _attribute(value: object, name: str) -> object:
    try:
        return getattr(value, name, MISSING)
    except Exception:  # a property of the user's that raises has no value
        return MISSING


def _item(value: object, position: int) -> object:
    kind: type = type(value)
    if kind is tuple or kind is KeyedSeq or isinstance(value, Sequence):
        items = cast("Sequence[object]", value)
        size = len(items)
        if -size <= position < size:
            return items[position]
    return MISSING


def _by_key(value: object, wanted: object) -> object:
    if isinstance(value, KeyedSeq):
        return cast("KeyedSeq[object, object]", value).get(wanted, GONE)
    if isinstance(value, Mapping):
        return cast("Mapping[object, object]", value).get(wanted, GONE)
    return MISSING


def _first(value: object, wanted: tuple[str, object]) -> object:
    return first_with(cast("object", value), *wanted) if isinstance(value, Sequence) else MISSING
