"""A reader of JSON that is still being written: the arguments of a tool call as they stream in."""

from __future__ import annotations

import enum
import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, NoReturn

from ._frozen import FrozenDict, FrozenList, freeze
from ._text import join_text

__all__ = ["ArgsReader", "parse_partial_object"]

# Values nested deeper than this are refused: freezing, showing and sending them would run out of stack.
MAX_DEPTH: Final = 200

_SPACE = re.compile(r"[ \t\n\r]*")
_RUN = re.compile(r'[^"\\\x00-\x1f]+')
_ATOM = re.compile(r"[-+.0-9A-Za-z]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_NUMBER_HEAD = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.|(?:\.[0-9]+)?(?:[eE][-+]?[0-9]*)?))?")
_HEX = re.compile(r"[0-9a-fA-F]+")
_LITERALS = {"true": True, "false": False, "null": None}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class _At(enum.Enum):
    """What the next character belongs to."""

    START = enum.auto()
    FIRST_KEY = enum.auto()
    KEY = enum.auto()
    COLON = enum.auto()
    FIRST_ITEM = enum.auto()
    VALUE = enum.auto()
    NEXT = enum.auto()
    STRING = enum.auto()
    ESCAPE = enum.auto()
    UNICODE = enum.auto()
    ATOM = enum.auto()
    END = enum.auto()


_IN_TEXT = frozenset({_At.STRING, _At.ESCAPE, _At.UNICODE})


class _Container:
    """An object or a list that is still open, and the place in it that is being written."""

    __slots__ = ("items", "key")

    def __init__(self, items: dict[Any, Any] | list[Any]) -> None:
        self.items = items
        self.key: str | int | None = None

    def frozen(self) -> FrozenDict | FrozenList:
        return FrozenDict(self.items) if isinstance(self.items, dict) else FrozenList(self.items)

    def put(self, value: object) -> None:
        if isinstance(self.items, dict):
            self.items[self.key] = value
        elif self.key == len(self.items):
            self.items.append(value)
        else:
            self.items[self.key] = value  # type: ignore[index]  # the key of a list is an int

    def settle(self, value: object) -> None:
        self.put(value)
        self.key = None if isinstance(self.items, dict) else len(self.items)


