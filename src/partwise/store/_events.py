"""What happens in a thread, beside what can be seen in its snapshot."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

import attrs

__all__ = [
    "AttachmentAdded",
    "AttachmentRefused",
    "Initialize",
    "ModelContextUpdate",
    "PersistenceFailed",
    "Report",
    "RunEnd",
    "RunStart",
    "Sent",
    "ThreadEvent",
]


@attrs.frozen
class Initialize:
    """The thread is about to get its first message. Replayed to those who listen later."""

    type: ClassVar[Literal["initialize"]] = "initialize"


@attrs.frozen(kw_only=True)
class RunStart:
    """A run began; ``message_id`` is the answer that it will write."""

    type: ClassVar[Literal["run_start"]] = "run_start"
    run_id: str
    message_id: str


@attrs.frozen(kw_only=True)
class RunEnd:
    """A run ended, however; nothing that it still sends is looked at."""

    type: ClassVar[Literal["run_end"]] = "run_end"
    run_id: str
    message_id: str


@attrs.frozen
class ModelContextUpdate:
    """The instructions or the tools that the model is given changed."""

    type: ClassVar[Literal["model_context_update"]] = "model_context_update"


@attrs.frozen
class Sent:
    """A composer handed its draft over.

    Attributes:
        message_id: The message that the draft was an edited version of.
        characters: How long the text was.
        attachments: How many files went with it.
    """

    type: ClassVar[Literal["send"]] = "send"
    message_id: str | None = None
    characters: int = attrs.field(default=0, kw_only=True)
    attachments: int = attrs.field(default=0, kw_only=True)


@attrs.frozen(kw_only=True)
class AttachmentAdded:
    """A file was added to a draft."""

    type: ClassVar[Literal["attachment_added"]] = "attachment_added"
    message_id: str | None
    attachment_id: str
    content_type: str | None = None


@attrs.frozen(kw_only=True)
class AttachmentRefused:
    """A file was not added to a draft, or could not be uploaded.

    Attributes:
        message_id: The message that the draft is an edited version of.
        reason: ``no-adapter``, ``not-accepted`` or ``adapter-error``.
        text: What went wrong, for the user.
        attachment_id: The attachment, if there is one by now.
    """

    type: ClassVar[Literal["attachment_refused"]] = "attachment_refused"
    message_id: str | None
    reason: Literal["no-adapter", "not-accepted", "adapter-error"]
    text: str
    content_type: str | None = None
    attachment_id: str | None = None


@attrs.frozen(kw_only=True)
class PersistenceFailed:
    """The history could not load or store; what is in memory is untouched."""

    type: ClassVar[Literal["persistence_failed"]] = "persistence_failed"
    operation: str
    message_id: str | None
    error: BaseException = attrs.field(eq=False)


@attrs.frozen(kw_only=True)
class Report:
    """Something went wrong that is nobody's call to raise: an adapter misbehaved, or a task failed.

    Attributes:
        where: Which adapter or task.
        error: What happened, when it was an exception.
    """

    type: ClassVar[Literal["report"]] = "report"
    where: str
    text: str
    error: BaseException | None = attrs.field(default=None, eq=False)


ThreadEvent: TypeAlias = (
    Initialize
    | RunStart
    | RunEnd
    | ModelContextUpdate
    | Sent
    | AttachmentAdded
    | AttachmentRefused
    | PersistenceFailed
    | Report
)
