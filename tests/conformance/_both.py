"""An expectation and what happened, side by side, while differences on purpose are worked out."""

import copy
from collections.abc import Iterator
from typing import Any

import attrs

Json = Any


@attrs.define(eq=False)
class Both:
    """What was recorded and what the product did, step by step; the creation is step 0.

    Attributes:
        given: The input of the vector.
        wanted, actual: The steps. Rules change them so that only differences without a reason remain.
        rows: The rows of ``docs/differences.md`` that were needed.
        stop: Where the two part for good, on purpose; later steps and the end are not compared.
    """

    given: Json
    wanted: list[Json]
    wanted_end: Json
    actual: list[Json]
    actual_end: Json
    rows: dict[str, None] = attrs.field(factory=dict)
    stop: int | None = None

    @classmethod
    def of(cls, given: Json, wanted: Json, actual: Json) -> "Both":
        """Two outcomes in the form of `Scenario.run`."""
        one, other = copy.deepcopy(wanted), copy.deepcopy(actual)
        return cls(given, one["steps"], one["end"], other["steps"], other["end"])

    def op(self, step: int) -> Json:
        """The operation of a step."""
        return self.given["steps"][step - 1] if step else {"op": "create"}

    def steps(self) -> Iterator[tuple[int, Json, Json]]:
        """Each step with its number: recorded, and as it was."""
        for number, (wanted, actual) in enumerate(zip(self.wanted, self.actual, strict=True)):
            if self.stop is not None and number >= self.stop:
                return
            yield number, wanted, actual

    def because(self, row: str) -> None:
        """Name a row that was needed."""
        self.rows[row] = None

    def part_at(self, step: int, row: str) -> None:
        """Compare nothing from this step on."""
        self.because(row)
        self.stop = step if self.stop is None else min(step, self.stop)


def settled(step: Json) -> dict[Any, Json]:
    """What settled in a step, by operation."""
    return dict(step.get("settled", []))


def set_settled(step: Json, outcomes: dict[Any, Json]) -> None:
    """Replace what settled in a step."""
    step.pop("settled", None)
    if outcomes:
        step["settled"] = [[key, outcomes[key]] for key in sorted(outcomes, key=str)]


def entries(step: Json, tag: str) -> list[Json]:
    """The entries of a step's log with this tag."""
    return [entry for entry in step["log"] if entry[0] == tag]


def messages(steps: list[Json]) -> Iterator[Json]:
    """Every message written anywhere in these steps."""
    for step in steps:
        yield from step["state"].get("messages", [])
        for entry in step["log"]:
            match entry:
                case ["initial" | "snapshot" | "unnotified", state]:
                    yield from state["messages"]
                case ["history", _, {"message": message}]:
                    yield message
                case ["history", "delete", list(items)]:
                    yield from (item["message"] for item in items)
                case ["run", _, run]:
                    yield run
                case _:
                    pass


def raised_by(scripts: Json) -> list[Json]:
    """What scripts or behaviours raise, as they describe it."""
    match scripts:
        case dict():
            own = [scripts[key] for key in ("raise", "reject", "throw") if key in scripts]
            return own + [error for value in scripts.values() for error in raised_by(value)]
        case list():
            return [error for item in scripts for error in raised_by(item)]
        case _:
            return []


def text_of(error: Json) -> Json:
    """The text of a scripted error."""
    return error if isinstance(error, str) else error.get("message")
