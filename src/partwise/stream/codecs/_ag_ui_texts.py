"""The texts and the reasoning of an AG-UI stream, each named by the id of its message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from partwise.errors import WireError
from partwise.messages import AssistantMessage, ReasoningPart, TextPart
from partwise.stream._chunks import Chunk
from partwise.stream._part_chunks import PartFinish
from partwise.stream._report import Report
from partwise.stream.writing import PartWriter, TextWriter

__all__ = ["Kind", "Texts"]

Kind: TypeAlias = type[TextPart] | type[ReasoningPart]
_Key: TypeAlias = tuple[Kind, str]


class _Block:
    """A text that was begun; its part begins with its first word, since many never get one."""

    __slots__ = ("part", "writer")

    def __init__(self, part: TextPart | ReasoningPart) -> None:
        self.part = part
        self.writer: TextWriter | None = None


class _Again:
    """A text that was whole and is begun once more: what it has to go on with if it is only told again."""

    __slots__ = ("held", "rest")

    def __init__(self, said: str) -> None:
        self.rest = said
        self.held = ""

    def take(self, text: str) -> str | None:
        """Return what is new in more of it; None while nothing is."""
        if self.rest.startswith(text):
            self.rest = self.rest[len(text) :]
            self.held += text
            return None
        return text[len(self.rest) :] if text.startswith(self.rest) else self.held + text


class Texts:
    """Applies the events about texts and reasoning.

    A text and a reasoning may share an id, and both may share it with an activity: they are different things.
    A text that is begun again under its id and says the same is told again, and changes nothing; one that says
    something else is another text.

    Args:
        parts: The parts of the answer.
        emit: Given a chunk about a part that is closed.
        report: Told about what is dropped.
        message: The message that the stream goes on with; its texts count as said.
    """

    __slots__ = (
        "_again",
        "_blocks",
        "_claimed",
        "_emit",
        "_foreign",
        "_numbers",
        "_parts",
        "_report",
        "_said",
        "_whole",
    )

    def __init__(
        self, parts: PartWriter, emit: Callable[[Chunk], object], report: Report, message: AssistantMessage | None
    ) -> None:
        self._parts = parts
        self._emit = emit
        self._report = report
        self._blocks: dict[_Key, _Block] = {}
        self._again: dict[_Key, _Again] = {}
        self._foreign: set[_Key] = set()
        self._numbers: dict[_Key, int] = {}
        self._said: dict[_Key, list[str]] = {}
        self._claimed: set[_Key] = set()
        self._whole: dict[_Key, str] = {}
        for number, part in enumerate(message.content if message is not None else ()):
            if isinstance(part, (TextPart, ReasoningPart)):
                self._said[type(part), f" {number}"] = [part.text]

    def begin(self, part: TextPart | ReasoningPart, message_id: str) -> None:
        """Begin a text; what was written under this id before it is whole."""
        key = (type(part), message_id)
        self._foreign.discard(key)
        self.end(type(part), message_id)
        if key in self._said:
            self._again[key] = _Again("".join(self._said[key]))
        self._blocks[key] = block = _Block(part)
        if part.provider_metadata:
            self._writer(key, block)

    def leave_out(self, kind: Kind, message_id: str, role: str) -> None:
        """Read past a message of somebody else."""
        self._foreign.add((kind, message_id))
        text = f"A message of the {role} is no part of the answer; it was left out."
        self._report(WireError(text, where=role, code="foreign-message"))

    def is_open(self, kind: Kind, message_id: str) -> bool:
        """Whether this text was begun, be it one to read past."""
        return (kind, message_id) in self._blocks or (kind, message_id) in self._foreign

    def grow(self, kind: Kind, message_id: str, text: str, metadata: Mapping[str, Any] | None = None) -> None:
        """Add to a text; one that was never begun, or was closed by a tool call, begins with it."""
        key = (kind, message_id)
        if key in self._foreign or not (text or metadata):
            return
        block = self._blocks.get(key)
        if block is None:
            self._blocks[key] = block = _Block(kind(""))
        again = self._again.get(key)
        if again is not None and not metadata:
            news = again.take(text)
            if news is None:
                return
            del self._again[key]
            text = news
        self._writer(key, block).append(text, provider_metadata=metadata)
        self._said.setdefault(key, []).append(text)

    def end(self, kind: Kind, message_id: str, metadata: Mapping[str, Any] | None = None) -> None:
        """Say that a text is whole."""
        key = (kind, message_id)
        self._foreign.discard(key)
        block = self._blocks.pop(key, None)
        if self._again.pop(key, None) is not None:
            text = f"The text of message {message_id!r} was told again; it is there once."
            self._report(WireError(text, where=message_id, code="misplaced"))
            if block is None or block.writer is None:
                return
        if block is not None and (block.writer is not None or metadata):
            self._writer(key, block).close(provider_metadata=metadata)

    def end_all(self, *kinds: Kind) -> None:
        """Say that all texts of these kinds are whole."""
        for kind, message_id in list(self._blocks):
            if kind in kinds:
                self.end(kind, message_id)

    def keep(self, message_id: str, metadata: Mapping[str, Any]) -> None:
        """Keep what only the provider can read, at the reasoning or the text of this id."""
        for kind in (ReasoningPart, TextPart):
            key = (kind, message_id)
            if key in self._blocks:
                self._writer(key, self._blocks[key]).append("", provider_metadata=metadata)
                return
            if key in self._numbers:
                self._emit(PartFinish((self._numbers[key],), provider_metadata=metadata))
                return
        self.begin(ReasoningPart("", provider_metadata=metadata), message_id)
        self.end(ReasoningPart, message_id)

    def has_said(self, message_id: str) -> bool:
        """Whether this stream has brought something under this id."""
        return any((kind, message_id) in self._said for kind in (TextPart, ReasoningPart))

    def compare(self) -> None:
        """Begin to compare what was said with a list of everything."""
        self._claimed.clear()
        self._whole = {known: "".join(pieces) for known, pieces in self._said.items()}

    def settle(self, kind: Kind, message_id: str, text: str) -> None:
        """Write what is missing of a text that the source gives as a whole, whatever id it has by now."""
        key = (kind, message_id)
        said = self._whole
        free = [known for known in (key, *said) if known in said and known not in self._claimed and known[0] is kind]
        found = next((known for known in free if said[known] == text), None)
        if found is None:
            found = next((known for known in free if said[known] and text.startswith(said[known])), None)
            rest = text if found is None else text[len(said[found]) :]
            found = found or (key if key not in said else (kind, f" {message_id} {len(said)}"))
            self.grow(kind, found[1], rest)
            self.end(kind, found[1])
            said[found] = text
        self._claimed.add(found)

    def _writer(self, key: _Key, block: _Block) -> TextWriter:
        if block.writer is None:
            block.writer = self._parts.begin_text(block.part)
            self._numbers[key] = block.writer.number
        return block.writer
