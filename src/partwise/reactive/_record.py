"""Writing down what an observable delivers, for tests."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

from reactivex import Observable
from reactivex.abc import DisposableBase

T = TypeVar("T")


class Recording(Generic[T]):
    """What was delivered since the recording began.

    Attributes:
        values: Every value, in order.
        completed: Whether the sequence has completed.
        error: The error it ended with, if any.
    """

    def __init__(self, source: Observable[T]) -> None:
        self.values: list[T] = []
        self.completed = False
        self.error: Exception | None = None
        self._subscription: DisposableBase = source.subscribe(self.values.append, self._fail, self._complete)

    def dispose(self) -> None:
        """Stop recording."""
        self._subscription.dispose()

    def __enter__(self) -> Recording[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.dispose()

    def _fail(self, error: Exception) -> None:
        self.error = error

    def _complete(self) -> None:
        self.completed = True


def record() -> Callable[[Observable[T]], Recording[T]]:
    """Subscribe and write down what comes: ``recording = observable.pipe(record())``."""
    return Recording
