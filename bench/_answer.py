"""The answer to a question, and how contenders take turns."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

import attrs

Step = Callable[[str], None]

# Seconds of the processor that this thread has had: what the machine does beside it is nobody's cost here.
# Only for what happens in one thread and waits for nothing; the race between processes goes by the clock.
clock = time.thread_time


@attrs.frozen(kw_only=True)
class Answer:
    """What one question came to.

    Attributes:
        question: The first line of its file.
        heads, rows: A table.
        figures: What budgets are held against, by name.
        notes: What a reader of the table has to know.
        picture: An SVG chart, if there is one.
    """

    question: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: Mapping[str, float] = attrs.field(factory=dict)
    notes: tuple[str, ...] = ()
    picture: str = ""

    def table(self) -> str:
        lines = [self.heads, tuple(":--" if at == 0 else "--:" for at in range(len(self.heads))), *self.rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return "\n\n".join([f"### {self.question}", table, *self.notes])


@attrs.frozen
class Taken:
    """The seconds of several rounds."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def worst(self) -> float:
        return max(self.seconds)


def question_of(module_doc: str | None) -> str:
    """Return the question that a file answers: the first line of its docstring."""
    return (module_doc or "").strip().splitlines()[0]


def take_turns(contenders: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, Taken]:
    """Have each contender do its rounds (A B C, B C A, ...); the first round does not count.

    Args:
        contenders: Each does one round and returns how many seconds it took.
        rounds: How many rounds count.
    """
    names = list(contenders)
    taken: dict[str, list[float]] = {name: [] for name in names}
    gc.collect()
    for number in range(rounds + 1):
        turn = number % len(names)
        for name in (*names[turn:], *names[:turn]):
            seconds = contenders[name]()
            if number:
                taken[name].append(seconds)
    return {name: Taken(tuple(seconds)) for name, seconds in taken.items()}


def timed(function: Callable[[], object], times: int = 1) -> float:
    """Return the seconds that one call took, on average."""
    start = clock()
    for _ in range(times):
        function()
    return (clock() - start) / times


def micros(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f}"


def millis(seconds: float) -> str:
    return f"{seconds * 1e3:,.2f}"


def noise_of(medians: Sequence[float]) -> float:
    """Return by how much twins differ, as a fraction."""
    return max(medians) / min(medians) - 1
