"""The command: the race at each size, then the table and the chart."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ._chart import bars, svg
from ._contestant import Entrant, python_entrant
from ._options import ALWAYS, OTHERS, BenchOptions
from ._peers import absence
from ._progress import Progress
from ._race import Heat, Pace, run_heat
from ._report import as_json, machine, table, versions
from ._thread import Parameters

__all__ = ["caption", "entrants_for", "run_bench"]


def run_bench(options: BenchOptions) -> int:
    """Run the fan-out race and print what came of it.

    Returns:
        0; 1 when partwise itself, the floor or the Rx pipe could not be measured at any size.
    """
    entrants, absent = entrants_for(options.peers)
    pace = Pace(rounds=options.rounds)
    steps = len(options.sizes) * (2 * len(entrants) + pace.rounds + 1)
    progress = Progress(steps, is_quiet=options.is_quiet)
    try:
        heats = [_heat(size, entrants, pace, progress) for size in options.sizes]
    finally:
        progress.end()
    rows = [row for heat in heats for row in heat.rows]
    if options.svg is not None:
        options.svg.write_text(svg(rows, caption()), encoding="utf-8")
    if options.is_json:
        print(json.dumps(as_json(heats, absent), indent=2))
    else:
        _print(heats, absent)
    measured = {row.peer for row in rows}
    return 0 if measured.issuperset(ALWAYS) else 1


def _heat(size: int, entrants: Sequence[Entrant], pace: Pace, progress: Progress) -> Heat:
    return run_heat(Parameters.of(size), entrants, pace, lambda text: progress.step(f"{size:,} slices: {text}"))


def entrants_for(chosen: Sequence[str] | None) -> tuple[list[Entrant], dict[str, str]]:
    """Return who takes part, and who cannot, and why.

    Args:
        chosen: The peers besides those that always take part; None: all.
    """
    wanted = [label for label in OTHERS if chosen is None or label in chosen]
    absent = {label: why for label in wanted if (why := absence(label)) is not None}
    labels = [*ALWAYS, *(label for label in wanted if label not in absent)]
    return [python_entrant(label) for label in labels], absent


def caption() -> str:
    """Return where and when something was measured, in one line."""
    here, found = machine(), versions()
    made_of = ", ".join(f"{name} {found[name]}" for name in ("python", "partwise", "reactivex"))
    return f"{here['date']}, {here['cpu']}, {made_of}"


def _print(heats: Sequence[Heat], absent: dict[str, str]) -> None:
    rows = [row for heat in heats for row in heat.rows]
    print(table(rows))
    print()
    print(bars(rows))
    print()
    result = as_json(heats, absent)
    noise = result["noise"]
    if noise is not None:
        print(f"noise: the two entries of partwise differ by up to {noise:.0%}; claim nothing smaller than that")
    for entry in result["out"]:
        at = f" at {entry['slices']:,} slices" if entry["slices"] is not None else ""
        print(f"not measured: {entry['peer']}{at}: {entry['why']}")
    print("; ".join(f"{name} {value}" for name, value in result["machine"].items()))
    print("; ".join(f"{name} {value}" for name, value in result["versions"].items()), flush=True)
