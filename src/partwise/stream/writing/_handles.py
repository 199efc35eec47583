"""The parts that are being written: a text or a reasoning, and a tool call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from partwise.messages import MISSING, Approval, Message, ModelContent
from partwise.stream._chunk_json import NO_RESULT, WireChunk
from partwise.stream._part_chunks import PartApproval, PartArgsFinish, PartDelta, PartFinish, PartResult

__all__ = ["CallWriter", "Emit", "Late", "TextWriter"]

Emit: TypeAlias = Callable[[WireChunk], object]
Late: TypeAlias = Callable[[str], object]


class TextWriter:
    """A text or a reasoning that is being written.

    Attributes:
        number: Its place among the parts.
        is_closed: Whether it is whole.
    """

    __slots__ = ("_emit", "_late", "_on_close", "is_closed", "number")

    def __init__(self, number: int, emit: Emit, late: Late, on_close: Callable[[int], object]) -> None:
        self.number = number
        self.is_closed = False
        self._emit = emit
        self._late = late
        self._on_close = on_close

    def append(self, text: str, *, provider_metadata: Mapping[str, Any] | None = None) -> None:
        """Add to it.

        Raises:
            NotAllowedError: It is closed, and the writing is strict; otherwise that is reported.
        """
        if self.is_closed:
            self._late(f"part {self.number} is closed, so nothing can be added to it")
            return
        self._emit(PartDelta((self.number,), text, provider_metadata=provider_metadata))

    def close(self, *, provider_metadata: Mapping[str, Any] | None = None) -> None:
        """Say that it is whole; doing so twice is harmless."""
        if self.is_closed:
            return
        self.is_closed = True
        self._on_close(self.number)
        self._emit(PartFinish((self.number,), provider_metadata=provider_metadata))


class CallWriter:
    """A tool call that is being written.

    Attributes:
        number: Its place among the parts.
        tool_call_id: Its id.
        tool_name: The tool's name.
        has_args: Whether any of its arguments were written, be it an empty text.
        has_ended_args: Whether its arguments are whole.
        is_closed: Whether nothing more will be said of it.
    """

    __slots__ = (
        "_emit",
        "_late",
        "_on_close",
        "_pieces",
        "has_args",
        "has_ended_args",
        "is_closed",
        "number",
        "tool_call_id",
        "tool_name",
    )

    def __init__(
        self,
        number: int,
        tool_call_id: str,
        tool_name: str,
        emit: Emit,
        late: Late,
        on_close: Callable[[int], object],
    ) -> None:
        self.number = number
        self.tool_call_id = tool_call_id
        self.tool_name = tool_name
        self.has_args = False
        self._pieces: list[str] = []
        self.has_ended_args = False
        self.is_closed = False
        self._emit = emit
        self._late = late
        self._on_close = on_close

    @property
    def args_text(self) -> str:
        """What was written of its arguments."""
        return "".join(self._pieces)

    def append_args(self, text: str) -> None:
        """Add to the JSON text of its arguments.

        Raises:
            NotAllowedError: The arguments are whole, and the writing is strict; otherwise that is reported.
        """
        if self.has_ended_args:
            self._late(f"the arguments of call {self.tool_call_id!r} are whole, so nothing can be added to them")
            return
        self.has_args = True
        self._pieces.append(text)
        self._emit(PartDelta((self.number,), text))

    def end_args(self) -> None:
        """Say that its arguments are whole; ``{}`` if none were written. Doing so twice is harmless."""
        if self.has_ended_args:
            return
        if not self.has_args:
            self.append_args("{}")
        self.has_ended_args = True
        self._emit(PartArgsFinish((self.number,)))

    def respond(
        self,
        result: Any = NO_RESULT,
        *,
        is_error: bool = False,
        artifact: Any = MISSING,
        model_content: Sequence[ModelContent] | None = None,
        messages: Sequence[Message] | None = None,
        is_preliminary: bool = False,
    ) -> bool:
        """Say what the tool answered, which also ends its arguments; the fields are those of ``ToolResult``.

        Returns:
            Whether it counts: the first result of a call is final.
        """
        if self.is_closed:
            return False
        self._emit(
            PartResult(
                (self.number,),
                result,
                is_error=is_error,
                artifact=artifact,
                model_content=model_content,
                messages=messages,
                is_preliminary=is_preliminary,
            )
        )
        self.end_args()
        if not is_preliminary:
            self.close()
        return True

    def approve(self, approval: Approval) -> None:
        """Set the permission that it needs; too late once it has a result."""
        if not self.is_closed:
            self._emit(PartApproval((self.number,), approval))

    def close(self) -> None:
        """Say that nothing more will come from here; without a result, somebody else has to give one."""
        if self.is_closed:
            return
        self.end_args()
        self.is_closed = True
        self._on_close(self.number)
        self._emit(PartFinish((self.number,)))
