"""What was measured where: machine, versions, noise; and the rows as JSON and as a table."""

from __future__ import annotations

import datetime
import gc
import importlib.metadata
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs

from partwise._version import __version__

from ._race import Heat, Row

__all__ = ["as_json", "machine", "table", "versions"]


def versions() -> dict[str, str]:
    """Return the versions of what partwise is made of."""
    found = {"partwise": __version__, "python": platform.python_version()}
    for name in ("reactivex", "attrs", "anyio", "pydantic"):
        found[name] = importlib.metadata.version(name)
    return found


def machine() -> dict[str, str]:
    """Return what the figures depend on besides versions: processor, load, date, garbage collector."""
    load = " ".join(f"{value:.1f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    return {
        "date": datetime.datetime.now(tz=datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": f"{_cpu()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.machine()}",
        "load": load,
        "gc": f"{'on' if gc.isenabled() else 'off'}, thresholds {gc.get_threshold()}",
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown processor")


def as_json(heats: Sequence[Heat], absent: dict[str, str]) -> dict[str, Any]:
    """Return the race as a JSON value.

    Args:
        heats: The races, one for each size.
        absent: The peers that could not be entered, and why.
    """
    noises = [heat.noise for heat in heats if heat.noise is not None]
    out = [
        {"peer": peer, "slices": heat.parameters.slices, "why": why} for heat in heats for peer, why in heat.out.items()
    ]
    found = versions()
    for heat in heats:
        found.update(heat.versions)
    return {
        "rows": [attrs.asdict(row) for heat in heats for row in heat.rows],
        "noise": max(noises, default=None),
        "versions": found,
        "machine": machine(),
        "out": [*out, *({"peer": peer, "slices": None, "why": why} for peer, why in absent.items())],
    }


_NAME = 2  # the column that is text
_HEADS = ("slices", "messages", "peer", "median µs", "min", "worst", "to floor", "eval.", "deliv.", "bytes/slice")


def table(rows: Iterable[Row], *, heads: Sequence[str] = _HEADS) -> str:
    """Return rows as an aligned Markdown table, which reads well in a terminal, too."""
    cells = [tuple(heads), *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(heads))]
    lines = ["| " + " | ".join(_padded(line, widths)) + " |" for line in cells]
    rules = ("-" * (width + 2) if column == _NAME else "-" * (width + 1) + ":" for column, width in enumerate(widths))
    return "\n".join([lines[0], "|" + "|".join(rules) + "|", *lines[1:]])


def _padded(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    cells = enumerate(zip(line, widths, strict=True))
    return [text.ljust(width) if column == _NAME else text.rjust(width) for column, (text, width) in cells]


def _cells(row: Row) -> tuple[str, ...]:
    return (
        f"{row.slices:,}",
        f"{row.messages:,}",
        row.peer,
        f"{row.median_us:,.1f}",
        f"{row.min_us:,.1f}",
        f"{row.worst_us:,.0f}",
        "" if row.ratio_to_floor is None else f"{row.ratio_to_floor:,.1f}",
        "?" if row.evaluations is None else f"{row.evaluations:,}",
        f"{row.deliveries:,}",
        "" if row.bytes_per_slice is None else f"{row.bytes_per_slice:,}",
    )
