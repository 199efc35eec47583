"""Letting an adapter work, and telling what came of it: done, failed, or ended before it was done."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, cast

import anyio
import anyio.lowlevel
import attrs

from partwise.errors import AbortedError

__all__ = ["Ending", "attempt", "close"]

Report = Callable[[Exception], None]


@attrs.frozen
class Ending:
    """How a piece of work ended.

    Attributes:
        error: What it raised.
        is_aborted: Whether it ended itself before it was done.
    """

    error: Exception | None = None
    is_aborted: bool = False


async def attempt(scope: anyio.CancelScope, work: Callable[[], Awaitable[None]], report: Report) -> Ending:
    """Do a piece of work in a cancel scope.

    A cancellation that comes from outside of the scope passes through, alone; what failed beside it
    is reported.
    """
    try:
        with scope:
            await work()
    except BaseException as raised:
        cancellation, failure = _parted(raised)
        try:
            await anyio.lowlevel.checkpoint_if_cancelled()
        except BaseException:
            if isinstance(failure, Exception):
                report(failure)
            raise
        if failure is None:
            # Nobody outside cancelled anything: the adapter raised somebody else's cancellation.
            return Ending(is_aborted=cancellation is not None)
        if not isinstance(failure, Exception):
            raise
        return _ending(failure)
    return Ending()


async def close(outputs: AsyncIterator[Any], report: Report) -> None:
    """Close a generator, finished or not; what its clean-up raises is reported."""
    aclose = getattr(outputs, "aclose", None)
    if aclose is None:
        return
    try:
        await aclose()
    except BaseExceptionGroup as group:
        # A task group around a yield wraps the very exception that closes the generator.
        rest = group.split(GeneratorExit)[1]
        if isinstance(rest, Exception):
            report(_alone(rest))
        elif rest is not None:
            raise rest from None
    except Exception as error:
        report(error)


def _ending(failure: Exception) -> Ending:
    error = _alone(failure)
    if isinstance(error, AbortedError):
        return Ending(is_aborted=True)
    return Ending(error=error)


def _parted(raised: BaseException) -> tuple[BaseException | None, BaseException | None]:
    """Part what was raised into cancellations and the rest."""
    cancellation = anyio.get_cancelled_exc_class()
    if isinstance(raised, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", raised).split(cancellation)
    return (raised, None) if isinstance(raised, cancellation) else (None, raised)


def _alone(failure: Exception) -> Exception:
    """Take a lone exception out of the groups that task groups put around it."""
    if not isinstance(failure, ExceptionGroup):
        return failure
    inside = cast("ExceptionGroup[Exception]", failure).exceptions
    return _alone(inside[0]) if len(inside) == 1 else cast("Exception", failure)
