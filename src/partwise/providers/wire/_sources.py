"""The sources that an answer cites: each once, with all its places."""

from __future__ import annotations

from collections.abc import Iterator
from mimetypes import guess_type

import attrs

from partwise.messages import DocumentSourcePart, UrlSourcePart
from partwise.stream import Chunk, PartChunk

from ._fields import Json

__all__ = ["Sources", "media_type_of"]


class Sources:
    """Gathers citations, and gives each source once; cited again, it is given again with one more place.

    A source stands after the text that cites it, but some providers name it before: citations wait
    until somebody asks for them with ``release``.

    Args:
        provider: Under whose name the places are kept.
    """

    __slots__ = ("_cited", "_known", "_provider")

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._known: dict[str, UrlSourcePart | DocumentSourcePart] = {}
        self._cited: dict[str, list[Json]] = {}

    def cite(self, source: UrlSourcePart | DocumentSourcePart, place: Json) -> None:
        """Remember a citation.

        Args:
            source: What is cited; the first mention of its id says what it is.
            place: Where and what, in the provider's words.
        """
        known = self._known.get(source.id, source)
        said = (known.provider_metadata or {}).get(self._provider, {}).get("citations", ())
        places = self._cited.setdefault(source.id, [*said])
        if place and place not in places:
            places.append(place)
        self._known[source.id] = known

    def release(self) -> Iterator[Chunk]:
        """Give the sources that were cited since the last time."""
        for source_id, places in self._cited.items():
            source = self._known[source_id]
            if places:
                source = attrs.evolve(source, provider_metadata={self._provider: {"citations": places}})
            self._known[source_id] = source
            yield PartChunk(source)
        self._cited = {}


def media_type_of(filename: str) -> str:
    """Guess the media type of a file from its name."""
    return guess_type(filename)[0] or "application/octet-stream"
