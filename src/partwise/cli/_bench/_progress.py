"""How far the race is, on stderr."""

from __future__ import annotations

import sys
import time
from typing import TextIO

__all__ = ["Progress"]

_BAR = 24


class Progress:
    """A bar that redraws itself on a terminal; elsewhere a line now and then.

    Args:
        steps: How many steps there will be.
        is_quiet: Whether nothing is shown.
        stream: Where it is shown.
    """

    def __init__(self, steps: int, *, is_quiet: bool = False, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._steps = max(1, steps)
        self._is_quiet = is_quiet
        self._redraws = self._stream.isatty()
        self._done = 0
        self._begun = self._drawn = time.monotonic()

    def step(self, text: str) -> None:
        """Show the next step."""
        self._done += 1
        now = time.monotonic()
        pause = 0.1 if self._redraws else 5.0
        if self._is_quiet or (now - self._drawn < pause and self._done < self._steps):
            return
        self._drawn = now
        share = min(1.0, self._done / self._steps)
        if self._redraws:
            filled = round(share * _BAR)
            bar = "█" * filled + "░" * (_BAR - filled)
            self._stream.write(f"\r\x1b[K{bar} {share:4.0%} {now - self._begun:4.0f} s  {text}")
        else:
            self._stream.write(f"{share:4.0%} {now - self._begun:4.0f} s  {text}\n")
        self._stream.flush()

    def end(self) -> None:
        """Take the bar away."""
        if self._redraws and not self._is_quiet:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
