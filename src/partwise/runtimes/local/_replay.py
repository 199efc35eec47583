"""A stream that tells an answer again from its first chunk, over what is shown of that answer already."""

from __future__ import annotations

from itertools import zip_longest

import attrs

from partwise.messages import (
    RUNNING,
    AssistantMessage,
    AssistantMetadata,
    AssistantPart,
    IncompleteStatus,
    ReasoningPart,
    TextPart,
    ToolCallPart,
)

from ._step import with_foreign

__all__ = ["Replay"]


class Replay:
    """What such a stream has told so far, apart from the message that is shown, until it has caught up.

    Nobody sees the answer shrink: each part stays as it was until the stream has told as much of it. Only
    a stream that came to its end takes away what it did not tell; one that broke off leaves it.

    Args:
        shown: The message as it was left.

    Attributes:
        told: The message as the stream has told it, from nothing.
        has_caught_up: Whether the stream has told all that was shown; from then on it just goes on.
    """

    def __init__(self, shown: AssistantMessage) -> None:
        metadata = AssistantMetadata(state=shown.metadata.state)
        self.told = attrs.evolve(shown, content=(), status=RUNNING, metadata=metadata)
        self.has_caught_up = False

    def take(self, shown: AssistantMessage, told: AssistantMessage) -> AssistantMessage:
        """Return what is to be shown.

        Args:
            shown: The message as it is stored now.
            told: The message as the stream has told it.
        """
        self.told = told
        calls = _calls(shown)
        pairs = [(old, _with_answers(new, calls)) for old, new in zip_longest(shown.content, told.content)]
        self.has_caught_up = not any(old is not None and _is_behind(new, old) for old, new in pairs)
        content = tuple(_further(old, new) for old, new in pairs)
        metadata = _told_metadata(told, shown) if self.has_caught_up else shown.metadata
        return attrs.evolve(shown, content=content, status=told.status, metadata=metadata)

    def end(self, shown: AssistantMessage) -> AssistantMessage:
        """Return the message now that the stream is over: what it told, with what others answered to it."""
        told = self.told
        if isinstance(told.status, IncompleteStatus) and told.status.reason == "error":
            return shown
        calls = _calls(shown)
        content = tuple(_with_answers(part, calls) or part for part in told.content)
        return attrs.evolve(shown, content=content, status=told.status, metadata=_told_metadata(told, shown))


def _further(old: AssistantPart | None, new: AssistantPart | None) -> AssistantPart:
    """Of what stands in a place and what is told of it, what goes further; the old one where they are equal."""
    if old is None or (new is not None and not _is_behind(new, old) and new != old):
        assert new is not None
        return new
    return old


def _is_behind(new: AssistantPart | None, old: AssistantPart) -> bool:
    match old, new:
        case _, None:
            return True
        case TextPart(), TextPart():
            return len(new.text) < len(old.text)
        case ReasoningPart(), ReasoningPart():
            return len(new.text) < len(old.text)
        case ToolCallPart(), ToolCallPart():
            return new.tool_call_id == old.tool_call_id and len(new.args_text) < len(old.args_text)
        case _:
            return False


def _calls(message: AssistantMessage) -> dict[str, ToolCallPart]:
    return {part.tool_call_id: part for part in message.content if isinstance(part, ToolCallPart)}


def _with_answers(part: AssistantPart | None, calls: dict[str, ToolCallPart]) -> AssistantPart | None:
    """Keep the result and the decision that the call has got already."""
    if isinstance(part, ToolCallPart) and part.tool_call_id in calls:
        return with_foreign(part, calls[part.tool_call_id])
    return part


def _told_metadata(told: AssistantMessage, shown: AssistantMessage) -> AssistantMetadata:
    return attrs.evolve(told.metadata, submitted_feedback=shown.metadata.submitted_feedback)
