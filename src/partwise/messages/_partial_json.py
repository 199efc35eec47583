"""Reading a JSON object whose text is not finished yet."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any, Final, NamedTuple, TypeAlias

from ._frozen import FrozenDict, freeze

__all__ = ["parse_partial_object"]

# Deeper values are left out: freezing, showing and sending them would run out of stack.
MAX_DEPTH: Final = 200

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_ATOM = re.compile(r"[-+.0-9A-Za-z]+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_STRING_HEAD = re.compile(r'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_HALF_PAIR = re.compile(r"[\ud800-\udbff]\Z")
_LITERALS: Final = {"true": True, "false": False, "null": None}

_Container: TypeAlias = dict[str, Any] | list[Any]


class _Stop(Exception):
    """The text ends here, or goes on with something that is no JSON."""


class _Read(NamedTuple):
    value: Any
    end: int


def parse_partial_object(text: str) -> FrozenDict | None:
    """Read as much of a JSON object as ``text``, the beginning of one, tells.

    Text grows as it comes; a number or a literal is a value once its last character is known to be
    the last. Reading stops at the first character that cannot be JSON; what was read before it
    stays. The time is linear in the length of the text.

    Returns:
        The object so far: an empty one for a blank text, None if the text is no start of an object.
    """
    start = _skip(text, 0)
    if start == len(text):
        return FrozenDict()
    if text[start] != "{":
        return None
    root: dict[str, Any] = {}
    with contextlib.suppress(_Stop):
        _read_into(root, text, start + 1)
    frozen: FrozenDict = freeze(root)
    return frozen


def _read_into(root: dict[str, Any], text: str, position: int) -> None:
    """Read the inside of ``root``; containers are attached when they open, so a stop loses nothing."""
    open_containers: list[_Container] = [root]
    may_close = True
    while open_containers:
        container = open_containers[-1]
        closing = "}" if isinstance(container, dict) else "]"
        position = _expect_more(text, position)
        if text[position] == closing and may_close:
            open_containers.pop()
            may_close, position = True, _comma(text, position + 1, open_containers)
            continue
        key, position = _key(container, text, position)
        if text[position] in "{[":
            inner: _Container = {} if text[position] == "{" else []
            if len(open_containers) == MAX_DEPTH:
                raise _Stop
            _put(container, key, inner)
            open_containers.append(inner)
            may_close, position = True, position + 1
            continue
        position = _leaf(container, key, text, position)
        may_close, position = True, _comma(text, position, open_containers)


def _comma(text: str, position: int, open_containers: list[_Container]) -> int:
    """Step over the comma between two items; stop if something else than the end of the container follows."""
    if not open_containers:
        return position
    position = _expect_more(text, position)
    if text[position] == ",":
        after = _expect_more(text, position + 1)
        if text[after] in "}]":
            raise _Stop
        return after
    if text[position] not in "}]":
        raise _Stop
    return position


def _key(container: _Container, text: str, position: int) -> _Read:
    if isinstance(container, list):
        return _Read(None, position)
    if text[position] != '"':
        raise _Stop
    key, position = _string(text, position)
    position = _expect_more(text, position)
    if text[position] != ":":
        raise _Stop
    return _Read(key, _expect_more(text, position + 1))


def _leaf(container: _Container, key: str | None, text: str, position: int) -> int:
    if text[position] == '"':
        try:
            value, end = _string(text, position)
        except _Stop:
            _put(container, key, _unfinished_string(text, position + 1))
            raise
        _put(container, key, value)
        return end
    atom = _ATOM.match(text, position)
    if atom is None or atom.end() == len(text):
        raise _Stop
    _put(container, key, _atom_value(atom.group()))
    return atom.end()


def _atom_value(atom: str) -> Any:
    if atom in _LITERALS:
        return _LITERALS[atom]
    number = _NUMBER.fullmatch(atom)
    if number is None:
        raise _Stop
    try:
        return float(atom) if number[1] or number[2] else int(atom)
    except ValueError as too_many_digits:
        raise _Stop from too_many_digits


def _string(text: str, position: int) -> _Read:
    try:
        return _Read(*_DECODER.raw_decode(text, position))
    except ValueError as unfinished:
        raise _Stop from unfinished


def _unfinished_string(text: str, position: int) -> str:
    """The text of a string that does not end; escapes, and pairs of them, count once they are whole."""
    head = _STRING_HEAD.match(text, position)
    raw = "" if head is None else head.group()
    rest = text[position + len(raw) :]
    value: str = json.loads(f'"{raw}"')
    is_cut = not rest or _HALF_ESCAPE.match(rest) is not None
    return _HALF_PAIR.sub("", value) if is_cut else value


def _put(container: _Container, key: str | None, value: object) -> None:
    if isinstance(container, list):
        container.append(value)
    elif key is not None:
        container[key] = value


def _skip(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return position if space is None else space.end()


def _expect_more(text: str, position: int) -> int:
    position = _skip(text, position)
    if position == len(text):
        raise _Stop
    return position
