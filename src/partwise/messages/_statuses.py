"""How far a message, or a part of it, has come."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

import attrs

from ._frozen import freeze

__all__ = [
    "COMPLETE",
    "COMPLETE_STOP",
    "COMPLETE_UNKNOWN",
    "INCOMPLETE_CANCELLED",
    "INCOMPLETE_TOOL_CALLS",
    "REQUIRES_INTERRUPT",
    "REQUIRES_TOOL_CALLS",
    "RUNNING",
    "CompleteReason",
    "CompleteStatus",
    "IncompleteReason",
    "IncompleteStatus",
    "MessageStatus",
    "PartStatus",
    "RequiresActionReason",
    "RequiresActionStatus",
    "RunningStatus",
]

CompleteReason: TypeAlias = Literal["stop", "unknown"]
RequiresActionReason: TypeAlias = Literal["tool-calls", "interrupt"]
IncompleteReason: TypeAlias = Literal["cancelled", "tool-calls", "length", "content-filter", "other", "error"]


@attrs.frozen
class RunningStatus:
    """It is still growing."""

    type: ClassVar[Literal["running"]] = "running"
    is_automatic: bool = attrs.field(default=False, eq=False, repr=False, kw_only=True)


@attrs.frozen
class RequiresActionStatus:
    """It waits for somebody: for the results of tool calls, or for the answer to an interrupt."""

    type: ClassVar[Literal["requires-action"]] = "requires-action"
    reason: RequiresActionReason = "tool-calls"
    is_automatic: bool = attrs.field(default=False, eq=False, repr=False, kw_only=True)


@attrs.frozen
class CompleteStatus:
    """It is whole."""

    type: ClassVar[Literal["complete"]] = "complete"
    reason: CompleteReason | None = "unknown"
    is_automatic: bool = attrs.field(default=False, eq=False, repr=False, kw_only=True)


@attrs.frozen
class IncompleteStatus:
    """It ended early.

    Attributes:
        reason: Why.
        error: For ``reason="error"``: what went wrong, as JSON; see ``error_record``.
    """

    type: ClassVar[Literal["incomplete"]] = "incomplete"
    reason: IncompleteReason = "other"
    error: Any = attrs.field(default=None, converter=freeze)  # pyright: ignore[reportUnknownVariableType]  # Any through the stubs of attrs
    is_automatic: bool = attrs.field(default=False, eq=False, repr=False, kw_only=True)


MessageStatus: TypeAlias = RunningStatus | RequiresActionStatus | CompleteStatus | IncompleteStatus
# A complete part says no reason unless it is the last one and shares its message's status.
PartStatus: TypeAlias = MessageStatus

RUNNING = RunningStatus()
COMPLETE = CompleteStatus(None)  # of a part
REQUIRES_TOOL_CALLS = RequiresActionStatus("tool-calls")
REQUIRES_INTERRUPT = RequiresActionStatus("interrupt")
COMPLETE_STOP = CompleteStatus("stop")
COMPLETE_UNKNOWN = CompleteStatus("unknown")
INCOMPLETE_CANCELLED = IncompleteStatus("cancelled")
INCOMPLETE_TOOL_CALLS = IncompleteStatus("tool-calls")
