"""Signatures and encrypted reasoning: never shown, but sent back with the part that they came with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from partwise.providers.wire import Json
from partwise.stream import Chunk, ReasoningDelta, TextDelta, ToolCallStart

__all__ = ["Marks"]


class Marks:
    """Keeps marks beside what is being written, or else what is written next; each beside one part.

    A part is told all of its marks again when they have become twice as many, and at its end, so that
    many of them cost no more than their number.
    """

    __slots__ = ("_at", "_marks", "_told")

    def __init__(self) -> None:
        self._at: str | type[TextDelta | ReasoningDelta] | None = None
        self._marks: list[Json] = []
        self._told = 0

    def beside(self, chunks: Iterable[Chunk], marks: Iterable[Json]) -> Iterator[Chunk]:
        """Give the chunks of a payload, and what is to be kept of the marks that came with them."""
        for chunk in chunks:
            at = _place_of(chunk)
            if at is not None and at != self._at:
                yield from self.rest()
                if self._at is not None:
                    self._marks, self._told = [], 0
                self._at = at
            yield chunk
        self._marks += marks
        if len(self._marks) >= 2 * self._told:
            yield from self.rest()

    def rest(self) -> Iterator[Chunk]:
        """Give what was not told yet, as far as there is a part for it."""
        if self._at is None or len(self._marks) == self._told:
            return
        self._told = len(self._marks)
        kept = {"openai": {"reasoning_details": self._marks}}
        if isinstance(self._at, str):
            yield ToolCallStart(self._at, "", provider_metadata=kept)
        else:
            yield self._at("", provider_metadata=kept)


def _place_of(chunk: Chunk) -> str | type[TextDelta | ReasoningDelta] | None:
    if isinstance(chunk, (TextDelta, ReasoningDelta)):
        return type(chunk)
    return chunk.tool_call_id if isinstance(chunk, ToolCallStart) else None
