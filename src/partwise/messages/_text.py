"""Joining text that was cut between the halves of one character."""

from __future__ import annotations

__all__ = ["join_text"]


def join_text(old: str, new: str) -> str:
    """Return ``old`` followed by ``new``.

    Peers that count in UTF-16 units cut in the middle of a character now and then, and escape both
    halves; where two halves meet, they become one character again.
    """
    if new and old and "\udc00" <= new[0] <= "\udfff" and "\ud800" <= old[-1] <= "\udbff":
        whole = (old[-1] + new[0]).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        return old[:-1] + whole + new[1:]
    return old + new
