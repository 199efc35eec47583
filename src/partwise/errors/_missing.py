"""An id that nothing here has."""

from __future__ import annotations

from typing import ClassVar

from ._root import PartwiseError


class NotFoundError(PartwiseError, LookupError):
    """Nothing here has that id.

    Attributes:
        kind: What was looked for, for example ``"message"``.
        id: The id that was given.
    """

    code = "not-found"
    kind: ClassVar[str] = "thing"
    advice: ClassVar[str] = ""

    def __init__(self, id: str, *, where: str = "", advice: str = "") -> None:
        place = f" in {where}" if where else ""
        hint = advice or self.advice
        super().__init__(f"No {self.kind} with id {id!r}{place}.{' ' + hint if hint else ''}")
        self.id = id


class MessageNotFoundError(NotFoundError):
    """No message has that id, or it is not where the call needs it."""

    kind = "message"
    advice = "Ids of the visible messages are in the thread's snapshot."


class ParentNotFoundError(NotFoundError):
    """A message names a parent that does not exist; add the parent first, or use None for the root."""

    code = "parent-not-found"
    kind = "parent message"
    advice = "Add the parent first, or give None for the root."


class PartNotFoundError(NotFoundError):
    """A message has no such part."""

    kind = "part"


class ToolCallNotFoundError(NotFoundError):
    """No tool call has that id."""

    code = "tool-call-not-found"
    kind = "tool call"


class ApprovalNotFoundError(NotFoundError):
    """No visible assistant message asks for that approval."""

    code = "approval-not-found"
    kind = "approval"


class OptionNotFoundError(NotFoundError):
    """An approval does not offer that option."""

    code = "option-not-found"
    kind = "approval option"


class BranchNotFoundError(NotFoundError):
    """A message has no branch at that place."""

    kind = "branch"


class AttachmentNotFoundError(NotFoundError):
    """A draft has no such attachment."""

    kind = "attachment"


class QueueItemNotFoundError(NotFoundError):
    """The queue holds no item with that id."""

    code = "unknown-queue-item"
    kind = "queue item"


class ThreadNotFoundError(NotFoundError):
    """No thread has that id, or it was deleted."""

    code = "thread-not-found"
    kind = "thread"


class StreamNotFoundError(NotFoundError):
    """No resumable stream has that id: it never existed, was deleted, or its time is over."""

    code = "stream-not-found"
    kind = "resumable stream"
    advice = "It may have been deleted, or its time is over."
