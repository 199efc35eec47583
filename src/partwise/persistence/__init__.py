"""Stores of history: where threads live when nobody shows them.

An SQLite file, by the standard library and in a worker thread, and stores in memory for tests: for the messages of one
thread, and for the list of all threads.
"""

from ._file import SqliteFile
from ._memory import MemoryHistory
from ._memory_threads import MemoryThreadList
from ._problems import HistoryProblem, ReportProblem, log_problem
from ._sqlite import SqliteHistory
from ._sqlite_threads import SqliteThreadList
from ._titles import simple_title

__all__ = [
    "HistoryProblem",
    "MemoryHistory",
    "MemoryThreadList",
    "ReportProblem",
    "SqliteFile",
    "SqliteHistory",
    "SqliteThreadList",
    "log_problem",
    "simple_title",
]
