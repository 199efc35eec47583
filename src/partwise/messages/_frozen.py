"""JSON containers that cannot be changed: what parts and metadata hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from ._missing import MissingType

__all__ = ["FrozenDict", "FrozenList", "JsonValue", "freeze", "thaw"]

type_error = "{} is part of a snapshot and cannot be changed; make a copy with dict(...) or list(...) first"

# Any JSON value; tool results and metadata may also carry values of the user's own.
JsonValue = Any


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError(type_error.format(type(self).__name__))


class FrozenDict(dict[str, Any]):
    """A dict that refuses changes, so that a snapshot stays what it was."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse  # refusing is the point
    clear = pop = popitem = setdefault = update = _refuse  # refusing is the point

    def __hash__(self) -> int:  # type: ignore[override]  # dict has None here
        return hash(frozenset(self.items()))

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)


class FrozenList(list[Any]):
    """A list that refuses changes, so that a snapshot stays what it was."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse  # refusing is the point
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __hash__(self) -> int:  # type: ignore[override]  # list has None here
        return hash(tuple(self))

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self

    def __reduce__(self) -> tuple[type[FrozenList], tuple[list[Any]]]:
        return FrozenList, (list(self),)


_FROZEN_TYPES = frozenset({FrozenDict, FrozenList, str, int, float, bool, MissingType})


def freeze(value: Any) -> Any:
    """Return ``value`` with every dict, list and tuple in it replaced by a dict or list that refuses changes.

    Other values, subclasses of tuple too, come back as they are, and so does what is frozen already: the cost of
    freezing a frozen value is one type check.
    """
    if value is None or type(value) in _FROZEN_TYPES:
        return value
    if isinstance(value, Mapping):
        return FrozenDict({key: freeze(item) for key, item in value.items()})  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # JSON of unknown shape
    if isinstance(value, list) or type(value) is tuple:
        return FrozenList([freeze(item) for item in value])  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
    return value


def thaw(value: Any) -> Any:
    """Return a deep copy of ``value`` made of plain dicts and lists, free to be changed."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
    if isinstance(value, (list, tuple)):
        return [thaw(item) for item in value]  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
    return value
