"""The external-store runtime: messages owned elsewhere, shown and acted upon here."""

from ._host_threads import DEFAULT_THREAD_ID, ExternalThreads
from ._options import (
    ApprovalResponse,
    BranchChange,
    ExternalFields,
    ExternalOptions,
    ExternalSnapshot,
    ExternalUpdate,
    RunRequest,
    ToolOutput,
)
from ._read_only import empty_runtime, read_only_runtime
from ._runtime import ExternalStoreRuntime
from ._thread import ExternalThread
from ._thread_list import ExternalThreadList

__all__ = [
    "DEFAULT_THREAD_ID",
    "ApprovalResponse",
    "BranchChange",
    "ExternalFields",
    "ExternalOptions",
    "ExternalSnapshot",
    "ExternalStoreRuntime",
    "ExternalThread",
    "ExternalThreadList",
    "ExternalThreads",
    "ExternalUpdate",
    "RunRequest",
    "ToolOutput",
    "empty_runtime",
    "read_only_runtime",
]
