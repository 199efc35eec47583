"""What turns user actions and model output into commits."""

from ._capabilities import CAPABILITIES
from ._composer import Composer, can_send
from ._operation import Operation
from ._queue import MessageQueue
from ._requests import AppendRequest
from ._thread import Runtime, Thread
from .local import LocalRuntime, LocalThread

__all__ = [
    "CAPABILITIES",
    "AppendRequest",
    "Composer",
    "LocalRuntime",
    "LocalThread",
    "MessageQueue",
    "Operation",
    "Runtime",
    "Thread",
    "can_send",
]
