"""A process that is killed in the middle of its writes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio

from partwise.adapters import LoadedHistory
from partwise.persistence import SqliteHistory
from tests.persistence.conversations import tree

WRITER = """
import sys
from datetime import UTC, datetime

import anyio

from partwise.adapters import HistoryItem
from partwise.messages import TextPart, UserMessage
from partwise.persistence import SqliteHistory


async def main():
    history = SqliteHistory(sys.argv[1])
    parent_id = None
    for number in range(100_000):
        message = UserMessage(id=f"u{number}", created_at=datetime.now(UTC), content=(TextPart("x" * 500),))
        await history.append(HistoryItem(parent_id=parent_id, message=message))
        parent_id = message.id
        print(message.id, flush=True)


anyio.run(main)
"""


async def load(path: Path) -> LoadedHistory | None:
    async with SqliteHistory(path) as history:
        return await history.load()


def test_a_killed_process_loses_no_write_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    command = [sys.executable, "-c", WRITER, str(path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        acknowledged = [process.stdout.readline().strip() for _ in range(50)]
        process.kill()
        acknowledged += process.stdout.read().split("\n")[:-1]

    loaded = anyio.run(load, path)

    assert process.returncode == -signal.SIGKILL
    stored = list(tree(loaded))
    assert stored[: len(acknowledged)] == acknowledged
    assert len(stored) <= len(acknowledged) + 1
    assert loaded is not None
    assert loaded.head_id == stored[-1]
