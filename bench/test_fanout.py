"""What does one token cost when each of n parts is listened to?

The race itself is `partwise bench fanout`, which users run on their own sizes. Here it is run with the peers on node,
too, and once more for how many parts change at a time, for how deep a slice looks, and for how the cost of one change
grows with the number of slices: there, all sizes are alive at once and take turns, because two medians that were taken
minutes apart are of two moods of the machine.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from statistics import median, quantiles

import attrs
import pytest

from bench._answer import Answer, Step, question_of
from bench.peers import node
from bench.peers._protocol import (
    Contestant,
    Depth,
    Entrant,
    Heat,
    Pace,
    Parameters,
    check,
    check_closed,
    python_entrant,
    run_heat,
)
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


def measure_growth(
    on_step: Step,
    *,
    sizes: Sequence[int] = (10, 10_000, 100_000),
    labels: Sequence[str] = ("partwise", "partwise-address"),
    rounds: int = 60,
    changes: int = 100,
) -> Answer:
    """Change one part among few slices, then among many, and so on; each size in a process of its own."""
    rows: list[tuple[str, ...]] = []
    figures: dict[str, float] = {}
    for label in labels:
        means = _in_turns(on_step, label, sizes, rounds, changes)
        for size in sizes:
            ratios = [mean / small for mean, small in zip(means[size], means[sizes[0]], strict=True)]
            low, _, high = quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
            figures[f"growth-of-slices/{label}/{size}"] = median(ratios)
            rows.append(
                (
                    label,
                    f"{size:,}",
                    f"{Parameters.of(size).messages:,}",
                    f"{median(means[size]):,.1f}",
                    f"{min(means[size]):,.1f}",
                    f"{median(ratios):,.2f}",
                    f"{low:,.2f} to {high:,.2f}",
                )
            )
    return Answer(
        question="How does the cost of one change grow with the number of slices?",
        heads=("peer", "slices", "messages", "median µs", "min", f"times {sizes[0]} slices", "half of the rounds"),
        rows=tuple(rows),
        figures=figures,
        notes=(
            f"All sizes are alive at once, each in its process, on one core, and take turns: {rounds} rounds of "
            f"{changes} changes. A ratio is taken within each round; the column shows their median, the last one the "
            "middle half of them. Deliveries and evaluations are counted before and after: one each for a change.",
        ),
    )


def _in_turns(on_step: Step, label: str, sizes: Sequence[int], rounds: int, changes: int) -> dict[int, list[float]]:
    """Return the mean of each round in microseconds, by size; the first round does not count."""
    means: dict[int, list[float]] = {size: [] for size in sizes}
    with _one_core(), ExitStack() as stack:
        contestants = {size: stack.enter_context(Contestant(python_entrant(label))) for size in sizes}
        for size, contestant in contestants.items():
            on_step(f"building {label} with {size:,} slices")
            contestant.build(Parameters.of(size))
        for number in range(rounds + 1):
            on_step(f"{label}: round {number} of {rounds}")
            turn = number % len(sizes)
            for size in (*sizes[turn:], *sizes[:turn]):
                answer = contestants[size].ask(round=changes)
                if answer and number:
                    means[size].append(float(answer["mean_us"]))
        for size, contestant in contestants.items():
            counted = contestant.ask(count=None)
            if contestant.fault is not None or (counted["deliveries"], counted["evaluations"]) != (1, 1):
                text = f"{label} with {size:,} slices is not measured: {contestant.fault or counted}"
                raise AssertionError(text)
    return means


@contextmanager
def _one_core() -> Generator[None]:
    """Keep this process and those it starts on one core, where the system can do that: only one works at a time."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


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


def test_sizes_that_take_turns_are_compared_within_each_round():
    answer = measure_growth(lambda text: None, sizes=(10, 100), labels=("partwise",), rounds=3, changes=2)

    assert [row[:3] for row in answer.rows] == [("partwise", "10", "4"), ("partwise", "100", "34")]
    assert answer.figures["growth-of-slices/partwise/10"] == 1


def test_more_parts_at_a_time_reach_exactly_their_listeners():
    shapes: list[tuple[Depth, int]] = [("text", 30), ("message", 1), ("argument", 300)]

    answer = measure_shapes(lambda text: None, slices=300, pace=SMALL, labels=("partwise",), shapes=shapes)

    assert [row[1] for row in answer.rows] == ["30", "3", "300"]
    assert not any("out" in row for row in answer.rows)
