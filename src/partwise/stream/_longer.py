"""Parts with more of their text: what happens once a token."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any, ClassVar, Final

from partwise.messages import (
    ArgsReader,
    FrozenDict,
    Pieces,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    as_written,
    deferring,
    join_text,
)

__all__ = ["GrowingArgs", "longer_call", "longer_reasoning", "longer_text", "merge_metadata"]

# A text up to this length is copied with each delta; that takes less time than anything else about the delta.
_SHORT: Final = 4096


def longer_text(part: TextPart, text: str, metadata: Mapping[str, Any] | None, *, replaces: bool = False) -> TextPart:
    """Return a text part with more text, or with other text, and with what its provider says of it."""
    merged = merge_metadata(part.provider_metadata, metadata) if metadata else part.provider_metadata
    longer = text if replaces else _longer(as_written(part), text)
    if isinstance(longer, Pieces):
        if merged is part.provider_metadata:
            return deferring(part, _Text(longer))
        longer = longer.text()
    # Spelled out, because it runs for every delta and attrs.evolve takes several times as long.
    return TextPart(
        longer,
        status=part.status,
        provider_metadata=merged,
        parent_id=part.parent_id,
    )


def longer_reasoning(
    part: ReasoningPart, text: str, metadata: Mapping[str, Any] | None, *, replaces: bool = False
) -> ReasoningPart:
    """Return a reasoning part with more text, or with other text, and with what its provider says of it."""
    merged = merge_metadata(part.provider_metadata, metadata) if metadata else part.provider_metadata
    longer = text if replaces else _longer(as_written(part), text)
    if isinstance(longer, Pieces):
        if merged is part.provider_metadata:
            return deferring(part, _Text(longer))
        longer = longer.text()
    return ReasoningPart(
        longer,
        summary=part.summary,
        timing=part.timing,
        status=part.status,
        provider_metadata=merged,
        parent_id=part.parent_id,
    )


class GrowingArgs:
    """Reads the arguments of a call as they come, and tells later what could be read of them at some moment."""

    __slots__ = ("_fed", "_lock", "reader")

    def __init__(self) -> None:
        self.reader = ArgsReader()
        self._fed = 0
        # Snapshots may be read in other threads, while more is fed here.
        self._lock = Lock()

    def feed(self, text: str) -> int:
        """Read more; returns the number of this moment."""
        with self._lock:
            self.reader.feed(text)
            self._fed += 1
            return self._fed

    def start_again(self, text: str) -> None:
        """Forget what was read, and read this."""
        self.reader = ArgsReader()
        self.feed(text)

    def args_at(self, moment: int, text: str) -> FrozenDict:
        """Return the arguments as they could be read at a moment, when their text was this."""
        with self._lock:
            if moment == self._fed:
                return self.reader.value
        reader = ArgsReader()
        reader.feed(text)
        return reader.value


def longer_call(part: ToolCallPart, text: str, call: GrowingArgs) -> ToolCallPart:
    """Return a call with more of its arguments; they are read now, but shown only to those who look."""
    moment = call.feed(text)
    longer = _longer(as_written(part), text)
    return deferring(part, _Args(Pieces.of(longer) if isinstance(longer, str) else longer, call, moment))


def _longer(written: str | Pieces, text: str) -> str | Pieces:
    if "\udc00" <= text[:1] <= "\udfff":  # it may be the second half of a character
        return join_text(written if isinstance(written, str) else written.text(), text)
    if isinstance(written, Pieces):
        return written.plus(text)
    return written + text if len(written) < _SHORT else Pieces.of(written).plus(text)


class _Text:
    """Makes the text of a text or reasoning part."""

    __slots__ = ("pieces",)

    names: ClassVar[frozenset[str]] = frozenset({"text"})

    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces

    def read(self) -> Mapping[str, Any]:
        return {"text": self.pieces.text()}


class _Args:
    """Makes the arguments of a call, and their text."""

    __slots__ = ("_call", "_moment", "pieces")

    names: ClassVar[frozenset[str]] = frozenset({"args", "args_text"})

    def __init__(self, pieces: Pieces, call: GrowingArgs, moment: int) -> None:
        self.pieces = pieces
        self._call = call
        self._moment = moment

    def read(self) -> Mapping[str, Any]:
        text = self.pieces.text()
        return {"args_text": text, "args": self._call.args_at(self._moment, text)}


def merge_metadata(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Lay what a provider says later over what it said before, provider by provider."""
    if not new or old == new:
        return old
    if not old:
        return new
    merged = dict(old)
    for provider, value in new.items():
        before = merged.get(provider)
        if isinstance(before, FrozenDict) and isinstance(value, FrozenDict):
            merged[provider] = FrozenDict({**before, **value})
        else:
            merged[provider] = value
    return FrozenDict(merged)
