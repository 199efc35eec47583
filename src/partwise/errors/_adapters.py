"""What an adapter of the user did wrong."""

from __future__ import annotations

from ._root import PartwiseError


class AdapterError(PartwiseError):
    """An adapter broke its contract: it yielded something that is no result, or never ended.

    Attributes:
        adapter: Which one, for example ``"chat model"``.
        message_id: The message that was being made, or None.
    """

    code = "adapter"

    def __init__(self, adapter: str, text: str, *, message_id: str | None = None) -> None:
        super().__init__(f"The {adapter} adapter {text}")
        self.adapter = adapter
        self.message_id = message_id


class HistoryError(AdapterError):
    """A history adapter failed; what is in memory is untouched.

    Attributes:
        operation: ``"open"``, ``"load"``, ``"append"``, ``"update"``, ``"delete"`` or ``"set_head"``.
    """

    code = "history"

    def __init__(self, operation: str, text: str, *, message_id: str | None = None) -> None:
        super().__init__("history", text, message_id=message_id)
        self.operation = operation


class ThreadListError(AdapterError):
    """A thread list adapter failed; the list shows what it showed before.

    Attributes:
        operation: What was asked of it, for example ``"list"`` or ``"rename"``.
        thread_id: The thread, or None when it is about the list.
    """

    code = "thread-list"

    def __init__(self, operation: str, text: str, *, thread_id: str | None = None) -> None:
        super().__init__("thread list", text)
        self.operation = operation
        self.thread_id = thread_id
