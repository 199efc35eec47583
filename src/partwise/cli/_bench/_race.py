"""The race: one process per peer, rounds in rotation, so that a slow moment of the machine hits all."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack

import attrs

from ._contestant import Contestant, Entrant
from ._thread import Parameters

__all__ = ["Heat", "Pace", "Row", "run_heat"]

TWINS = ("partwise", "partwise-twin")
FLOOR = "floor"


@attrs.frozen(kw_only=True)
class Pace:
    """How long a race may take.

    Attributes:
        rounds: Rounds that count; one more at the start does not.
        round_us: How long one round of a peer should take; at least one change, at most 200.
        limit_us: A peer whose single change takes longer is out at that size.
        memory_slices: Over how many slices at most memory is measured; 0: not at all.
    """

    rounds: int = 30
    round_us: float = 4_000
    limit_us: float = 250_000
    memory_slices: int = 1_000


@attrs.frozen(kw_only=True)
class Row:
    """What one peer took at one size; times are for one change, in microseconds.

    Attributes:
        median_us: The median of the rounds' means.
        worst_us: The slowest single change; pauses of the garbage collector are in it.
        ratio_to_floor: The median against that of the floor in this race.
        evaluations, deliveries: How many one change made, exactly; None where a peer cannot tell.
        bytes_per_slice: What one idle slice takes.
        changes: How many changes were measured.
    """

    peer: str
    slices: int
    messages: int
    median_us: float
    min_us: float
    worst_us: float
    ratio_to_floor: float | None
    evaluations: int | None
    deliveries: int
    bytes_per_slice: int | None
    changes: int


@attrs.frozen(kw_only=True)
class Heat:
    """The race at one size.

    Attributes:
        noise: By how much the two entries of partwise differ, as a fraction; None without both.
        out: The peers that were not measured, and why.
    """

    parameters: Parameters
    rows: tuple[Row, ...]
    noise: float | None
    out: dict[str, str]
    versions: dict[str, str]


def run_heat(parameters: Parameters, entrants: Sequence[Entrant], pace: Pace, on_step: Callable[[str], None]) -> Heat:
    """Race at one size.

    Args:
        parameters: What every peer is built for.
        entrants: Who takes part.
        pace: How long it may take.
        on_step: Told what is being done, once for each entrant, each round, and each count.
    """
    with ExitStack() as stack:
        contestants = [stack.enter_context(Contestant(entrant)) for entrant in entrants]
        for contestant in contestants:
            on_step(f"building {contestant.label}")
            contestant.build(parameters)
            if contestant.estimate_us > pace.limit_us:
                contestant.fault = f"one change takes {contestant.estimate_us / 1_000:,.0f} ms, which is too long here"
        taken = _rounds(contestants, pace, on_step)
        floor = _median(taken.get(FLOOR, []))
        rows: list[Row] = []
        for contestant in contestants:
            on_step(f"counting {contestant.label}")
            row = _row(contestant, parameters, taken[contestant.label], floor, pace)
            if row is not None:
                rows.append(row)
    return Heat(
        parameters=parameters,
        rows=tuple(rows),
        noise=_noise(rows),
        out={contestant.label: contestant.fault for contestant in contestants if contestant.fault is not None},
        versions={contestant.label: contestant.version for contestant in contestants if contestant.version},
    )


Taken = list[tuple[float, float, int]]


def _rounds(contestants: Sequence[Contestant], pace: Pace, on_step: Callable[[str], None]) -> dict[str, Taken]:
    """Have each peer do its rounds, each round beginning with another peer; the first is thrown away."""
    taken: dict[str, Taken] = {contestant.label: [] for contestant in contestants}
    for number in range(pace.rounds + 1):
        on_step(f"round {number} of {pace.rounds}")
        turn = number % max(1, len(contestants))
        for contestant in (*contestants[turn:], *contestants[:turn]):
            times = min(200, max(1, round(pace.round_us / max(0.1, contestant.estimate_us))))
            answer = contestant.ask(round=times)
            if answer and number:
                taken[contestant.label].append((float(answer["mean_us"]), float(answer["worst_us"]), times))
    return taken


def _row(contestant: Contestant, parameters: Parameters, taken: Taken, floor: float, pace: Pace) -> Row | None:
    counted = contestant.ask(count=None)
    memory = None
    if pace.memory_slices and parameters.slices and contestant.label != FLOOR:
        smaller = min(parameters.slices, pace.memory_slices)
        memory = contestant.ask(memory=attrs.asdict(attrs.evolve(Parameters.of(smaller), depth=parameters.depth)))
    contestant.ask(close=None)
    if contestant.fault is not None or not taken:
        return None
    median = _median(taken)
    found = None if memory is None else memory.get("bytes_per_slice")
    return Row(
        peer=contestant.label,
        slices=parameters.slices,
        messages=parameters.messages,
        median_us=round(median, 3),
        min_us=round(min(mean for mean, _, _ in taken), 3),
        worst_us=round(max(worst for _, worst, _ in taken), 3),
        ratio_to_floor=round(median / floor, 3) if floor else None,
        evaluations=counted.get("evaluations"),
        deliveries=int(counted["deliveries"]),
        bytes_per_slice=None if found is None else round(float(found)),
        changes=sum(times for _, _, times in taken),
    )


def _median(taken: Taken) -> float:
    return statistics.median(mean for mean, _, _ in taken) if taken else 0.0


def _noise(rows: Sequence[Row]) -> float | None:
    medians = [row.median_us for row in rows if row.peer in TWINS]
    return round(max(medians) / min(medians) - 1, 3) if len(medians) == len(TWINS) else None
