"""A list of threads: which there are, which one is in view, and what may be done with each."""

from __future__ import annotations

from typing import Literal

from partwise.reactive import Slice
from partwise.runtimes import Operation, ThreadList
from partwise.store import ThreadListState, ThreadStatus

__all__ = ["ThreadListItemView", "ThreadListView"]


class ThreadListView:
    """Shows a list of threads and hands out the views of its rows.

    Attributes:
        ids: The new and the regular threads, in order; wakes when a row comes, goes or moves, not when one
            changes.
        archived_ids: The threads that were put away.
        main_id: The thread in view.
        is_loading: Whether the first page is on its way.
        can_load_more: Whether there is another page, and it is not on its way already.
        is_new: Whether the thread in view is a new one.
    """

    def __init__(self, threads: ThreadList) -> None:
        self._threads = threads
        self.ids: Slice[tuple[str, ...]] = threads.select(lambda state: (*state.new_ids, *state.regular_ids))
        self.archived_ids: Slice[tuple[str, ...]] = threads.select(lambda state: state.archived_ids)
        self.main_id: Slice[str | None] = threads.select(lambda state: state.main_id)
        self.is_loading: Slice[bool] = threads.select(lambda state: state.is_loading)
        self.can_load_more: Slice[bool] = threads.select(
            lambda state: state.has_more and not (state.is_loading or state.is_loading_more)
        )
        self.is_new: Slice[bool] = threads.select(lambda state: state.main_id in state.new_ids)

    def item(self, id: str) -> ThreadListItemView:
        """Return the view of one row."""
        return ThreadListItemView(self._threads, id)

    def new(self) -> Operation:
        """Bring a new thread into view."""
        return self._threads.switch_to_new()

    def load_more(self) -> Operation:
        """Fetch the next page; nothing happens when there is none."""
        return self._threads.load_more()

    def switch(self, to: Literal["previous", "next"]) -> Operation:
        """Bring the thread above or below into view; at the ends nothing happens."""
        ids, main_id = self.ids.value, self.main_id.value
        at = ids.index(main_id) if main_id in ids else -1
        goal = at + (1 if to == "next" else -1)
        return self._threads.switch_to(ids[goal]) if 0 <= goal < len(ids) else Operation.done()


class ThreadListItemView:
    """Shows one row, by its id; its slices give nothing more once the thread has left the list.

    Attributes:
        title: The title, or None while there is none.
        status: Whether it is new, regular or archived.
        is_main: Whether it is in view.
        is_running: Whether an answer is being made in it.
        is_unread: Whether an answer came while another thread was in view.
        can_rename, can_archive, can_unarchive: What its status allows; deleting and switching always are.
    """

    def __init__(self, threads: ThreadList, id: str) -> None:
        self._threads = threads
        self.id = id
        row = threads.row(id)
        self.title: Slice[str | None] = row.select(lambda row: row.title)
        self.status: Slice[ThreadStatus] = row.select(lambda row: row.status)
        self.is_running: Slice[bool] = row.select(lambda row: row.is_running)
        self.is_unread: Slice[bool] = row.select(lambda row: row.is_unread)
        self.is_main: Slice[bool] = threads.select(lambda state: state.main_id == id)
        self.can_rename: Slice[bool] = threads.select(lambda state: _has_status(state, id, "regular", "archived"))
        self.can_archive: Slice[bool] = threads.select(lambda state: _has_status(state, id, "regular"))
        self.can_unarchive: Slice[bool] = threads.select(lambda state: _has_status(state, id, "archived"))

    def switch_to(self) -> Operation:
        """Bring the thread into view."""
        return self._threads.switch_to(self.id)

    def rename(self, title: str) -> Operation:
        """Give it another title.

        Raises:
            NotAllowedError: It has no message yet.
        """
        return self._threads.rename(self.id, title)

    def archive(self) -> Operation:
        """Put it away.

        Raises:
            NotAllowedError: It is not a regular one.
        """
        return self._threads.archive(self.id)

    def unarchive(self) -> Operation:
        """Take it back.

        Raises:
            NotAllowedError: It was not put away.
        """
        return self._threads.unarchive(self.id)

    def delete(self) -> Operation:
        """Delete it for good."""
        return self._threads.delete(self.id)


def _has_status(state: ThreadListState, id: str, *statuses: str) -> bool:
    row = state.rows.get(id)
    return row is not None and row.status in statuses
