"""The texts of a response: what was written of each, and what its end says about it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from partwise.messages import DocumentSourcePart, UrlSourcePart
from partwise.providers.wire import Json, Sources, mapping, mappings, media_type_of, word
from partwise.stream import Chunk, ReasoningDelta, TextDelta

__all__ = ["TextKind", "Texts"]

_LOG = logging.getLogger("partwise.providers")

TextKind: TypeAlias = Literal["text", "refusal", "reasoning", "summary"]


class _Text:
    __slots__ = ("annotations", "pieces")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.annotations = 0


class _Part:
    """What the reader sees as one part: a text, or all paragraphs of the reasoning of one item."""

    __slots__ = ("id", "last")

    def __init__(self, part_id: str) -> None:
        self.id = part_id
        self.last: int | None = None


class Texts:
    """Turns the texts of one response into chunks.

    A text is known by where it stands (the item's index, the kind and the index within the item), never
    by an id, because ids may differ from event to event.

    Args:
        number: Which response of the stream it is.
        sources: Where its citations go.
    """

    __slots__ = ("_number", "_parts", "_sources", "_texts")

    def __init__(self, number: int, sources: Sources) -> None:
        self._number = number
        self._sources = sources
        self._texts: dict[tuple[int, TextKind, int], _Text] = {}
        self._parts: dict[tuple[int, TextKind, int], _Part] = {}

    def reasoning_part(self, item_index: int) -> str | None:
        """Return the id of the part that holds the reasoning of an item, if one was opened."""
        part = self._parts.get((item_index, "reasoning", 0)) or self._parts.get((item_index, "summary", 0))
        return None if part is None else part.id

    def is_new(self, item_index: int, kind: TextKind, index: int) -> bool:
        """Tell whether the next delta of a text opens a part."""
        return _part_key(item_index, kind, index) not in self._parts

    def grow(
        self, item_index: int, kind: TextKind, index: int, text: str, metadata: Mapping[str, Any] | None
    ) -> Iterator[Chunk]:
        """Give the chunks for more of a text.

        Args:
            item_index: The item.
            kind: Which of its texts.
            index: And which of these.
            text: What is new.
            metadata: What is said of the part when it is opened.
        """
        if not text:
            return
        self._texts.setdefault((item_index, kind, index), _Text()).pieces.append(text)
        key = _part_key(item_index, kind, index)
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = _Part(".".join(str(place) for place in (self._number, *key)))
        else:
            metadata = None
        if part.last not in (None, index):
            text = f"\n\n{text}"
        part.last = index
        yield _delta(kind, text, part.id, metadata)
        if kind in ("text", "refusal"):
            yield from self._sources.release()

    def missing(self, item_index: int, kind: TextKind, index: int, whole: str) -> str | None:
        """Return what of a text has not come yet, now that all of it is known; None if it is another text."""
        known = self._texts.get((item_index, kind, index))
        sum_of_deltas = "".join(known.pieces) if known else ""
        return whole[len(sum_of_deltas) :] if whole.startswith(sum_of_deltas) else None

    def replace(self, item_index: int, kind: TextKind, index: int, whole: str) -> Chunk:
        """Give the chunk that puts a text in place of what had come of it."""
        _LOG.info("The end of a text is not what was streamed of it, and takes its place: %.200r", whole)
        self._texts[item_index, kind, index].pieces = [whole]
        part = self._parts[_part_key(item_index, kind, index)]
        if kind not in ("text", "refusal"):
            of_part = (text for place, text in self._texts.items() if place[:2] == (item_index, kind))
            whole = "\n\n".join("".join(text.pieces) for text in of_part)
        return _delta(kind, whole, part.id, None, replaces=True)

    def cite(self, item_index: int, index: int, annotation: Json) -> None:
        """Remember what a text cites."""
        self._texts.setdefault((item_index, "text", index), _Text()).annotations += 1
        source = _source_of(annotation)
        if source is not None:
            places = ("type", "url", "title", "file_id", "filename")
            self._sources.cite(source, {key: value for key, value in annotation.items() if key not in places})

    def cite_rest(self, item_index: int, index: int, annotations: object) -> Iterator[Chunk]:
        """Give what a text cites besides what was said while it grew."""
        known = self._texts.get((item_index, "text", index))
        for annotation in mappings(annotations)[known.annotations if known else 0 :]:
            self.cite(item_index, index, annotation)
        yield from self._sources.release()


def _part_key(item_index: int, kind: TextKind, index: int) -> tuple[int, TextKind, int]:
    return item_index, kind, index if kind in ("text", "refusal") else 0


def _delta(
    kind: TextKind, text: str, part_id: str, metadata: Mapping[str, Any] | None, *, replaces: bool = False
) -> Chunk:
    delta = TextDelta if kind in ("text", "refusal") else ReasoningDelta
    return delta(text, part_id=part_id, provider_metadata=metadata, replaces=replaces)


def _source_of(annotation: Json) -> UrlSourcePart | DocumentSourcePart | None:
    fields = mapping(annotation.get("url_citation")) or annotation
    url = word(fields.get("url"))
    if url:
        return UrlSourcePart(id=url, url=url, title=word(fields.get("title")) or None)
    file_id = word(annotation.get("file_id"))
    if not file_id:
        return None
    filename = word(annotation.get("filename"))
    return DocumentSourcePart(
        id=file_id, title=filename or file_id, media_type=media_type_of(filename), filename=filename or None
    )
