"""Reasoning that a model writes into its text, between ``<think>`` and ``</think>``."""

from __future__ import annotations

from collections.abc import Iterator

from ._fields import Piece

__all__ = ["ThinkTags"]

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkTags:
    """Tells reasoning from text by the tags around it, wherever the deltas are cut.

    A suffix that may be the beginning of a tag is held back until it is decided. A tag that is never
    closed loses nothing: its content stays reasoning.
    """

    __slots__ = ("_held", "_inside")

    def __init__(self) -> None:
        self._held = ""
        self._inside = False

    def split(self, text: str) -> Iterator[Piece]:
        """Give what is decided by now."""
        text, at = self._held + text, 0
        while True:
            tag = _CLOSE if self._inside else _OPEN
            found = text.find(tag, at)
            end = found if found >= 0 else len(text) - _overlap(text[max(at, len(text) - len(tag)) :], tag)
            if end > at:
                yield self._kind(text[at:end])
            if found < 0:
                self._held = text[end:]
                return
            self._inside = not self._inside
            at = found + len(tag)

    def close(self) -> Iterator[Piece]:
        """Give what was held back."""
        if self._held:
            yield self._kind(self._held)
            self._held = ""

    def _kind(self, text: str) -> Piece:
        return ("reasoning", text) if self._inside else ("text", text)


def _overlap(text: str, tag: str) -> int:
    """Return how many characters at the end of the text may be the beginning of the tag."""
    return next((size for size in range(len(tag) - 1, 0, -1) if text.endswith(tag[:size])), 0)
