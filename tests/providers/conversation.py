"""Messages and calls for tests of what is sent to a provider."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import attrs

from partwise.messages import (
    AssistantMessage,
    AssistantPart,
    CompleteAttachment,
    TextPart,
    ToolCallPart,
    UserMessage,
    UserPart,
    freeze,
)

AT = datetime(2026, 1, 1, tzinfo=UTC)


def user(*parts: UserPart | str, attachments: tuple[CompleteAttachment, ...] = ()) -> UserMessage:
    content = tuple(TextPart(part) if isinstance(part, str) else part for part in parts)
    return UserMessage(id="u", created_at=AT, content=content, attachments=attachments)


def assistant(*parts: AssistantPart, **custom: Any) -> AssistantMessage:
    message = AssistantMessage(id="a", created_at=AT, content=parts)
    return attrs.evolve(message, metadata=attrs.evolve(message.metadata, custom=freeze(custom)))


def called(call_id: str = "c1", **fields: Any) -> ToolCallPart:
    return ToolCallPart(**{"tool_call_id": call_id, "tool_name": "look", "args_text": "{}", "result": "ok", **fields})
