"""Confirmed facts, and the changes on top of them in the order in which they were made.

What is shown is always the base with every change of the ledger applied. A change that is confirmed stays
where it is until all before it are settled, so the order in which an adapter answers changes nothing; one
that failed is taken out, and only its own effect goes. While a page is being fetched, nothing that was
confirmed meanwhile is folded into the base: the page may not know of it yet.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import attrs

from ._changes import Change, apply
from ._listing import Listing

__all__ = [
    "Entry",
    "Ledger",
    "began",
    "confirmed",
    "exchanged",
    "failed",
    "fetch_began",
    "fetch_ended",
    "noted",
    "revised",
    "view",
]


@attrs.frozen(kw_only=True)
class Entry:
    """One change; ``confirmed_at`` is the ledger's time when its adapter confirmed it."""

    number: int
    change: Change
    confirmed_at: int | None = None


@attrs.frozen(kw_only=True)
class Ledger:
    """The base and what came after it.

    Attributes:
        entries: In the order in which the changes were made.
        time: Grows with everything that happens; numbers entries and fetches.
        fetches: When the fetches under way began.
    """

    base: Listing = attrs.field(factory=Listing)
    entries: tuple[Entry, ...] = ()
    time: int = 0
    fetches: tuple[int, ...] = ()


def view(ledger: Ledger) -> Listing:
    """Return what is to be shown."""
    return reduce(apply, (entry.change for entry in ledger.entries), ledger.base)


def noted(ledger: Ledger, change: Change) -> Ledger:
    """Make a change that no adapter has a say in."""
    return attrs.evolve(ledger, base=apply(ledger.base, change))


def began(ledger: Ledger, change: Change) -> tuple[Ledger, int]:
    """Enter a change; returns its number, by which it is confirmed or taken back."""
    number = ledger.time + 1
    entry = Entry(number=number, change=change)
    return attrs.evolve(ledger, entries=(*ledger.entries, entry), time=number), number


def revised(ledger: Ledger, number: int, change: Change) -> Ledger:
    """Let an entry say more than it did; one that is settled stays as it is."""
    return attrs.evolve(
        ledger,
        entries=tuple(
            attrs.evolve(entry, change=change) if entry.number == number and entry.confirmed_at is None else entry
            for entry in ledger.entries
        ),
    )


def confirmed(ledger: Ledger, number: int) -> Ledger:
    """Note that the adapter has done what an entry says."""
    time = ledger.time + 1
    entries = tuple(
        attrs.evolve(entry, confirmed_at=time) if entry.number == number else entry for entry in ledger.entries
    )
    return _folded(attrs.evolve(ledger, entries=entries, time=time))


def failed(ledger: Ledger, number: int) -> Ledger:
    """Take an entry out, and with it its effect."""
    return _folded(attrs.evolve(ledger, entries=tuple(entry for entry in ledger.entries if entry.number != number)))


def exchanged(ledger: Ledger) -> Ledger:
    """Keep what is confirmed, and drop what waits for an adapter that is not asked any more."""
    known = (entry.change for entry in ledger.entries if entry.confirmed_at is not None)
    base = attrs.evolve(reduce(apply, known, ledger.base), cursor=None)
    return attrs.evolve(ledger, base=base, entries=(), fetches=())


def fetch_began(ledger: Ledger) -> tuple[Ledger, int]:
    """Note that a page or a thread is being fetched; returns the number of the fetch."""
    time = ledger.time + 1
    return attrs.evolve(ledger, time=time, fetches=(*ledger.fetches, time)), time


def fetch_ended(ledger: Ledger, fetch: int, merge: Callable[[Listing], Listing] | None = None) -> Ledger:
    """Merge what was fetched into the base; None: it failed, or nobody wants it any more.

    What was confirmed before the fetch began is part of what was fetched; it goes into the base first,
    unless an older fetch is still under way that does not know of it.
    """
    fetches = tuple(one for one in ledger.fetches if one != fetch)
    if merge is None:
        return _folded(attrs.evolve(ledger, fetches=fetches))
    limit = min((fetch, *fetches))
    known = [entry for entry in ledger.entries if _is_before(entry, limit)]
    base = merge(reduce(apply, (entry.change for entry in known), ledger.base))
    entries = tuple(entry for entry in ledger.entries if not _is_before(entry, limit))
    return _folded(attrs.evolve(ledger, base=base, entries=entries, fetches=fetches))


def _is_before(entry: Entry, time: int) -> bool:
    return entry.confirmed_at is not None and entry.confirmed_at < time


def _folded(ledger: Ledger) -> Ledger:
    """Fold what is confirmed, has nothing unsettled before it, and is known to every fetch, into the base."""
    limit = min(ledger.fetches, default=ledger.time + 1)
    base, count = ledger.base, 0
    for entry in ledger.entries:
        if not _is_before(entry, limit):
            break
        base = apply(base, entry.change)
        count += 1
    return attrs.evolve(ledger, base=base, entries=ledger.entries[count:]) if count else ledger
