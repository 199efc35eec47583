"""Every exception of partwise, drawn as one tree.

    PartwiseError
    ├── InvalidInputError (ValueError)      what was handed in cannot be used
    │   ├── MessageLikeError                a message-like value
    │   ├── WireError                       JSON or a chunk that came over a wire
    │   │   └── StateOperationError         a change of streamed state that cannot be applied
    │   ├── ToolDefinitionError             a function that cannot become a tool
    │   ├── ToolArgumentsError              arguments of a call that its tool cannot take
    │   ├── FeedError                       what the owner of an external store gives
    │   ├── QueuePlacementError             a place in the queue that does not exist
    │   ├── CycleError                      a parent that lies below its own child
    │   ├── NothingToResumeError            a run to be resumed, without the stream that goes on
    │   ├── StreamIdError                   an id that a resumable stream cannot have
    │   ├── CursorError                     a place that a resumable stream does not have
    │   └── SelectorError                   a selector or address that cannot be used
    ├── NotFoundError (LookupError)         an id that nothing here has
    │   ├── MessageNotFoundError
    │   ├── ParentNotFoundError
    │   ├── PartNotFoundError
    │   ├── ToolCallNotFoundError
    │   ├── ApprovalNotFoundError
    │   ├── OptionNotFoundError
    │   ├── BranchNotFoundError
    │   ├── QueueItemNotFoundError
    │   ├── StreamNotFoundError
    │   └── ThreadNotFoundError
    ├── UnsupportedError                    this thread cannot do that at all
    ├── NotAllowedError (RuntimeError)      possible, but not in the present state
    │   ├── ApprovalError                   an answer that an approval cannot take
    │   └── ToolConflictError               two tools with one name
    ├── NotSentError                        nothing reached a backend; the draft is still the user's
    ├── ThreadNotOpenError                  the runtime of a thread of a list could not be opened, or was closed
    ├── AdapterError                        an adapter broke its contract
    │   ├── HistoryError                    a write to, or a read from, the history failed
    │   └── ThreadListError                 the list of threads could not be read or changed
    ├── StreamError                         a resumable stream
    │   ├── StreamFailedError               its reader gets no more of it, and it is not complete
    │   ├── StreamLostError                 its producer may write no more of it
    │   └── StreamLimitError                it would grow over a limit of its store
    ├── StoreError
    │   ├── WrongThreadError                a commit from a thread that does not own the store
    │   ├── WrongEventLoopError             a library that this kind of event loop cannot run
    │   ├── StoreClosedError
    │   └── RuntimeClosedError
    └── InternalError                       a broken invariant: a bug in partwise

Each carries the ids it is about as attributes, and a stable ``code`` for programs.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "AbortedError",
    "AdapterError",
    "ApprovalError",
    "ApprovalNotFoundError",
    "AttachmentNotFoundError",
    "BranchNotFoundError",
    "CursorError",
    "CycleError",
    "FeedError",
    "HistoryError",
    "InternalError",
    "InvalidInputError",
    "MessageLikeError",
    "MessageNotFoundError",
    "NotAllowedError",
    "NotFoundError",
    "NotSentError",
    "NothingToResumeError",
    "OptionNotFoundError",
    "ParentNotFoundError",
    "PartNotFoundError",
    "PartwiseError",
    "QueueItemNotFoundError",
    "QueuePlacementError",
    "RuntimeClosedError",
    "SelectorError",
    "StateOperationError",
    "StoreClosedError",
    "StoreError",
    "StreamError",
    "StreamFailedError",
    "StreamIdError",
    "StreamLimitError",
    "StreamLostError",
    "StreamNotFoundError",
    "ThreadListError",
    "ThreadNotFoundError",
    "ThreadNotOpenError",
    "ToolArgumentsError",
    "ToolCallNotFoundError",
    "ToolConflictError",
    "ToolDefinitionError",
    "UnsupportedError",
    "WireError",
    "WrongEventLoopError",
    "WrongThreadError",
]


class PartwiseError(Exception):
    """Root of all errors that partwise raises on purpose."""

    code: str = "partwise"


class InvalidInputError(PartwiseError, ValueError):
    """A value handed to partwise cannot be used; nothing was changed."""

    code = "invalid-input"


class MessageLikeError(InvalidInputError):
    """A message-like value breaks a rule of its role.

    Attributes:
        code: Which rule, for example ``"unsupported-part"`` or ``"system-content"``.
        message_id: The id of the message, when it has one.
        part_index: The position of the part at fault, when it is about one part.
    """

    def __init__(self, text: str, *, code: str, message_id: str | None = None, part_index: int | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.message_id = message_id
        self.part_index = part_index


class WireError(InvalidInputError):
    """Data from a wire or a store does not describe what it should.

    Attributes:
        where: The path of the value at fault, for example ``"content.2.text"``.
        code: What is wrong with it, for example ``"line-too-long"``; ``"wire"`` if that has no name.
    """

    code = "wire"

    def __init__(self, text: str, *, where: str = "", code: str = "wire") -> None:
        super().__init__(text)
        self.where = where
        self.code = code


class StateOperationError(WireError):
    """A change of streamed state cannot be applied; the state is as it was.

    Attributes:
        code: Why not, for example ``"not-a-string"`` or ``"index-out-of-bounds"``.
        path: Where it should have been applied.
    """

    def __init__(self, text: str, *, code: str, path: tuple[str, ...] = ()) -> None:
        super().__init__(text, where=".".join(path), code=code)
        self.path = path


class ToolDefinitionError(InvalidInputError):
    """A function cannot become a tool.

    Attributes:
        tool_name: The name of the tool.
    """

    code = "tool-definition"

    def __init__(self, tool_name: str, why: str) -> None:
        super().__init__(f"Tool {tool_name!r} cannot be defined: {why}")
        self.tool_name = tool_name


class ToolArgumentsError(InvalidInputError):
    """The arguments of a tool call are no complete JSON object, or do not fit the tool; it is not run.

    Attributes:
        tool_name: The name of the tool.
        tool_call_id: The call.
        fields: The paths of the arguments at fault, empty if the text as a whole is.
    """

    code = "tool-arguments"

    def __init__(self, tool_name: str, tool_call_id: str, why: str, *, fields: tuple[str, ...] = ()) -> None:
        super().__init__(f"Invalid arguments for tool {tool_name!r}: {why}.")
        self.tool_name = tool_name
        self.tool_call_id = tool_call_id
        self.fields = fields


class FeedError(InvalidInputError):
    """What the owner of an external store gave is no feed, or holds what a strict one must not.

    Attributes:
        code: What is wrong, for example ``"invalid-store"`` or ``"duplicate-id"``.
    """

    def __init__(self, text: str, *, code: str = "invalid-store") -> None:
        super().__init__(text)
        self.code = code


class QueuePlacementError(InvalidInputError):
    """A waiting message cannot go where it was told to; nothing was moved.

    Attributes:
        code: ``"self-anchor"`` or ``"not-adjacent"``.
    """

    def __init__(self, text: str, *, code: str) -> None:
        super().__init__(text)
        self.code = code


class CycleError(InvalidInputError):
    """A message would become its own ancestor.

    Attributes:
        message_id: The message to be moved.
        parent_id: The parent that lies at or below it.
    """

    code = "cycle"

    def __init__(self, message_id: str, parent_id: str | None) -> None:
        super().__init__(
            f"Message {message_id!r} cannot be put under {parent_id!r}: that message lies at or below it. "
            "Choose a parent outside of its own branch."
        )
        self.message_id = message_id
        self.parent_id = parent_id


class NothingToResumeError(InvalidInputError):
    """A run was to be resumed without the stream that goes on.

    Attributes:
        parent_id: The message that was to be answered.
    """

    code = "stream-required"

    def __init__(self, parent_id: str | None) -> None:
        super().__init__(
            f"The run under {parent_id!r} can only be resumed with a stream that yields its answer, for example one "
            "that reads a resumable stream. Use start_run to ask the model again."
        )
        self.parent_id = parent_id


class StreamIdError(InvalidInputError):
    """A resumable stream cannot have that id.

    Attributes:
        stream_id: The id.
    """

    code = "invalid-id"

    def __init__(self, stream_id: object) -> None:
        shown = repr(stream_id)
        super().__init__(
            f"{shown if len(shown) <= 80 else shown[:80] + '…'} is no id of a stream. "
            "Use 1 to 256 letters, digits, and the characters - _ . : of ASCII."
        )
        self.stream_id = stream_id


class CursorError(InvalidInputError):
    """A resumable stream has no such place, so nothing can follow it exactly once.

    Attributes:
        stream_id: The stream.
        cursor: The place that was given.
    """

    code = "invalid-cursor"

    def __init__(self, stream_id: str, cursor: str) -> None:
        super().__init__(
            f"Stream {stream_id!r} has no place {cursor!r}: it is none of its cursors, or comes after its end. "
            "Read the stream from its start, and put what was read before aside."
        )
        self.stream_id = stream_id
        self.cursor = cursor


class SelectorError(InvalidInputError):
    """A selector or an address cannot be used on this store."""

    code = "selector"


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


class StreamError(PartwiseError):
    """Something about one resumable stream.

    Attributes:
        stream_id: The stream.
        code: What it is.
    """

    code = "stream"

    def __init__(self, stream_id: str, text: str, *, code: str) -> None:
        super().__init__(text)
        self.stream_id = stream_id
        self.code = code


class StreamFailedError(StreamError):
    """A reader gets no more of a stream, which is not complete; what it has stays right.

    Attributes:
        code: ``"failed"`` when the producer raised (the text is its exception's), ``"unspecified"`` when
            it did not say why, ``"cancelled"`` when it was cancelled, ``"abandoned"`` when it died without
            a word, ``"expired"``, ``"trimmed"``, or the code of a `StreamLimitError`.
    """


class StreamLostError(StreamError):
    """A producer may write no more of a stream.

    Attributes:
        code: ``"superseded"`` when the id was deleted and is produced anew, ``"finalized"`` when the stream
            has ended, ``"abandoned"`` when the producer's lease ran out.
    """


class StreamLimitError(StreamError):
    """A stream would grow over a limit of its store.

    Attributes:
        code: ``"too-many-streams"``, ``"too-many-entries"``, ``"too-many-bytes"`` or ``"chunk-too-large"``.
    """


class StoreError(PartwiseError):
    """A store was used in a way that its rules forbid."""

    code = "store"


class WrongThreadError(StoreError):
    """A commit came from a thread that does not own the store; use ``store.post`` there."""

    code = "wrong-thread"


class WrongEventLoopError(StoreError):
    """A store works over a library that this kind of event loop cannot run."""

    code = "wrong-event-loop"


class StoreClosedError(StoreError):
    """The store was closed; its last snapshot can still be read."""

    code = "store-closed"


class RuntimeClosedError(StoreError):
    """The runtime was closed, or not entered yet with ``async with``."""

    code = "runtime-closed"


class InternalError(PartwiseError):
    """An invariant of partwise is broken. Please report it with the traceback."""

    code = "internal"
