"""From groups to messages; what did not change stays the object that it was."""

from __future__ import annotations

from datetime import UTC, datetime
from operator import is_

import attrs

from partwise.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    MessageStatus,
    ToolCallPart,
    UserMessage,
    message_text,
    with_content,
)

from ._asking import Asking
from ._reading import AUTOMATIC, Group, message_of

__all__ = ["Converted"]

NOTHING = Asking()


@attrs.frozen
class _Made:
    """Of what a message was made."""

    group: Group
    asking: Asking
    status: MessageStatus | None
    message: Message


class Converted:
    """Remembers the message of each group, and when it was seen first."""

    def __init__(self) -> None:
        self._made: dict[str, _Made] = {}
        self._shown: dict[str, Message] = {}
        self.count = 0

    def of(
        self,
        name: str,
        group: Group,
        seen: datetime | None,
        *,
        asking: Asking = NOTHING,
        status: MessageStatus | None = None,
    ) -> Message:
        """Return the message of a group.

        Args:
            name: Its id.
            group: The messages that it shows; none, if it shows only what is asked, or a failure.
            seen: When it was first remembered; None: just now.
            asking: What is asked at the end of it.
            status: How it broke off, where its messages do not say that.
        """
        made = self._made.get(name)
        if made is not None and made.asking == asking and made.status == status and _is_same(made.group, group):
            return made.message
        self.count += 1
        known = self._shown.get(name)
        created_at = known.created_at if known is not None else seen or datetime.now(UTC)
        message: Message = AssistantMessage(id=name, created_at=created_at, status=AUTOMATIC)
        if group:
            message = message_of(name, group, created_at)
        if isinstance(message, AssistantMessage):
            message = _finished(message, known, asking, status)
        elif isinstance(known, UserMessage) and message_text(known) == message_text(message):
            message = known  # it knows of attachments and of what was quoted
        if known is not None and known == message and _is_automatic(known) == _is_automatic(message):
            message = known
        self._made[name] = _Made(group, asking, status, message)
        self._shown[name] = message
        return message

    def saw(self, message: Message) -> None:
        """Take note of what is shown of a message that has not ended."""
        self._made.pop(message.id, None)
        self._shown[message.id] = message


def _is_automatic(message: Message) -> bool:
    return message.status.is_automatic


def _finished(
    message: AssistantMessage, known: Message | None, asking: Asking, status: MessageStatus | None
) -> AssistantMessage:
    parts = asking.laid_on(message.content)
    if isinstance(known, AssistantMessage):
        written = {part.tool_call_id: part for part in known.content if isinstance(part, ToolCallPart)}
        parts = tuple(_as_written(part, written) for part in parts)
        message = attrs.evolve(message, content=with_content(known, parts).content)
    elif asking.asks:
        message = attrs.evolve(message, content=parts)
    is_whole = message.status.is_automatic
    return attrs.evolve(message, status=status) if status is not None and is_whole else message


def _as_written(part: AssistantPart, written: dict[str, ToolCallPart]) -> AssistantPart:
    """Keep the arguments of a call as they were streamed, if they say the same."""
    before = written.get(part.tool_call_id) if isinstance(part, ToolCallPart) else None
    if before is None or not isinstance(part, ToolCallPart) or before.args != part.args:
        return part
    return attrs.evolve(part, args_text=before.args_text)


def _is_same(one: Group, other: Group) -> bool:
    return len(one) == len(other) and (all(map(is_, one, other)) or one == other)
