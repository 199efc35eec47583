"""Streams of bytes that outlive a connection: produced once, read by as many as come, each chunk exactly once.

`ResumableStreams` is what a server holds. The chunks are kept by a store: `MemoryStreamStore` here, and one
over Redis Streams in `partwise.persistence.redis`.
"""

from ._clock import LoopClock, StreamClock
from ._events import ListenToStreams, StreamAcquired, StreamAppended, StreamEvent, StreamFinalized, StreamTrouble
from ._memory import MemoryStreamStore
from ._producer import ByteSource, MakeStream
from ._reader import StreamReader
from ._refusals import ABANDONED, DAY, check_size, expired, failure_raised, lost, trimmed
from ._response import STREAM_ID_HEADER, ResumableResponse, produce_response, resume_response
from ._store import ResumableStore
from ._streams import ResumableStreams
from ._values import (
    Acquired,
    Edition,
    Entry,
    Found,
    StreamFailure,
    StreamLimits,
    StreamStatus,
    check_seconds,
    index_of,
)

__all__ = [
    "ABANDONED",
    "DAY",
    "STREAM_ID_HEADER",
    "Acquired",
    "ByteSource",
    "Edition",
    "Entry",
    "Found",
    "ListenToStreams",
    "LoopClock",
    "MakeStream",
    "MemoryStreamStore",
    "ResumableResponse",
    "ResumableStore",
    "ResumableStreams",
    "StreamAcquired",
    "StreamAppended",
    "StreamClock",
    "StreamEvent",
    "StreamFailure",
    "StreamFinalized",
    "StreamLimits",
    "StreamReader",
    "StreamStatus",
    "StreamTrouble",
    "check_seconds",
    "check_size",
    "expired",
    "failure_raised",
    "index_of",
    "lost",
    "produce_response",
    "resume_response",
    "trimmed",
]
