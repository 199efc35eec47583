"""Reads what a vector of a thread expects: abbreviations undone, split into what has to agree."""

import re
from typing import Any

Json = Any

STATES = {"initial", "snapshot", "unnotified"}
# Not compared: snapshots in between, and what is told out of band.
ASIDE = {*STATES, "history-done", "history-retry", "composer-event", "report", "unhandled"}
# Entries that have to agree, in order, within one step whatever else interleaves.
CHANNELS = {
    "run": {"run", "abort", "observe"},
    "event": {"event"},
    "suggest": {"suggest"},
    "suggest-abort": {"suggest-abort"},
    "feedback": {"feedback"},
    "initialize": {"initialize-barrier"},
    "nested": {"nested", "nested-error"},
    "callback": {"callback", "queue-run", "queue-cancel"},
    "composer": {"composer-event", "attachment"},
}


def expand(expected: Json) -> list[Json]:
    """The steps of an expectation, the creation first, with every message in full."""
    seen: dict[str, Json] = {}
    composer: list[Json] = []

    def whole(given: Json) -> Json:
        if isinstance(given, str):
            return seen[given]
        if given is not None:
            seen[given["id"]] = given
        return given

    def entry(given: Json) -> Json:
        if given[0] in STATES:
            composer[:] = [given[1]["composer"]] if "composer" in given[1] else composer
            kept = {"composer": composer[0]} if composer else {}
            return [given[0], {**given[1], **kept, "messages": [whole(item) for item in given[1]["messages"]]}]
        if given[0] == "history" and len(given) > 2 and isinstance(given[2], dict):
            return [*given[:2], {**given[2], "message": whole(given[2]["message"])}]
        return given

    steps = [expected["initial"], *expected["steps"]]
    return [{**step, "log": [entry(item) for item in step.get("log", [])]} for step in steps]


def states_at_rest(steps: list[Json]) -> list[Json]:
    """The state after each of the expanded steps, with the capabilities last told."""
    last: Json = {}
    kept: Json = []
    out: list[Json] = []
    for step in steps:
        for item in step["log"]:
            if item[0] in STATES:
                kept = item[1].get("capabilities", kept)
                last = {key: value for key, value in item[1].items() if key != "capabilities"}
        out.append({"state": last, "capabilities": kept})
    return out


def channels(log: list[Json]) -> dict[str, list[Json]]:
    """A log without history writes, split into the sequences that must agree."""
    out = {name: [entry for entry in log if entry[0] in tags] for name, tags in CHANNELS.items()}
    return {name: entries for name, entries in out.items() if entries}


def writes(log: list[Json]) -> dict[str, list[Json]]:
    """The history's part of a log, one sequence for each message."""
    out: dict[str, list[Json]] = {}
    for item in log:
        if item[0] == "history":
            about = item[2] if len(item) > 2 and isinstance(item[2], dict) else {}
            out.setdefault(about.get("message", {}).get("id", ""), []).append(item)
    return out


class Names:
    """Replaces generated ids by $id1, $id2, … in the order in which a depth-first walk meets them."""

    def __init__(self, generated: re.Pattern[str]) -> None:
        self._generated = generated
        self._names: dict[str, str] = {}

    def visit(self, item: Json) -> Json:
        """A value with its ids replaced; objects are walked by key in code-point order."""
        if isinstance(item, str):
            return self._generated.sub(self._name, item)
        if isinstance(item, list):
            return [self.visit(inner) for inner in item]
        if isinstance(item, dict):
            return {self.visit(key): self.visit(item[key]) for key in sorted(item)}
        return item

    def _name(self, found: re.Match[str]) -> str:
        return self._names.setdefault(found.group(), f"$id{len(self._names) + 1}")


def texts(value: Json) -> set[str]:
    """Every text in a JSON value."""
    match value:
        case str():
            return {value}
        case list():
            return set().union(*map(texts, value))
        case dict():
            return set().union(value, *map(texts, value.values()))
        case _:
            return set()


def generated_ids(given: Json, ids: set[str]) -> re.Pattern[str]:
    """A pattern of the ids that no vector named."""
    unnamed = sorted(ids - texts(given))
    return re.compile("|".join(rf"\b{re.escape(item)}\b" for item in unnamed) or r"(?!)")
