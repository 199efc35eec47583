"""What is known of all threads, as one value, and how one thread is put into it or taken out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

import attrs

from partwise.messages import FrozenDict, freeze
from partwise.store import ThreadStatus

__all__ = ["Listing", "Record", "placed", "with_record", "without"]


@attrs.frozen(kw_only=True)
class Record:
    """One thread; ``id`` stays as it is from first to last, ``remote_id`` is the adapter's."""

    id: str
    remote_id: str | None = None
    external_id: str | None = None
    status: ThreadStatus = "new"
    title: str | None = None
    last_message_at: datetime | None = None
    custom: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=freeze)


@attrs.frozen(kw_only=True)
class Listing:
    """All threads that are known.

    Attributes:
        records: By record id.
        aliases: The record id for each remote id.
        new_ids, regular_ids, archived_ids: Record ids; each record is in exactly one of them.
        cursor: Where the next page begins; None when there is none.
    """

    records: Mapping[str, Record] = attrs.field(factory=dict[str, Record])
    aliases: Mapping[str, str] = attrs.field(factory=dict[str, str])
    new_ids: tuple[str, ...] = ()
    regular_ids: tuple[str, ...] = ()
    archived_ids: tuple[str, ...] = ()
    cursor: str | None = None

    def find(self, id: str) -> Record | None:
        """Return the record with an id of either kind."""
        record = self.records.get(id)
        return record if record is not None else self.records.get(self.aliases.get(id, ""))

    @property
    def ids(self) -> tuple[str, ...]:
        """All record ids: new, regular, archived."""
        return (*self.new_ids, *self.regular_ids, *self.archived_ids)


def with_record(listing: Listing, record: Record) -> Listing:
    """Put a newer version of a record in its place; its status must be the same."""
    if listing.records.get(record.id) == record:
        return listing
    aliases = listing.aliases
    if record.remote_id is not None and aliases.get(record.remote_id) != record.id:
        others = {remote_id: id for remote_id, id in aliases.items() if id != record.id}
        aliases = {**others, record.remote_id: record.id}
    return attrs.evolve(listing, records={**listing.records, record.id: record}, aliases=aliases)


def without(listing: Listing, id: str) -> Listing:
    """Take a record out; one that is not there needs no taking."""
    if id not in listing.records:
        return listing
    return attrs.evolve(
        listing,
        records={key: record for key, record in listing.records.items() if key != id},
        aliases={remote_id: key for remote_id, key in listing.aliases.items() if key != id},
        new_ids=_but(listing.new_ids, id),
        regular_ids=_but(listing.regular_ids, id),
        archived_ids=_but(listing.archived_ids, id),
    )


def placed(listing: Listing, record: Record, *, at: Literal["front", "end"]) -> Listing:
    """Put a record, known or not, into the list of its status; one that is in it already keeps its place."""
    known = listing.records.get(record.id)
    if known is not None and known.status == record.status:
        return with_record(listing, record)
    taken = attrs.evolve(
        listing,
        new_ids=_but(listing.new_ids, record.id),
        regular_ids=_but(listing.regular_ids, record.id),
        archived_ids=_but(listing.archived_ids, record.id),
    )
    name = f"{record.status}_ids"
    ids: tuple[str, ...] = getattr(taken, name)
    ids = (record.id, *ids) if at == "front" else (*ids, record.id)
    fields: dict[str, Any] = {name: ids}
    return with_record(attrs.evolve(taken, **fields), record)


def _but(ids: tuple[str, ...], id: str) -> tuple[str, ...]:
    return tuple(one for one in ids if one != id) if id in ids else ids
