"""The budgets, and what was measured against each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

Figures = Mapping[str, float]
TREE = 10_000
STEPS_OF_THE_TREE = ("import", "load from a history", "switch high up", "switch near the end")


@attrs.frozen
class Budget:
    """One line of the table.

    Attributes:
        what: What is limited.
        limit: The limit, in words.
        figure: Gives what was measured; None if something that it needs was not.
        holds: Tells whether the figure keeps the limit.
        shown: Puts the figure in words.
    """

    what: str
    limit: str
    figure: Callable[[Figures], float | None]
    holds: Callable[[float], bool]
    shown: Callable[[float], str]

    def line(self, figures: Figures) -> tuple[str, str, str, str]:
        """Return the line of the table."""
        value = self.figure(figures)
        if value is None:
            return self.what, self.limit, "not measured", "?"
        return self.what, self.limit, self.shown(value), "kept" if self.holds(value) else "MISSED"


def _ratio(above: str, below: str) -> Callable[[Figures], float | None]:
    def figure(figures: Figures) -> float | None:
        return figures[above] / figures[below] if above in figures and figures.get(below) else None

    return figure


def _worst(*pairs: tuple[str, str]) -> Callable[[Figures], float | None]:
    """The largest of several ratios, of those that were measured."""

    def figure(figures: Figures) -> float | None:
        ratios = [ratio for pair in pairs if (ratio := _ratio(*pair)(figures)) is not None]
        return max(ratios, default=None)

    return figure


def _value(name: str) -> Callable[[Figures], float | None]:
    return lambda figures: figures.get(name)


def _most(*names: str) -> Callable[[Figures], float | None]:
    return lambda figures: max((figures[name] for name in names if name in figures), default=None)


def _times(value: float) -> str:
    return f"{value:,.2f} times" if value < 100 else f"{value:,.0f} times"


def _milliseconds(value: float) -> str:
    return f"{value * 1e3:,.2f} ms"


def _at_most(limit: float) -> Callable[[float], bool]:
    return lambda value: value <= limit


def _at_least(limit: float) -> Callable[[float], bool]:
    return lambda value: value >= limit


def _counts(kind: str) -> Callable[[Figures], float | None]:
    return _most(*(f"{kind}/partwise{end}/{size}" for end in ("", "-address") for size in (10, 1_000, 10_000, 100_000)))


def _steps_of_the_tree(figures: Figures) -> float | None:
    known = [figures[name] for step in STEPS_OF_THE_TREE if (name := f"tree/{step}/{TREE}") in figures]
    return max(known) / TREE * 1_000 if known else None


def _reference_everywhere(figures: Figures) -> float | None:
    """The smallest lead over the reference at any size from 10 slices up."""
    ratios = [
        ratio
        for size in (10, 100, 1_000, 10_000)
        if (ratio := _ratio(f"assistant-ui-runtime/{size}", f"partwise/{size}")(figures)) is not None
    ]
    return min(ratios, default=None)


def _growth(kind: str, *sizes: int) -> Callable[[Figures], float | None]:
    return _most(*(f"growth/{kind}/{size}" for size in sizes))


def _wires(figures: Figures) -> float | None:
    return max((value for name, value in figures.items() if name.startswith("wires/growth/")), default=None)


def _linear(figures: Figures) -> float | None:
    return _most(*(f"tree/growth/{step}" for step in STEPS_OF_THE_TREE))(figures)


BUDGETS = (
    Budget(
        "a delta among 10,000 slices over 3,334 messages, against 10 over 4",
        "at most 1.5 times",
        _value("growth-of-slices/partwise/10000"),
        _at_most(1.5),
        _times,
    ),
    Budget(
        "a delta among 100,000 slices, against 10",
        "at most 2 times",
        _value("growth-of-slices/partwise/100000"),
        _at_most(2),
        _times,
    ),
    Budget(
        "a delta committed and delivered to one slice, against the floor (the worst of all sizes)",
        "at most 4 times",
        _worst(*((f"partwise/{size}", f"floor/{size}") for size in (10, 100, 1_000, 10_000, 100_000))),
        _at_most(4),
        _times,
    ),
    Budget(
        "a delta through the whole local runtime, against the floor (the worst of all sizes)",
        "at most 8 times",
        _worst(*((f"stream/tracked selector/{slices}", f"stream/floor/{slices}") for slices in (0, 10, 10_000))),
        _at_most(8),
        _times,
    ),
    Budget(
        "the same, against the floor of the fan-out race, whose values have fewer fields",
        "at most 8 times",
        _worst(
            *((f"stream/tracked selector/{slices}", f"stream/floor of the race/{slices}") for slices in (0, 10, 10_000))
        ),
        _at_most(8),
        _times,
    ),
    Budget(
        "a bare Rx pipe per slice takes longer, 10,000 slices",
        "at least 500 times",
        _ratio("rx-pipe/10000", "partwise/10000"),
        _at_least(500),
        _times,
    ),
    Budget(
        "the reference's part subscriptions on node take longer, the smallest lead from 10 slices up",
        "more than 1 times",
        _reference_everywhere,
        lambda value: value > 1,
        _times,
    ),
    Budget(
        "the same, 10,000 slices",
        "at least 2,000 times",
        _ratio("assistant-ui-runtime/10000", "partwise/10000"),
        _at_least(2_000),
        _times,
    ),
    Budget(
        "evaluations per delta with one slice concerned",
        "1, exactly",
        _counts("evaluations"),
        lambda v: v == 1,
        "{:.0f}".format,
    ),
    Budget(
        "deliveries per delta with one slice concerned",
        "1, exactly",
        _counts("deliveries"),
        lambda v: v == 1,
        "{:.0f}".format,
    ),
    Budget(
        "subscribe and dispose one among 10,000, against a bare Rx pipe",
        "not slower",
        _ratio("churn/partwise", "churn/rx-pipe"),
        _at_most(1),
        _times,
    ),
    Budget(
        "memory of an idle slice, function and handles included",
        "at most 1.5 KB (1,536 bytes)",
        _value("memory/partwise"),
        _at_most(1_536),
        "{:,.0f} bytes".format,
    ),
    Budget(
        "10 times longer text, up to 100 KB",
        "at most 11 times the time",
        _growth("text", 10_000, 100_000),
        _at_most(11),
        _times,
    ),
    Budget("10 times longer text, 1 MB", "at most 11 times the time", _growth("text", 1_000_000), _at_most(11), _times),
    Budget(
        "10 times longer tool arguments, up to 100 KB",
        "at most 11 times the time",
        _growth("arguments", 10_000, 100_000),
        _at_most(11),
        _times,
    ),
    Budget(
        "10 times longer tool arguments, 1 MB",
        "at most 11 times the time",
        _growth("arguments", 1_000_000),
        _at_most(11),
        _times,
    ),
    Budget(
        "10 times longer stream of bytes, on each wire, written, and read and folded (the worst)",
        "at most 11 times the time",
        _wires,
        _at_most(11),
        _times,
    ),
    Budget(
        "load of a history and switch of a branch, 10,000 messages against 1,000",
        "linear (at most 11 times)",
        _linear,
        _at_most(11),
        _times,
    ),
    Budget(
        "the slowest of these steps, for each 1,000 of 10,000 messages",
        "at most 1 ms",
        _steps_of_the_tree,
        _at_most(0.001),
        _milliseconds,
    ),
    Budget(
        "`import partwise` beyond its dependencies",
        "at most 50 ms",
        _value("import/partwise"),
        _at_most(0.05),
        _milliseconds,
    ),
    Budget("extras imported on the way", "none", _value("import/extras"), lambda v: v == 0, "{:.0f}".format),
)
