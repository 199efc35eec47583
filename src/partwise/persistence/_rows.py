"""Messages to rows and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any

import attrs

from partwise.errors import WireError
from partwise.messages import (
    AssistantMessage,
    IncompleteStatus,
    Message,
    ReasoningPart,
    RunningStatus,
    TextPart,
    message_from_json,
    message_to_json,
    thaw,
)

from ._mending import StoredMessage
from ._problems import HistoryProblem
from ._schema import MESSAGE_FORMAT

__all__ = ["message_text", "read_rows", "run_config_text"]

_CUT_OFF = IncompleteStatus("other")


def message_text(message: Message) -> str:
    """Return a message as the text of a row."""
    return _json_text(message_to_json(message))


def run_config_text(run_config: Any) -> str | None:
    """Return a run config as the text of a row, or None when it is no JSON."""
    try:
        return _json_text(thaw(run_config))
    except (TypeError, ValueError):
        return None


def _json_text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # Half of a surrogate pair, cut by somebody's stream: only its escape can be stored.
        return json.dumps(value, separators=(",", ":"))
    return text


def read_rows(
    rows: Iterable[sqlite3.Row], thread_id: str
) -> tuple[tuple[StoredMessage, ...], tuple[HistoryProblem, ...]]:
    """Read rows; one that cannot be read keeps its place, without a message, and gives a problem."""
    stored: list[StoredMessage] = []
    problems: list[HistoryProblem] = []
    for row in rows:
        message: Message | None = None
        try:
            message = _read(row)
        except WireError as error:
            what = f"it cannot be read and is left out, but kept in the file: {error}"
            problems.append(HistoryProblem(thread_id=thread_id, message_id=row["id"], what=what, where=error.where))
        stored.append(StoredMessage(id=row["id"], parent_id=row["parent_id"], message=message))
    return tuple(stored), tuple(problems)


def _read(row: sqlite3.Row) -> Message:
    if not isinstance(row["format"], int):
        text = f"its format is no number: {row['format']!r}"
        raise WireError(text, where="format")
    if row["format"] > MESSAGE_FORMAT:
        text = f"it has format {row['format']} of a later version of partwise; this one reads up to {MESSAGE_FORMAT}"
        raise WireError(text, where="format")
    try:
        value = json.loads(row["json"])
    except (TypeError, ValueError, RecursionError) as error:
        text = f"it is no JSON: {error}"
        raise WireError(text, where="json") from error
    message = message_from_json(value)
    if message.id != row["id"]:
        text = f"it holds message {message.id!r}"
        raise WireError(text, where="id")
    return _settled(message)


def _settled(message: Message) -> Message:
    """End an answer that was stored while it was running: the process that made it is gone.

    One that waits for a human keeps waiting; its approvals can still be answered.
    """
    if not isinstance(message, AssistantMessage) or not isinstance(message.status, RunningStatus):
        return message
    content = tuple(
        attrs.evolve(part, status=_CUT_OFF)
        if isinstance(part, (TextPart, ReasoningPart)) and isinstance(part.status, RunningStatus)
        else part
        for part in message.content
    )
    return attrs.evolve(message, content=content, status=_CUT_OFF)
