"""The thread list runtime: many conversations, any number of them open, one in view."""

from ._item import OpenThread, ThreadItem
from ._runtime import ThreadListRuntime

__all__ = ["OpenThread", "ThreadItem", "ThreadListRuntime"]
