"""Where plain lines go."""

from __future__ import annotations

from typing import TextIO

import anyio

__all__ = ["Output"]

# Each control character but tab and line feed becomes its picture, and those of the second set a question mark.
_SIGNS = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"},
    127: 0x2421,
    **dict.fromkeys(range(128, 160), 0xFFFD),
}


class Output:
    """Writes at once, and notices when nobody reads any more.

    Args:
        stream: Where to.
        is_terminal: Whether control characters would be obeyed; they are shown as signs instead, since
            what a model or a file says must not move the cursor, set titles or hide text.

    Attributes:
        broken: Set when nothing can be written any more; what is written afterwards is dropped.
        failure: Why not, unless the reader has just gone: a full disk, for example.
    """

    def __init__(self, stream: TextIO, *, is_terminal: bool = False) -> None:
        self._stream = stream
        self._is_terminal = is_terminal
        self.broken = anyio.Event()
        self.failure: OSError | None = None

    def write(self, text: str) -> None:
        """Write text; what the stream's encoding lacks is replaced."""
        if not text or self.broken.is_set():
            return
        if self._is_terminal:
            text = text.translate(_SIGNS)
        try:
            self._stream.write(text)
            self._stream.flush()
        except UnicodeEncodeError:
            encoding = self._stream.encoding or "ascii"
            self.write(text.encode(encoding, "replace").decode(encoding))
        except (ConnectionError, ValueError):  # a closed pipe, or a closed file
            self.broken.set()
        except OSError as error:
            self.failure = error
            self.broken.set()

    def line(self, text: str = "") -> None:
        """Write a line."""
        self.write(f"{text}\n")
