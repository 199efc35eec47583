"""How an answer arrives: chunks, the fold that turns them into a message, and the reader of partial arguments."""

from ._chunks import (
    Chunk,
    ErrorChunk,
    Finish,
    FinishReason,
    MetadataChunk,
    PartChunk,
    ReasoningDelta,
    StepFinish,
    StepStart,
    TextDelta,
    ToolArgsDelta,
    ToolArgsFinish,
    ToolCallStart,
    ToolResult,
    WholePart,
    is_chunk,
)
from ._fold import Fold, Report
from ._json import ArgsReader
from ._sse import SseEvent, SseReader

__all__ = [
    "ArgsReader",
    "Chunk",
    "ErrorChunk",
    "Finish",
    "FinishReason",
    "Fold",
    "MetadataChunk",
    "PartChunk",
    "ReasoningDelta",
    "Report",
    "SseEvent",
    "SseReader",
    "StepFinish",
    "StepStart",
    "TextDelta",
    "ToolArgsDelta",
    "ToolArgsFinish",
    "ToolCallStart",
    "ToolResult",
    "WholePart",
    "is_chunk",
]
