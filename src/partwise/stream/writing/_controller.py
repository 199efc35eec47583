"""The controller: what a server, a test or a tool writes an answer with."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self, TypeAlias

import anyio
import attrs

from partwise.errors import WireError
from partwise.messages import (
    DataPart,
    DocumentSourcePart,
    FilePart,
    GenerativeUIPart,
    ImagePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
    new_id,
)
from partwise.stream._chunk_json import WireChunk
from partwise.stream._chunks import Chunk
from partwise.stream._closing import reading
from partwise.stream._report import Report, log_problem

from ._handles import CallWriter, TextWriter
from ._merging import Merge
from ._outlet import Outlet, Reader
from ._parts import PartWriter

__all__ = ["StreamController", "stream_of"]

_ROOM = 64
_Part: TypeAlias = UrlSourcePart | DocumentSourcePart | FilePart | ImagePart | DataPart | GenerativeUIPart


class StreamController:
    """Writes an answer, part by part; whoever iterates over it reads the chunks.

    Writing never waits, so that a part can be written from any function. A writer that may be faster than
    its reader awaits `drain` now and then. As an async context manager it closes itself: what is still open
    is closed, and an exception becomes an error of the answer before it is raised on.

    Once the reader has gone, what is written goes nowhere, without an error; see ``is_cancelled``.

    Args:
        is_strict: Whether adding to a closed part raises; otherwise it is reported and dropped.
        report: Told about what is dropped; logged as a warning by default.
        room: How many chunks may wait to be read before `drain` waits.

    ```python
    async with StreamController() as out:
        tasks.start_soon(send, out)        # reads: async for chunk in out
        out.text("Let me look. ")
        call = out.call("search")
        call.append_args('{"q": "sun"}')
        call.respond({"hits": 1})
    ```
    """

    __slots__ = ("_outlet", "_parent_id")

    def __init__(
        self,
        *,
        is_strict: bool = True,
        report: Report | None = None,
        room: int = _ROOM,
    ) -> None:
        self._outlet = Outlet(is_strict=is_strict, report=report or log_problem, room=room)
        self._parent_id: str | None = None

    async def __aenter__(self) -> Self:
        """Return the controller."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the stream; an exception is written as an error first."""
        self.finish(error)

    def __aiter__(self) -> Reader:
        """Read the chunks; there is one reader.

        Raises:
            NotAllowedError: Somebody reads already.
        """
        return Reader(self._outlet)

    @property
    def is_closed(self) -> bool:
        """Whether no further part may begin."""
        return self._outlet.is_closed

    @property
    def has_ended(self) -> bool:
        """Whether nothing more can be written, and all was read."""
        return self._outlet.has_ended and not self._outlet.has_waiting

    @property
    def is_cancelled(self) -> bool:
        """Whether the reader has gone, so that going on is a waste."""
        return self._outlet.is_cancelled

    def under(self, parent_id: str) -> StreamController:
        """Return a controller of the same stream whose parts are grouped under a part; empty: under none."""
        inner = object.__new__(StreamController)
        inner._outlet, inner._parent_id = self._outlet, parent_id or None
        return inner

    def text(self, text: str) -> None:
        """Add text to the part that is being written, or to a new one.

        Raises:
            NotAllowedError: The stream is closed, ``code`` is ``"stream-closed"``; so do all that begin parts.
        """
        self._parts().text(text, parent_id=self._parent_id)

    def reasoning(self, text: str, *, summary: str | None = None, is_new: bool = False) -> None:
        """Add reasoning to the part that is being written, or to a new one.

        Args:
            text: What is new; with a summary it may be empty, and then nothing is added.
            summary: A summary, which begins a new part.
            is_new: Whether to begin a new part without one.
        """
        parts, begins = self._parts(), is_new or summary is not None
        if begins:
            parts.new_reasoning(summary=summary, parent_id=self._parent_id)
        if text or not begins:
            parts.reasoning(text, parent_id=self._parent_id)

    def add(self, part: _Part) -> None:
        """Write a part that is whole at once: a source, a file, an image, data, a UI."""
        self._parts().whole(self._grouped(part))

    def begin(self, part: TextPart | ReasoningPart) -> TextWriter:
        """Begin a text or a reasoning that is written by itself, whatever is written beside it."""
        return self._parts().begin_text(self._grouped(part))

    def call(
        self,
        tool_name: str,
        tool_call_id: str | None = None,
        *,
        args: Mapping[str, Any] | None = None,
        args_text: str | None = None,
    ) -> CallWriter:
        """Begin a tool call.

        Args:
            tool_name: The tool.
            tool_call_id: Its id; a new one by default.
            args: Its arguments, if they are known already; they are whole then.
            args_text: The same as JSON text.

        Raises:
            WireError: Both were given, or the arguments are no JSON; nothing was written.
        """
        if args is not None and args_text is not None:
            message = f"A call of {tool_name!r} has arguments or their text, not both; nothing was written."
            raise WireError(message, where=tool_call_id or "", code="invalid-value")
        call_id = tool_call_id or new_id()
        return self._parts().new_call(tool_name, call_id, self._parent_id, args=args, args_text=args_text)

    def begin_call(self, part: ToolCallPart) -> CallWriter:
        """Begin a tool call with all that is known of it; arguments, approval and result are written at once."""
        return self._parts().begin_call(self._grouped(part))

    def write(self, chunk: WireChunk) -> None:
        """Write a chunk as it is: a step, a finish, a change of state, data.

        Raises:
            NotAllowedError: The stream is closed.
        """
        self._parts().take(chunk)

    async def merge(self, chunks: AsyncIterable[Chunk]) -> None:
        """Write another stream into this one; its parts get the next numbers. Returns when it has ended.

        Text that is being written is closed. Start this in a task to go on writing meanwhile. If ``chunks``
        raises, this stream ends with that error, and so does what else is merged. The other stream is closed
        by then, also when nobody reads any more.

        Raises:
            NotAllowedError: This stream is closed, or the other one is being read already.
        """
        self._outlet.require_open()
        if self.is_cancelled:
            return
        inner = aiter(chunks)
        merge = Merge(self._outlet.parts, self._outlet.report)
        self._outlet.begin_merge()
        try:
            async with reading(inner) as values:
                async for chunk in values:
                    if self._outlet.has_failed:
                        return
                    merge.take(chunk)
                    await self._outlet.room()
                    if self.is_cancelled:
                        return
            if not self._outlet.has_failed:
                merge.close()
        except Exception as error:
            self._outlet.fail(error)
        finally:
            self._outlet.end_merge()

    def close(self) -> None:
        """Let no further part begin; the stream ends once the open ones are closed. Closing twice is harmless."""
        self._outlet.close()

    def finish(self, error: BaseException | None = None) -> None:
        """End the stream now: open texts are closed, and so are calls whose arguments are whole.

        Args:
            error: Why the answer broke off, if it did; a cancellation is one.
        """
        if error is not None:
            self._outlet.fail(error)
            return
        self._outlet.parts.close_all()
        self._outlet.close()

    async def drain(self) -> None:
        """Wait until the reader has caught up, or has gone."""
        await self._outlet.room()

    def _parts(self) -> PartWriter:
        if not self.is_cancelled:
            self._outlet.require_open()
        return self._outlet.parts

    def _grouped(self, part: Any) -> Any:
        return part if self._parent_id is None else attrs.evolve(part, parent_id=self._parent_id)


@asynccontextmanager
async def stream_of(
    write: Callable[[StreamController], Awaitable[object]],
    *,
    is_strict: bool = True,
    report: Report | None = None,
    room: int = _ROOM,
) -> AsyncGenerator[StreamController]:
    """Run a function that writes, beside the one who reads; what it raises becomes an error of the answer.

    The function is cancelled when the block ends before it. Its end closes what it left open.

    Args:
        write: The function; it is given a controller.
        is_strict: Whether adding to a closed part raises in ``write``.
        report: Told about what is dropped, and about an exception after the end.
        room: How many chunks may wait to be read before `StreamController.drain` waits.

    ```python
    async with stream_of(answer) as chunks:
        async for chunk in chunks: ...
    ```
    """
    out = StreamController(is_strict=is_strict, report=report, room=room)

    async def run() -> None:
        try:
            await write(out)
        except Exception as error:
            out.finish(error)
        else:
            out.finish()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        yield out
        tasks.cancel_scope.cancel()
