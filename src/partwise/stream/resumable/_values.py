"""What stores, producers and readers of resumable streams hand to each other."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

import attrs

from partwise.errors import CursorError, InvalidInputError, StreamIdError

__all__ = [
    "Acquired",
    "Edition",
    "Entry",
    "Found",
    "StreamFailure",
    "StreamLimits",
    "StreamStatus",
    "check_seconds",
    "check_stream_id",
    "cursor_of",
    "index_of",
]

StreamStatus: TypeAlias = Literal["missing", "streaming", "done", "error"]

_ID = re.compile(r"[A-Za-z0-9_.:-]{1,256}")
_CURSOR = re.compile(r"0|[1-9a-z][0-9a-z]{0,11}")
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


@attrs.frozen
class Edition:
    """One stream under an id; the next one under the same id, after a delete, is another edition.

    Who acquired it as its producer may write it: it is the lease as well.

    Attributes:
        token: A word that no other edition has.
    """

    stream_id: str
    token: str = attrs.field(repr=False)


@attrs.frozen
class Acquired:
    """What became of asking for an id.

    Attributes:
        is_producer: Whether the edition is new, and the caller's to write.
    """

    edition: Edition
    is_producer: bool


@attrs.frozen
class Found:
    """A stream that is there."""

    edition: Edition
    status: StreamStatus


@attrs.frozen
class Entry:
    """A chunk of a stream.

    Attributes:
        index: Its number; the first is 1.
        data: Its bytes, as they were written.
    """

    index: int
    data: bytes

    @property
    def cursor(self) -> str:
        """The place after this chunk."""
        return cursor_of(self.index)


@attrs.frozen
class StreamFailure:
    """Why a stream ended before it was complete.

    Attributes:
        code: See `partwise.errors.StreamFailedError`.
        text: For people.
    """

    code: str
    text: str


@attrs.frozen
class StreamLimits:
    """How much a store keeps; None stands for no limit.

    Attributes:
        chunk_bytes: The bytes of one chunk.
        entries: The chunks of one stream.
        total_bytes: The bytes of one stream.
        streams: The streams of a store in memory.
    """

    chunk_bytes: int | None = 16 * 1024 * 1024
    entries: int | None = 200_000
    total_bytes: int | None = 64 * 1024 * 1024
    streams: int | None = 10_000


def check_stream_id(stream_id: object) -> str:
    """Return an id that a stream can have.

    Raises:
        StreamIdError: It is empty, longer than 256 characters, or has others than ``A-Z a-z 0-9 - _ . :``.
    """
    if not isinstance(stream_id, str) or not _ID.fullmatch(stream_id):
        raise StreamIdError(stream_id)
    return stream_id


def check_seconds(what: str, seconds: float | None, *, may_be_zero: bool = False) -> None:
    """Refuse a time that is none.

    Raises:
        InvalidInputError: It is negative, or zero where that makes no sense, or not a number.
    """
    if seconds is None or seconds > 0 or (may_be_zero and seconds == 0):
        return
    message = f"The {what} of a stream is a number of seconds above zero, not {seconds!r}."
    raise InvalidInputError(message)


def cursor_of(index: int) -> str:
    """Return the cursor of a place: its number, to the base 36."""
    digits = ""
    while index:
        index, digit = divmod(index, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def index_of(stream_id: str, cursor: str | None) -> int:
    """Return the number of a place; None is the start.

    Raises:
        CursorError: It is no cursor.
    """
    if cursor is None:
        return 0
    if not _CURSOR.fullmatch(cursor):
        raise CursorError(stream_id, cursor)
    return int(cursor, 36)
