"""How an answer arrives: chunks, the fold that turns them into a message, and the wires that carry them."""

# Packed by hand: one name a line would hide the files among two hundred lines.
# fmt: off
# isort: off
from ._accumulate import Accumulator, accumulate
from ._chunk_json import WireChunk, read_chunk, write_chunk
from ._chunks import (
    Chunk, ErrorChunk, Finish, FinishReason, MetadataChunk, PartChunk, ReasoningDelta, StepFinish, StepStart,
    TextDelta, ToolArgsDelta, ToolArgsFinish, ToolCallStart, ToolResult, WholePart, is_chunk,
)
from ._fold import Fold
from ._growing_state import apply_operations, fold_state
from ._json import ArgsReader
from ._object_stream import (
    OBJECT_STREAM_HEADERS, ObjectDecoder, ObjectEncoder, ObjectSnapshot, check_object_stream,
)
from ._pace import Clock
from ._part_chunks import (
    PartApproval, PartArgsFinish, PartDelta, PartFinish, PartPath, PartResult, PartStart, StateUpdate, ToolApproval,
)
from ._report import Report
from ._sse import SseEvent, SseReader
from ._state import (
    AppendText, SetValue, StateChanges, StateOperation, read_operation, write_operation,
)

__all__ = [
    "OBJECT_STREAM_HEADERS", "Accumulator", "AppendText", "ArgsReader", "Chunk", "Clock", "ErrorChunk", "Finish",
    "FinishReason", "Fold", "MetadataChunk", "ObjectDecoder", "ObjectEncoder", "ObjectSnapshot", "PartApproval",
    "PartArgsFinish", "PartChunk", "PartDelta", "PartFinish", "PartPath", "PartResult", "PartStart", "ReasoningDelta",
    "Report", "SetValue", "SseEvent", "SseReader", "StateChanges", "StateOperation", "StateUpdate", "StepFinish",
    "StepStart", "TextDelta", "ToolApproval", "ToolArgsDelta", "ToolArgsFinish", "ToolCallStart", "ToolResult",
    "WholePart", "WireChunk", "accumulate", "apply_operations", "check_object_stream", "fold_state", "is_chunk",
    "read_chunk", "read_operation", "write_chunk", "write_operation",
]
