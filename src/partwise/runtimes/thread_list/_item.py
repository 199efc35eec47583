"""What a runtime is told about the thread that it is made for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

import attrs

from partwise.runtimes._thread import Runtime

__all__ = ["OpenThread", "ThreadItem"]


@attrs.frozen(eq=False)
class ThreadItem:
    """One thread of a list, for the function that makes its runtime.

    Attributes:
        id: The id that it has in the list, from first to last.
        initialize: Makes the thread where threads are kept, before its first message; hand it to the
            runtime. Returns None when that has been done.
        find_remote_id: Returns the id under which it is kept; None before that.
    """

    id: str
    initialize: Callable[[], Awaitable[object] | None]
    find_remote_id: Callable[[], str | None]


# Makes the runtime of a thread; whatever else the thread needs may be opened and closed along with it.
OpenThread: TypeAlias = Callable[[ThreadItem], AbstractAsyncContextManager[Runtime, bool | None]]
