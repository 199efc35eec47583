"""Messages: who said what, and how far it has come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal, TypeAlias

import attrs

from ._attachments import CompleteAttachment
from ._frozen import FrozenDict, freeze
from ._parts import AssistantPart, TextPart, UserPart
from ._statuses import COMPLETE, COMPLETE_UNKNOWN, CompleteStatus, MessageStatus

__all__ = [
    "AssistantMessage",
    "AssistantMetadata",
    "Feedback",
    "Message",
    "MessageTiming",
    "Metadata",
    "Role",
    "Step",
    "SystemMessage",
    "Usage",
    "UserMessage",
]


def _frozen_items(items: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(freeze(item) for item in items)


Role: TypeAlias = Literal["system", "user", "assistant"]


@attrs.frozen(kw_only=True)
class Usage:
    """Tokens that one roundtrip cost; None where the provider did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_input_tokens: int | None = None


@attrs.frozen(kw_only=True)
class Step:
    """One roundtrip to the model."""

    message_id: str | None = None
    usage: Usage | None = None


@attrs.frozen(kw_only=True)
class MessageTiming:
    """How fast an answer came. Times are milliseconds: the start since 1970, the rest since the start."""

    stream_start_time: float
    first_token_time: float | None = None
    total_stream_time: float | None = None
    token_count: int | None = None
    tokens_per_second: float | None = None
    total_chunks: int = 0
    tool_call_count: int = 0


@attrs.frozen
class Feedback:
    """What the user thought of an answer."""

    type: Literal["positive", "negative"]


@attrs.frozen(kw_only=True)
class Metadata:
    """What travels with a user or system message beside its content."""

    custom: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=freeze)
    is_optimistic: bool = False


@attrs.frozen(kw_only=True)
class AssistantMetadata:
    """What travels with an assistant message beside its content.

    Attributes:
        state: The model's own state as JSON; the thread shows that of its last assistant message.
        steps: One entry for each roundtrip that the adapter reported.
        is_optimistic: A placeholder of the client's: shown, never exported.
    """

    state: Any = attrs.field(default=None, converter=freeze)  # pyright: ignore[reportUnknownVariableType]  # Any through the stubs of attrs
    annotations: tuple[Any, ...] = attrs.field(default=(), converter=_frozen_items)
    data: tuple[Any, ...] = attrs.field(default=(), converter=_frozen_items)
    steps: tuple[Step, ...] = ()
    custom: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=freeze)
    timing: MessageTiming | None = None
    submitted_feedback: Feedback | None = None
    is_optimistic: bool = False


@attrs.frozen(kw_only=True)
class UserMessage:
    """What a user said; it is always complete."""

    role: ClassVar[Literal["user"]] = "user"
    status: ClassVar[CompleteStatus] = COMPLETE
    id: str
    created_at: datetime
    content: tuple[UserPart, ...] = ()
    attachments: tuple[CompleteAttachment, ...] = ()
    metadata: Metadata = attrs.field(factory=Metadata)


@attrs.frozen(kw_only=True)
class SystemMessage:
    """Instructions to the model: exactly one text part; it is always complete."""

    role: ClassVar[Literal["system"]] = "system"
    status: ClassVar[CompleteStatus] = COMPLETE
    id: str
    created_at: datetime
    content: tuple[TextPart, ...] = ()
    metadata: Metadata = attrs.field(factory=Metadata)


@attrs.frozen(kw_only=True)
class AssistantMessage:
    """What a model answered, in parts, in the order of their first appearance."""

    role: ClassVar[Literal["assistant"]] = "assistant"
    id: str
    created_at: datetime
    content: tuple[AssistantPart, ...] = ()
    status: MessageStatus = COMPLETE_UNKNOWN
    metadata: AssistantMetadata = attrs.field(factory=AssistantMetadata)


Message: TypeAlias = UserMessage | SystemMessage | AssistantMessage
