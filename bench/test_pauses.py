"""How long is the worst commit, and how much of it is the garbage collector?"""

from __future__ import annotations

import gc
import time
from typing import Self

from bench._answer import Answer, Step, micros, millis, question_of
from bench.peers._protocol import Parameters, check
from partwise.cli._bench._peers._partwise import Tracked

SIZES = (1_000, 10_000, 100_000)
CHANGES = 20_000


class Collections:
    """Notes how long each run of the garbage collector takes; used with ``with``."""

    def __init__(self) -> None:
        self.seconds: dict[int, list[float]] = {0: [], 1: [], 2: []}
        self._start = 0.0

    def _note(self, phase: str, about: dict[str, int]) -> None:
        if phase == "start":
            self._start = time.perf_counter()
        else:
            self.seconds[about["generation"]].append(time.perf_counter() - self._start)

    def __enter__(self) -> Self:
        gc.callbacks.append(self._note)
        return self

    def __exit__(self, *error: object) -> None:
        gc.callbacks.remove(self._note)


def measure(on_step: Step, *, sizes: tuple[int, ...] = SIZES, changes: int = CHANGES) -> Answer:
    """Commit many times with the collector as Python sets it, and once more with the listeners frozen."""
    rows: list[tuple[str, ...]] = []
    figures: dict[str, float] = {}
    for size in sizes:
        for suffix, grows, is_frozen in (
            ("", False, False),
            (", growing", True, False),
            (", growing, frozen", True, True),
        ):
            named = f"{size:,} slices{suffix}"
            on_step(named)
            taken, collections = _taken(size, changes, grows=grows, is_frozen=is_frozen)
            taken.sort()
            full = collections.seconds[2]
            longest = max((max(seconds) for seconds in collections.seconds.values() if seconds), default=0.0)
            rows.append(
                (
                    named,
                    micros(taken[len(taken) // 2]),
                    micros(taken[int(len(taken) * 0.999)]),
                    millis(taken[-1]),
                    millis(longest),
                    " + ".join(str(len(seconds)) for seconds in collections.seconds.values()),
                    millis(max(full)) if full else "",
                )
            )
            figures[f"pause/{size}{suffix}"] = taken[-1]
    return Answer(
        question=question_of(__doc__),
        heads=(
            "listeners",
            "median µs",
            "99.9 % µs",
            "worst ms",
            "longest collection ms",
            "collections (young + middle + full)",
            "full collection ms",
        ),
        rows=tuple(rows),
        figures=figures,
        notes=(
            f"{changes:,} commits each, thresholds {gc.get_threshold()}. A commit leaves nothing to collect. Growing: "
            "each tenth step also adds a listener that stays, as a screen does that scrolls; that sets the collector "
            "going. Frozen: gc.freeze() after the first listeners, as a program may do when its screen stands.",
        ),
    )


def _taken(size: int, changes: int, *, grows: bool, is_frozen: bool) -> tuple[list[float], Collections]:
    parameters = Parameters.of(size)
    peer = Tracked()
    peer.build(parameters)
    first = check(peer, parameters) + 1
    gc.collect()
    if is_frozen:
        gc.freeze()
    clock = time.perf_counter
    taken: list[float] = []
    grown: list[object] = []
    try:
        with Collections() as collections:
            for number in range(first, first + changes):
                start = clock()
                peer.change(number)
                if grows and number % 10 == 0:
                    grown.append(peer.listen((number % parameters.messages, 0)))
                taken.append(clock() - start)
    finally:
        gc.unfreeze()
    peer.close()
    return taken, collections


def test_pauses_are_seen():
    answer = measure(lambda text: None, sizes=(90,), changes=3_000)

    assert [row[0] for row in answer.rows] == ["90 slices", "90 slices, growing", "90 slices, growing, frozen"]
    assert int(answer.rows[1][5].split(" + ")[0]) > 0


def test_collections_are_noted():
    with Collections() as collections:
        gc.collect()

    assert len(collections.seconds[2]) == 1