class ArgsReader:
    """Reads a JSON object piece by piece, and tells at any time what can be read of it so far.

    No character is looked at twice. Text grows as it comes; a number or a literal is a value once
    its last character is known to be the last; an escape is part of the text once it is whole.
    Reading stops at the first character that cannot be JSON; what was read before it stays.

    ```python
    reader = ArgsReader()
    reader.feed('{"path": "notes/a.t')
    reader.value                  # {"path": "notes/a.t"}
    reader.complete(("path",))    # False
    ```
    """

    __slots__ = (
        "_at",
        "_atom",
        "_atom_start",
        "_cut",
        "_error",
        "_hex",
        "_high",
        "_is_key",
        "_offset",
        "_open",
        "_pieces",
        "_root",
        "_text",
        "_value",
    )

    def __init__(self) -> None:
        self._at = _At.START
        self._open: list[_Container] = []
        self._root: FrozenDict | None = None
        self._text = ""
        self._pieces: list[str] = []
        self._atom: list[str] = []
        self._atom_start = 0
        self._cut = ""
        self._hex = ""
        self._high = ""
        self._is_key = False
        self._offset = 0
        self._error: str | None = None
        self._value: FrozenDict | None = FrozenDict()

    @property
    def is_complete(self) -> bool:
        """Whether a whole object was read, and nothing but blanks after it."""
        return self._root is not None and self._error is None

    @property
    def is_blank(self) -> bool:
        """Whether nothing but blanks was read: many models write no arguments at all for a tool without any."""
        return self._at is _At.START and self._error is None

    @property
    def has_no_object(self) -> bool:
        """Whether the text cannot be the start of an object."""
        return self._at is _At.START and self._error is not None

    @property
    def error(self) -> str | None:
        """Why the text is no JSON object, or None if it is one so far."""
        return self._error

    @property
    def value(self) -> FrozenDict:
        """The object as far as it can be read. Only what changed since the last look is copied."""
        if self._value is None:
            self._value = self._snapshot()
        return self._value

    @property
    def partial_path(self) -> tuple[str | int, ...]:
        """Where the reading is: the way to the innermost object, list or text that is still open.

        A number or a literal is not open: it is no value before it is whole.
        """
        if self._root is not None or not self._open:
            return ()
        in_text = self._at in _IN_TEXT and not self._is_key
        through = self._open if in_text else self._open[:-1]
        return tuple(container.key for container in through if container.key is not None)

    def complete(self, path: Sequence[str | int] = ()) -> bool:
        """Whether what is at ``path`` is known and will not change.

        Args:
            path: Keys and indices from the outermost object inwards; ``()`` is the object itself.

        Returns:
            True also for a path that leads nowhere, once it is known that nothing will come there.
        """
        if not path:
            return self.is_complete
        if self._is_open(path):
            return False
        value: object = self.value
        for depth, key in enumerate(path):
            if isinstance(value, FrozenDict) and key in value:
                value = value[str(key)]
            elif isinstance(value, FrozenList) and isinstance(key, int) and 0 <= key < len(value):
                value = value[key]
            else:
                return not self._is_open(path[:depth])
        return True

    def feed(self, text: str) -> None:
        """Read the next piece of the text, cut anywhere."""
        if self._cut:
            text, self._cut = join_text(self._cut, text), ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._cut = text[:-1], text[-1]
        if not text or self._error is not None:
            return
        position, end = 0, len(text)
        while position < end:
            position = self._STEPS[self._at](self, text, position)
            if self._error is not None:
                break
        self._offset += end
        self._value = None

    def _is_open(self, path: Sequence[str | int]) -> bool:
        """Whether the reading is inside of the value at ``path``, or has not come there."""
        if self._root is not None:
            return False
        return len(path) <= len(self._open) and all(
            container.key == key for container, key in zip(self._open, path, strict=False)
        )

    def _snapshot(self) -> FrozenDict:
        if self._root is not None:
            return self._root
        inner: object = self._read_text() if self._at in _IN_TEXT and not self._is_key else None
        has_inner = inner is not None
        for container in reversed(self._open):
            if has_inner:
                container.put(inner)
            inner, has_inner = container.frozen(), True
        return inner if isinstance(inner, FrozenDict) else FrozenDict()

    def _fail(self, position: int, why: str) -> int:
        self._error = f"{why} at character {self._offset + position}"
        return position

    def _fail_atom(self, position: int, why: str) -> int:
        # Where it begins, because where it is found out depends on the pieces.
        self._error = f"{why} at character {self._atom_start}"
        return position

    def _expected(self, text: str, position: int, what: str) -> int:
        return self._fail(position, f"expected {what}, found {text[position]!r}")

    # Each step reads at `position` and returns where the next one goes on.

    def _start(self, text: str, position: int) -> int:
        position = _skip(text, position)
        if position == len(text):
            return position
        if text[position] != "{":
            return self._expected(text, position, "an object")
        return self._push({}, _At.FIRST_KEY, position)

    def _key(self, text: str, position: int) -> int:
        position = _skip(text, position)
        if position == len(text):
            return position
        if text[position] == '"':
            self._text, self._is_key, self._at = "", True, _At.STRING
            return position + 1
        if text[position] == "}" and self._at is _At.FIRST_KEY:
            return self._pop(position)
        return self._expected(text, position, "a key")

    def _colon(self, text: str, position: int) -> int:
        position = _skip(text, position)
        if position == len(text):
            return position
        if text[position] != ":":
            return self._expected(text, position, "a colon")
        self._at = _At.VALUE
        return position + 1

    def _begin_value(self, text: str, position: int) -> int:
        position = _skip(text, position)
        if position == len(text):
            return position
        first = text[position]
        if first == '"':
            self._text, self._is_key, self._at = "", False, _At.STRING
            return position + 1
        if first == "{":
            return self._push({}, _At.FIRST_KEY, position)
        if first == "[":
            return self._push([], _At.FIRST_ITEM, position)
        if first == "]" and self._at is _At.FIRST_ITEM:
            return self._pop(position)
        if not _ATOM.match(first, 0).end():  # type: ignore[union-attr]  # the pattern also matches nothing
            return self._expected(text, position, "a value")
        self._at = _At.ATOM
        self._atom_start = self._offset + position
        return position

    def _next(self, text: str, position: int) -> int:
        position = _skip(text, position)
        if position == len(text):
            return position
        container = self._open[-1]
        is_object = isinstance(container.items, dict)
        if text[position] == ",":
            self._at = _At.KEY if is_object else _At.VALUE
            return position + 1
        if text[position] == ("}" if is_object else "]"):
            return self._pop(position)
        return self._expected(text, position, "a comma or the end")

    def _string(self, text: str, position: int) -> int:
        run = _RUN.match(text, position)
        if run is not None:
            self._append(run.group())
            return run.end()
        if text[position] == '"':
            self._end_string()
            return position + 1
        if text[position] == "\\":
            self._at = _At.ESCAPE
            return position + 1
        return self._fail(position, "a control character in a string")

    def _escape(self, text: str, position: int) -> int:
        mark = text[position]
        if mark == "u":
            self._hex, self._at = "", _At.UNICODE
        elif mark in _ESCAPES:
            self._append(_ESCAPES[mark])
            self._at = _At.STRING
        else:
            return self._fail(position, f"unknown escape \\{mark}")
        return position + 1

    def _unicode(self, text: str, position: int) -> int:
        digits = _HEX.match(text, position, position + 4 - len(self._hex))
        if digits is None:
            return self._fail(position, "a broken \\u escape")
        self._hex += digits.group()
        if len(self._hex) == 4:
            self._append_code(int(self._hex, 16))
            self._at = _At.STRING
        return digits.end()

    def _in_atom(self, text: str, position: int) -> int:
        end = _ATOM.match(text, position).end()  # type: ignore[union-attr]  # the pattern also matches nothing
        if end > position:
            self._atom.append(text[position:end])
        if end == len(text):
            return end if self._may_become_a_value(text[position:end]) else self._fail_atom(end, "no value")
        atom, self._atom = "".join(self._atom), []
        if atom in _LITERALS:
            self._settle(_LITERALS[atom])
            return end
        number = _NUMBER.fullmatch(atom)
        if number is None:
            return self._fail_atom(end, "no value")
        try:
            value = finite_float(atom) if number[1] or number[2] else int(atom)
        except ValueError:  # Python refuses to convert thousands of digits
            return self._fail_atom(end, "a number that is too large")
        self._settle(value)
        return end

    def _may_become_a_value(self, piece: str) -> bool:
        """Whether the number or literal so far, which ends in ``piece``, is the beginning of one."""
        if piece.isdigit() and len(self._atom) > 2:  # more digits spoil nothing; not to be read again each time
            return True
        atom = "".join(self._atom)
        return _NUMBER_HEAD.fullmatch(atom) is not None or any(literal.startswith(atom) for literal in _LITERALS)

    def _end(self, text: str, position: int) -> int:
        position = _skip(text, position)
        return position if position == len(text) else self._expected(text, position, "nothing more")

    def _append(self, piece: str) -> None:
        if self._high:
            self._pieces.append(self._high)
            self._high = ""
        self._pieces.append(piece)

    def _read_text(self) -> str:
        if self._pieces:
            self._text += "".join(self._pieces)
            self._pieces.clear()
        return self._text

    def _append_code(self, code: int) -> None:
        if self._high and 0xDC00 <= code < 0xE000:
            pair = 0x10000 + ((ord(self._high) - 0xD800) << 10) + (code - 0xDC00)
            self._high = ""
            self._append(chr(pair))
        elif 0xD800 <= code < 0xDC00:
            self._append("")
            self._high = chr(code)  # held back: the next escape may be its second half
        else:
            self._append(chr(code))

    def _end_string(self) -> None:
        self._append("")
        text = self._read_text()
        if self._is_key:
            self._open[-1].key = text
            self._at = _At.COLON
        else:
            self._settle(text)

    def _settle(self, value: object) -> None:
        self._open[-1].settle(value)
        self._at = _At.NEXT

    def _push(self, items: dict[Any, Any] | list[Any], then: _At, position: int) -> int:
        if len(self._open) >= MAX_DEPTH:
            return self._fail(position, f"nested deeper than {MAX_DEPTH} levels")
        container = _Container(items)
        if isinstance(items, list):
            container.key = 0
        self._open.append(container)
        self._at = then
        return position + 1

    def _pop(self, position: int) -> int:
        closed = self._open.pop().frozen()
        if self._open:
            self._settle(closed)
        else:
            self._root = closed if isinstance(closed, FrozenDict) else None
            self._at = _At.END
        return position + 1

    _STEPS: ClassVar[dict[_At, Callable[[ArgsReader, str, int], int]]] = {
        _At.START: _start,
        _At.FIRST_KEY: _key,
        _At.KEY: _key,
        _At.COLON: _colon,
        _At.FIRST_ITEM: _begin_value,
        _At.VALUE: _begin_value,
        _At.NEXT: _next,
        _At.STRING: _string,
        _At.ESCAPE: _escape,
        _At.UNICODE: _unicode,
        _At.ATOM: _in_atom,
        _At.END: _end,
    }


def _skip(text: str, position: int) -> int:
    return _SPACE.match(text, position).end()  # type: ignore[union-attr]  # the pattern also matches nothing


def parse_partial_object(text: str) -> FrozenDict | None:
    """Read as much of a JSON object as ``text``, the beginning of one, tells; see `ArgsReader`.

    The time is linear in the length of the text.

    Returns:
        The object so far: an empty one for a blank text, None if the text is no start of an object.
    """
    if text.count("{") + text.count("[") <= MAX_DEPTH:  # most texts are whole, and the strict parser is faster
        try:
            whole: object = json.loads(text, parse_constant=_refuse_constant, parse_float=finite_float)
        except ValueError:
            pass
        else:
            frozen: FrozenDict | None = freeze(whole) if isinstance(whole, dict) else None
            return frozen
    reader = ArgsReader()
    reader.feed(text)
    return None if reader.has_no_object else reader.value


def finite_float(text: str) -> float:
    """Return the number that a JSON text with a fraction or an exponent stands for.

    Raises:
        ValueError: It is too large for a float; as infinity it could not be written as JSON again.
    """
    value = float(text)
    if value in (math.inf, -math.inf):
        raise ValueError(text)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
