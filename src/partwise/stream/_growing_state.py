"""Batches of state operations, applied so that a text which grows by many of them is joined once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from partwise.errors import StateOperationError
from partwise.messages import Pieces, freeze

from ._state import AppendText, SetValue, StateOperation, StatePath, apply_operation, read_operation, value_at

__all__ = ["GrowingState", "apply_operations", "fold_state"]


class GrowingState:
    """One version of a JSON value that operations are applied to.

    Appending to the text that was appended to last costs the same however long that text is; whoever reads
    the value pays for one text of its length. Versions share what they have in common, and stay as they are.

    Args:
        value: The value, as JSON.
    """

    __slots__ = ("_path", "_pieces", "_value")

    def __init__(self, value: object = None) -> None:
        self._value: Any = freeze(value)
        # Where text was appended last, and that text, unless it stands in the value already.
        self._path: StatePath | None = None
        self._pieces: Pieces | None = None

    @property
    def value(self) -> Any:
        """The value, whole."""
        pieces = self._pieces
        if pieces is not None and self._path is not None:
            self._value = apply_operation(self._value, SetValue(self._path, pieces.text()), is_strict=True)
            self._pieces = None
        return self._value

    def after(self, operations: Iterable[StateOperation]) -> GrowingState:
        """Return the version after all of the operations.

        Raises:
            StateOperationError: One of them cannot be applied; this version is as it was.
        """
        version = self
        for operation in operations:
            version = version.plus(operation)
        return version

    def plus(self, operation: StateOperation, *, is_strict: bool = True) -> GrowingState:
        """Return the version after one operation; see `apply_operation`."""
        fresh = GrowingState()
        if isinstance(operation, AppendText):
            fresh._path = operation.path
            # A piece that may begin with the second half of a character has to be joined with the first one.
            if operation.path == self._path and not "\udc00" <= operation.text[:1] <= "\udfff":
                pieces = self._pieces or Pieces.of(value_at(self._value, operation.path))
                fresh._value, fresh._pieces = self._value, pieces.plus(operation.text)
                return fresh
        fresh._value = apply_operation(self.value, operation, is_strict=is_strict)
        return fresh


def apply_operations(state: object, operations: Iterable[StateOperation]) -> Any:
    """Return the state after all of the operations; what they don't touch keeps its identity.

    Raises:
        StateOperationError: One of them cannot be applied; ``state`` is as it was.
    """
    return GrowingState(state).after(operations).value


def fold_state(state: object, operations: Iterable[object], *, report: Callable[[StateOperationError], object]) -> Any:
    """Return the state after those of the operations that can be applied; for sources that may be wrong.

    An index beyond the end of a list appends to it.

    Args:
        state: The state before.
        operations: Operations, or their wire forms.
        report: Told about each operation that is left out.
    """
    version = GrowingState(state)
    for given in operations:
        try:
            operation = given if isinstance(given, (SetValue, AppendText)) else read_operation(given)
            version = version.plus(operation, is_strict=False)
        except StateOperationError as problem:
            report(problem)
    return version.value
