"""Print the fan-out table: `python -m bench.fanout`."""

from __future__ import annotations

import datetime
import gc
import importlib.metadata
import platform
import statistics
import time
import tracemalloc

from bench.scenarios import CONTENDERS, Addressed, Contender, Floor, RxPipe, Tracked, check

SIZES = (10, 100, 1_000, 10_000, 100_000)
ROUNDS = 30


def seconds_per_change(contender: Contender, times: int) -> float:
    texts = [f"{number}" for number in range(times)]
    start = time.perf_counter()
    for text in texts:
        contender.change(text)
    return (time.perf_counter() - start) / times


def one_delta(size: int) -> None:
    """Take turns, so that a slow moment of the machine hits all, and compare medians with the floor."""
    contenders = [make(size) for make in CONTENDERS if make is not RxPipe or size <= 10_000]
    times = {contender.label: 3 if isinstance(contender, RxPipe) and size > 100 else 200 for contender in contenders}
    taken: dict[str, list[float]] = {contender.label: [] for contender in contenders}
    for number in range(ROUNDS):
        turn = number % len(contenders)
        for contender in contenders[turn:] + contenders[:turn]:
            taken[contender.label].append(seconds_per_change(contender, times[contender.label]))
    floor = statistics.median(taken[Floor.label])
    for contender in contenders:
        median = statistics.median(taken[contender.label])
        counts = ""
        if isinstance(contender, Tracked):
            before, heard = contender.store.statistics().evaluations, contender.deliveries
            contender.change("last")
            counts = f"{contender.store.statistics().evaluations - before} / {contender.deliveries - heard}"
        print(f"| {size:,} | {contender.label} | {median * 1e6:,.1f} | {median / floor:,.1f} | {counts} |")
        contender.close()


def churn() -> None:
    for make in (Tracked, Addressed, RxPipe):
        contender = make(10_000)
        taken = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            for _ in range(20):
                contender.listen("m1700", 1).dispose()
            taken.append((time.perf_counter() - start) / 20)
        print(f"| {contender.label} | {statistics.median(taken) * 1e6:,.1f} |")
        contender.close()


def memory() -> None:
    for make in (Tracked, Addressed, RxPipe):
        gc.collect()
        contender = make(0)
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        contender = make(9_999)
        used = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        gc.collect()
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        snapshot = Floor(9_999)
        data = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        print(f"| {contender.label} | {(used - data) / 9_999:,.0f} |")
        contender.close()
        snapshot.close()


def main() -> None:
    for make in CONTENDERS:
        check(make(30))
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("reactivex", "attrs"))
    today = datetime.datetime.now(tz=datetime.UTC).date()
    print(f"{today}, Python {platform.python_version()}, {versions}, {platform.machine()}\n")
    print("| slices | contender | µs per delta | times the floor | evaluations / deliveries |\n|---|---|---|---|---|")
    for size in SIZES:
        one_delta(size)
    print("\n| subscribe and dispose one among 10,000 | µs |\n|---|---|")
    churn()
    print("\n| memory of an idle slice, its selector and handle included | bytes |\n|---|---|")
    memory()


if __name__ == "__main__":
    main()
