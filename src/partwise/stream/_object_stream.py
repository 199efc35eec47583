"""Object streams: one JSON value that grows over server-sent events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final

import attrs

from partwise.errors import WireError

from ._growing_state import GrowingState
from ._json_text import json_text, read_json
from ._lines import MAX_LINE_LENGTH
from ._report import Report, log_problem
from ._sse import SseEvent, SseReader, sse_frame
from ._state import SetValue, StateOperation, read_operation, write_operation

__all__ = ["OBJECT_STREAM_HEADERS", "ObjectDecoder", "ObjectEncoder", "ObjectSnapshot", "check_object_stream"]

_FORMAT: Final = "object-stream/v0"
OBJECT_STREAM_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "content-type": "text/event-stream",
        "cache-control": "no-cache",
        "connection": "keep-alive",
        "assistant-stream-format": _FORMAT,
    }
)


def _state_of(value: object) -> GrowingState:
    return value if isinstance(value, GrowingState) else GrowingState(value)


@attrs.frozen(repr=False, match_args=False)
class ObjectSnapshot:
    """The value after a batch of operations, and the batch."""

    __match_args__ = ("value", "operations")

    # Put together when somebody reads it: a text that grows has thousands of states that nobody looks at.
    _state: GrowingState = attrs.field(converter=_state_of, alias="value", eq=attrgetter("value"))
    operations: tuple[StateOperation, ...]

    @property
    def value(self) -> Any:
        """The value."""
        return self._state.value

    def __repr__(self) -> str:
        return f"ObjectSnapshot(value={self.value!r}, operations={self.operations!r})"


class ObjectEncoder:
    """Writes the operations on a value as bytes; the first frame carries the whole value.

    Args:
        value: What the value is before the first operation.
    """

    __slots__ = ("_is_first", "_state")

    def __init__(self, value: object = None) -> None:
        self._state = GrowingState(value)
        self._is_first = True

    @property
    def value(self) -> Any:
        """The value after the last batch."""
        return self._state.value

    def encode(self, operations: Iterable[StateOperation]) -> bytes:
        """Apply a batch of operations, and return its frame.

        Raises:
            StateOperationError: One of them cannot be applied; nothing was changed.
            WireError: A value in them cannot be written as JSON.
        """
        batch = tuple(operations)
        state = self._state.after(batch)
        if self._is_first:
            batch = (SetValue((), state.value),)
        frame = sse_frame(json_text([write_operation(operation) for operation in batch]))
        self._state, self._is_first = state, False
        return frame


class ObjectDecoder:
    """Reads an object stream from bytes, cut anywhere.

    Args:
        value: What the value is before the first frame.
        report: Told about a payload that is no JSON, which is skipped.
        max_line_length: The longest line that is read.
    """

    __slots__ = ("_failure", "_report", "_sse", "_state")

    def __init__(
        self,
        value: object = None,
        *,
        report: Report | None = None,
        max_line_length: int = MAX_LINE_LENGTH,
    ) -> None:
        self._state = GrowingState(value)
        self._failure: WireError | None = None
        self._report = report or log_problem
        self._sse = SseReader(max_line_length=max_line_length, max_event_length=max_line_length)

    def feed(self, data: bytes) -> list[ObjectSnapshot]:
        """Return a snapshot for each frame that ends in these bytes; what is no whole frame never counts.

        A frame that cannot be used ends the reading. What came before it is returned first, however the
        bytes were cut; the error is then raised by the next call.

        Raises:
            StateOperationError: An operation cannot be applied.
            WireError: A frame is no list of operations, or too long.
        """
        self.close()
        snapshots: list[ObjectSnapshot] = []
        try:
            for event in self._sse.feed(data):
                snapshot = self._snapshot(event)
                if snapshot is not None:
                    snapshots.append(snapshot)
        except WireError as failure:
            self._failure = failure
            if not snapshots:
                raise
        return snapshots

    def close(self) -> None:
        """Say that the bytes have ended.

        Raises:
            StateOperationError, WireError: What ended the reading, if something did.
        """
        if self._failure is not None:
            raise self._failure

    def _snapshot(self, event: SseEvent) -> ObjectSnapshot | None:
        if event.problem is not None:
            raise event.problem
        payload = self._payload(event.data)
        if payload is None:
            return None
        operations = tuple(read_operation(item) for item in payload)
        self._state = self._state.after(operations)
        return ObjectSnapshot(self._state, operations)

    def _payload(self, data: str) -> list[Any] | None:
        try:
            payload: Any = read_json(data)
        except WireError as problem:
            self._report(problem)
            return None
        if not isinstance(payload, list):
            message = f"A frame of an object stream is a list of operations, not {data[:100]!r}."
            raise WireError(message, code="invalid-value")
        items: list[Any] = payload  # pyright: ignore[reportUnknownVariableType]  # read from JSON
        return items


def check_object_stream(status: int, headers: Mapping[str, str], *, has_body: bool = True) -> None:
    """Check that a response announces an object stream.

    Args:
        status: Its HTTP status.
        headers: Its headers, with names in any case.
        has_body: Whether anything can come after them.

    Raises:
        WireError: It does not; ``code`` is ``"bad-status"``, ``"no-body"``, ``"bad-content-type"`` or
            ``"bad-format-header"``.
    """
    if not 200 <= status < 300:
        message = f"The response has status {status}."
        raise WireError(message, where="status", code="bad-status")
    if not has_body:
        message = "The response has no body."
        raise WireError(message, where="body", code="no-body")
    named = {name.lower(): value for name, value in headers.items()}
    content_type = named.get("content-type", "")
    if content_type.partition(";")[0].strip().lower() != "text/event-stream":
        message = f"The response has the content type {content_type!r}, not text/event-stream."
        raise WireError(message, where="content-type", code="bad-content-type")
    if named.get("assistant-stream-format") != _FORMAT:
        message = f"The response does not say `assistant-stream-format: {_FORMAT}`."
        raise WireError(message, where="assistant-stream-format", code="bad-format-header")
