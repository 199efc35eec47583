"""Where the external runtime does not follow the recordings; see `_purpose`."""

from typing import Any

from ._both import Both, entries, set_settled, settled

Json = Any


def placeholder_kept(both: Both) -> None:
    """The placeholder of a run keeps its id until the answer comes."""
    names: dict[str, str] = {}
    last: tuple[Json, Json] = (None, None)
    for number, _, actual in both.steps():
        if names:
            both.wanted[number] = renamed(both.wanted[number], names)
        theirs, ours = placeholder(both.wanted[number]), placeholder(actual)
        if theirs and ours and ours == last[1] and theirs != last[0] and last[0]:
            names[theirs] = last[0]
            both.wanted[number] = renamed(both.wanted[number], {theirs: last[0]})
            both.because("placeholder-kept")
            theirs = last[0]
        if theirs and ours:
            last = (theirs, ours)


def placeholder(step: Json) -> Json:
    """The id of the placeholder that a step shows at its end, or None."""
    messages = step["state"].get("messages") or []
    last = messages[-1] if messages else {}
    is_one = last.get("metadata", {}).get("isOptimistic") and not last["content"]
    return last["id"] if is_one else None


def renamed(value: Json, names: dict[str, str]) -> Json:
    """A JSON value with some texts replaced by others, keys included."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    if isinstance(value, dict):
        return {names.get(key, key): renamed(item, names) for key, item in value.items()}
    return value


def update_whole(both: Both) -> None:
    """An update that fails changes nothing, flags included, and may be tried again."""
    for number, wanted, actual in both.steps():
        if both.op(number)["op"] != "set_store" or "error" not in wanted or "error" not in actual:
            continue
        if wanted["state"] != actual["state"] or wanted["capabilities"] != actual["capabilities"]:
            wanted["state"], wanted["capabilities"] = actual["state"], actual["capabilities"]
            both.because("update-whole")
        if number + 1 < len(both.actual) and both.op(number + 1)["op"] == "set_store":
            again = both.actual[number + 1].get("error")
            if again == actual["error"] and "error" not in both.wanted[number + 1]:
                both.part_at(number + 1, "update-whole")


def append_refused(both: Both) -> None:
    """An owner that takes no messages says so by name."""
    for _, wanted, actual in both.steps():
        for key, outcome in settled(wanted).items():
            if outcome == {"error": "type-error"} and settled(actual).get(key) == {"error": "unsupported"}:
                set_settled(wanted, {**settled(wanted), key: {"error": "unsupported"}})
                both.because("append-refused")


def left_not_sent(both: Both) -> None:
    """A message that still waited when its thread was left was not sent, and its sender is told so."""
    for _, wanted, actual in both.steps():
        for key, outcome in settled(wanted).items():
            if outcome == "ok" and settled(actual).get(key) == {"error": "message-not-sent"}:
                set_settled(wanted, {**settled(wanted), key: {"error": "message-not-sent"}})
                both.because("left-not-sent")


def cancel_cleans_up(both: Both) -> None:
    """A cancel whose callback raises cleans up all the same."""
    for number, wanted, actual in both.steps():
        has_raised = both.op(number)["op"] == "cancel_run" and "raised" in (wanted.get("error") or {})
        if has_raised and wanted["error"] == actual.get("error") and wanted["state"] != actual["state"]:
            both.part_at(number, "cancel-cleans-up")


def idle_cancel(both: Both) -> None:
    """A cancel while nothing runs has no consequences for the run that begins next."""
    for number, wanted, actual in both.steps():
        was_idle = number > 1 and not both.wanted[number - 2]["state"]["isRunning"]
        follows = was_idle and both.op(number - 1)["op"] == "cancel_run"
        is_alone = placeholder(actual) is not None and placeholder(wanted) is None
        if follows and is_alone and wanted["state"]["messages"] == actual["state"]["messages"][:-1]:
            both.part_at(number, "idle-cancel")


def feedback_shown(both: Both) -> None:
    """Feedback is shown when it is given."""
    given: dict[str, Json] = {}
    for number, wanted, actual in both.steps():
        op = both.op(number)
        if op["op"] == "submit_feedback" and entries(actual, "feedback"):
            given[op["message"]] = {"submittedFeedback": {"type": op["type"]}}
        theirs, ours = wanted["state"]["messages"], actual["state"]["messages"]
        for index, (one, other) in enumerate(zip(theirs, ours, strict=False)):
            if one["id"] in given and one != other and other.get("metadata") == given[one["id"]]:
                theirs = [*theirs[:index], other, *theirs[index + 1 :]]
                wanted["state"] = {**wanted["state"], "messages": theirs}
                both.because("feedback-shown")


def vanished_at_root(both: Both) -> None:
    """A message that left the feed from before others that stayed is gone, also when it was the first."""
    gone: set[str] = set()
    met: set[str] = set()
    before: list[str] = []
    for number, wanted, actual in both.steps():
        now = [item["id"] for item in wanted["state"]["messages"] if item["id"] != placeholder(wanted)]
        if both.op(number)["op"] == "set_store":
            followed = [index for index, item in enumerate(before) if item in now]
            last = followed[-1] if followed else 0
            gone |= {item for item in before[:last] if item not in now} if now else met
        elif gone & (set(now) - {item["id"] for item in actual["state"]["messages"]}):
            # What is deleted here uncovers, there, the phantom beside it.
            both.part_at(number, "vanished-at-root")
        gone -= set(now)
        met |= set(now)
        before = now
        _forget(both, number, wanted, actual, gone)
    if both.stop is None and gone and both.wanted_end["tree"] != both.actual_end["tree"]:
        _cut(both, both.wanted_end["tree"], gone)


def _forget(both: Both, number: int, wanted: Json, actual: Json, gone: set[str]) -> None:
    theirs, ours = wanted["state"].get("branches"), actual["state"].get("branches")
    if theirs != ours and any(gone & set(ids) for ids in (theirs or {}).values()):
        kept = {key: [item for item in ids if item not in gone] for key, ids in theirs.items()}
        wanted["state"] = {**wanted["state"], "branches": {key: ids for key, ids in kept.items() if len(ids) > 1}}
        if not wanted["state"]["branches"]:
            del wanted["state"]["branches"]
        both.because("vanished-at-root")
        if wanted["state"].get("branches") != ours:
            # What hung under the message that is gone hangs at the root now, as after any deletion.
            both.part_at(number, "vanished-at-root")
    value, other = wanted.get("value"), actual.get("value")
    if value != other and isinstance(value, dict) and "messages" in value:
        _cut(both, value, gone)
    if value != other and isinstance(value, list) and gone & set(value):
        wanted["value"] = [item for item in value if item not in gone]
        both.because("vanished-at-root")


def _cut(both: Both, tree: Json, gone: set[str]) -> None:
    kept = [pair for pair in tree["messages"] if pair[0] not in gone]
    if kept != tree["messages"]:
        tree["messages"] = kept
        tree["headId"] = None if tree["headId"] in gone else tree["headId"]
        both.because("vanished-at-root")


RULES: tuple[Any, ...] = (
    placeholder_kept,
    update_whole,
    append_refused,
    left_not_sent,
    cancel_cleans_up,
    idle_cancel,
    feedback_shown,
    vanished_at_root,
)
