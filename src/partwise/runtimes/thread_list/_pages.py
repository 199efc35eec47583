"""What an adapter hands over, checked and merged into what is known."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

import attrs

from partwise.adapters import StoredThread, ThreadIds, ThreadPage
from partwise.errors import ThreadListError

from ._listing import Listing, Record, placed, with_record

__all__ = ["checked_ids", "checked_page", "checked_thread", "merged_fresh", "merged_more", "merged_thread"]


def checked_page(page: object) -> tuple[ThreadPage, tuple[str, ...]]:
    """Return a page without repetitions, and the ids that were repeated.

    Raises:
        ThreadListError: It is no page, or holds something that is no thread; nothing of it is used.
    """
    operation = "list"
    if not isinstance(page, ThreadPage):
        text = f"answered list with a {type(page).__name__}; it has to return a ThreadPage"
        raise ThreadListError(operation, text)
    if page.cursor is not None and not isinstance(cast("object", page.cursor), str):
        text = f"answered list with a cursor of type {type(page.cursor).__name__}; it has to be a text or None"
        raise ThreadListError(operation, text)
    threads: dict[str, StoredThread] = {}
    repeated: dict[str, None] = {}
    for thread in page.threads:
        checked_thread(thread, operation)
        if thread.id in threads:
            repeated[thread.id] = None
        else:
            threads[thread.id] = thread
    return ThreadPage(threads=threads.values(), cursor=page.cursor or None), tuple(repeated)


def checked_thread(thread: object, operation: str) -> StoredThread:
    """Return a thread.

    Raises:
        ThreadListError: It is none, or its id or status cannot be used.
    """
    if not isinstance(thread, StoredThread):
        text = f"answered {operation} with a {type(thread).__name__} in place of a StoredThread"
        raise ThreadListError(operation, text)
    if not isinstance(cast("object", thread.id), str) or not thread.id:
        text = f"answered {operation} with a thread whose id is {thread.id!r}; it has to be a text"
        raise ThreadListError(operation, text)
    if thread.status not in {"regular", "archived"}:
        text = f"answered {operation} with the status {thread.status!r} of thread {thread.id!r}; known are "
        raise ThreadListError(operation, f"{text}'regular' and 'archived'", thread_id=thread.id)
    return thread


def checked_ids(ids: object, local_id: str) -> ThreadIds:
    """Return the ids of a thread that was made.

    Raises:
        ThreadListError: They are none.
    """
    if isinstance(ids, ThreadIds) and isinstance(cast("object", ids.id), str) and ids.id:
        return ids
    operation = "initialize"
    text = f"answered initialize of thread {local_id!r} with {ids!r}; it has to return ThreadIds with an id"
    raise ThreadListError(operation, text, thread_id=local_id)


def merged_fresh(listing: Listing, page: ThreadPage, kept: Collection[str]) -> Listing:
    """Put the first page in the place of the two lists.

    Threads that are not on it go, except for those to be kept, which come after the others: they may be
    on a later page. New threads stay. One that is listed and known by another id keeps its record.
    """
    records = {id: listing.records[id] for id in listing.new_ids}
    fresh = Listing(
        records=records,
        aliases={record.remote_id: id for id, record in records.items() if record.remote_id is not None},
        new_ids=listing.new_ids,
        cursor=page.cursor,
    )
    for thread in page.threads:
        known = listing.find(thread.id)
        fresh = placed(fresh, _record(thread, known), at="end")
    for id in (*listing.regular_ids, *listing.archived_ids):
        if id in kept and id not in fresh.records:
            fresh = placed(fresh, listing.records[id], at="end")
    return fresh


def merged_more(listing: Listing, page: ThreadPage) -> Listing:
    """Add another page at the end; of threads that are known by either id, what is new about them is taken over."""
    for thread in page.threads:
        listing = merged_thread(listing, thread)
    return attrs.evolve(listing, cursor=page.cursor)


def merged_thread(listing: Listing, thread: StoredThread) -> Listing:
    """Add one thread, or what is new about it; it goes to the end of its list, unless it is in it already."""
    known = listing.find(thread.id)
    record = _record(thread, known)
    if known is not None and known.status == record.status:
        return with_record(listing, record)
    return placed(listing, record, at="end")


def _record(thread: StoredThread, known: Record | None) -> Record:
    return Record(
        id=thread.id if known is None else known.id,
        remote_id=thread.id,
        external_id=thread.external_id,
        status=thread.status,
        title=thread.title,
        last_message_at=thread.last_message_at,
        custom=thread.custom,
    )
