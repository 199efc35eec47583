"""The protocols that users implement: chat model, history, suggestions, feedback."""

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

__all__ = [
    "CancelReason",
    "CancelSignal",
    "ChatModel",
    "ChatModelFunction",
    "DeletableHistory",
    "FeedbackFunction",
    "FeedbackType",
    "HeadHistory",
    "History",
    "HistoryItem",
    "LoadedHistory",
    "ModelOutput",
    "ResumableHistory",
    "RunContext",
    "RunMetadata",
    "RunResult",
    "SuggestionRequest",
    "Suggestions",
    "UpdatableHistory",
]
