"""The shape of the state: a thread, its draft, its queue, and lists of threads; slices of it; events beside it."""

from ._events import (
    AttachmentAdded,
    AttachmentRefused,
    Initialize,
    ModelContextUpdate,
    PersistenceFailed,
    Report,
    RunEnd,
    RunStart,
    Sent,
    ThreadEvent,
)
from ._slices import MessageSlice, PartSlice
from ._state import ComposerState, QueueItem, Quote, Suggestion, ThreadState, with_messages
from ._thread_list import (
    ThreadListEvent,
    ThreadListFailed,
    ThreadListReport,
    ThreadListState,
    ThreadRow,
    ThreadStatus,
)

__all__ = [
    "AttachmentAdded",
    "AttachmentRefused",
    "ComposerState",
    "Initialize",
    "MessageSlice",
    "ModelContextUpdate",
    "PartSlice",
    "PersistenceFailed",
    "QueueItem",
    "Quote",
    "Report",
    "RunEnd",
    "RunStart",
    "Sent",
    "Suggestion",
    "ThreadEvent",
    "ThreadListEvent",
    "ThreadListFailed",
    "ThreadListReport",
    "ThreadListState",
    "ThreadRow",
    "ThreadState",
    "ThreadStatus",
    "with_messages",
]
