"""What this thread cannot do, now or ever, and what reached nobody."""

from __future__ import annotations

from typing import ClassVar

from ._root import PartwiseError


class UnsupportedError(PartwiseError):
    """This thread cannot do that; its capabilities say so.

    Attributes:
        action: The capability that is missing, as it is spelled in ``capabilities``.
    """

    code = "unsupported"

    def __init__(self, action: str, advice: str = "") -> None:
        super().__init__(f"This thread does not support {action!r}.{' ' + advice if advice else ''}")
        self.action = action


class NotAllowedError(PartwiseError, RuntimeError):
    """The action is possible in principle, but not in the present state; nothing was changed.

    Attributes:
        code: Why, for example ``"run-in-progress"`` or ``"not-assistant"``.
        id: The message, item or call that it is about, or None.
    """

    def __init__(self, text: str, *, code: str, id: str | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.id = id


class ApprovalError(NotAllowedError):
    """An approval cannot take that answer: decided, expired, ambiguous or asked elsewhere."""


class ToolConflictError(NotAllowedError):
    """Two providers of one priority define different tools with one name.

    Attributes:
        tool_name: The name that both use.
    """

    def __init__(self, tool_name: str) -> None:
        super().__init__(
            f"Tool {tool_name!r} is defined twice at one priority. Rename one, or let the later one overwrite.",
            code="tool-conflict",
            id=tool_name,
        )
        self.tool_name = tool_name


class NotSentError(PartwiseError):
    """A message never reached a backend, so it may be given back to the user as a draft.

    The original failure is the exception's ``__cause__``.

    Attributes:
        message_id: The id that the message had while it was shown, or None.
        was_not_sent: Always true; the mark by which several copies of the library recognise it.
    """

    code = "message-not-sent"
    was_not_sent: ClassVar[bool] = True

    def __init__(self, text: str, *, message_id: str | None = None) -> None:
        super().__init__(text)
        self.message_id = message_id


class AdapterChangedError(PartwiseError):
    """A list of threads was given another adapter; what was asked of the one before is not known to be done.

    There is nothing to tell a user: whoever exchanged the adapter knows.

    Attributes:
        operation: What was asked, for example ``"rename"`` or ``"switch_to"``.
        thread_id: The thread, or None when it is about the list.
    """

    code = "adapter-changed"

    def __init__(self, operation: str, *, thread_id: str | None = None) -> None:
        which = "" if thread_id is None else f" of thread {thread_id!r}"
        super().__init__(
            f"The adapter of this list was exchanged, so {operation}{which} cannot be done. "
            "Wait until the list is loaded from the new one, and ask again."
        )
        self.operation = operation
        self.thread_id = thread_id


class ThreadNotOpenError(PartwiseError):
    """The runtime of a thread of a list is not open: it could not be opened, or was closed.

    Attributes:
        thread_id: The thread.
    """

    code = "thread-not-open"

    def __init__(self, thread_id: str, why: str) -> None:
        super().__init__(f"Thread {thread_id!r} is not open: {why}")
        self.thread_id = thread_id


class AbortedError(PartwiseError):
    """Raised by a chat model to end its run as cancelled, for example after its signal was set."""

    code = "aborted"
