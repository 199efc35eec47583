"""The protocol of a thread list: where the names of all conversations live."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, Protocol, TypeAlias

import attrs

from partwise.messages import FrozenDict, Message, freeze

__all__ = [
    "CustomThreads",
    "StoredThread",
    "ThreadIds",
    "ThreadListAdapter",
    "ThreadPage",
    "TitleFunction",
    "TitlingThreads",
]


@attrs.frozen(kw_only=True)
class StoredThread:
    """What a thread list keeps of one thread, beside its messages.

    Attributes:
        id: The id by which the adapter knows it.
        external_id: An id of somebody else's, carried along.
        custom: Anything of the application's.
    """

    id: str
    status: Literal["regular", "archived"] = "regular"
    title: str | None = None
    external_id: str | None = None
    last_message_at: datetime | None = None
    custom: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=freeze)


def _threads(threads: Iterable[StoredThread]) -> tuple[StoredThread, ...]:
    return tuple(threads)


@attrs.frozen(kw_only=True)
class ThreadPage:
    """A stretch of the list, newest first; ``cursor`` asks for the next one, and is None (or empty) at the end."""

    threads: tuple[StoredThread, ...] = attrs.field(default=(), converter=_threads)
    cursor: str | None = None


@attrs.frozen(kw_only=True)
class ThreadIds:
    """Under which ids a new thread is kept from now on."""

    id: str
    external_id: str | None = None


class ThreadListAdapter(Protocol):
    """Keeps a list of threads. Further abilities are further methods, found by their names.

    Calls about one thread are made one after the other; calls about different threads may overlap.
    """

    async def list(self, cursor: str | None = None, /) -> ThreadPage:
        """Return the first page, or the one at a cursor."""
        ...

    async def fetch(self, thread_id: str, /) -> StoredThread:
        """Return one thread, which may be on no page that was asked for; raise when there is none."""
        ...

    async def initialize(self, local_id: str, /) -> ThreadIds:
        """Make a thread, before its first message is stored; asked again after a failure, make it once."""
        ...

    async def rename(self, thread_id: str, title: str, /) -> None:
        """Give a thread a title."""
        ...

    async def archive(self, thread_id: str, /) -> None:
        """Put a thread away."""
        ...

    async def unarchive(self, thread_id: str, /) -> None:
        """Take a thread back."""
        ...

    async def delete(self, thread_id: str, /) -> None:
        """Delete a thread with its messages."""
        ...


class CustomThreads(ThreadListAdapter, Protocol):
    """A thread list that also keeps what the application says about a thread."""

    async def update_custom(self, thread_id: str, custom: Mapping[str, Any], /) -> None:
        """Replace the custom values of a thread."""
        ...


class TitlingThreads(ThreadListAdapter, Protocol):
    """A thread list that can make up titles."""

    def generate_title(self, thread_id: str, messages: tuple[Message, ...], /) -> AsyncIterable[str]:
        """Yield a title in pieces and keep it; yield nothing to leave the thread as it is."""
        ...


# Makes a title: at once, later, or in pieces. An empty one counts as none.
TitleFunction: TypeAlias = Callable[[tuple[Message, ...]], str | Awaitable[str] | AsyncIterable[str]]
