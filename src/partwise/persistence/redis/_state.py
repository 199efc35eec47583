"""What Redis answers, read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

import attrs

from partwise.stream.resumable import StreamFailure, StreamStatus

__all__ = ["State", "Stored", "milliseconds", "next_count", "state_from", "stored_in", "to_bytes"]

_MOST: Final = 256
_BATCH_BYTES: Final = 256 * 1024


@attrs.frozen
class State:
    """The state of the edition that an id has now.

    Attributes:
        chunks: How many were written.
        seconds_left: Until it expires, or its producer counts as dead.
    """

    token: str
    status: StreamStatus
    chunks: int
    seconds_left: float


@attrs.frozen
class Stored:
    """An entry of a Redis stream: a chunk, or the end.

    Attributes:
        before: How many chunks come before it.
        data: The chunk; None at an end.
        failure: Why the stream ended, if it failed.
        is_deletion: Whether it ended because it was deleted.
    """

    before: int
    data: bytes | None = None
    failure: StreamFailure | None = None
    is_deletion: bool = False


def state_from(answer: list[Any]) -> State | None:
    """Read what the script says."""
    if not answer:
        return None
    lives = [left / 1000 for left in answer[3:5] if left >= 0]
    return State(_text(answer[0]), cast("StreamStatus", _text(answer[1])), int(answer[2]), min(lives, default=0.001))


def stored_in(answer: Any) -> list[Stored]:
    """Read the entries of one stream."""
    return [_stored(entry_id, fields) for entry_id, fields in _entries(answer)]


def _entries(answer: Any) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
    """Undo the list or mapping around the entries, whichever the version of the protocol has."""
    streams: list[Any] = list(answer.values()) if isinstance(answer, dict) else [stream[1] for stream in answer or ()]  # pyright: ignore[reportUnknownArgumentType] -- a dict of whatever the client parsed
    for entries in streams:
        yield from entries[0] if entries and isinstance(entries[0], list) else entries


def _stored(entry_id: bytes, fields: dict[bytes, bytes]) -> Stored:
    number, _, mark = entry_id.partition(b"-")
    match mark:
        case b"0":
            return Stored(int(number) - 1, fields[b"d"])
        case b"1" if fields[b"status"] == b"error":
            return Stored(int(number), failure=StreamFailure(_text(fields[b"code"]), _text(fields[b"text"])))
        case b"1":
            return Stored(int(number))
        case _:
            return Stored(int(number), is_deletion=True)


def next_count(entries: list[Stored]) -> int:
    """Return how many entries to ask for next, so that a batch stays small in bytes."""
    average = sum(len(entry.data or b"") for entry in entries) // len(entries)
    return max(1, min(_MOST, _BATCH_BYTES // (average + 1)))


def milliseconds(seconds: float) -> int:
    """Return a time as Redis wants it: a whole number above zero."""
    return max(1, round(seconds * 1000))


def to_bytes(text: str) -> bytes:
    """Return a text as bytes, whatever is in it."""
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
