"""Family ``resumable``: what readers, listeners and callers see of resumable streams.

Each script runs on asyncio and on trio, and has to come out the same. Not compared: how many tasks were
left in the background, which are tasks of the context here, and the reason that is handed to a source
that is closed early, since closing a generator hands over none (the error before it is compared).
"""

import copy
import json
from typing import Any

from ._outcome import Failed, Outcome, differs, first_difference, passed
from ._resumable_script import play

Json = Any


def run(vector: Json) -> Outcome:
    """Run one vector; see `_outcome`."""
    given = vector["input"]
    wanted, rows = _promised(given, vector["expected"])
    actual = play(given, "asyncio")
    if play(given, "trio") != actual:
        return Failed(actual, play(given, "trio"), "(asyncio and trio differ)")
    found = first_difference(_parsed(wanted["steps"]), _parsed(actual), ".steps")
    return found or (differs(*rows) if rows else passed())


def _promised(given: Json, recorded: Json) -> tuple[Json, list[str]]:
    wanted: Json = {"steps": [_without_details(step) for step in copy.deepcopy(recorded["steps"])]}
    rows: list[str] = []
    if given.get("withoutLease"):
        _keep_the_new_edition(wanted["steps"])
        rows.append("streams-leased")
    bad = _bad_cursors(given["steps"])
    if bad:
        _refuse(wanted["steps"], bad)
        rows.append("cursors-checked")
    return wanted, rows


def _parsed(steps: Json) -> Json:
    """Read the payloads of server-sent events, whose keys may come in any order."""
    for step in steps:
        result = step.get("result")
        if isinstance(result, dict) and result.get("headers", {}).get("content-type") == "text/event-stream":
            frames = result["body"].removesuffix("\n\n").split("\n\n")
            datas = [frame.removeprefix("data: ") for frame in frames]
            result["body"] = [data if data == "[DONE]" else json.loads(data) for data in datas]
    return steps


def _without_details(step: Json) -> Json:
    if "error" in step:
        step["error"].pop("code", None)
    for event in step.get("events", []):
        event.pop("reason", None)
    return step


def _keep_the_new_edition(steps: Json) -> None:
    """A superseded producer that finishes is told so, and the new stream goes on."""
    steps[3] = {"events": [{"error": ["a", "superseded"]}]}
    steps[4] = {"result": "streaming"}


def _bad_cursors(steps: Json) -> dict[str, int]:
    """The readers that begin where the stream has nothing, or at no place at all."""
    count, bad = 0, {}
    for number, step in enumerate(steps):
        if step.get("store") == "append":
            count += 1
        cursor = step.get("cursor", "0")
        if step.get("store") == "read" and (not cursor.isalnum() or int(cursor, 36) > count):
            bad[step["as"]] = number
    return bad


def _refuse(steps: Json, bad: dict[str, int]) -> None:
    for step in steps:
        for name in bad:
            step.get("readers", {}).pop(name, None)
    for name, number in bad.items():
        steps[number].setdefault("readers", {})[name] = {"error": {"kind": "invalid-cursor"}}
