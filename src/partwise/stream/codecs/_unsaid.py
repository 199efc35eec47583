"""What a wire has no place for: left out, and told once."""

from __future__ import annotations

from partwise.errors import WireError
from partwise.stream._report import Report

__all__ = ["Unsaid"]


class Unsaid:
    """Tells what an encoder leaves out, each thing once.

    Args:
        wire: The wire, as the start of a sentence.
        report: Told about it.
    """

    __slots__ = ("_report", "_told", "_wire")

    def __init__(self, wire: str, report: Report) -> None:
        self._wire = wire
        self._report = report
        self._told: set[str] = set()

    def leave_out(self, what: str) -> None:
        """Tell what is left out."""
        if what not in self._told:
            self._told.add(what)
            self._report(WireError(f"{self._wire} has no place for {what}; it was left out.", code="unsaid"))
