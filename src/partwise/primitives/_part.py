"""One part of a message."""

from __future__ import annotations

from typing import Any

import attrs

from partwise.errors import ApprovalNotFoundError, ToolCallNotFoundError
from partwise.messages import COMPLETE, Approval, Interrupt, Message, PartStatus, ToolCallPart, part_status
from partwise.reactive import Slice
from partwise.runtimes import Operation, Thread
from partwise.store import PartSlice

__all__ = ["PartKey", "PartView", "part_keys"]


@attrs.frozen(kw_only=True)
class PartKey:
    """What tells the parts of a message apart, however long they grow.

    Attributes:
        tool_call_id: Of a call; None for other parts, and for a call whose id an earlier one has.
    """

    position: int
    type: str
    tool_call_id: str | None = None


def part_keys(message: Message) -> tuple[PartKey, ...]:
    """Return the keys of a message's parts, in order."""
    seen: set[str] = set()
    keys: list[PartKey] = []
    for position, part in enumerate(message.content):
        call_id = part.tool_call_id if isinstance(part, ToolCallPart) else None
        if call_id in seen:
            call_id = None
        elif call_id is not None:
            seen.add(call_id)
        keys.append(PartKey(position=position, type=part.type, tool_call_id=call_id))
    return tuple(keys)


class PartView:
    """Shows one part, and answers what it asks.

    Attributes:
        part: The part itself.
        status: How far it has come.
    """

    def __init__(self, thread: Thread, message_id: str, position: int) -> None:
        self._thread = thread
        self.message_id = message_id
        self.position = position
        message = thread.message(message_id)
        self.part: PartSlice = message.part(position)
        self.status: Slice[PartStatus] = message.select(lambda message: _status(message, position))

    @property
    def text(self) -> Slice[str]:
        """The text of a text or reasoning part; empty for others."""
        return self.part.text

    @property
    def approval(self) -> Slice[Approval | None]:
        """The permission that a tool call asks for."""
        return self.part.select(lambda part: part.approval if isinstance(part, ToolCallPart) else None)

    @property
    def interrupt(self) -> Slice[Interrupt | None]:
        """What a running tool asks a human."""
        return self.part.select(lambda part: part.interrupt if isinstance(part, ToolCallPart) else None)

    def respond(
        self, *, approved: bool | None = None, option_id: str | None = None, reason: str | None = None
    ) -> Operation:
        """Decide on the permission that the call asks for; the first answer is final.

        Raises:
            ToolCallNotFoundError: The part is no tool call.
            ApprovalNotFoundError: The call asks for none.
            ApprovalError: It cannot be answered (any more).
        """
        call = self._call()
        if call.approval is None:
            raise ApprovalNotFoundError(id="", where=f"tool call {call.tool_call_id!r}")
        return self._thread.respond_to_approval(
            call.approval.id,
            approved=approved,
            option_id=option_id,
            reason=reason,
            tool_call_id=call.tool_call_id,
        )

    def add_result(self, result: Any) -> Operation:
        """Give the call its result.

        Raises:
            ToolCallNotFoundError: The part is no tool call.
        """
        return self._thread.add_tool_result(self.message_id, self._call().tool_call_id, result)

    def resume(self, payload: Any) -> None:
        """Give the running tool the answer that it asked for.

        Raises:
            ToolCallNotFoundError: The part is no tool call.
            NotAllowedError: It asks nothing.
        """
        self._thread.resume_tool_call(self._call().tool_call_id, payload)

    def _call(self) -> ToolCallPart:
        part = self.part.value
        if not isinstance(part, ToolCallPart):
            name = f"part {self.position}"
            raise ToolCallNotFoundError(name, where=f"message {self.message_id!r}")
        return part


def _status(message: Message, position: int) -> PartStatus:
    """Return the status of a part; of one that a shorter answer has just dropped, that of something that is over."""
    return part_status(message, position) if position < len(message.content) else COMPLETE
