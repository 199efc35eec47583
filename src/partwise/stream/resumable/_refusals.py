"""What a store of resumable streams says when it cannot do what it is asked; the same words in every store."""

from __future__ import annotations

from typing import Final, Literal

from partwise.errors import StreamFailedError, StreamLimitError, StreamLostError

from ._values import StreamFailure, StreamLimits

__all__ = ["ABANDONED", "DAY", "check_size", "expired", "failure_raised", "lost", "trimmed"]

DAY: Final = 86_400.0
ABANDONED: Final = StreamFailure("abandoned", "The producer of this stream died before it was complete.")

_LOST: Final = {
    "superseded": "was deleted and is produced anew",
    "finalized": "has ended",
    "abandoned": "was given up, since its producer was silent for longer than its lease",
}


def failure_raised(stream_id: str, failure: StreamFailure) -> StreamFailedError:
    """Return what a reader raises for a failure."""
    text = failure.text or f"Stream {stream_id!r} failed, and its producer did not say why."
    code = failure.code if failure.text or failure.code != "failed" else "unspecified"
    return StreamFailedError(stream_id, text, code=code)


def expired(stream_id: str) -> StreamFailedError:
    """Return what a reader raises when the stream's time is over."""
    text = f"Stream {stream_id!r} expired: nothing was written to it for longer than its lifetime."
    return StreamFailedError(stream_id, text, code="expired")


def trimmed(stream_id: str, first: int, last: int) -> StreamFailedError:
    """Return what a reader raises when chunks that it does not have are gone."""
    text = f"Chunks {first} to {last} of stream {stream_id!r} are not kept any more, so the rest would have a gap."
    return StreamFailedError(stream_id, text, code="trimmed")


def lost(stream_id: str, code: Literal["superseded", "finalized", "abandoned"]) -> StreamLostError:
    """Return what a producer raises that may write no more."""
    text = f"Stream {stream_id!r} {_LOST[code]}; what its producer makes now is not stored."
    return StreamLostError(stream_id, text, code=code)


def check_size(stream_id: str, limits: StreamLimits, *, entries: int, size: int, data: bytes) -> None:
    """Refuse a chunk that is too much.

    Raises:
        StreamLimitError: It is over a limit.
    """
    if limits.chunk_bytes is not None and len(data) > limits.chunk_bytes:
        text = f"A chunk of stream {stream_id!r} has {len(data)} bytes, and may have {limits.chunk_bytes}."
        raise StreamLimitError(stream_id, text, code="chunk-too-large")
    if limits.entries is not None and entries >= limits.entries:
        text = f"Stream {stream_id!r} has {entries} chunks, and may have no more; join small ones."
        raise StreamLimitError(stream_id, text, code="too-many-entries")
    if limits.total_bytes is not None and size + len(data) > limits.total_bytes:
        text = f"Stream {stream_id!r} would have {size + len(data)} bytes, and may have {limits.total_bytes}."
        raise StreamLimitError(stream_id, text, code="too-many-bytes")
