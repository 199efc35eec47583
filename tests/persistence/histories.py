"""What the tests of histories look at: reports, and the file behind them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from partwise.persistence import HistoryProblem


class Reports(list[HistoryProblem]):
    def __call__(self, problem: HistoryProblem) -> None:
        self.append(problem)


def query(path: Path, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        return connection.execute(statement, values).fetchall()
