"""From what is known to what is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from partwise.store import ThreadListState, ThreadRow

from ._listing import Listing, Record

__all__ = ["NOTHING_LIVE", "Facts", "shown"]


@attrs.frozen(kw_only=True)
class Facts:
    """What only this process knows of a thread."""

    is_live: bool = False
    is_running: bool = False
    is_unread: bool = False


NOTHING_LIVE = Facts()


def shown(state: ThreadListState, listing: Listing, facts: Mapping[str, Facts]) -> ThreadListState:
    """Return the snapshot of a list; rows that did not change stay the objects that they were."""
    rows: list[tuple[str, ThreadRow]] = []
    for id in listing.ids:
        row = _row(listing.records[id], facts.get(id, NOTHING_LIVE))
        before = state.rows.get(id)
        rows.append((id, before if before is not None and before == row else row))
    fields: dict[str, Any] = {
        "rows": state.rows.with_items(rows),
        "new_ids": listing.new_ids,
        "regular_ids": listing.regular_ids,
        "archived_ids": listing.archived_ids,
        "has_more": listing.cursor is not None,
    }
    changed = {name: value for name, value in fields.items() if not _is_same(getattr(state, name), value)}
    return attrs.evolve(state, **changed) if changed else state


def _is_same(one: Any, other: Any) -> bool:
    return one is other or (not hasattr(one, "keys") and one == other)


def _row(record: Record, facts: Facts) -> ThreadRow:
    return ThreadRow(
        id=record.id,
        remote_id=record.remote_id,
        external_id=record.external_id,
        status=record.status,
        title=record.title,
        last_message_at=record.last_message_at,
        custom=record.custom,
        is_live=facts.is_live,
        is_running=facts.is_running,
        is_unread=facts.is_unread,
    )
