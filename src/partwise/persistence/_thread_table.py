"""The list of the threads of a file, in plain SQL; called in the worker thread."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from partwise.adapters import StoredThread, ThreadPage
from partwise.errors import ThreadNotFoundError, WireError
from partwise.messages import thaw

from ._problems import HistoryProblem
from ._schema import moment, transaction

__all__ = ["add_thread", "change_thread", "custom_text", "delete_thread", "read_page", "read_thread"]

_COLUMNS = "rowid, id, status, title, external_id, custom, last_message_at"
_NEXT = f"""
SELECT {_COLUMNS} FROM threads WHERE (last_message_at, rowid) < (?, ?)
ORDER BY last_message_at DESC, rowid DESC LIMIT ?
"""
# After every time that there is.
_TOP = ("\U0010ffff", 0)
_CHANGES = {
    "title": "UPDATE threads SET title = ? WHERE id = ?",
    "status": "UPDATE threads SET status = ? WHERE id = ?",
    "custom": "UPDATE threads SET custom = ? WHERE id = ?",
}

Problems = tuple[HistoryProblem, ...]


def read_page(connection: sqlite3.Connection, cursor: str | None, size: int) -> tuple[ThreadPage, Problems]:
    """Read one page, the thread with the newest message first; what cannot be read is left out and told."""
    rows = connection.execute(_NEXT, (*_place(cursor), size + 1)).fetchall()
    threads: list[StoredThread] = []
    problems: list[HistoryProblem] = []
    for row in rows[:size]:
        thread, found = _read(row)
        threads += [] if thread is None else [thread]
        problems += found
    last = rows[size - 1] if len(rows) > size else None
    cursor = None if last is None else json.dumps([last["last_message_at"], last["rowid"]])
    return ThreadPage(threads=tuple(threads), cursor=cursor), tuple(problems)


def read_thread(connection: sqlite3.Connection, id_: str) -> tuple[StoredThread, Problems]:
    """Read one thread.

    Raises:
        ThreadNotFoundError: There is none.
    """
    row = connection.execute(f"SELECT {_COLUMNS} FROM threads WHERE id = ?", (id_,)).fetchone()
    thread, problems = (None, []) if row is None else _read(row)
    if thread is None:
        raise ThreadNotFoundError(id_, where="the file")
    return thread, tuple(problems)


def add_thread(connection: sqlite3.Connection, id_: str) -> None:
    """Make a thread; one that is there already stays as it is."""
    now = moment(datetime.now(UTC))
    with transaction(connection):
        connection.execute("INSERT OR IGNORE INTO threads (id, last_message_at) VALUES (?, ?)", (id_, now))


def change_thread(connection: sqlite3.Connection, id_: str, column: str, value: str) -> None:
    """Write one column of a thread.

    Raises:
        ThreadNotFoundError: There is no such thread.
    """
    with transaction(connection):
        if not connection.execute(_CHANGES[column], (value, id_)).rowcount:
            raise ThreadNotFoundError(id_, where="the file")


def delete_thread(connection: sqlite3.Connection, id_: str) -> None:
    """Delete a thread and its messages; one that is not there needs no deleting."""
    with transaction(connection):
        connection.execute("DELETE FROM threads WHERE id = ?", (id_,))


def custom_text(custom: Mapping[str, Any]) -> str:
    """Return custom values as the text of a row; raises ``TypeError`` or ``ValueError`` for what is no JSON."""
    return json.dumps(thaw(custom), ensure_ascii=True, allow_nan=False)


def _place(cursor: str | None) -> Sequence[Any]:
    if not cursor:
        return _TOP
    try:
        time, rowid = cast("list[Any]", json.loads(cursor))
        return (str(time), int(rowid))
    except (ValueError, TypeError) as error:
        text = f"{cursor!r} is no place in the list; use a cursor that a page came with"
        raise WireError(text, where="cursor") from error


def _read(row: sqlite3.Row) -> tuple[StoredThread | None, list[HistoryProblem]]:
    problems: list[HistoryProblem] = []

    def report(what: str, where: str) -> None:
        problems.append(HistoryProblem(thread_id=row["id"], message_id=None, what=what, where=where))

    if not isinstance(row["id"], str):
        report("its id is no text; it is not listed, but kept in the file", "id")
        return None, problems
    if row["status"] not in {"regular", "archived"}:
        report(f"its status {row['status']!r} is unknown; it is not listed, but kept in the file", "status")
        return None, problems
    custom: Any = {}
    try:
        custom = json.loads(row["custom"])
    except (ValueError, TypeError, RecursionError):
        custom = None
    if not isinstance(custom, dict):
        report("its custom values are no JSON object and are left out", "custom")
        custom = {}
    time: datetime | None = None
    try:
        time = datetime.fromisoformat(row["last_message_at"]) if row["last_message_at"] else None
    except (ValueError, TypeError):
        report(f"the time of its last message, {row['last_message_at']!r}, is none", "last_message_at")
    thread = StoredThread(
        id=row["id"],
        status=row["status"],
        title=row["title"],
        external_id=row["external_id"],
        last_message_at=time,
        custom=cast("dict[str, Any]", custom),
    )
    return thread, problems
