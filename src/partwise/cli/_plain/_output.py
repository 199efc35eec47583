"""Where plain lines go."""

from __future__ import annotations

from typing import TextIO

import anyio

__all__ = ["Output"]


class Output:
    """Writes at once, and notices when nobody reads any more.

    Attributes:
        broken: Set when the reader has gone; what is written afterwards is dropped.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.broken = anyio.Event()

    def write(self, text: str) -> None:
        """Write text; what the stream's encoding lacks is replaced."""
        if not text or self.broken.is_set():
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except UnicodeEncodeError:
            encoding = self._stream.encoding or "ascii"
            self.write(text.encode(encoding, "replace").decode(encoding))
        except (OSError, ValueError):  # a closed pipe, or a closed file
            self.broken.set()

    def line(self, text: str = "") -> None:
        """Write a line."""
        self.write(f"{text}\n")
