"""Stand-ins: objects that look like a container of the snapshot and record what is read of them."""

from __future__ import annotations

import copy
import functools
from types import FunctionType
from typing import Any, cast

import attrs

from partwise.reactive._paths import TYPE, Step
from partwise.reactive._tracking import CLASSIFIERS, Place, Tracking, Wrap


class StandIn:
    """What every stand-in can do: be compared, hashed, printed and asked for its class.

    These take the container as a whole, so the slice depends on its identity.
    """

    __slots__ = ("pw_ctx", "pw_node", "pw_raw", "pw_read")

    pw_ctx: Tracking
    # Really anything: whatever the user keeps in the snapshot.
    pw_raw: Any
    pw_node: Place
    pw_read: bool

    def __init__(self, ctx: Tracking, raw: object, node: Place) -> None:
        self.pw_ctx = ctx
        self.pw_raw = raw
        self.pw_node = node
        self.pw_read = False

    @property  # type: ignore[misc]  # isinstance and match ask for the class
    def __class__(self) -> type[object]:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride] - likewise
        note(self, TYPE)
        raw: object = self.pw_raw
        return type(raw)

    def __eq__(self, other: object) -> bool:
        return whole(self) == (whole(other) if is_stand_in(other) else other)

    def __ne__(self, other: object) -> bool:
        return whole(self) != (whole(other) if is_stand_in(other) else other)

    def __hash__(self) -> int:
        return hash(whole(self))

    def __repr__(self) -> str:
        return repr(whole(self))

    def __str__(self) -> str:
        return str(whole(self))

    def __format__(self, spec: str) -> str:
        return format(whole(self), spec)

    def __bool__(self) -> bool:
        note(self, TYPE)
        return True

    def __copy__(self) -> object:
        return copy.copy(whole(self))

    def __deepcopy__(self, memo: dict[int, object]) -> object:
        return copy.deepcopy(whole(self), memo)

    def __reduce_ex__(self, protocol: object) -> str | tuple[object, ...]:
        return whole(self).__reduce_ex__(cast("int", protocol))

    def __getattr__(self, name: str) -> object:
        # Nothing this file knows how to follow: the value depends on the container as a whole.
        ctx = self.pw_ctx
        value = getattr(whole(self), name)
        return ctx.take(value, self.pw_node)


def is_stand_in(value: object) -> bool:
    """Tell a stand-in from a plain value, without asking the stand-in for its class."""
    return issubclass(type(value), StandIn)


def whole(stand_in: object) -> object:
    """Record that everything in a container matters, and return the container."""
    this = cast("StandIn", stand_in)
    this.pw_read = True
    this.pw_ctx.reads[this.pw_node] = None
    return this.pw_raw


def note(stand_in: StandIn, step: Step) -> None:
    """Record that one fact about a container was read."""
    stand_in.pw_ctx.reads[stand_in.pw_node.fact(step)] = None
    stand_in.pw_read = True


def wrap_as(kind: type[StandIn]) -> Wrap:
    """Return the wrapping function of a class of stand-ins."""
    return cast("Wrap", kind)


# Members of a class that a stand-in has its own version of, or must not have.
_OWN = frozenset(
    name
    for kind in (object, StandIn)
    for name in vars(kind)
    if name not in {"__lt__", "__le__", "__gt__", "__ge__", "__bool__"}
) | {"__dict__", "__weakref__", "__attrs_attrs__", "__attrs_own_setattr__", "__match_args__", "__annotations__"}


def _field(name: str) -> property:
    def read(self: StandIn) -> object:
        place = self.pw_node.child(name)
        self.pw_read = True
        try:
            value = getattr(self.pw_raw, name)
        except AttributeError:
            self.pw_ctx.reads[place] = None
            raise
        return self.pw_ctx.take(value, place)

    return property(read)


def _class_method(kind: type, name: str) -> property:
    return property(lambda _self: getattr(kind, name))


def _constant(value: object) -> property:
    def read(self: StandIn) -> object:
        note(self, TYPE)
        return value

    return property(read)


def _member(kind: type, name: str, member: object) -> object | None:
    """Return what a stand-in has in place of a member of the class, or None to take it as a whole."""
    if isinstance(member, FunctionType | property | staticmethod):
        return cast("object", member)
    if isinstance(member, functools.cached_property):
        return property(cast("functools.cached_property[object]", member).func)
    if isinstance(member, classmethod):
        return _class_method(kind, name)
    if member is None or isinstance(member, str | int | float | bytes):
        return _constant(member)
    return None


def record_class(kind: type) -> Wrap | None:
    """Make the class of stand-ins for an attrs class: its fields recorded, its methods its own.

    Methods and properties run with the stand-in as ``self``, so that what they read is recorded too.
    """
    if not attrs.has(kind):
        return None
    namespace: dict[str, object] = {"__slots__": ()}
    for base in reversed(kind.__mro__):
        for name, member in vars(base).items():
            if base is object or name in _OWN:
                continue
            ours = _member(kind, name, member)
            if ours is None:
                namespace.pop(name, None)
            else:
                namespace[name] = ours
    for field in attrs.fields(kind):
        namespace[field.name] = _field(field.name)
    if "__len__" in namespace and "__bool__" not in namespace:
        namespace["__bool__"] = _truth_by_length
    return wrap_as(type(f"StandInOf{kind.__name__}", (StandIn,), namespace))


def _truth_by_length(self: object) -> bool:
    return len(cast("tuple[object, ...]", self)) > 0


CLASSIFIERS.append(record_class)
