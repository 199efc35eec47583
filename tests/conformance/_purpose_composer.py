"""Where drafts and the queue do not follow the recordings; see `_purpose`."""

import copy
from typing import Any

from ._both import Both, set_settled, settled

Json = Any


def sends_settle_later(both: Both) -> None:
    """What sending returns settles with the whole answer, as appending does; the reference's tells nothing."""
    sends = {number - 1 for number, *_ in both.steps() if number and both.op(number)["op"] == "send"}
    for _, wanted, actual in both.steps():
        for step in (wanted, actual):
            set_settled(step, {key: outcome for key, outcome in settled(step).items() if key not in sends})
    for end in (both.wanted_end, both.actual_end):
        end["pending"] = [key for key in end["pending"] if key not in sends]


def quiet(steps: Json) -> Json:
    """The steps of a raw queue, without what is told out of band, and told of changes only where there are any."""
    steps = copy.deepcopy(steps)
    before: Json = ([], [])
    for step in steps:
        calls = [call for call in step.pop("calls", []) if call[0] != "report"]
        if calls:
            step["calls"] = calls
        now = (step["queue"], step["steer"])
        if now == before:
            # A message that is sent at once never waited, so there is nothing to tell.
            del step["notified"]
        before = now
    return steps


def queue_not_lost(both: Both) -> None:
    """A queued message that reached nobody waits again."""
    for number, wanted, actual in both.steps():
        theirs, ours = (step["state"].get("composer", {}).get("queue", []) for step in (wanted, actual))
        is_kept = len(ours) == len(theirs) + 1 and wanted["state"]["messages"] == actual["state"]["messages"]
        if is_kept and ["initialize-barrier"] in wanted["log"] and not actual["state"]["isRunning"]:
            both.part_at(number, "queue-not-lost")


def drafts_all_return(both: Both) -> None:
    """Of several messages that were not sent all come back, in the order of their sending."""
    for _, wanted, actual in both.steps():
        theirs, ours = (step["state"].get("composer", {}) for step in (wanted, actual))
        if ours.get("text", "").endswith("\n" + theirs.get("text", "")) and theirs.get("text"):
            wanted["state"] = {**wanted["state"], "composer": {**theirs, "text": ours["text"]}}
            both.because("drafts-all-return")


def queue_holds_pause(both: Both) -> None:
    """While an answer waits for a human, the queue waits, too."""
    for number, wanted, actual in both.steps():
        messages = actual["state"]["messages"]
        is_paused = bool(messages) and messages[-1].get("status", {}).get("type") == "requires-action"
        if is_paused and actual["state"]["composer"].get("queue") and ["event", "runStart"] in wanted["log"]:
            both.part_at(number, "queue-holds-pause")


def parting(given: Json, wanted: Json, actual: Json) -> int | None:
    """Where a raw queue whose driver could not cancel goes on, and the reference's never does."""
    if given.get("cancel") != "raises":
        return None
    failed = [number for number, step in enumerate(wanted) if step.get("error") == {"raised": "cancel failed"}]
    later = [number for number in range(len(wanted)) if failed and number > failed[0]]
    return next((number for number in later if wanted[number].get("calls") != actual[number].get("calls")), None)


RULES: tuple[Any, ...] = (sends_settle_later, queue_not_lost, drafts_all_return, queue_holds_pause)
