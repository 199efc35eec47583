"""Lines of input, without holding up the event loop or the end of the program."""

from __future__ import annotations

import codecs
import contextlib
import os
import threading
from collections.abc import Callable, Iterable
from typing import Protocol

import anyio
import anyio.from_thread
import anyio.lowlevel

__all__ = ["LineSource", "TextLines", "ThreadLines", "descriptor_lines"]

_BLOCK = 1 << 16


class LineSource(Protocol):
    """Gives one line after the other."""

    async def next(self) -> str | None:
        """Return the next line without its end; None when there are no more."""
        ...


class TextLines:
    """Lines that are there already."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)

    async def next(self) -> str | None:
        """Return the next line; None when there are no more."""
        await anyio.lowlevel.checkpoint()
        return next(self._lines, None)


def descriptor_lines(descriptor: int) -> ThreadLines:
    """Return the lines of a file descriptor, such as that of stdin; call it inside the event loop.

    They are read ahead, in a thread that nobody waits for at the end: a terminal may never send another
    line. The thread reads the descriptor itself, since one that is stuck inside ``sys.stdin`` would
    keep the interpreter from closing it.
    """
    lines = ThreadLines()
    token = anyio.lowlevel.current_token()

    def hand_over(line: str | None) -> None:
        anyio.from_thread.run_sync(lines.put, line, token=token)

    threading.Thread(target=_read, args=(descriptor, hand_over), name="partwise-stdin", daemon=True).start()
    return lines


class ThreadLines:
    """Lines that another thread reads."""

    def __init__(self) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[str](float("inf"))

    def put(self, line: str | None) -> None:
        """Take a line from the other thread; None is the end."""
        if line is None:
            self._send.close()
            return
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # nobody waits for it any more
            self._send.send_nowait(line)

    def close(self) -> None:
        """Take no more lines."""
        self._send.close()
        self._receive.close()

    async def next(self) -> str | None:
        """Return the next line; None when there are no more."""
        try:
            return await self._receive.receive()
        except anyio.EndOfStream:
            self._receive.close()
            return None
        except anyio.ClosedResourceError:
            return None


def _read(descriptor: int, hand_over: Callable[[str | None], None]) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    try:
        while data := _block(descriptor):
            *lines, rest = (rest + decoder.decode(data)).split("\n")
            for line in lines:
                hand_over(line.removesuffix("\r"))
        rest += decoder.decode(b"", final=True)
        if rest:
            hand_over(rest)
        hand_over(None)
    except RuntimeError:
        return  # the event loop has gone, and nobody waits for more lines


def _block(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _BLOCK)
    except OSError:
        return b""  # closed, or a terminal that went away: the end of the input
