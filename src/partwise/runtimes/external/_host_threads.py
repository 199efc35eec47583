"""Which threads the owner of an external store has, as it says, and what is shown of that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

import attrs

from partwise.reactive import KeyedSeq
from partwise.store import ThreadListState, ThreadRow, ThreadStatus

__all__ = ["DEFAULT_THREAD_ID", "ExternalThreads", "listed", "twice_listed"]

DEFAULT_THREAD_ID: Final = "main"

Answer: TypeAlias = Awaitable[object] | None


def _rows(rows: Iterable[ThreadRow] | None) -> tuple[ThreadRow, ...] | None:
    return None if rows is None else tuple(rows)


@attrs.frozen(kw_only=True)
class ExternalThreads:
    """The threads of an owner, and what it does with them.

    A function that is None is something that cannot be done; each may be plain or async. The owner answers
    ``on_switch_to`` by an update with another ``current_id`` and the messages of that thread.

    Attributes:
        current_id: The thread whose messages are given.
        regular: The threads, in order; None: the owner has no list, and the current one is the only one.
        archived: Those that were put away, in order.
        is_loading: Whether the list is on its way.
        on_switch_to: Brings a thread into view.
        on_switch_to_new: Brings a new thread into view.
        on_rename: Takes the id and the title.
        on_update_custom: Takes the id and the fields.
        on_archive, on_unarchive, on_delete: Take the id.
    """

    current_id: str = DEFAULT_THREAD_ID
    regular: tuple[ThreadRow, ...] | None = attrs.field(default=None, converter=_rows)
    archived: tuple[ThreadRow, ...] = attrs.field(default=(), converter=tuple)
    is_loading: bool = False
    on_switch_to: Callable[[str], Answer] | None = None
    on_switch_to_new: Callable[[], Answer] | None = None
    on_rename: Callable[[str, str], Answer] | None = None
    on_update_custom: Callable[[str, Mapping[str, Any]], Answer] | None = None
    on_archive: Callable[[str], Answer] | None = None
    on_unarchive: Callable[[str], Answer] | None = None
    on_delete: Callable[[str], Answer] | None = None


def twice_listed(threads: ExternalThreads) -> tuple[str, ...]:
    """Return the ids that the owner lists more than once; the first row of each is shown."""
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for row in (*(threads.regular or ()), *threads.archived):
        if row.id in seen:
            twice[row.id] = None
        seen.add(row.id)
    return tuple(twice)


def listed(threads: ExternalThreads, before: ThreadListState, *, is_running: bool) -> ThreadListState:
    """Return what is shown of the threads.

    The current one has a row even if the owner does not list it; only without any list is it in it.

    Args:
        threads: What the owner says.
        before: What was shown; rows that are equal stay the same objects.
        is_running: Whether an answer is being made in the current thread.
    """
    rows: dict[str, ThreadRow] = {}
    ids: dict[ThreadStatus, list[str]] = {"regular": [], "archived": []}
    lists: tuple[tuple[ThreadStatus, tuple[ThreadRow, ...]], ...] = (
        ("regular", threads.regular or ()),
        ("archived", threads.archived),
    )
    for status, given in lists:
        for row in given:
            if row.id not in rows:
                rows[row.id] = row if row.status == status else attrs.evolve(row, status=status)
                ids[status].append(row.id)
    current = rows.get(threads.current_id) or ThreadRow(id=threads.current_id, status="regular")
    rows[current.id] = attrs.evolve(current, is_live=True, is_running=current.is_running or is_running)
    if threads.regular is None and threads.current_id not in ids["archived"]:
        ids["regular"] = [threads.current_id]
    return ThreadListState(
        rows=before.rows.with_items((id, _shared(before.rows, row)) for id, row in rows.items()),
        regular_ids=tuple(ids["regular"]),
        archived_ids=tuple(ids["archived"]),
        main_id=threads.current_id,
        is_loading=threads.is_loading,
        capabilities=_capabilities(threads),
    )


def _shared(rows: KeyedSeq[str, ThreadRow], row: ThreadRow) -> ThreadRow:
    known = rows.get(row.id)
    return known if known is not None and known == row else row


def _capabilities(threads: ExternalThreads) -> frozenset[str]:
    names = ("switch_to", "switch_to_new", "rename", "update_custom", "archive", "unarchive", "delete")
    return frozenset(name for name in names if getattr(threads, f"on_{name}") is not None)
