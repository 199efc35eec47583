"""JSON Patch: what one says about a state, as operations of ours, and what ours say, as a patch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NoReturn, cast

from partwise.errors import StateOperationError
from partwise.messages import FrozenDict, FrozenList, freeze

from ._state import SetValue, StateOperation, StatePath, apply_operation

__all__ = ["patch_of", "read_patch"]

_END: Final = "-"


def read_patch(state: object, patch: Iterable[Mapping[str, Any]]) -> tuple[Any, list[StateOperation]]:
    """Apply a JSON Patch.

    Args:
        state: The state before.
        patch: Its operations, each with an ``op`` and a ``path``.

    Returns:
        The state after it, and the operations that change ``state`` in the same way.

    Raises:
        StateOperationError: One of the operations cannot be applied; none of them counts then.
    """
    state = freeze(state)
    operations: list[StateOperation] = []
    for given in patch:
        for operation in _operations(state, given):
            state = apply_operation(state, operation, is_strict=True)
            operations.append(operation)
    return state, operations


def patch_of(state: object, operation: StateOperation) -> tuple[Any, list[dict[str, Any]]]:
    """Apply an operation of ours.

    A patch has no word for text that is appended: it holds the whole text.

    Returns:
        The state after it, and the patch that changes ``state`` in the same way.

    Raises:
        StateOperationError: It cannot be applied.
    """
    after = apply_operation(state, operation, is_strict=False)
    depth = 0
    inner: Any = state
    while depth < len(operation.path) and _has(inner, operation.path[depth]):
        inner = _inside(inner, operation.path[depth])
        depth += 1
    if depth < len(operation.path) and isinstance(inner, list):
        length = len(inner)  # pyright: ignore[reportUnknownArgumentType]  # JSON of unknown shape
        path = (*operation.path[:depth], str(length))
        return after, [{"op": "add", "path": _pointer(path), "value": _at(after, path)}]
    is_there = depth == len(operation.path)
    # A place that holds nothing yet has no inside that could be added to.
    path = operation.path[: depth if is_there or not isinstance(inner, Mapping) else depth + 1]
    op = "replace" if is_there or len(path) == depth else "add"
    return after, [{"op": op, "path": _pointer(path), "value": _at(after, path)}]


def _operations(state: Any, given: Mapping[str, Any]) -> Iterable[StateOperation]:
    op, path = given.get("op"), _segments(given.get("path"))
    match op:
        case "add":
            yield _add(state, path, given.get("value"))
        case "remove":
            yield _remove(state, path)
        case "replace":
            _at(state, path)
            yield SetValue(path, given.get("value"))
        case "move":
            source = _segments(given.get("from"))
            if path[: len(source)] == source and path != source:
                _refuse(path, "a value cannot be moved into itself")
            value = _at(state, source)
            removal = _remove(state, source)
            yield removal
            yield _add(apply_operation(state, removal, is_strict=True), path, value)
        case "copy":
            yield _add(state, path, _at(state, _segments(given.get("from"))))
        case "test":
            if not _is_same(_at(state, path), given.get("value")):
                _refuse(path, "the value there is not the one that the patch was made for")
        case _:
            _refuse(path, f"there is no operation {op!r}")


def _add(state: Any, path: StatePath, value: Any) -> SetValue:
    if not path:
        return SetValue((), value)
    parent = _at(state, path[:-1])
    if isinstance(parent, list):
        items: list[Any] = parent  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
        at = len(items) if path[-1] == _END else _index(path, len(items))
        if at == len(items):
            return SetValue((*path[:-1], str(at)), value)
        return SetValue(path[:-1], FrozenList([*items[:at], freeze(value), *items[at:]]))
    if not isinstance(parent, Mapping):
        _refuse(path, "there is nothing that it could be added to")
    return SetValue(path, value)


def _remove(state: Any, path: StatePath) -> SetValue:
    _at(state, path)
    if not path:
        return SetValue((), None)
    parent = _at(state, path[:-1])
    if isinstance(parent, list):
        items: list[Any] = parent  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
        at = int(path[-1])
        return SetValue(path[:-1], FrozenList([*items[:at], *items[at + 1 :]]))
    fields = cast("Mapping[str, Any]", parent)
    return SetValue(path[:-1], FrozenDict({key: inner for key, inner in fields.items() if key != path[-1]}))


def _at(state: Any, path: StatePath) -> Any:
    for depth, segment in enumerate(path):
        if not _has(state, segment):
            _refuse(path, f"there is nothing at {list(path[: depth + 1])!r}")
        state = _inside(state, segment)
    return state


def _has(value: object, segment: str) -> bool:
    if isinstance(value, list):
        return _is_index(segment) and int(segment) < len(value)  # pyright: ignore[reportUnknownArgumentType]  # JSON of unknown shape
    return isinstance(value, Mapping) and segment in value


def _inside(value: Any, segment: str) -> Any:
    key: Any = int(segment) if isinstance(value, list) else segment
    return value[key]  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape


def _index(path: StatePath, length: int) -> int:
    if not _is_index(path[-1]) or int(path[-1]) > length:
        _refuse(path, f"{path[-1]!r} is no place in a list of {length}")
    return int(path[-1])


def _is_index(segment: str) -> bool:
    is_number = segment.isascii() and segment.isdigit() and len(segment) < 16
    return is_number and (segment == "0" or not segment.startswith("0"))


def _segments(pointer: object) -> StatePath:
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        _refuse((), f"{pointer!r} is no JSON Pointer")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def _pointer(path: StatePath) -> str:
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in path)


def _is_same(one: object, other: object) -> bool:
    """Whether two JSON values are equal; unlike in Python, true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        fields, others = cast("Mapping[str, Any]", one), cast("Mapping[str, Any]", other)
        return fields.keys() == others.keys() and all(_is_same(fields[key], others[key]) for key in fields)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        items, rest = cast("Sequence[Any]", one), cast("Sequence[Any]", other)
        return len(items) == len(rest) and all(map(_is_same, items, rest))
    return one == other


def _refuse(path: StatePath, why: str) -> NoReturn:
    message = f"A patch of the state at {list(path)!r} cannot be applied: {why}."
    raise StateOperationError(message, code="invalid-patch", path=path)
