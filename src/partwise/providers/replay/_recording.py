"""A recorded Chat Completions stream, as the pieces of bytes that a server would send."""

from __future__ import annotations

import json
import re
from os import PathLike
from pathlib import Path
from typing import cast

from partwise.errors import WireError

__all__ = ["read_recording"]

_EVENT_END = re.compile(rb"(?>\r\n|\n|\r){2,}|\Z")
_LINE = re.compile(rb"[^\r\n]+")


def read_recording(path: str | PathLike[str]) -> tuple[bytes, ...]:
    """Read a recording: a raw response body (``.sse``), or one JSON payload a line (any other suffix).

    Args:
        path: The file.

    Returns:
        One piece of bytes for each event, in the recorded bytes where the file holds them.

    Raises:
        WireError: The file cannot be read, or holds something else; names the file and the line.
    """
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as cause:
        message = f"The recording {str(file)!r} cannot be read: {cause.strerror or cause}."
        raise WireError(message, where=str(file)) from cause
    pieces = _sse_pieces(file, data) if file.suffix == ".sse" else _json_pieces(file, data)
    if not pieces:
        message = f"The recording {str(file)!r} holds no event."
        raise WireError(message, where=str(file))
    return tuple(pieces)


def _sse_pieces(file: Path, data: bytes) -> list[bytes]:
    is_chat = False
    for line in _LINE.finditer(data):
        field, _, value = line.group().partition(b":")
        text = value.strip()
        if field == b"data" and text and not text.startswith(b"[DONE]"):
            is_chat = _check(file, data, line.start(), text) or is_chat
    if not is_chat:
        message = f"The recording {str(file)!r} holds no Chat Completions event (a line `data: {{...}}` with choices)."
        raise WireError(message, where=str(file))
    pieces: list[bytes] = []
    start = 0
    for end in _EVENT_END.finditer(data):
        if end.end() > start:
            pieces.append(data[start : end.end()])
        start = end.end()
    return pieces


def _json_pieces(file: Path, data: bytes) -> list[bytes]:
    lines = [line for line in _LINE.finditer(data) if line.group().strip()]
    for line in lines:
        _check(file, data, line.start(), line.group())
    return [b"data: " + line.group().strip() + b"\n\n" for line in lines]


def _check(file: Path, data: bytes, start: int, text: bytes) -> bool:
    """Tell whether a payload has choices; refuse one that neither has them nor tells of an error or usage."""
    where = f"{file}:{len(data[:start].splitlines()) + 1}"
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as cause:
        message = f"The recording is no JSON at {where}: {cause}."
        raise WireError(message, where=where) from cause
    if not isinstance(value, dict):
        message = f"The recording holds no JSON object at {where}."
        raise WireError(message, where=where)
    fields = cast("dict[str, object]", value)
    if not fields.keys() & {"choices", "error", "usage"}:
        message = f"The recording holds no Chat Completions payload at {where}: it has no `choices`."
        raise WireError(message, where=where)
    return "choices" in fields
