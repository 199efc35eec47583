"""Where errors of listeners, selectors and comparers go."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal

import attrs

_logger = logging.getLogger("partwise.reactive")

Culprit = Literal["listener", "selector", "comparer", "posted", "timer"]


@attrs.frozen(kw_only=True)
class ErrorContext:
    """What was going on when somebody's function raised.

    Attributes:
        culprit: Whose function it was.
        store: The name of the store.
        source: The slice concerned, when there is one.
    """

    culprit: Culprit
    store: str = ""
    source: object = None


ErrorHook = Callable[[Exception, ErrorContext], None]


def log_error(error: Exception, context: ErrorContext) -> None:
    """Log an error with its traceback; the hook a store has unless it is given another."""
    where = f" of store {context.store!r}" if context.store else ""
    _logger.error("a %s%s raised %r; everybody else was served", context.culprit, where, error, exc_info=error)


class SelectorWarning(UserWarning):
    """A selector does something that tracking cannot follow, or gives unstable results."""
