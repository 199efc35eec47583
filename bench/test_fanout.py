"""What does one delta cost when each of n parts is listened to?"""

from __future__ import annotations

import itertools

import pytest

from bench.scenarios import CONTENDERS, Addressed, RxPipe, Tracked, check

SIZES = (10, 100, 1_000, 10_000)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("make", CONTENDERS, ids=lambda make: make.__name__)
def test_one_delta(benchmark, make, size):
    check(make(size))
    contender = make(size)
    benchmark.group = f"one delta among {size} slices"
    texts = map(str, itertools.count())

    benchmark(lambda: contender.change(next(texts)))

    contender.close()


@pytest.mark.parametrize("make", [Tracked, Addressed, RxPipe], ids=lambda make: make.__name__)
def test_subscribe_and_dispose(benchmark, make):
    contender = make(10_000)
    benchmark.group = "subscribe and dispose one among 10,000 slices"

    benchmark(lambda: contender.listen("m1700", 1).dispose())

    contender.close()
