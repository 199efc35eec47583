"""Chunks that name a part by its place: what travels over wires that number the parts of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from partwise.messages import (
    MISSING,
    Approval,
    AssistantPart,
    Message,
    ModelContent,
    freeze,
)

from ._state import StateOperation

__all__ = [
    "PartApproval",
    "PartArgsFinish",
    "PartDelta",
    "PartFinish",
    "PartPath",
    "PartResult",
    "PartStart",
    "StateUpdate",
    "ToolApproval",
]

# The place of a part: its number among the parts that this stream has started. Longer paths lead nowhere (yet).
PartPath: TypeAlias = tuple[int, ...]


def _path(path: Iterable[int]) -> PartPath:
    return tuple(path)


def _tuple(value: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if value is None else tuple(value)


@attrs.frozen
class PartStart:
    """A part begins; it gets the next number.

    Attributes:
        part: What is known of it so far: a text, a reasoning or a tool call still empty, anything else whole.
        path: The part inside of which it begins. It stands at the top level all the same; its
            ``parent_id`` tells where it belongs.
    """

    part: AssistantPart
    path: PartPath = attrs.field(default=(), converter=_path)


@attrs.frozen
class PartDelta:
    """More of the text of a part, or of the arguments of a call.

    Attributes:
        path: The part.
        text: What is new.
        provider_metadata: Laid over that of the part.
    """

    path: PartPath = attrs.field(converter=_path)
    text: str
    provider_metadata: Mapping[str, Any] | None = attrs.field(default=None, kw_only=True, converter=freeze)


@attrs.frozen
class PartFinish:
    """A part is whole."""

    path: PartPath = attrs.field(converter=_path)
    provider_metadata: Mapping[str, Any] | None = attrs.field(default=None, kw_only=True, converter=freeze)


@attrs.frozen
class PartArgsFinish:
    """The arguments of a call are whole."""

    path: PartPath = attrs.field(converter=_path)


@attrs.frozen
class PartResult:
    """What a tool answered; the fields are those of ``ToolResult``."""

    path: PartPath = attrs.field(converter=_path)
    result: Any = attrs.field(converter=freeze)  # pyright: ignore[reportUnknownVariableType]  # Any through the stubs of attrs
    is_error: bool | None = attrs.field(default=None, kw_only=True)
    artifact: Any = attrs.field(default=MISSING, kw_only=True, converter=freeze)
    model_content: tuple[ModelContent, ...] | None = attrs.field(default=None, kw_only=True, converter=_tuple)
    messages: tuple[Message, ...] | None = attrs.field(default=None, kw_only=True, converter=_tuple)
    is_preliminary: bool = attrs.field(default=False, kw_only=True)


@attrs.frozen
class PartApproval:
    """The state of the permission that a call needs; it replaces the one before."""

    path: PartPath = attrs.field(converter=_path)
    approval: Approval


@attrs.frozen
class ToolApproval:
    """The state of the permission that a call needs; it replaces the one before."""

    tool_call_id: str
    approval: Approval


def _operations(operations: Iterable[StateOperation]) -> tuple[StateOperation, ...]:
    return tuple(operations)


@attrs.frozen
class StateUpdate:
    """Changes of the model's state, in the message's metadata."""

    operations: tuple[StateOperation, ...] = attrs.field(converter=_operations)
