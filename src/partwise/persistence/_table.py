"""What is read and written for one thread, in plain SQL; called in the worker thread."""

from __future__ import annotations

import sqlite3

from partwise.adapters import HistoryItem, LoadedHistory

from ._mending import mend, surviving_parents
from ._problems import HistoryProblem
from ._rows import message_text, read_rows, run_config_text
from ._schema import MESSAGE_FORMAT, moment, transaction

__all__ = ["ThreadTable"]

_STORE = """
INSERT INTO messages (thread_id, id, parent_id, position, format, json, run_config)
VALUES (
    :thread, :id, :parent,
    (SELECT COALESCE(MAX(position), 0) + 1 FROM messages WHERE thread_id = :thread),
    :format, :json, :run_config
)
ON CONFLICT (thread_id, id) DO UPDATE SET
    parent_id = excluded.parent_id, format = excluded.format, json = excluded.json, run_config = excluded.run_config
"""


class ThreadTable:
    """The rows of one thread.

    Args:
        thread_id: The thread.
    """

    def __init__(self, thread_id: str) -> None:
        self._thread_id = thread_id
        # Once somebody says which branch is shown, a write elsewhere no longer moves the head.
        self._head_is_told = False
        self._coming_head: str | None = None

    def load(self, connection: sqlite3.Connection) -> tuple[LoadedHistory | None, tuple[HistoryProblem, ...]]:
        """Read the thread; return what can be shown, and what is wrong with the rest."""
        with transaction(connection, writes=False):
            head_id = self._head(connection)
            # The text as bytes: one that is no UTF-8 is then bad JSON, and not JSON with other characters.
            rows = connection.execute(
                "SELECT id, parent_id, format, CAST(json AS BLOB) AS json "
                "FROM messages WHERE thread_id = ? ORDER BY position",
                (self._thread_id,),
            ).fetchall()
        stored, unreadable = read_rows(rows, self._thread_id)
        loaded, mended = mend(stored, head_id, self._thread_id)
        return loaded, unreadable + mended

    def put(self, connection: sqlite3.Connection, item: HistoryItem) -> tuple[HistoryProblem, ...]:
        """Insert or replace a message, and move the head to it where it extends the branch that is shown."""
        id_ = item.message.id
        run_config = run_config_text(item.run_config)
        values = {
            "thread": self._thread_id,
            "id": id_,
            "parent": item.parent_id,
            "format": MESSAGE_FORMAT,
            "json": message_text(item.message),
            "run_config": "{}" if run_config is None else run_config,
        }
        with transaction(connection):
            connection.execute("INSERT OR IGNORE INTO threads (id) VALUES (?)", (self._thread_id,))
            is_new = not self._is_stored(connection, id_)
            connection.execute(_STORE, values)
            extends = not self._head_is_told or id_ == self._coming_head or self._head(connection) == item.parent_id
            if is_new and extends:
                self._write_head(connection, id_)
            if is_new:
                connection.execute(
                    "UPDATE threads SET last_message_at = MAX(last_message_at, ?) WHERE id = ?",
                    (moment(item.message.created_at), self._thread_id),
                )
        if run_config is not None:
            return ()
        what = "its run config is no JSON and was not stored; the message was"
        return (HistoryProblem(thread_id=self._thread_id, message_id=id_, what=what, where="run_config"),)

    def delete(self, connection: sqlite3.Connection, items: tuple[HistoryItem, ...]) -> None:
        """Delete messages and give their children to the parents that the items name, all or nothing."""
        heirs = surviving_parents(items)
        with transaction(connection):
            head_id = self._head(connection)
            for id_, parent_id in heirs.items():
                connection.execute(
                    "UPDATE messages SET parent_id = ? WHERE thread_id = ? AND parent_id = ?",
                    (parent_id, self._thread_id, id_),
                )
                connection.execute("DELETE FROM messages WHERE thread_id = ? AND id = ?", (self._thread_id, id_))
            if head_id in heirs:
                self._write_head(connection, self._newest_below(connection, heirs[head_id]))

    def set_head(self, connection: sqlite3.Connection, message_id: str | None) -> None:
        """Make a message the head, now or when it is stored."""
        self._head_is_told = True
        if message_id is not None and not self._is_stored(connection, message_id):
            self._coming_head = message_id
            return
        self._coming_head = None
        with transaction(connection):
            self._write_head(connection, message_id)

    def _head(self, connection: sqlite3.Connection) -> str | None:
        row = connection.execute("SELECT head_id FROM threads WHERE id = ?", (self._thread_id,)).fetchone()
        return None if row is None else row["head_id"]

    def _write_head(self, connection: sqlite3.Connection, message_id: str | None) -> None:
        connection.execute("UPDATE threads SET head_id = ? WHERE id = ?", (message_id, self._thread_id))

    def _is_stored(self, connection: sqlite3.Connection, id_: str) -> bool:
        question = "SELECT 1 FROM messages WHERE thread_id = ? AND id = ?"
        return connection.execute(question, (self._thread_id, id_)).fetchone() is not None

    def _newest_below(self, connection: sqlite3.Connection, id_: str | None) -> str | None:
        passed = {id_}
        while True:
            row = connection.execute(
                "SELECT id FROM messages WHERE thread_id = ? AND parent_id IS ? ORDER BY position DESC LIMIT 1",
                (self._thread_id, id_),
            ).fetchone()
            if row is None or row["id"] in passed:
                return id_
            id_ = row["id"]
            passed.add(id_)
