"""What one result of a model makes of the message: values in, values out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import attrs

from partwise.adapters import RunMetadata, RunResult
from partwise.messages import (
    INCOMPLETE_CANCELLED,
    MISSING,
    AssistantMessage,
    AssistantMetadata,
    AssistantPart,
    FrozenDict,
    IncompleteStatus,
    Message,
    RequiresActionStatus,
    RunningStatus,
    Step,
    ToolCallPart,
    error_record,
)

__all__ = [
    "Base",
    "abandoned",
    "apply_result",
    "cancel_applies",
    "cancelled",
    "failed",
    "is_unfinished",
    "with_foreign",
    "without_interrupts",
    "without_questions",
]


@attrs.frozen
class Base:
    """What a message held when a roundtrip began; the roundtrip only ever adds to it.

    Attributes:
        parts: How many parts earlier roundtrips left.
    """

    parts: int
    annotations: tuple[Any, ...]
    data: tuple[Any, ...]
    steps: tuple[Step, ...]
    custom: FrozenDict | Any

    @classmethod
    def of(cls, message: AssistantMessage) -> Base:
        """Take down what a message holds now."""
        metadata = message.metadata
        return cls(len(message.content), metadata.annotations, metadata.data, metadata.steps, metadata.custom)


def apply_result(
    message: AssistantMessage, result: RunResult, content: Sequence[AssistantPart] | None, base: Base
) -> AssistantMessage:
    """Lay one result over the message as it is stored now.

    Content, annotations, data and steps of a result replace what this roundtrip gave before and follow
    what earlier roundtrips left. Decisions and results that others wrote meanwhile are kept.

    Args:
        message: The message.
        result: What the model gave.
        content: The parts of the result, or None when it gives none.
        base: What the message held when the roundtrip began.
    """
    parts = message.content if content is None else (*message.content[: base.parts], *_kept(message, content, base))
    status = message.status if result.status is None else result.status
    metadata = message.metadata if result.metadata is None else _metadata(message.metadata, result.metadata, base)
    if parts == message.content and status == message.status and metadata is message.metadata:
        return message
    return attrs.evolve(message, content=parts, status=status, metadata=metadata)


def _kept(message: AssistantMessage, content: Sequence[AssistantPart], base: Base) -> list[AssistantPart]:
    before = message.content[base.parts :]
    calls = {part.tool_call_id: part for part in message.content if isinstance(part, ToolCallPart)}
    parts: list[AssistantPart] = []
    for index, given in enumerate(content):
        part = given
        if isinstance(part, ToolCallPart) and (known := calls.get(part.tool_call_id)) is not None:
            part = with_foreign(part, known)
        parts.append(before[index] if index < len(before) and before[index] == part else part)
    return parts


def with_foreign(part: ToolCallPart, known: ToolCallPart) -> ToolCallPart:
    """Keep the result and the decision that others wrote to a call that the model sends again."""
    changes: dict[str, Any] = {}
    if known.has_result and not part.has_result:
        changes.update(
            result=known.result, is_error=known.is_error, artifact=known.artifact, model_content=known.model_content
        )
    asked, answered = part.approval, known.approval
    if asked is not None and answered is not None and asked.id == answered.id and asked.is_open:
        changes["approval"] = answered
    return attrs.evolve(part, **changes) if changes else part


def _metadata(metadata: AssistantMetadata, given: RunMetadata, base: Base) -> AssistantMetadata:
    changes: dict[str, Any] = {}
    if given.state is not MISSING:
        changes["state"] = given.state
    for name in ("annotations", "data", "steps"):
        added = getattr(given, name)
        if added is not None:
            changes[name] = getattr(base, name) + added
    if given.custom is not None:
        changes["custom"] = {**base.custom, **given.custom}
    if given.timing is not None:
        changes["timing"] = given.timing
    return attrs.evolve(metadata, **changes)


def cancel_applies(message: AssistantMessage, *, is_cancelled: bool, is_active: bool, continues: bool) -> bool:
    """Tell whether a run that was told to end leaves its message cancelled.

    A terminal status that the model gave stands, and so does a genuine pause of the active run. A pause
    that would have gone on by itself, or whose run was superseded, is cancelled.
    """
    if not is_cancelled:
        return False
    match message.status:
        case RunningStatus():
            return True
        case RequiresActionStatus():
            return not is_active or continues
        case _:
            return False


def without_interrupts(message: AssistantMessage) -> AssistantMessage:
    """Take back the questions of tools that are not running any more."""
    if not any(isinstance(part, ToolCallPart) and part.interrupt is not None for part in message.content):
        return message
    content = tuple(
        attrs.evolve(part, interrupt=None) if isinstance(part, ToolCallPart) and part.interrupt is not None else part
        for part in message.content
    )
    return attrs.evolve(message, content=content)


def is_unfinished(message: Message) -> TypeGuard[AssistantMessage]:
    """Tell whether a message is an answer that is still being made, or that waits for somebody."""
    return isinstance(message, AssistantMessage) and isinstance(message.status, (RunningStatus, RequiresActionStatus))


def cancelled(message: AssistantMessage) -> AssistantMessage:
    """End a message as cancelled."""
    return without_interrupts(attrs.evolve(message, status=INCOMPLETE_CANCELLED))


def abandoned(message: AssistantMessage) -> AssistantMessage:
    """End a message as cancelled because the conversation went on without it."""
    return without_questions(cancelled(message))


def without_questions(message: AssistantMessage) -> AssistantMessage:
    """Close the approvals that nobody will give any more."""
    content = tuple(
        attrs.evolve(part, approval=attrs.evolve(part.approval, resolution="cancelled"))
        if isinstance(part, ToolCallPart) and part.approval is not None and part.approval.is_open
        else part
        for part in message.content
    )
    return message if content == message.content else attrs.evolve(message, content=content)


def failed(message: AssistantMessage, error: BaseException) -> AssistantMessage:
    """End a message with what went wrong; what had arrived is kept."""
    return without_interrupts(attrs.evolve(message, status=IncompleteStatus("error", error_record(error))))
