"""What a history says when something stored cannot be used as it is."""

from __future__ import annotations

import logging
from collections.abc import Callable

import attrs

__all__ = ["HistoryProblem", "ReportProblem", "log_problem"]

logger = logging.getLogger("partwise.persistence")


@attrs.frozen(kw_only=True)
class HistoryProblem:
    """Something stored that could not be used as it is; the rest of the thread loaded.

    Attributes:
        thread_id: The thread in which it was found.
        message_id: The message that it is about, or None when it is about the thread.
        what: What is wrong, and what was done about it.
        where: The path of the value at fault inside the message, or an empty string.
    """

    thread_id: str
    message_id: str | None
    what: str
    where: str = ""

    def __str__(self) -> str:
        subject = f"message {self.message_id!r} of thread" if self.message_id else "thread"
        place = f" (at {self.where})" if self.where else ""
        return f"{subject} {self.thread_id!r}{place}: {self.what}"


ReportProblem = Callable[[HistoryProblem], None]


def log_problem(problem: HistoryProblem) -> None:
    """Write a problem to the log ``partwise.persistence`` as a warning."""
    logger.warning("History: %s", problem)
