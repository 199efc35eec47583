"""What turns user actions and model output into commits."""

from ._capabilities import CAPABILITIES
from ._composer import Composer, can_send
from ._operation import Operation
from ._queue import MessageQueue
from ._requests import AppendRequest
from ._thread import Runtime, Thread
from .local import LocalRuntime, LocalThread
from .thread_list import OpenThread, ThreadItem, ThreadListRuntime

__all__ = [
    "CAPABILITIES",
    "AppendRequest",
    "Composer",
    "LocalRuntime",
    "LocalThread",
    "MessageQueue",
    "OpenThread",
    "Operation",
    "Runtime",
    "Thread",
    "ThreadItem",
    "ThreadListRuntime",
    "can_send",
]
