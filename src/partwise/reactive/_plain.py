"""Results without stand-ins: what leaves a selector is always a plain value."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import pathlib
import uuid
from typing import cast

import attrs

from partwise.reactive._sequence import KeyedSeq
from partwise.reactive._standin import is_stand_in, whole
from partwise.reactive._tracking import PLAIN, Tracking

# Besides the plainest ones: types whose values cannot hold a stand-in either.
_CLOSED: tuple[type, ...] = (
    enum.Enum,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    datetime.tzinfo,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
    pathlib.PurePath,
    range,
    bytearray,
    str,
    int,
    float,
    bytes,
)


def plain(value: object, ctx: Tracking) -> object:
    """Replace every stand-in in a result by what it stands for.

    Follows builtin containers, keyed sequences and attrs instances; those without a stand-in stay
    the same object. A result of another type, which may hide one, makes the tracking broad.
    """
    kind = type(value)
    if kind in PLAIN:
        return value
    if is_stand_in(value):
        return whole(value)
    if kind is tuple or kind is list:
        return _plain_items(cast("tuple[object, ...]", value), ctx)
    if kind is dict:
        return _plain_dict(cast("dict[object, object]", value), ctx)
    if kind is set or kind is frozenset:
        return _plain_set(cast("set[object]", value), ctx)
    if (ctx.opaque is not None and id(value) in ctx.opaque) or kind is type or issubclass(kind, type):
        return value
    if kind is KeyedSeq:
        return _plain_keyed(cast("KeyedSeq[object, object]", value), ctx)
    if attrs.has(kind):
        return _plain_record(value, ctx)
    if not issubclass(kind, _CLOSED):
        ctx.broad = True
    return value


def _plain_items(value: tuple[object, ...] | list[object], ctx: Tracking) -> object:
    fresh: list[object] = [plain(item, ctx) for item in value]
    if all(one is other for one, other in zip(fresh, value, strict=True)):
        return value
    return fresh if type(value) is list else tuple(fresh)


def _plain_dict(value: dict[object, object], ctx: Tracking) -> object:
    fresh = {plain(key, ctx): plain(item, ctx) for key, item in value.items()}
    same = all(one is other for one, other in zip(fresh, value, strict=True))
    if same and all(one is other for one, other in zip(fresh.values(), value.values(), strict=True)):
        return value
    return fresh


def _plain_set(value: set[object], ctx: Tracking) -> object:
    if not any(type(item) not in PLAIN for item in value):
        return value
    return type(value)(plain(item, ctx) for item in value)


def _plain_keyed(value: KeyedSeq[object, object], ctx: Tracking) -> object:
    fresh = [(plain(key, ctx), plain(item, ctx)) for key, item in value.items()]
    if all(one[0] is key and one[1] is item for one, (key, item) in zip(fresh, value.items(), strict=True)):
        return value
    return KeyedSeq(fresh)


def _plain_record(value: object, ctx: Tracking) -> object:
    changes: dict[str, object] = {}
    for field in attrs.fields(cast("type[attrs.AttrsInstance]", type(value))):
        old = getattr(value, field.name, None)
        new = plain(old, ctx)
        if new is not old:
            changes[field.name] = new
    if not changes:
        return value
    # Not through the constructor: its converters and validators have run already.
    fresh = object.__new__(type(value))
    for field in attrs.fields(cast("type[attrs.AttrsInstance]", type(value))):
        if hasattr(value, field.name):
            kept = getattr(value, field.name)
            object.__setattr__(fresh, field.name, changes.get(field.name, kept))
    return fresh
