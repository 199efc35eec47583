"""Texts that are still being written: added to in constant time, and joined when somebody reads them.

A part is frozen, and its text is a plain ``str``. But hardly any of the texts that an answer has for a
moment is read: a model sends thousands of tokens, a screen shows sixty states a second. A part that is
being written may therefore leave a field empty and keep beside it what the field is made of; the first
read fills it, for good. To whoever reads it is a field like any other: for ``attrs.evolve``, ``==``,
``copy``, ``pickle`` and ``match``, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import attrs

__all__ = ["Deferred", "Pieces", "Source", "as_written", "deferring", "fill", "growing"]

_T = TypeVar("_T")

# Past the frozen class, and past its `__getattr__`.
_get = object.__getattribute__
_set = object.__setattr__
_new: Callable[[type], Any] = object.__new__


class Source(Protocol):
    """What the empty fields of a part are made of.

    Attributes:
        names: The fields that are empty.
        pieces: The text that grows.
    """

    names: ClassVar[frozenset[str]]
    pieces: Pieces

    def read(self) -> Mapping[str, Any]:
        """Return the value of every field that was left empty."""
        ...


class Deferred:
    """A value some of whose fields may not have been worked out yet."""

    __slots__ = ("_deferred",)

    if not TYPE_CHECKING:  # a type checker would take every misspelt name for a field

        def __getattr__(self, name: str) -> Any:
            # Asked only for what is not there: a field that was left empty, or a name that means nothing.
            source = _deferred(self)
            if source is not None and name in source.names:
                fill(self)
            return _get(self, name)


def deferring(value: _T, source: Source) -> _T:
    """Return a copy of a value with fields that ``source`` gives when one of them is read."""
    slots = _SLOTS[value.__class__]
    fresh: _T = _new(slots.kind)
    for write, read in slots.beside:
        write(fresh, read(value))
    _set(fresh, "_deferred", source)
    return fresh


def as_written(value: object) -> str | Pieces:
    """Return the text of a value that grows as it is: joined, or still in pieces."""
    slots = _SLOTS[value.__class__]
    try:
        return slots.text(value)
    except AttributeError:
        source = _deferred(value)
        return slots.text(value) if source is None else source.pieces


def _deferred(value: object) -> Source | None:
    try:
        source: Source = _get(value, "_deferred")
    except AttributeError:
        return None
    return source


def fill(value: object) -> None:
    """Work out the fields that were left empty, and forget what they were made of."""
    source = _deferred(value)
    if source is None:
        return
    for name, content in source.read().items():
        _set(value, name, content)
    try:
        object.__delattr__(value, "_deferred")
    except AttributeError:  # another thread, which has read the same, was faster
        return


class _Slots:
    """The fields of a class whose text grows, as functions that get and set them past all else."""

    def __init__(self, kind: type, name: str, others: tuple[str, ...]) -> None:
        self.kind = kind
        members: dict[str, Any] = {field.name: vars(kind)[field.name] for field in attrs.fields(kind)}
        self.text: Callable[[object], str] = members[name].__get__
        self.beside: tuple[tuple[Callable[[object, Any], None], Callable[[object], Any]], ...] = tuple(
            (member.__set__, member.__get__) for field, member in members.items() if field not in {name, *others}
        )


class _SlotsOf(dict[type, _Slots]):
    def __missing__(self, kind: type) -> _Slots:
        """Find those of a class of the user's, which adds to one of ours."""
        found = self[kind] = next(self[base] for base in kind.__mro__ if base in self)
        return found


_SLOTS = _SlotsOf()


def growing(name: str, *others: str) -> Callable[[type[_T]], type[_T]]:
    """Let a class have values whose text is still being written.

    Two of them that differ in the length of this text are told apart without joining it.

    Args:
        name: The field of the text.
        others: Fields that are worked out with it.
    """

    def decorate(kind: type[_T]) -> type[_T]:
        _SLOTS[kind] = _Slots(kind, name, others)
        compare: Callable[[Any, object], bool] = kind.__eq__

        def equals(self: object, other: object) -> bool:
            if other.__class__ is self.__class__ and len(as_written(self)) != len(as_written(other)):
                return False
            return compare(self, other)

        type.__setattr__(kind, "__eq__", equals)
        return kind

    return decorate


class Pieces:
    """One version of a text that grows; longer versions share its pieces, and leave these as they are."""

    __slots__ = ("_base", "_count", "_length", "_pieces")

    def __init__(self, base: str, pieces: list[str], length: int) -> None:
        self._base = base
        self._pieces = pieces
        self._count = len(pieces)
        self._length = length

    def __len__(self) -> int:
        return self._length

    @classmethod
    def of(cls, text: str) -> Pieces:
        """Return a text to which something will be added."""
        return cls(text, [], len(text))

    def plus(self, piece: str) -> Pieces:
        """Return the version that is longer by a piece."""
        pieces = self._pieces
        if len(pieces) != self._count:  # another version has gone on from here already
            return Pieces.of(self.text()).plus(piece)
        pieces.append(piece)
        return Pieces(self._base, pieces, self._length + len(piece))

    def text(self) -> str:
        """Return this version as one text."""
        return "".join((self._base, *self._pieces[: self._count]))
