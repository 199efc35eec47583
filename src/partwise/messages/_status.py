"""Deriving how far a part, a group of parts, or a converted message has come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, assert_never

from partwise.errors import PartNotFoundError

from ._messages import AssistantMessage, Message
from ._parts import Part, ReasoningPart, TextPart, ToolCallPart
from ._statuses import (
    COMPLETE,
    RUNNING,
    CompleteStatus,
    IncompleteStatus,
    MessageStatus,
    PartStatus,
    RequiresActionStatus,
    RunningStatus,
)

__all__ = ["auto_status", "group_status", "own_status", "part_status"]

_AUTO_RUNNING: Final = RunningStatus(is_automatic=True)
_AUTO_COMPLETE: Final = CompleteStatus("unknown", is_automatic=True)
_AUTO_TOOL_CALLS: Final = RequiresActionStatus("tool-calls", is_automatic=True)
_AUTO_INTERRUPT: Final = RequiresActionStatus("interrupt", is_automatic=True)


def part_status(message: Message, index: int) -> PartStatus:
    """Tell how far one part of a message has come.

    Only the last part of an answer grows, unless its source says otherwise; a tool call is complete
    once it has a result, and shares the status of its message before.

    Args:
        message: The message.
        index: The position of the part; negative positions count from the end.

    Raises:
        PartNotFoundError: The message has no such part.
    """
    content = message.content
    if index < 0:
        index += len(content)
    if not 0 <= index < len(content):
        raise PartNotFoundError(str(index), where=f"message {message.id!r}, which has {len(content)} parts")
    if not isinstance(message, AssistantMessage):
        return COMPLETE
    part = content[index]
    status = message.status
    if isinstance(part, ToolCallPart):
        return COMPLETE if part.has_result else status
    if isinstance(status, RunningStatus):
        own = own_status(part)
        if own is not None:
            return own
    elif isinstance(status, RequiresActionStatus):
        return COMPLETE
    return status if index == len(content) - 1 else COMPLETE


def own_status(part: Part) -> PartStatus | None:
    """The status that a part's own source gave it, or None if it gave none that a part can have.

    It counts only while the message runs: a stale "running" must not outlive the answer.
    """
    if not isinstance(part, (TextPart, ReasoningPart)):
        return None
    status = part.status
    match status:
        case None | RequiresActionStatus():
            return None
        case RunningStatus():
            return RUNNING
        case CompleteStatus():
            return COMPLETE
        case IncompleteStatus(reason="tool-calls"):
            return IncompleteStatus("other")
        case IncompleteStatus():
            return status
        case _:
            assert_never(status)


def group_status(message: Message, indices: Iterable[int] | None = None) -> PartStatus:
    """Tell how far a group of parts has come: running if one of them runs, else as far as the last one.

    Args:
        message: The message.
        indices: The positions of the group; None is all parts.

    Raises:
        PartNotFoundError: The message has no part at one of the positions.
    """
    last: PartStatus = COMPLETE
    for index in range(len(message.content)) if indices is None else indices:
        last = part_status(message, index)
        if isinstance(last, RunningStatus):
            return last
    return last


def auto_status(
    *, is_last: bool, is_running: bool, has_interrupted: bool, has_pending: bool, error: object = None
) -> MessageStatus:
    """Tell the status of a message whose source gives none.

    Args:
        is_last: Whether it is the last message; only that one can run or fail.
        is_running: Whether the source is answering.
        has_interrupted: Whether a tool call in it waits for a human.
        has_pending: Whether a tool call in it has no result.
        error: What the source failed with, as JSON, or None.

    Returns:
        A status that is marked as automatic. All but the failed one are shared objects.
    """
    if is_last and error is not None:
        return IncompleteStatus("error", error, is_automatic=True)
    if is_last and is_running:
        return _AUTO_RUNNING
    if has_interrupted:
        return _AUTO_INTERRUPT
    return _AUTO_TOOL_CALLS if has_pending else _AUTO_COMPLETE
