"""A table of the recordings: their parts and statuses, what was reported, and what is lost."""

from __future__ import annotations

import sys
from collections import Counter

import anyio

from ._play import SHARED, Played, play, shared_recordings

_HEAD = ("file", "events", "parts", "status", "steps", "reported", "lost")


def main() -> int:
    """Print the table; return 1 if anything is lost that nobody reported, 2 if there is nothing to play."""
    recordings = shared_recordings()
    if not recordings:
        print(f"no recordings: {SHARED} does not exist (PARTWISE_SHARED names its parent)", file=sys.stderr)
        return 2
    rows: list[tuple[str, ...]] = [_HEAD]
    played: dict[str, list[Played]] = {}
    for protocol, path in recordings:
        one = anyio.run(play, protocol, path)
        played.setdefault(protocol, []).append(one)
        rows.append(row(f"{protocol}/{path.name}", one))
    widths = [max(len(cells[at]) for cells in rows) for at in range(len(_HEAD))]
    for cells in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())
    print()
    for protocol, ones in played.items():
        print(summary(protocol, ones))
        for one in ones:
            for line in (*one.reported, *one.lost):
                print(f"    {line}")
    return 1 if any(one.lost for ones in played.values() for one in ones) else 0


def row(name: str, one: Played) -> tuple[str, ...]:
    """Return the cells for a recording."""
    parts = Counter(part.type for part in one.message.content)
    shown = ", ".join(f"{count} {kind}" for kind, count in parts.items()) or "none"
    counts = (len(one.message.metadata.steps), len(one.reported), len(one.lost))
    return (name, str(one.events), shown, status_of(one), *(str(count) for count in counts))


def status_of(one: Played) -> str:
    """Return the status of a message in a word or two."""
    status = one.message.status
    return f"{status.type}/{getattr(status, 'reason', '')}".rstrip("/")


def summary(protocol: str, ones: list[Played]) -> str:
    """Return the line for all recordings of a protocol."""
    parts = Counter(part.type for one in ones for part in one.message.content)
    statuses = Counter(status_of(one) for one in ones)
    said = "; ".join(
        ", ".join(f"{count} {what}" for what, count in counts.most_common()) for counts in (parts, statuses)
    )
    lost = sum(bool(one.lost) for one in ones)
    return f"{protocol}: {len(ones)} files, {sum(one.events for one in ones)} events; {said}; {lost} with a loss"
