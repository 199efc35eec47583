"""Reading a call while it is being written: each field of its arguments as it comes, and its response."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, TypeAlias

import anyio

from partwise.errors import AbortedError
from partwise.messages import MISSING, ArgsReader, FrozenDict, FrozenList, Missing

from ._response import ToolResponse

__all__ = ["CallReader", "FieldPath"]

# Keys and indices from the outermost object inwards; a text of digits is an index inside of a list.
FieldPath: TypeAlias = tuple[str | int, ...]


class CallReader:
    """What a function sees of a call whose arguments are still being written.

    Each read stands for itself, may start at any time, and catches up with what has come. Once the
    arguments have ended, a field that did not come is ``MISSING``, and iterations end. If the call is
    never finished, reads end with an `AbortedError`.
    """

    __slots__ = ("_aborted", "_changed", "_has_ended", "_reader", "_response")

    def __init__(self) -> None:
        self._reader = ArgsReader()
        self._has_ended = False
        self._aborted = False
        self._response: ToolResponse | None = None
        self._changed = anyio.Event()

    async def get(self, *path: str | int) -> Any:
        """Wait for the whole value of a field.

        Args:
            path: Where it is; nothing for all arguments.

        Returns:
            The value, or ``MISSING`` if it never came.
        """
        while True:
            value = self._at(path) if self._reader.complete(self._keys(path)) else MISSING
            if value is not MISSING or self._has_ended:
                return value
            await self._change()

    async def stream_text(self, *path: str | int) -> AsyncIterator[str]:
        """Give the text of a field as it grows; nothing if it is no text."""
        shown: str | None = None
        while True:
            is_whole, value = self._is_whole(path), self._at(path)
            if isinstance(value, str) and value != shown:
                delta, shown = value[len(shown or "") :], value
                yield delta
            if is_whole:
                return
            await self._change()

    async def stream_values(self, *path: str | int) -> AsyncIterator[Any]:
        """Give each value that a field has while it grows."""
        shown: Any = MISSING
        while True:
            is_whole, value = self._is_whole(path), self._at(path)
            if value is not MISSING and (shown is MISSING or value != shown):
                shown = value
                yield value
            if is_whole:
                return
            await self._change()

    async def for_each(self, *path: str | int) -> AsyncIterator[Any]:
        """Give the items of a list, each as soon as it is whole; nothing if the field is no list."""
        given = 0
        while True:
            items = self._at(path)
            is_whole = self._has_ended or (isinstance(items, FrozenList) and self._is_whole(path))
            if isinstance(items, FrozenList):
                while given < len(items) and self._reader.complete(self._keys((*path, given))):
                    given += 1
                    yield items[given - 1]
            if is_whole:
                return
            await self._change()

    async def response(self) -> ToolResponse:
        """Wait for the answer to the call, from the tool or from elsewhere."""
        while self._response is None:
            await self._change(after_end=True)
        return self._response

    def feed(self, text: str) -> None:
        """Take more of the text of the arguments; for whoever hands the reader out, as are the others below."""
        self._reader.feed(text)
        self._notify()

    def end(self) -> None:
        """The arguments have ended."""
        self._has_ended = True
        self._notify()

    def respond(self, response: ToolResponse) -> None:
        """The call was answered."""
        if self._response is None:
            self._response = response
        self._notify()

    def abort(self) -> None:
        """Nothing more will come: reads that wait end with an error."""
        self._aborted = True
        self._notify()

    def _is_whole(self, path: FieldPath) -> bool:
        return self._has_ended or self._reader.complete(self._keys(path))

    def _at(self, path: FieldPath) -> Any:
        value: Any = self._reader.value
        for key in self._keys(path):
            if isinstance(value, FrozenDict) and key in value:
                value = value[str(key)]
            elif isinstance(value, FrozenList) and isinstance(key, int) and 0 <= key < len(value):
                value = value[key]
            else:
                return MISSING
        return value

    def _keys(self, path: FieldPath) -> FieldPath:
        """Return the path with indices where lists are."""
        keys: list[str | int] = []
        value: Any | Missing = self._reader.value
        for key in path:
            if isinstance(value, FrozenList) and isinstance(key, str) and key.isascii() and key.isdecimal():
                key = int(key)
            keys.append(key)
            if isinstance(value, FrozenDict):
                value = value.get(str(key), MISSING)
            elif isinstance(value, FrozenList) and isinstance(key, int) and 0 <= key < len(value):
                value = value[key]
            else:
                value = MISSING
        return tuple(keys)

    async def _change(self, *, after_end: bool = False) -> None:
        if self._aborted and (after_end or not self._has_ended):
            message = "The call was never finished, so there is nothing more to read of it."
            raise AbortedError(message)
        await self._changed.wait()

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
