"""The kept vectors of every family hold, or differ for a reason that the documentation gives."""

import pytest

from ._outcome import Failed
from ._runner import run_vectors
from ._vectors import KEPT, difference_rows, family_runner, read_vectors, written_families


@pytest.mark.parametrize("family", written_families())
def test_kept_vectors_hold(family: str) -> None:
    vectors = list(read_vectors(KEPT / f"{family}.jsonl.xz"))
    results = list(run_vectors(family_runner(family), vectors, difference_rows()))
    failures = [f"{r.name} at {r.outcome.where}" for r in results if isinstance(r.outcome, Failed)]
    assert len(results) == len(vectors) > 0
    assert failures == []
