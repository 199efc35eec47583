"""Addresses: where in a snapshot a value is, said in steps instead of by a selector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
            try:
                value = getattr(value, step, MISSING)
            except Exception:  # a property of the user's that raises has no value
                value = MISSING
        elif isinstance(step, int):
            value = _item(value, step)
        else:
            value = _by_tuple(value, *step)
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
            argument: Any = step[1]
            name, value = argument
            words.append(f"[first with {name}={value!r}]")
        else:
            words.append(f"[{step[1]!r}]")
    return "".join(words)


# Any, so that a value which has been looked at stays one of whatever type the user's is.
_LISTS: Any = Sequence
_PLAIN_LISTS: Any = frozenset({tuple, KeyedSeq})  # found sooner than by asking the abstract class
_TABLES: Any = (KeyedSeq, Mapping)


def _item(value: Any, position: int) -> object:
    if type(value) in _PLAIN_LISTS or isinstance(value, _LISTS):
        size = len(value)
        if -size <= position < size:
            return value[position]
    return MISSING


def _by_tuple(value: Any, kind: str, argument: Any) -> object:
    if kind == KEY:
        return value.get(argument, GONE) if isinstance(value, _TABLES) else MISSING
    if kind == AT:
        return _item(value, argument)
    return first_with(value, *argument) if isinstance(value, _LISTS) else MISSING
