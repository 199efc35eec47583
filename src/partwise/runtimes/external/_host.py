"""What the pieces of an external thread share, and how its owner is called."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias, TypeVar, cast

from partwise.errors import MessageNotFoundError, NotSentError, UnsupportedError
from partwise.runtimes import _host
from partwise.runtimes._operation import Operation

from ._options import ExternalOptions

__all__ = ["Host", "Spawner", "asked", "left_unsent", "refused", "require", "told"]

Host: TypeAlias = _host.Host[ExternalOptions]

F = TypeVar("F")


class Spawner(Protocol):
    """Whoever starts tasks of the runtime."""

    def spawn(self, function: Callable[..., Any], *args: Any) -> None:
        """Start a task."""
        ...


def require(function: F | None, action: str, given: str) -> F:
    """Return what an action needs.

    Args:
        function: What the owner gave for it.
        action: The capability.
        given: The name of the argument by which the owner gives it.

    Raises:
        UnsupportedError: The owner gave nothing.
    """
    if function is None:
        raise UnsupportedError(action, f"Its owner gave no {given!r}.")
    return function


def asked(host: Spawner, function: Callable[..., Any], *args: Any) -> Operation:
    """Ask the owner for something; the operation settles when it is done, or fails with what went wrong."""
    operation = Operation()
    try:
        answer = function(*args)
    except Exception as error:
        operation.settle(error)
        return operation
    if inspect.isawaitable(answer):
        host.spawn(_settle, cast("Awaitable[object]", answer), operation)
    else:
        operation.settle()
    return operation


def refused(action: Callable[..., Operation], *args: Any) -> Operation:
    """Tell by the operation what the owner cannot do, or what is not there."""
    try:
        return action(*args)
    except (UnsupportedError, MessageNotFoundError) as error:
        return Operation.done(error)


def left_unsent() -> NotSentError:
    """Return what a message gets that still waited when its thread was left."""
    return NotSentError("The thread was left before the message was handed to its owner.")


def told(host: Host, where: str, function: Callable[..., Any], *args: Any) -> None:
    """Tell the owner something; what it raises at once is raised, what goes wrong later is reported."""
    answer = function(*args)
    if inspect.isawaitable(answer):
        host.spawn(_report_failure, host, where, cast("Awaitable[object]", answer))


async def _settle(answer: Awaitable[object], operation: Operation) -> None:
    try:
        await answer
    except BaseException as error:
        operation.settle(error)
        if not isinstance(error, Exception):
            raise
    operation.settle()


async def _report_failure(host: Host, where: str, answer: Awaitable[object]) -> None:
    try:
        await answer
    except Exception as error:
        host.report(where, f"failed: {error}", error)
