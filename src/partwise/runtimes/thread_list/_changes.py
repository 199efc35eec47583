"""What users do to a list of threads, as values, and what a list is after each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, assert_never

import attrs

from partwise.adapters import ThreadIds
from partwise.messages import freeze

from ._listing import Listing, Record, placed, with_record, without

__all__ = ["Began", "Change", "Customized", "Deleted", "Initialized", "Moved", "Renamed", "apply"]


@attrs.frozen
class Began:
    """A new thread was opened, without a message yet."""

    id: str


@attrs.frozen
class Initialized:
    """A new thread got its first message; ``ids`` are the adapter's, once they are known."""

    id: str
    ids: ThreadIds | None = None


@attrs.frozen
class Renamed:
    """A thread got another title; None while the first piece of a made-up one is awaited."""

    id: str
    title: str | None


@attrs.frozen
class Customized:
    """The application's values were replaced."""

    id: str
    custom: Mapping[str, Any] = attrs.field(converter=freeze)


@attrs.frozen
class Moved:
    """A thread went to the other list."""

    id: str
    to: Literal["regular", "archived"]


@attrs.frozen
class Deleted:
    """A thread is gone."""

    id: str


Change: TypeAlias = Began | Initialized | Renamed | Customized | Moved | Deleted


def apply(listing: Listing, change: Change) -> Listing:
    """Return the list after a change. Done twice it is the same; for a thread that is gone, nothing happens."""
    if isinstance(change, Began):
        known = listing.find(change.id)
        return placed(listing, Record(id=change.id), at="front") if known is None else listing
    record = listing.find(change.id)
    if record is None:
        return listing
    match change:
        case Initialized():
            return _initialized(listing, record, change.ids)
        case Renamed():
            return listing if change.title is None else with_record(listing, attrs.evolve(record, title=change.title))
        case Customized():
            return with_record(listing, attrs.evolve(record, custom=change.custom))
        case Moved():
            is_new = record.status == "new"
            return listing if is_new else placed(listing, attrs.evolve(record, status=change.to), at="front")
        case Deleted():
            return without(listing, record.id)
        case _:
            assert_never(change)


def _initialized(listing: Listing, record: Record, ids: ThreadIds | None) -> Listing:
    if record.status == "new":
        record = attrs.evolve(record, status="regular")
        listing = placed(listing, record, at="front")
    if ids is None or record.remote_id is not None:
        return listing
    twin = listing.find(ids.id)
    if twin is not None and twin.id != record.id and twin.id != ids.id:
        # Two threads that were made here, the older one where another adapter kept it.
        listing = without(listing, twin.id)
        listing = placed(listing, attrs.evolve(twin, remote_id=None), at="end")
    elif twin is not None and twin.id != record.id:
        # A page listed the thread before its making was confirmed: one thread has one record.
        listing = without(listing, twin.id)
        record = attrs.evolve(record, title=record.title or twin.title, custom=record.custom or twin.custom)
    external_id = record.external_id if ids.external_id is None else ids.external_id
    return with_record(listing, attrs.evolve(record, remote_id=ids.id, external_id=external_id))
