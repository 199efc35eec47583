"""The external-store runtime: messages owned elsewhere, shown and acted upon here."""

from ._options import (
    ApprovalResponse,
    BranchChange,
    ExternalFields,
    ExternalOptions,
    ExternalSnapshot,
    RunRequest,
    ToolOutput,
)
from ._read_only import empty_runtime, read_only_runtime
from ._runtime import ExternalStoreRuntime
from ._thread import ExternalThread

__all__ = [
    "ApprovalResponse",
    "BranchChange",
    "ExternalFields",
    "ExternalOptions",
    "ExternalSnapshot",
    "ExternalStoreRuntime",
    "ExternalThread",
    "RunRequest",
    "ToolOutput",
    "empty_runtime",
    "read_only_runtime",
]
