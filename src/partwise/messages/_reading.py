"""What a reader takes from messages: text to copy, and the state of the thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._messages import AssistantMessage, Message
from ._parts import TextPart

__all__ = ["message_text", "thread_state"]


def message_text(message: Message) -> str:
    """The text of a message, for copying: its text parts, with a blank line between them."""
    return "\n\n".join(part.text for part in message.content if isinstance(part, TextPart))


def thread_state(messages: Sequence[Message]) -> Any:
    """The model's state as the last assistant message of the visible branch carries it, else None."""
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            return message.metadata.state
    return None
