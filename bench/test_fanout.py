"""What does one token cost when each of n parts is listened to?

The race itself is `partwise bench fanout`, which users run on their own sizes. Here it is run with the peers on node,
too, and once more for how many parts change at a time and for how deep a slice looks.
"""

from __future__ import annotations

import attrs
import pytest

from bench._answer import Answer, Step, question_of
from bench.peers import node
from bench.peers._protocol import Depth, Entrant, Heat, Pace, Parameters, check, check_closed, python_entrant, run_heat
from partwise.cli._bench._chart import svg
from partwise.cli._bench._fanout import caption, entrants_for
from partwise.cli._bench._peers import PEERS

SIZES = (10, 100, 1_000, 10_000, 100_000)
OWN = ("floor", "partwise", "partwise-twin", "partwise-address", "rx-pipe")


def everybody() -> tuple[list[Entrant], dict[str, str]]:
    """Return who can take part here, and why others cannot."""
    python, absent = entrants_for(None)
    others, missing = node.entrants()
    return [*python, *others], {**absent, **missing}


def measure(
    on_step: Step, *, sizes: tuple[int, ...] = SIZES, pace: Pace | None = None, only: frozenset[str] | None = None
) -> Answer:
    """Race at every size; a peer that is out at one size is not entered at larger ones."""
    entrants, absent = everybody()
    entrants = [entrant for entrant in entrants if only is None or entrant.label in only]
    heats: list[Heat] = []
    for size in sizes:
        rounds = pace or Pace(rounds=30 if size <= 10_000 else 10, limit_us=250_000 if size <= 10_000 else 120_000)
        heats.append(run_heat(Parameters.of(size), entrants, rounds, lambda text, at=size: on_step(f"{at:,}: {text}")))
        out = heats[-1].out
        entrants = [entrant for entrant in entrants if entrant.label not in out or entrant.label in OWN]
        slow = {row.peer for row in heats[-1].rows if row.median_us * 10 > 120_000 and row.peer != "rx-pipe"}
        entrants = [entrant for entrant in entrants if size < 10_000 or entrant.label not in slow]
    return _answer(heats, absent)


def _answer(heats: list[Heat], absent: dict[str, str]) -> Answer:
    rows = [row for heat in heats for row in heat.rows]
    figures = {f"{row.peer}/{row.slices}": row.median_us for row in rows}
    for row in rows:
        if row.bytes_per_slice is not None:
            figures[f"bytes/{row.peer}/{row.slices}"] = row.bytes_per_slice
        if row.evaluations is not None:
            figures[f"evaluations/{row.peer}/{row.slices}"] = row.evaluations
        figures[f"deliveries/{row.peer}/{row.slices}"] = row.deliveries
    noises = {f"{heat.parameters.slices:,}": heat.noise for heat in heats if heat.noise is not None}
    figures["noise"] = max(noises.values(), default=0.0)
    versions = {label: version for heat in heats for label, version in heat.versions.items()}
    said = [f"{peer} at {heat.parameters.slices:,}: {why}" for heat in heats for peer, why in heat.out.items()]
    said += [f"{peer}: {why}" for peer, why in absent.items()]
    return Answer(
        question=question_of(__doc__),
        heads=("peer", "slices", "messages", "median µs", "min", "worst", "to floor", "eval.", "deliv.", "bytes/slice"),
        rows=tuple(
            (
                row.peer,
                f"{row.slices:,}",
                f"{row.messages:,}",
                f"{row.median_us:,.1f}",
                f"{row.min_us:,.1f}",
                f"{row.worst_us:,.0f}",
                "" if row.ratio_to_floor is None else f"{row.ratio_to_floor:,.1f}",
                "?" if row.evaluations is None else f"{row.evaluations:,}",
                f"{row.deliveries:,}",
                "" if row.bytes_per_slice is None else f"{row.bytes_per_slice:,}",
            )
            for row in rows
        ),
        figures=figures,
        notes=(
            "Noise (partwise against its twin): "
            + ", ".join(f"{noise:.0%} at {size}" for size, noise in noises.items()),
            "Not measured: " + ("; ".join(said) or "nobody") + ".",
            "Versions: " + ", ".join(f"{label}: {version}" for label, version in versions.items()) + ".",
        ),
        picture=svg(rows, caption()),
    )


def measure_shapes(
    on_step: Step,
    *,
    slices: int = 3_000,
    pace: Pace | None = None,
    labels: tuple[str, ...] = OWN,
    shapes: list[tuple[Depth, int]] | None = None,
) -> Answer:
    """Race with more parts changing at a time, and with slices that look less or more deep."""
    entrants = [python_entrant(label) for label in labels]
    pace = pace or Pace(rounds=10, memory_slices=0)
    if shapes is None:
        shapes = [("text", changed) for changed in (1, slices // 100, slices // 10, slices)]
        shapes += [("message", 1), ("part", 1), ("argument", 1)]
    rows: list[tuple[str, ...]] = []
    for depth, changed in shapes:
        parameters = attrs.evolve(Parameters.of(slices), changed=changed, depth=depth)
        named = f"{depth}, {changed:,} of {slices:,}"
        heat = run_heat(parameters, entrants, pace, lambda text, named=named: on_step(f"{named}: {text}"))
        medians = {row.peer: row for row in heat.rows}
        cells = [f"{medians[label].median_us:,.1f}" if label in medians else "out" for label in labels]
        rows.append((named, str(parameters.expected()), *cells))
    return Answer(
        question="What does it cost when more parts change at a time, or when a slice looks elsewhere?",
        heads=("what a slice shows, parts changed", "deliveries", *(f"{label} µs" for label in labels)),
        rows=tuple(rows),
    )


SMALL = Pace(rounds=1, round_us=100, memory_slices=0)


@pytest.mark.parametrize("label", ["partwise", *node.NODE_PEERS])
def test_a_peer_of_the_race_passes_the_gate_and_is_counted(label):
    answer = measure(lambda text: None, sizes=(12,), pace=SMALL, only=frozenset({"floor", label}))

    assert answer.figures["deliveries/floor/12"] == 1
    is_absent = any(f"{label}: " in note for note in answer.notes[1:2])
    assert is_absent or answer.figures[f"deliveries/{label}/12"] == 1


@pytest.mark.parametrize("size", [10, 1_000])
@pytest.mark.parametrize("label", OWN)
def test_one_change_among_many_slices(benchmark, label, size):
    parameters = Parameters.of(size)
    peer = PEERS[label].make()
    peer.build(parameters)
    changes = check(peer, parameters)
    numbers = iter(range(changes + 1, 10_000_000))
    benchmark.group = f"one change among {size} slices"

    benchmark(lambda: peer.change(next(numbers)))

    check_closed(peer)


def test_more_parts_at_a_time_reach_exactly_their_listeners():
    shapes: list[tuple[Depth, int]] = [("text", 30), ("message", 1), ("argument", 300)]

    answer = measure_shapes(lambda text: None, slices=300, pace=SMALL, labels=("partwise",), shapes=shapes)

    assert [row[1] for row in answer.rows] == ["30", "3", "300"]
    assert not any("out" in row for row in answer.rows)
