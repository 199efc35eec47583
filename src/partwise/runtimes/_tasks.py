"""The tasks of a runtime: none run before it is entered, none start after it was left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anyio.abc import TaskGroup

from partwise.errors import RuntimeClosedError

__all__ = ["Tasks"]


class Tasks:
    """Starts async functions in the runtime's task group."""

    def __init__(self) -> None:
        self._group: TaskGroup | None = None
        self._early: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        self._is_over = False

    def check_open(self) -> None:
        """Check that something can be started now.

        Raises:
            RuntimeClosedError: The runtime was not entered yet, or was left.
        """
        if self._is_over:
            text = "The runtime was left; what it held can still be read. Make a new one to go on."
            raise RuntimeClosedError(text)
        if self._group is None:
            text = "The runtime is not open yet. Enter it with 'async with' first, and keep it open while you use it."
            raise RuntimeClosedError(text)

    def spawn(self, function: Callable[..., Any], *args: Any) -> None:
        """Start an async function, at the latest when the runtime is entered.

        Raises:
            RuntimeClosedError: The runtime was left.
        """
        if self._group is None and not self._is_over:
            self._early.append((function, args))
            return
        self.check_open()
        if self._group is not None:
            self._group.start_soon(function, *args)

    def check_unused(self) -> None:
        """Check that the runtime was not entered before.

        Raises:
            RuntimeClosedError: It was.
        """
        if self._group is not None or self._is_over:
            text = "A runtime can be entered only once. Make a new one."
            raise RuntimeClosedError(text)

    def open(self, group: TaskGroup) -> None:
        """Start what was waiting, and from now on everything at once."""
        self._group = group
        early, self._early = self._early, []
        for function, args in early:
            group.start_soon(function, *args)

    def close(self) -> None:
        """Start nothing any more."""
        self._group = None
        self._is_over = True
