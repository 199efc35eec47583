"""How long does `import partwise` take beyond what it depends on, and what does it load?"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

from bench._answer import Answer, Step, millis, noise_of, question_of

SOURCE = Path(__file__).resolve().parents[1] / "src"
DEPENDENCIES = (
    "import anyio, anyio.abc, anyio.lowlevel, attrs, docstring_parser, json, logging, pydantic, reactivex, "
    "reactivex.operators, reactivex.subject; from pydantic import BaseModel, TypeAdapter, create_model"
)
EXTRAS = {"textual", "rich", "openai", "sqlite3"}
RUNS = 15

CASES = {
    "import partwise": ("", "import partwise"),
    "its dependencies": ("", DEPENDENCIES),
    "every everyday name, dependencies loaded before": (
        DEPENDENCIES,
        "import partwise; [getattr(partwise, n) for n in partwise.__all__]",
    ),
}


def measure(on_step: Step, *, runs: int = RUNS) -> Answer:
    """Start a new Python for each import, in turns."""
    taken: dict[str, list[float]] = {name: [] for name in CASES}
    for number in range(runs + 1):
        on_step(f"run {number} of {runs}")
        for name, (before, code) in CASES.items():
            seconds = _seconds(before, code)
            if number:
                taken[name].append(seconds)
    medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
    noise = noise_of([min(taken["import partwise"]), medians["import partwise"]])
    extras = sorted(EXTRAS & _loaded())
    return Answer(
        question=question_of(__doc__),
        heads=("what", "median ms", "best ms"),
        rows=tuple((name, millis(medians[name]), millis(min(seconds))) for name, seconds in taken.items()),
        figures={
            "import/partwise": medians["import partwise"],
            "import/everything": medians["every everyday name, dependencies loaded before"],
            "import/extras": len(extras),
        },
        notes=(
            "Every name means all of the rooms that the front door leads to; "
            f"extras loaded on the way: {', '.join(extras) or 'none'}. "
            f"Between the median and the best of `import partwise`: {noise:.0%}.",
        ),
    )


def _seconds(before: str, code: str) -> float:
    program = f"{before}\nimport time\nstart = time.perf_counter()\n{code}\nprint(time.perf_counter() - start)"
    return float(_python(program))


def _loaded() -> set[str]:
    return set(
        _python("import partwise, sys; [getattr(partwise, n) for n in partwise.__all__]; print(*sys.modules)").split()
    )


def _python(program: str) -> str:
    # The first round, which does not count, leaves the compiled modules for the others, as an installation does.
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_the_front_door_opens_without_any_extra():
    answer = measure(lambda text: None, runs=1)

    assert answer.figures["import/extras"] == 0
    assert [row[0] for row in answer.rows] == list(CASES)
