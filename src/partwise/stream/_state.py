"""State operations: small changes to a JSON value that is streamed beside a message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias, assert_never, cast

import attrs

from partwise.errors import StateOperationError
from partwise.messages import MISSING, FrozenDict, FrozenList, freeze, join_text

__all__ = [
    "AppendText",
    "SetValue",
    "StateChanges",
    "StateOperation",
    "StatePath",
    "apply_operation",
    "read_operation",
    "value_at",
    "write_operation",
]

StatePath: TypeAlias = tuple[str, ...]

# Peers written in JavaScript would change their own objects by these, so no stream of ours may carry them.
_UNSAFE: Final = frozenset({"__proto__", "constructor", "prototype"})
_INDEX: Final = re.compile(r"-[1-9][0-9]{0,14}|0|[1-9][0-9]{0,14}")


def _path(path: Iterable[str | int]) -> StatePath:
    return tuple(str(segment) for segment in path)


@attrs.frozen
class SetValue:
    """Put a value at a path; objects that are missing on the way are made.

    Attributes:
        path: Keys and indices from the root; an index that equals a list's length appends to it.
        value: The value, as JSON.
    """

    path: StatePath = attrs.field(converter=_path)
    value: Any = attrs.field(converter=freeze)  # pyright: ignore[reportUnknownVariableType]  # Any through the stubs of attrs


@attrs.frozen
class AppendText:
    """Append to the text at a path."""

    path: StatePath = attrs.field(converter=_path)
    text: str


StateOperation: TypeAlias = SetValue | AppendText


def read_operation(value: object) -> StateOperation:
    """Read an operation from its wire form, ``{"type": "set" or "append-text", "path": [...], "value": ...}``.

    Raises:
        StateOperationError: It is no operation.
    """
    if not isinstance(value, Mapping):
        _reject(f"an operation is an object, not a {type(value).__name__}")
    fields = cast("Mapping[str, Any]", value)
    path = fields.get("path")
    if not isinstance(path, (list, tuple)):
        _reject("its path is not a list of keys and indices")
    steps = cast("Sequence[Any]", path)
    if any(type(step) not in (str, int) for step in steps):
        _reject("its path is not a list of keys and indices")
    kind = fields.get("type")
    if kind not in ("set", "append-text"):
        _reject(f"unknown type {kind!r}", steps)
    if "value" not in fields:
        _reject("it has no value", steps)
    if kind == "set":
        return SetValue(steps, fields["value"])
    if not isinstance(fields["value"], str):
        _reject("only text can be appended to text", steps)
    return AppendText(steps, fields["value"])


def write_operation(operation: StateOperation) -> dict[str, Any]:
    """Return the wire form of an operation; see `read_operation`."""
    match operation:
        case SetValue(path, value):
            return {"type": "set", "path": list(path), "value": value}
        case AppendText(path, text):
            return {"type": "append-text", "path": list(path), "value": text}
        case _:
            assert_never(operation)


def apply_operation(state: object, operation: StateOperation, *, is_strict: bool) -> Any:
    """Return the state after one operation.

    Args:
        state: The state before.
        operation: What to change.
        is_strict: Whether an index beyond the end of a list is an error; if not, it appends.

    Raises:
        StateOperationError: It cannot be applied.
    """
    for segment in operation.path:
        if segment in _UNSAFE:
            _refuse("unsafe-segment", operation.path, f"{segment!r} cannot be part of a path")
    return _changed(state, operation, 0, is_strict=is_strict)


def value_at(state: Any, path: StatePath) -> Any:
    """Return what stands at a path of which it is known that it leads somewhere."""
    for segment in path:
        state = state[int(segment) if isinstance(state, list) else segment]
    return state


def _changed(value: Any, operation: StateOperation, depth: int, *, is_strict: bool) -> Any:
    """Return ``value``, which lies ``depth`` steps down the path, with the rest of the path applied."""
    path = operation.path
    if depth == len(path):
        return _leaf(value, operation)
    segment = path[depth]
    if isinstance(value, list):
        items: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]  # JSON of unknown shape
        at = _index(segment, len(items), operation, is_strict=is_strict)
        inner = items[at] if at < len(items) else MISSING
        items[at : at + 1] = [_changed(inner, operation, depth + 1, is_strict=is_strict)]
        return FrozenList(items)
    if value is None or value is MISSING:
        value = FrozenDict()
    if not isinstance(value, Mapping):
        _refuse("invalid-path", path, f"{path[:depth]!r} leads to a {type(value).__name__}, which has no inside")
    fields: Mapping[str, Any] = value  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
    inner = _changed(fields.get(segment, MISSING), operation, depth + 1, is_strict=is_strict)
    return FrozenDict({**fields, segment: inner})


def _leaf(value: Any, operation: StateOperation) -> Any:
    match operation:
        case SetValue():
            return operation.value
        case AppendText():
            if not isinstance(value, str):
                found = "nothing" if value is MISSING else type(value).__name__
                _refuse("not-a-string", operation.path, f"text can only be appended to text, not to {found}")
            return join_text(value, operation.text)
        case _:
            assert_never(operation)


def _index(segment: str, length: int, operation: StateOperation, *, is_strict: bool) -> int:
    if _INDEX.fullmatch(segment) is None:
        _refuse("not-an-index", operation.path, f"{segment!r} is no index of a list")
    at = int(segment)
    if at < 0 or (at > length and is_strict):
        _refuse("index-out-of-bounds", operation.path, f"index {at} is outside of a list of {length}")
    return min(at, length)


@attrs.frozen
class StateChanges:
    """Tells what a batch of operations has touched.

    Attributes:
        before: The state before the batch.
        after: The state after it.
        operations: The batch.
    """

    before: Any
    after: Any
    operations: tuple[StateOperation, ...] = attrs.field(default=(), converter=tuple)

    def has_changed(self, path: Iterable[str | int]) -> bool:
        """Whether the value at ``path`` was written, or something inside of it or around it.

        Raises:
            StateOperationError: The path has a segment that no path may have.
        """
        wanted = _safe(_path(path))
        return any(_overlap(wanted, operation.path) for operation in self.operations)

    def changed_keys(self, path: Iterable[str | int] = ()) -> tuple[str, ...]:
        """The keys of the object or list at ``path`` that were written, each once.

        If the object itself was written, these are all of its keys, old ones and new ones.

        Raises:
            StateOperationError: The path has a segment that no path may have.
        """
        wanted = _safe(_path(path))
        touching = [operation.path for operation in self.operations if _overlap(wanted, operation.path)]
        if any(len(other) <= len(wanted) for other in touching):
            return tuple(dict.fromkeys((*_keys(self.after, wanted), *_keys(self.before, wanted))))
        return tuple(dict.fromkeys(other[len(wanted)] for other in touching))


def _safe(path: StatePath) -> StatePath:
    for segment in path:
        if segment in _UNSAFE:
            _refuse("unsafe-segment", path, f"{segment!r} cannot be part of a path")
    return path


def _overlap(one: StatePath, other: StatePath) -> bool:
    common = min(len(one), len(other))
    return one[:common] == other[:common]


def _keys(value: Any, path: StatePath) -> tuple[str, ...]:
    for segment in path:
        if isinstance(value, Mapping) and segment in value:
            value = value[segment]  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
        elif isinstance(value, list) and _INDEX.fullmatch(segment) and 0 <= int(segment) < len(value):  # pyright: ignore[reportUnknownArgumentType]  # JSON of unknown shape
            value = value[int(segment)]  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
        else:
            return ()
    if isinstance(value, Mapping):
        return tuple(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # JSON of unknown shape
    return tuple(map(str, range(len(value)))) if isinstance(value, list) else ()  # pyright: ignore[reportUnknownArgumentType]  # JSON of unknown shape


def _reject(why: str, path: Sequence[str | int] = ()) -> NoReturn:
    _refuse("invalid-operation", _path(path), why)


def _refuse(code: str, path: StatePath, why: str) -> NoReturn:
    message = f"State operation at {list(path)!r} cannot be applied: {why}."
    raise StateOperationError(message, code=code, path=path)
