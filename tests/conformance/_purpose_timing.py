"""Differences on purpose in when things happen: runs that lost their message, and writes in line."""

from typing import Any

from ._both import Both, entries, set_settled, settled

Json = Any

REMOVING = {"delete_message", "import", "reset"}


def strays_ended(both: Both) -> None:
    """A run whose question or answer was removed is ended at once, instead of when it is noticed."""
    for number, _, actual in both.steps():
        strays = {entry[1] for entry in entries(actual, "abort")}
        if both.op(number)["op"] in REMOVING and strays:
            both.because("strays-ended")
            if _leave_answers(both, strays):
                # The answer reads as cancelled here, and as running for ever there.
                both.part_at(number, "strays-ended")
            ends = [_forget_end(both, side, strays, number) for side in (both.wanted, both.actual)]
            for end, outcomes, others in ((both.wanted_end, *ends), (both.actual_end, *reversed(ends))):
                end[f"strays of step {number}"] = [[key, outcomes[key]] for key in sorted(outcomes) if key in others]


def _leave_answers(both: Both, strays: set[int]) -> bool:
    """Whether only the question of one of these runs was removed, so that its answer is still there."""
    runs = [entry for step in both.actual for entry in entries(step, "run")]
    answers = {entry[2]["assistantId"] for entry in runs if entry[1] in strays}
    return any(message_id in answers for message_id, _ in both.actual_end["tree"]["messages"])


def _forget_end(both: Both, steps: list[Json], strays: set[int], first: int) -> dict[Any, Json]:
    """Take out of one side when these runs ended; returns how the operations ended that waited for them."""
    owners = {
        number - 1
        for number, step in enumerate(steps)
        for entry in entries(step, "run")
        if entry[1] in strays and both.op(number)["op"] in {"append", "resume_run", "start_run"}
    }
    has_started = False
    outcomes: dict[Any, Json] = {}
    for step in steps[first:]:
        outcomes |= {key: outcome for key, outcome in settled(step).items() if key in owners}
        has_started = has_started or ["event", "runStart"] in step["log"]
        if not has_started:
            step["state"].pop("isRunning", None)
        step["log"] = [
            entry
            for entry in step["log"]
            if entry != ["event", "runEnd"] and not (entry[0] == "abort" and entry[1] in strays)
        ]
        set_settled(step, {key: outcome for key, outcome in settled(step).items() if key not in owners})
    end = both.wanted_end if steps is both.wanted else both.actual_end
    end["pending"] = [key for key in end["pending"] if key not in owners]
    return outcomes


def writes_in_line(both: Both) -> None:
    """Messages are stored one after the other; a slow write delays the next, and who waits for it."""
    for first, last in reversed(_slow_writes(both)):
        if last is None:
            both.part_at(first, "writes-in-line")
            continue
        both.because("writes-in-line")
        for side in (both.wanted, both.actual):
            side[first : last + 1] = [_merged(side[first : last + 1])]


def _slow_writes(both: Both) -> list[tuple[int, int | None]]:
    """The steps from a write that waits, while another message was stored, to the one that lets it go on."""
    signals = [(op["name"], number) for number, op in enumerate(both.given["steps"], 1) if op["op"] == "signal"]
    opened = dict(reversed(signals))
    script = both.given.get("history") or {}
    calls: dict[str, int] = {}
    found: list[tuple[int, int | None]] = []
    for number, wanted, _ in both.steps():
        for position, entry in enumerate(wanted["log"]):
            if entry[0] != "history" or entry[1] not in {"append", "update"}:
                continue
            behaviours = script.get(entry[1]) or []
            index = calls[entry[1]] = calls.get(entry[1], -1) + 1
            behaviour = behaviours[index] if index < len(behaviours) else "ok"
            gate = behaviour.get("wait") if isinstance(behaviour, dict) else None
            if gate is None or opened.get(gate, len(both.wanted)) <= number:
                continue
            last = opened.get(gate)
            until = both.wanted[number + 1 : last]
            meanwhile = [*wanted["log"][position + 1 :], *(item for step in until for item in step["log"])]
            about = entry[2]["message"]["id"]
            if any(item[0] == "history" and item[2]["message"]["id"] != about for item in meanwhile if len(item) > 2):
                found.append((number, last))
    return found


def _merged(steps: list[Json]) -> Json:
    """Several steps as one: everything that happened, and the state afterwards."""
    merged: Json = {**steps[-1], "log": [entry for step in steps for entry in step["log"]]}
    for name in ("error", "value"):
        answers = [step[name] for step in steps if name in step]
        if answers:
            merged[name] = answers
    set_settled(merged, {key: outcome for step in steps for key, outcome in settled(step).items()})
    return merged
