"""The shape of the state: a thread, its draft and its queue, named slices of it, and the events beside it."""

from ._events import Initialize, ModelContextUpdate, PersistenceFailed, Report, RunEnd, RunStart, Sent, ThreadEvent
from ._slices import MessageSlice
from ._state import ComposerState, QueueItem, Quote, Suggestion, ThreadState, with_messages

__all__ = [
    "ComposerState",
    "Initialize",
    "MessageSlice",
    "ModelContextUpdate",
    "PersistenceFailed",
    "QueueItem",
    "Quote",
    "Report",
    "RunEnd",
    "RunStart",
    "Sent",
    "Suggestion",
    "ThreadEvent",
    "ThreadState",
    "with_messages",
]
