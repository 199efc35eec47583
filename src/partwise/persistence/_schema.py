"""The tables of a history file, their versions, and how it is opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from partwise.errors import HistoryError

__all__ = ["MESSAGE_FORMAT", "SCHEMA_VERSION", "moment", "open_database", "transaction"]

# Written into the file's header, so that another program's database is never taken for a history.
_APPLICATION_ID = 0x70777368
# The version of the JSON in a row; rows of a later one are kept, and reported, not read.
MESSAGE_FORMAT = 1
_BUSY_SECONDS = 5.0


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE threads (id TEXT PRIMARY KEY, head_id TEXT)")
    connection.execute(
        """
        CREATE TABLE messages (
            thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
            id TEXT NOT NULL,
            parent_id TEXT,
            position INTEGER NOT NULL,
            format INTEGER NOT NULL,
            json TEXT NOT NULL,
            run_config TEXT NOT NULL,
            PRIMARY KEY (thread_id, id)
        )
        """
    )
    connection.execute("CREATE UNIQUE INDEX messages_in_order ON messages (thread_id, position)")
    connection.execute("CREATE INDEX messages_by_parent ON messages (thread_id, parent_id)")
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")


def _describe_threads(connection: sqlite3.Connection) -> None:
    """Give each thread what a list of threads shows of it."""
    for column in (
        "status TEXT NOT NULL DEFAULT 'regular'",
        "title TEXT",
        "external_id TEXT",
        "custom TEXT NOT NULL DEFAULT '{}'",
        "last_message_at TEXT NOT NULL DEFAULT ''",
    ):
        connection.execute(f"ALTER TABLE threads ADD COLUMN {column}")
    rows = connection.execute(
        """
        SELECT thread_id, MAX(json_extract(json, '$.created_at')) FROM messages WHERE json_valid(json)
        GROUP BY thread_id
        """
    ).fetchall()
    for thread_id, latest in rows:
        connection.execute("UPDATE threads SET last_message_at = ? WHERE id = ?", (_sortable(latest), thread_id))
    connection.execute("CREATE INDEX threads_by_time ON threads (last_message_at)")


def _sortable(text: object) -> str:
    try:
        return moment(datetime.fromisoformat(str(text)))
    except ValueError:
        return ""


def moment(time: datetime) -> str:
    """Return a time as a text that sorts as times do."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


# The step at index N makes a file of version N one of version N + 1.
_STEPS: tuple[Callable[[sqlite3.Connection], None], ...] = (_create, _describe_threads)
SCHEMA_VERSION = len(_STEPS)


@contextmanager
def transaction(connection: sqlite3.Connection, *, writes: bool = True) -> Generator[None]:
    """Write all of the block or nothing of it; one that only reads sees one state, and waits for no writer."""
    connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # A full disk ends it at once in some places, and leaves it open where the commit itself fails.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def open_database(path: str) -> sqlite3.Connection:
    """Open a history file, making it and its folder when they are not there, in the newest schema.

    Args:
        path: A file, or ``":memory:"``.

    Raises:
        HistoryError: It cannot be opened, or it is the database of another program or of a later version.
    """
    try:
        if path != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).touch(mode=0o600)
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.text_factory = _text
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
    except (sqlite3.Error, OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise HistoryError(operation="open", text=f"cannot open {path!r}: {why}") from error
    return connection


def _text(raw: bytes) -> str:
    # One damaged text must not make all rows unreadable.
    return raw.decode("utf-8", "replace")


def _prepare(connection: sqlite3.Connection, path: str) -> None:
    version = _checked_version(connection, path)
    connection.execute("PRAGMA journal_mode = WAL")
    # With a write-ahead log, NORMAL writes to the operating system at each commit and to the disk at
    # checkpoints: a killed process loses nothing that was committed, a power cut may lose the last
    # commits but never the file. FULL would cost ten times as much for each message.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    if version < SCHEMA_VERSION:
        _migrate(connection)


def _number(connection: sqlite3.Connection, question: str) -> int:
    return int(connection.execute(question).fetchone()[0])


def _checked_version(connection: sqlite3.Connection, path: str) -> int:
    version = _number(connection, "PRAGMA user_version")
    owner = _number(connection, "PRAGMA application_id")
    if owner != _APPLICATION_ID and _number(connection, "SELECT COUNT(*) FROM sqlite_master"):
        raise HistoryError(
            operation="open", text=f"will not touch {path!r}: it is another program's database. Choose another file."
        )
    if version > SCHEMA_VERSION:
        raise HistoryError(
            operation="open",
            text=f"cannot read {path!r}: a later version of partwise wrote it (schema {version}, this one knows "
            f"{SCHEMA_VERSION}). Update partwise, or choose another file.",
        )
    return version


def _migrate(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        # Read again inside: another process may have been faster.
        version = _number(connection, "PRAGMA user_version")
        for step in _STEPS[version:]:
            step(connection)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
