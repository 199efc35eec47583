"""A thread list that lives as long as its object."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from typing import Any

import attrs

from partwise.adapters import StoredThread, ThreadIds, ThreadPage, TitleFunction
from partwise.errors import ThreadListError, ThreadNotFoundError
from partwise.messages import Message

from ._memory import MemoryHistory
from ._titles import title_pieces

__all__ = ["MemoryThreadList"]


class MemoryThreadList:
    """Keeps threads and their histories as values, newest first; for tests, examples and chats that are not kept.

    Args:
        threads: What is kept from the start.
        title: Makes a title out of messages when the list is asked for one.
        page_size: How many threads a page has at most.
    """

    def __init__(
        self, threads: Iterable[StoredThread] = (), *, title: TitleFunction | None = None, page_size: int = 50
    ) -> None:
        self._threads = {thread.id: thread for thread in threads}
        # Places grow from the oldest thread to the newest and are never used again, so a cursor outlives its thread.
        self._places = {id: -number for number, id in enumerate(self._threads)}
        self._next_place = 1
        self._histories: dict[str, MemoryHistory] = {}
        self._title = title
        self._page_size = page_size

    @property
    def threads(self) -> tuple[StoredThread, ...]:
        """What is kept, newest first."""
        return tuple(self._threads.values())

    def history(self, thread_id: str) -> MemoryHistory:
        """Return the history of one thread, the same one each time."""
        return self._histories.setdefault(thread_id, MemoryHistory())

    async def list(self, cursor: str | None = None, /) -> ThreadPage:
        """Return a page.

        Raises:
            ThreadListError: The cursor is none that a page came with.
        """
        below = self._next_place if not cursor else _place(cursor)
        following = [thread for thread in self.threads if self._places[thread.id] < below]
        page = following[: self._page_size]
        has_more = len(following) > len(page)
        return ThreadPage(threads=page, cursor=str(self._places[page[-1].id]) if has_more and page else None)

    async def fetch(self, thread_id: str, /) -> StoredThread:
        """Return one thread.

        Raises:
            ThreadNotFoundError: There is none.
        """
        return self._get(thread_id)

    async def initialize(self, local_id: str, /) -> ThreadIds:
        """Make a thread; it is kept under the id that it has already."""
        if local_id not in self._threads:
            self._threads = {local_id: StoredThread(id=local_id), **self._threads}
            self._places[local_id] = self._next_place
            self._next_place += 1
        return ThreadIds(id=local_id)

    async def rename(self, thread_id: str, title: str, /) -> None:
        """Give a thread a title."""
        self._change(thread_id, title=title)

    async def archive(self, thread_id: str, /) -> None:
        """Put a thread away."""
        self._change(thread_id, status="archived")

    async def unarchive(self, thread_id: str, /) -> None:
        """Take a thread back."""
        self._change(thread_id, status="regular")

    async def delete(self, thread_id: str, /) -> None:
        """Delete a thread and its history."""
        self._threads.pop(thread_id, None)
        self._places.pop(thread_id, None)
        self._histories.pop(thread_id, None)

    async def update_custom(self, thread_id: str, custom: Mapping[str, Any], /) -> None:
        """Replace the custom values of a thread."""
        self._change(thread_id, custom=custom)

    async def generate_title(self, thread_id: str, messages: tuple[Message, ...], /) -> AsyncGenerator[str, None]:
        """Yield a title in pieces, and keep it when it is whole; yield nothing without a title function."""
        whole = ""
        async for piece in title_pieces(self._title, messages):
            whole += piece
            yield piece
        if whole:
            self._change(thread_id, title=whole)

    def _get(self, thread_id: str) -> StoredThread:
        thread = self._threads.get(thread_id)
        if thread is None:
            raise ThreadNotFoundError(thread_id, where="this list")
        return thread

    def _change(self, thread_id: str, **fields: Any) -> None:
        self._threads[thread_id] = attrs.evolve(self._get(thread_id), **fields)


def _place(cursor: str) -> int:
    try:
        return int(cursor)
    except ValueError as error:
        operation = "list"
        text = f"could not list: {cursor!r} is no place in the list; use a cursor that a page came with"
        raise ThreadListError(operation, text) from error
