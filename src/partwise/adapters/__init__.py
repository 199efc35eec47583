"""The protocols that users implement: chat model, history, thread list, suggestions, feedback."""

from ._attachments import AttachmentAdapter, AttachmentFile, LocalFile, is_accepted
from ._chat_model import CancelReason, CancelSignal, ChatModel, ChatModelFunction, ModelOutput, RunContext
from ._feedback import FeedbackFunction, FeedbackType
from ._history import (
    DeletableHistory,
    HeadHistory,
    History,
    HistoryItem,
    LoadedHistory,
    ResumableHistory,
    UpdatableHistory,
)
from ._result import RunMetadata, RunResult
from ._suggestions import SuggestionRequest, Suggestions
from ._thread_list import (
    CustomThreads,
    StoredThread,
    ThreadIds,
    ThreadListAdapter,
    ThreadPage,
    TitleFunction,
    TitlingThreads,
)

__all__ = [
    "AttachmentAdapter",
    "AttachmentFile",
    "CancelReason",
    "CancelSignal",
    "ChatModel",
    "ChatModelFunction",
    "CustomThreads",
    "DeletableHistory",
    "FeedbackFunction",
    "FeedbackType",
    "HeadHistory",
    "History",
    "HistoryItem",
    "LoadedHistory",
    "LocalFile",
    "ModelOutput",
    "ResumableHistory",
    "RunContext",
    "RunMetadata",
    "RunResult",
    "StoredThread",
    "SuggestionRequest",
    "Suggestions",
    "ThreadIds",
    "ThreadListAdapter",
    "ThreadPage",
    "TitleFunction",
    "TitlingThreads",
    "UpdatableHistory",
    "is_accepted",
]
