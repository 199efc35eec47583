"""A recorded stream of a provider, as the pieces of bytes that a server would send."""

from __future__ import annotations

import json
import re
from os import PathLike
from pathlib import Path
from typing import Any, Literal, cast

import attrs

from partwise.errors import WireError

from ._protocols import PROTOCOLS, Protocol, protocol_of

__all__ = ["Recording", "read_recording"]

_EVENT_END = re.compile(rb"(?>\r\n|\n|\r){2,}|\Z")
_LINE = re.compile(rb"[^\r\n]+")


@attrs.frozen
class Recording:
    """A recorded response body.

    Attributes:
        protocol: What it speaks.
        pieces: The bytes of each event, in the recorded bytes where the file holds them.
    """

    protocol: Protocol
    pieces: tuple[bytes, ...]


def read_recording(path: str | PathLike[str], protocol: Protocol | Literal["auto"] = "auto") -> Recording:
    """Read a recording: a raw response body (``.sse``), or one JSON payload a line (any other suffix).

    Args:
        path: The file.
        protocol: What it speaks; ``auto`` finds out.

    Raises:
        WireError: The file cannot be read, or holds something else; names the file and the line.
    """
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as cause:
        message = f"The recording {str(file)!r} cannot be read: {cause.strerror or cause}."
        raise WireError(message, where=str(file)) from cause
    reader = _Reader(file, data, protocol)
    pieces = reader.sse() if file.suffix == ".sse" else reader.lines()
    if not pieces:
        message = f"The recording {str(file)!r} holds no event."
        raise WireError(message, where=str(file))
    return Recording(reader.protocol(), tuple(pieces))


class _Reader:
    __slots__ = ("_data", "_file", "_found", "_wanted")

    def __init__(self, file: Path, data: bytes, wanted: Protocol | Literal["auto"]) -> None:
        self._file = file
        self._data = data
        self._wanted = wanted
        self._found: Protocol | None = None if wanted == "auto" else wanted

    def protocol(self) -> Protocol:
        """Return what the file speaks; Chat Completions if nothing in it tells."""
        return self._found or "openai-chat"

    def sse(self) -> list[bytes]:
        """Return the events of a response body."""
        tells = False
        for line in _LINE.finditer(self._data):
            field, _, value = line.group().partition(b":")
            text = value.strip()
            if field == b"data" and text and not text.startswith(b"[DONE]"):
                tells = protocol_of(self._payload(line.start(), text)) != "any" or tells
        if not tells:
            wanted = PROTOCOLS[self._found] if self._found else ", ".join(PROTOCOLS.values())
            message = f"The recording {str(self._file)!r} holds no event (a line `data: {{...}}`) of {wanted}."
            raise WireError(message, where=str(self._file))
        pieces: list[bytes] = []
        start = 0
        for end in _EVENT_END.finditer(self._data):
            if end.end() > start:
                pieces.append(self._data[start : end.end()])
            start = end.end()
        return pieces

    def lines(self) -> list[bytes]:
        """Return an event for each line."""
        return [
            _event(line.group().strip(), self._payload(line.start(), line.group()))
            for line in _LINE.finditer(self._data)
            if line.group().strip()
        ]

    def _payload(self, start: int, text: bytes) -> dict[str, Any]:
        """Parse a payload; refuse one that belongs to another protocol, or to none."""
        where = f"{self._file}:{len(self._data[:start].splitlines()) + 1}"
        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError) as cause:
            message = f"The recording is no JSON at {where}: {cause}."
            raise WireError(message, where=where) from cause
        if not isinstance(value, dict):
            message = f"The recording holds no JSON object at {where}."
            raise WireError(message, where=where)
        payload = cast("dict[str, Any]", value)
        protocol = protocol_of(payload)
        if protocol is None and self._found not in (None, "openai-chat") and isinstance(payload.get("type"), str):
            return payload  # these protocols get new events all the time
        if protocol is None:
            wanted = PROTOCOLS[self._found] if self._found else ", ".join(PROTOCOLS.values())
            message = f"The recording holds a payload at {where} that is none of {wanted}."
            raise WireError(message, where=where)
        if protocol != "any" and self._found not in (None, protocol):
            expected = PROTOCOLS[self._found]
            message = f"The recording holds a payload of {PROTOCOLS[protocol]} at {where}, but speaks {expected}."
            raise WireError(message, where=where)
        self._found = self._found or (None if protocol == "any" else protocol)
        return payload


def _event(text: bytes, payload: dict[str, Any]) -> bytes:
    """Return the event that a server sends for a payload; the protocols with types name it after them."""
    kind = payload.get("type")
    name = f"event: {kind}\n".encode() if isinstance(kind, str) and "choices" not in payload else b""
    return name + b"data: " + text + b"\n\n"
