"""What could not be used: told once, to a callback or to the log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeAlias

from partwise.errors import WireError

__all__ = ["Report", "log_problem"]

Report: TypeAlias = Callable[[WireError], object]
_LOG = logging.getLogger("partwise.stream")


def log_problem(problem: WireError) -> None:
    """Log a problem as a warning."""
    _LOG.warning("%s", problem)
