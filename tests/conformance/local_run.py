"""Family ``local_run``: scenarios of the local runtime, from appends and cancels to paused tools."""

import re
from typing import Any

import anyio

from . import _purpose as purpose
from . import _purpose_timing as timing
from ._both import Both
from ._outcome import Outcome, differs, first_difference, passed
from ._reading import ASIDE, Names, channels, expand, generated_ids, states_at_rest, writes
from ._scenario import Scenario
from ._suggesting import Suggesting
from ._trace import FOREIGN_CAPABILITIES

Json = Any

RECORDED_IDS = re.compile(r"\$id\d+")


RULES = (
    purpose.refused_unannounced,
    purpose.load_again,
    purpose.history_retried,
    purpose.model_error_first,
    purpose.cancel_from_run_start,
    purpose.subscriber_isolated,
    purpose.resume_tool_call,
    purpose.empty_answer,
    purpose.approval_ambiguous,
    purpose.error_text_kept,
    purpose.roundtrips_limited,
    purpose.output_checked,
    timing.strays_ended,
    timing.writes_in_line,
)


def run(vector: Json) -> Outcome:
    """Run one vector; see `_outcome`."""
    given, wanted = vector["input"], recorded(vector["expected"])
    suggesting = Suggesting(given, wanted["steps"])
    actual = anyio.run(Scenario(given, suggesting.numbers).run, backend="asyncio")
    return compare(given, wanted, actual, suggesting, is_total=vector["expected"]["order"] == "total")


def compare(given: Json, wanted: Json, actual: Json, suggesting: Suggesting, *, is_total: bool) -> Outcome:
    """Compare what was recorded with what happened, but for what differs on purpose."""
    pattern = generated_ids(given, ids_of(actual))
    both = Both.of(given, wanted, actual)
    for rule in RULES:
        rule(both)
    one = view(both.wanted[: both.stop], None if both.stop is not None else both.wanted_end, RECORDED_IDS)
    other = view(both.actual[: both.stop], None if both.stop is not None else both.actual_end, pattern)
    if suggesting.has_refused:
        both.because("suggestions-after-complete")
    if is_total and one["logs"] != other["logs"]:
        ordered = [[in_order(log) for log in side["logs"]] for side in (one, other)]
        if ordered[0] == ordered[1]:
            both.because("writes-in-line")
    else:
        ordered = [[], []]
    one["logs"], other["logs"] = ordered
    return first_difference(one, other) or (differs(*both.rows) if both.rows else passed())


def in_order(log: list[Json]) -> list[list[Json]]:
    """A log as two sequences: what is stored, and everything else."""
    return [[e for e in log if e[0] == "history"], [e for e in log if e[0] != "history"]]


def recorded(wanted: Json) -> Json:
    """An expectation in the form in which a scenario tells what happened."""
    steps = expand(wanted)
    shown = [{**step, **rest} for step, rest in zip(steps, states_at_rest(steps), strict=True)]
    return {"steps": shown, "end": {"tree": wanted["tree"], "pending": wanted.get("pending", [])}}


def view(steps: list[Json], end: Json, pattern: re.Pattern[str]) -> Json:
    """What is compared, with ids numbered anew: first what shows the order of all ids, then the logs."""
    names = Names(pattern)
    shown = [names.visit(_view_step(step)) for step in steps]
    for step, seen in zip(steps, shown, strict=True):
        seen["writes"] = {names.visit(key): names.visit(entries) for key, entries in writes(_compared(step)).items()}
    seen_end = names.visit(end)
    logs = [names.visit([entry for entry in _compared(step) if entry[0] != "suggest-abort"]) for step in steps]
    return {"steps": shown, "end": seen_end, "logs": logs}


def _view_step(step: Json) -> Json:
    shown = {key: step[key] for key in ("error", "value", "settled") if key in step}
    shown["capabilities"] = sorted(set(step["capabilities"]) - FOREIGN_CAPABILITIES)
    shown["channels"] = channels([entry for entry in step["log"] if entry[0] not in ASIDE - {"composer-event"}])
    state = dict(step["state"])
    branches = state.pop("branches", {})
    messages = state.pop("messages")
    ids = [message["id"] for message in messages]
    shown["state"] = [messages, state, [[key, branches[key]] for key in sorted(branches, key=ids.index)]]
    return shown


def _compared(step: Json) -> list[Json]:
    return [entry for entry in step["log"] if entry[0] not in ASIDE]


def ids_of(actual: Json) -> set[str]:
    """Every id of a message that a scenario met."""
    found = {item for pair in actual["end"]["tree"]["messages"] for item in pair if item}
    for step in actual["steps"]:
        found |= {message["id"] for message in step["state"]["messages"]}
        for entry in step["log"]:
            match entry:
                case ["run", _, run]:
                    found |= {*run["messages"], run["assistantId"]}
                case ["history", _, {"message": message}]:
                    found.add(message["id"])
                case _:
                    pass
    return found
