"""Files that travel with a user message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import attrs

from ._frozen import freeze

if TYPE_CHECKING:
    from ._parts import UserPart

__all__ = [
    "Attachment",
    "AttachmentStatus",
    "CompleteAttachment",
    "FailedStatus",
    "PendingAttachment",
    "UploadingStatus",
    "WaitingStatus",
]


@attrs.frozen
class UploadingStatus:
    """It is on its way; ``progress`` runs from 0 to 1."""

    type: ClassVar[Literal["running"]] = "running"
    reason: ClassVar[Literal["uploading"]] = "uploading"
    progress: float = 0.0


@attrs.frozen
class WaitingStatus:
    """It is ready and goes out with the next send."""

    type: ClassVar[Literal["requires-action"]] = "requires-action"
    reason: ClassVar[Literal["composer-send"]] = "composer-send"


@attrs.frozen
class FailedStatus:
    """It could not be uploaded."""

    type: ClassVar[Literal["incomplete"]] = "incomplete"
    reason: Literal["error", "upload-paused"] = "error"
    message: str | None = None


AttachmentStatus: TypeAlias = UploadingStatus | WaitingStatus | FailedStatus


@attrs.frozen(kw_only=True)
class PendingAttachment:
    """A file that has not been sent yet.

    Attributes:
        type: ``image``, ``document``, ``file`` or a name of the user's own.
        file: The file itself, as the attachment adapter understands it.
    """

    id: str
    type: str
    name: str
    content_type: str | None = None
    file: Any = attrs.field(default=None, eq=False)
    content: tuple[UserPart, ...] | None = None
    status: AttachmentStatus = attrs.field(factory=WaitingStatus)


@attrs.frozen(kw_only=True)
class CompleteAttachment:
    """A file that belongs to a message; ``content`` is what the model sees of it."""

    id: str
    type: str
    name: str
    content: tuple[UserPart, ...]
    content_type: str | None = None
    file: Any = attrs.field(default=None, eq=False)
    extra: Mapping[str, Any] | None = attrs.field(default=None, converter=freeze)


Attachment: TypeAlias = PendingAttachment | CompleteAttachment
