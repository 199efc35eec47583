"""Lines: from bytes, cut anywhere, to lines of text of a bounded length."""

from __future__ import annotations

import codecs
import re
from typing import Final

from partwise.errors import InvalidInputError

__all__ = ["MAX_LINE_LENGTH", "LineReader", "check_limit"]

# Room for an image or a file inside of one frame, and little enough for a server to be asked to hold it.
MAX_LINE_LENGTH: Final = 16 * 1024 * 1024

_LARGEST_LIMIT: Final = 2**53 - 1
_LINE_END = re.compile(r"\r\n|\n|\r")


class LineReader:
    """Splits a stream of bytes into lines, which end with LF, CRLF or CR.

    Bytes may be cut anywhere, in a character or between carriage return and line feed. What is no
    UTF-8 becomes replacement characters; a byte order mark at the very start is skipped.

    Args:
        max_length: Of a line that is longer, no more than that is ever kept.

    Raises:
        InvalidInputError: The limit is no whole number above zero.
    """

    __slots__ = ("_after_return", "_decoder", "_is_too_long", "_length", "_max_length", "_pieces", "_started")

    def __init__(self, max_length: int = MAX_LINE_LENGTH) -> None:
        self._max_length = check_limit("line", max_length)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pieces: list[str] = []
        self._length = 0
        self._is_too_long = False
        self._after_return = False
        self._started = False

    def feed(self, data: bytes) -> list[str | None]:
        """Return the lines that end in these bytes, without their ends.

        None stands for a line that is too long, once, at the place where it becomes so.
        """
        return self._read(self._decoder.decode(data))

    def close(self) -> list[str | None]:
        """Return what is left when the bytes have ended: at most one line, without its end."""
        lines = self._read(self._decoder.decode(b"", final=True))
        rest = "".join(self._pieces)
        self._pieces, self._length = [], 0
        if rest:
            lines.append(rest)
        return lines

    def _read(self, text: str) -> list[str | None]:
        if text and not self._started:
            self._started = True
            text = text.removeprefix("\ufeff")
        if not text:
            return []
        if self._after_return:
            text = text.removeprefix("\n")
        self._after_return = text.endswith("\r")
        *ended, rest = _LINE_END.split(text)
        lines: list[str | None] = []
        for piece in ended:
            self._grow(piece, lines)
            if not self._is_too_long:
                lines.append("".join(self._pieces))
            self._pieces, self._length, self._is_too_long = [], 0, False
        self._grow(rest, lines)
        return lines

    def _grow(self, piece: str, lines: list[str | None]) -> None:
        if self._is_too_long:
            return
        self._length += len(piece)
        if self._length > self._max_length:
            self._is_too_long = True
            self._pieces = []
            lines.append(None)
        elif piece:
            self._pieces.append(piece)


def check_limit(what: str, limit: int) -> int:
    """Return a limit that makes sense.

    Raises:
        InvalidInputError: It is no whole number above zero.
    """
    if type(limit) is not int or not 0 < limit <= _LARGEST_LIMIT:
        message = f"The limit of the length of a {what} is a whole number of characters above zero, not {limit!r}."
        raise InvalidInputError(message)
    return limit
