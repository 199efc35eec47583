"""Stores of history: where a thread lives when nobody shows it.

An SQLite file, by the standard library and in a worker thread, and a store in memory for tests.
"""

from ._memory import MemoryHistory
from ._problems import HistoryProblem, ReportProblem, log_problem
from ._sqlite import SqliteHistory

__all__ = ["HistoryProblem", "MemoryHistory", "ReportProblem", "SqliteHistory", "log_problem"]
