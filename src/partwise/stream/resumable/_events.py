"""What happens to resumable streams, for logs and measurements."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeAlias

import attrs

from ._values import StreamFailure

__all__ = [
    "ListenToStreams",
    "StreamAcquired",
    "StreamAppended",
    "StreamEvent",
    "StreamFinalized",
    "StreamTrouble",
    "announcer",
]

_LOG = logging.getLogger("partwise.stream.resumable")


@attrs.frozen
class StreamAcquired:
    """Somebody asked to produce a stream.

    Attributes:
        is_producer: Whether it is the first to ask; the others read what that one produces.
    """

    stream_id: str
    is_producer: bool


@attrs.frozen
class StreamAppended:
    """A chunk was stored.

    Attributes:
        size: Its bytes.
    """

    stream_id: str
    size: int


@attrs.frozen
class StreamFinalized:
    """A stream has ended.

    Attributes:
        failure: Why it is not complete, or None if it is.
    """

    stream_id: str
    failure: StreamFailure | None


@attrs.frozen
class StreamTrouble:
    """Something went wrong with producing a stream: its producer raised, or its store did."""

    stream_id: str
    error: Exception


StreamEvent: TypeAlias = StreamAcquired | StreamAppended | StreamFinalized | StreamTrouble
ListenToStreams: TypeAlias = Callable[[StreamEvent], object]


def announcer(listener: ListenToStreams | None) -> ListenToStreams:
    """Return a function that tells a listener, and logs what the listener raises.

    Without a listener, trouble is logged and the rest is not.
    """

    def announce(event: StreamEvent) -> None:
        if listener is None:
            if isinstance(event, StreamTrouble):
                _LOG.warning("Stream %r: %s", event.stream_id, event.error, exc_info=event.error)
            return
        try:
            listener(event)
        except Exception:
            _LOG.exception("A listener to resumable streams raised; the stream goes on.")

    return announce
