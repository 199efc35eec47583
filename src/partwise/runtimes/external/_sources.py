"""Following a source of what the owner says."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Any, Protocol, cast

from reactivex import Observable
from reactivex.abc import DisposableBase

from partwise.messages import MISSING
from partwise.reactive import Store
from partwise.runtimes._attempt import close
from partwise.runtimes._tasks import Tasks
from partwise.store import ThreadState

from ._options import ExternalSnapshot

__all__ = ["Source", "first_of"]


class Taker(Protocol):
    """Whoever takes in what a source says."""

    def post(self, source: object, changes: dict[str, Any], *, is_new: bool) -> None:
        """Take in messages and flags, at once or soon, from any thread of execution."""
        ...

    def report(self, where: str, error: Exception) -> None:
        """Tell that the source failed."""
        ...


def first_of(messages: object) -> tuple[object, bool]:
    """Return the messages to begin with, and whether what was given is a source of more."""
    if isinstance(messages, (Observable, Store, AsyncIterable)):
        return (), True
    return messages, False


class Source:
    """An async iterable, an observable or a store, whose values are taken in one after the other.

    A value that cannot be shown is reported, and the next one is tried. What the source itself raises, as it begins,
    goes on or is closed, is reported, and nothing more is taken from it; what it said before stays.
    """

    def __init__(self, source: object, tasks: Tasks, taker: Taker) -> None:
        self._source: Any = source
        self._tasks = tasks
        self._taker = taker
        self._subscription: DisposableBase | None = None
        self._is_left = False

    def follow(self) -> None:
        """Begin to take in what the source says."""
        source = self._source
        if isinstance(source, Store):
            source = cast("Store[Any]", source).select(_whole)  # type: ignore[redundant-cast]  # redundant for mypy only
        if isinstance(source, Observable):
            observable = cast("Observable[Any]", source)  # type: ignore[redundant-cast]  # redundant for mypy only
            self._subscription = observable.subscribe(on_next=self._take, on_error=self._failed)
        else:
            self._tasks.spawn(self._read)

    def leave(self) -> None:
        """Take in nothing any more."""
        self._is_left = True
        if self._subscription is not None:
            self._subscription.dispose()

    async def _read(self) -> None:
        try:
            values = aiter(cast("AsyncIterable[Any]", self._source))
        except Exception as error:
            self._failed(error)
            return
        try:
            async for value in values:
                self._take(value)
        except Exception as error:
            self._failed(error)
        finally:
            await close(values, self._failed)

    def _take(self, value: object) -> None:
        if self._is_left:
            return
        if isinstance(value, ExternalSnapshot):
            changes: dict[str, Any] = {**value.fields}
            self._taker.post(value.messages, changes, is_new=value.messages is not MISSING)
        elif isinstance(value, ThreadState):
            flags = ("is_running", "is_loading", "is_disabled", "is_send_disabled", "suggestions", "state", "extras")
            changes = {name: getattr(value, name) for name in flags}
            self._taker.post(value.messages, changes, is_new=True)
        else:
            self._taker.post(value, {}, is_new=True)

    def _failed(self, error: Exception) -> None:
        if not self._is_left:
            self._taker.report("source", error)


def _whole(value: object) -> object:
    return value
