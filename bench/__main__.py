"""All questions in one run, and the budgets held against the answers: `python -m bench`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs

from bench import (
    test_answers,
    test_churn,
    test_external,
    test_fanout,
    test_import_time,
    test_memory,
    test_pauses,
    test_streaming,
    test_tree,
    test_wires,
)
from bench._answer import Answer, Step
from bench._budgets import BUDGETS
from partwise.cli._bench._report import machine, versions

QUESTIONS: dict[str, Callable[[Step], Answer]] = {
    "import": test_import_time.measure,
    "memory": test_memory.measure,
    "streaming": test_streaming.measure,
    "answers": test_answers.measure,
    "wires": test_wires.measure,
    "tree": test_tree.measure,
    "pauses": test_pauses.measure,
    "churn": test_churn.measure,
    "external": test_external.measure,
    "shapes": test_fanout.measure_shapes,
    "growth": test_fanout.measure_growth,
    "fanout": test_fanout.measure,
}
README = Path(__file__).parent / "README.md"
PICTURE = README.parent.parent / "docs" / "images" / "fanout.svg"
BEGIN, END = "<!-- figures: written by `make bench ARGS=--write` -->\n", "<!-- end of figures -->\n"


class Progress:
    """Lines on stderr, not more than one in two seconds for each question."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._said = 0.0

    def of(self, name: str) -> Step:
        self._say(name)

        def step(text: str) -> None:
            if time.monotonic() - self._said > 2:
                self._say(f"{name}: {text}")

        return step

    def _say(self, text: str) -> None:
        self._said = time.monotonic()
        print(f"{self._said - self._begun:5.0f} s  {text}", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer the questions, print the tables, then the budgets."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", default=",".join(QUESTIONS), help=f"some of {', '.join(QUESTIONS)}")
    parser.add_argument("--write", action="store_true", help="write the tables to bench/README.md and the chart, too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all answers to a file, too")
    given = parser.parse_args(arguments)
    names = given.only.split(",")
    if unknown := set(names) - set(QUESTIONS):
        parser.error(f"there is no question {sorted(unknown)[0]!r}")
    progress = Progress()
    begun = machine()
    answers = {name: QUESTIONS[name](progress.of(name)) for name in names}
    page = report(answers, begun)
    print(page)
    if given.json is not None:
        known = {name: attrs.asdict(answer, filter=_is_no_picture) for name, answer in answers.items()}
        given.json.write_text(json.dumps(known, indent=1))
    if given.write:
        before, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
        README.write_text(before + BEGIN + "\n" + page + "\n" + END + rest.partition(END)[2], encoding="utf-8")
        for answer in answers.values():
            if answer.picture:
                PICTURE.write_text(answer.picture, encoding="utf-8")
    return 0


def _is_no_picture(field: attrs.Attribute[object], value: object) -> bool:
    del value
    return field.name != "picture"


def report(answers: dict[str, Answer], begun: dict[str, str]) -> str:
    """Return the budgets, then every answer, as Markdown."""
    figures = {name: value for answer in answers.values() for name, value in answer.figures.items()}
    lines = [budget.line(figures) for budget in BUDGETS]
    table = "\n".join(
        f"| {' | '.join(line)} |" for line in (("what", "budget", "measured", "verdict"), ("---",) * 4, *lines)
    )
    noise = figures.get("noise")
    where = "; ".join(
        [
            *(f"{name} {value}" for name, value in begun.items()),
            f"load at the end {machine()['load']}",
            *(f"{name} {value}" for name, value in versions().items()),
            "noise " + ("not measured" if noise is None else f"up to {noise:.0%} between two entries of partwise"),
        ]
    )
    parts = ["### Budgets", table, f"Measured: {where}.", *(answer.table() for answer in answers.values())]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(main())
