"""What a recording says, as far as a message shows it; found without any code of the product."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]


@dataclass
class Facts:
    """What the answer of a recording must hold.

    Attributes:
        calls: Name and arguments of each call in order; the arguments as text where the wire has text,
            as an object where it has an object.
        results: What tools answered, by the id of their call.
        sources: The keys of what is cited.
        status: The status of the message and its reason.
        output_tokens: The sum over all steps, None if nothing was told.
        opaque: What nobody can read but everybody has to keep: signatures, encrypted reasoning, pictures.
    """

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)
    sources: set[str] = field(default_factory=set)
    status: tuple[str, str] = ("incomplete", "other")
    output_tokens: int | None = None
    opaque: set[str] = field(default_factory=set)


def events_of(path: Path) -> list[Json]:
    """Read the payloads of a recording with nothing but `json`; an error outside of the data is one."""
    if path.suffix != ".sse":
        return [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]
    events: list[Json] = []
    name = ""
    for line in path.read_bytes().decode("utf-8").replace("\r\n", "\n").split("\n"):
        kind, _, value = line.partition(":")
        value = value.strip()
        if not line.strip():
            name = ""
        elif kind == "event":
            name = value
        elif kind == "error":
            events.append({"error": json.loads(value)})
        elif kind == "data" and value.startswith("{"):
            payload = json.loads(value)
            events.append({"error": payload} if name == "error" and "error" not in payload else payload)
    return events


def added(total: int | None, more: object) -> int | None:
    """Add a count to a sum, if there is one."""
    return total if not isinstance(more, int) or not more else (total or 0) + more


def ended(reason: str | None, waits: bool, table: Mapping[str, str]) -> tuple[str, str]:
    """Return the status that a reason gives: open calls decide where the service is content."""
    said = table.get(reason, "other") if reason else "other"
    if said in ("stop", "tool-calls"):
        return ("requires-action", "tool-calls") if waits else ("complete", "stop")
    return ("incomplete", said)


def joined(paragraphs: Sequence[tuple[Any, str]]) -> str:
    """Put paragraphs together: those of one thing with a blank line between them."""
    text, last = "", object()
    for key, paragraph in paragraphs:
        text += ("\n\n" if key == last else "") + paragraph
        last = key
    return text
