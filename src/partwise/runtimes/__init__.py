"""What turns user actions and model output into commits."""

from ._attachment_kinds import CompositeAttachments, ImageAttachments, TextAttachments
from ._capabilities import CAPABILITIES
from ._composer import Composer, can_send
from ._operation import Operation
from ._queue import MessageQueue, QueueDriver
from ._requests import AppendRequest
from ._thread import Runtime, Thread
from ._threads import ThreadList
from .external import (
    ApprovalResponse,
    BranchChange,
    ExternalFields,
    ExternalSnapshot,
    ExternalStoreRuntime,
    ExternalThread,
    ExternalThreadList,
    ExternalThreads,
    RunRequest,
    ToolOutput,
    empty_runtime,
    read_only_runtime,
)
from .local import LocalRuntime, LocalThread
from .thread_list import OpenThread, ThreadItem, ThreadListRuntime

__all__ = [
    "CAPABILITIES",
    "AppendRequest",
    "ApprovalResponse",
    "BranchChange",
    "Composer",
    "CompositeAttachments",
    "ExternalFields",
    "ExternalSnapshot",
    "ExternalStoreRuntime",
    "ExternalThread",
    "ExternalThreadList",
    "ExternalThreads",
    "ImageAttachments",
    "LocalRuntime",
    "LocalThread",
    "MessageQueue",
    "OpenThread",
    "Operation",
    "QueueDriver",
    "RunRequest",
    "Runtime",
    "TextAttachments",
    "Thread",
    "ThreadItem",
    "ThreadList",
    "ThreadListRuntime",
    "ToolOutput",
    "can_send",
    "empty_runtime",
    "read_only_runtime",
]
