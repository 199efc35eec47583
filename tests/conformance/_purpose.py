"""Where partwise does not follow the recordings: each rule knows one difference, by what it means.

A rule looks at both sides, takes out the difference it knows and names its row. What is left is compared.
"""

import re
from itertools import pairwise
from typing import Any

from ._both import Both, entries, messages, raised_by, set_settled, settled, text_of
from ._reading import ASIDE

Json = Any

# What the product shows of an image; see `partwise.messages.parts_from_like`.
_GOOD_IMAGE = re.compile(r"(https:|blob:|data:image/)")


def refused_unannounced(both: Both) -> None:
    """A message or a run that is refused is refused before anything is announced."""
    for number, wanted, actual in both.steps():
        own = number - 1
        refusal, ours = settled(wanted).get(own), settled(actual).get(own)
        if not (isinstance(refusal, dict) and isinstance(ours, dict) and wanted["log"] and not actual["log"]):
            continue
        codes = {refusal.get("error"), ours.get("error")}
        if len(codes) > 1 and codes != {"not-found", "parent-not-found"}:
            continue
        if any(entry[0] not in {"event", *ASIDE} for entry in wanted["log"]):
            continue
        was_first = ["event", "initialize"] in wanted["log"]
        wanted["log"] = []
        set_settled(wanted, {**settled(wanted), own: ours})
        both.because("refused-unannounced")
        later = [
            step for step in range(number + 1, len(both.actual)) if ["event", "initialize"] in both.actual[step]["log"]
        ]
        if was_first and later:
            both.wanted[later[0]]["log"].insert(0, ["event", "initialize"])


def load_again(both: Both) -> None:
    """A load that failed may be tried again, by asking again."""
    failed = False
    for number, wanted, actual in both.steps():
        if both.op(number)["op"] != "load":
            continue
        if failed and not entries(wanted, "history") and entries(actual, "history"):
            wanted["log"].insert(0, ["history", "load"])
            both.because("load-again")
        failed = failed or isinstance(settled(wanted).get(number - 1), dict)


def history_retried(both: Both) -> None:
    """What could not be stored is stored before the next message; then that write has not failed."""
    failures = [text_of(error) for error in raised_by(both.given.get("history"))]
    has_retried = False
    for _, wanted, actual in both.steps():
        if entries(actual, "history-retry"):
            has_retried = True
            both.because("history-retried")
        ours = settled(actual)
        for key, outcome in settled(wanted).items():
            if (
                has_retried
                and ours.get(key) == "ok"
                and isinstance(outcome, dict)
                and outcome.get("raised") in failures
            ):
                set_settled(wanted, {**settled(wanted), key: "ok"})


def model_error_first(both: Both) -> None:
    """An operation raises what the model raised, also when the history failed as well."""
    failures = [text_of(error) for error in raised_by(both.given.get("history"))]
    raised = [text_of(error) for error in raised_by(both.given.get("model"))]
    for _, wanted, actual in both.steps():
        ours = settled(actual)
        for key, outcome in settled(wanted).items():
            shown = ours.get(key)
            if not (isinstance(outcome, dict) and isinstance(shown, dict)) or outcome == shown:
                continue
            if outcome.get("raised") in failures and shown.get("raised") in raised:
                set_settled(wanted, {**settled(wanted), key: shown})
                both.because("model-error-first")


def cancel_from_run_start(both: Both) -> None:
    """A cancel from a listener of the run's start ends that run."""
    for number, wanted, actual in both.steps():
        log = [entry for entry in wanted["log"] if entry[0] not in {"snapshot", "report"}]
        if (["event", "runStart"], ["nested", "cancel_run"]) not in list(pairwise(log)):
            continue
        if ["event", "runEnd"] in actual["log"] and _last_status(actual).get("reason") == "cancelled":
            both.part_at(number, "cancel-from-run-start")


def subscriber_isolated(both: Both) -> None:
    """A subscriber that raises is nobody else's problem."""
    for number, *_ in both.steps():
        if both.op(number)["op"] == "subscribe" and not isinstance(both.op(number)["behaviour"], dict):
            outcomes = [outcome for step in both.actual for outcome in settled(step).values()]
            if {"raised": "listener"} not in outcomes:
                both.part_at(number + 1, "subscriber-isolated")


def resume_tool_call(both: Both) -> None:
    """Tools that run in the thread can ask a human, so there is something to resume."""
    for number, wanted, actual in both.steps():
        answers = (wanted.get("error"), actual.get("error"))
        if both.op(number)["op"] == "resume_tool_call" and answers == (
            {"error": "unsupported"},
            {"error": "not-waiting"},
        ):
            wanted["error"] = actual["error"]
            both.because("resume-tool-call")


def empty_answer(both: Both) -> None:
    """A model that returns nothing has answered with nothing."""
    for _, wanted, actual in both.steps():
        for key, outcome in settled(wanted).items():
            if outcome == {"error": "type-error"} and settled(actual).get(key) == "ok":
                set_settled(wanted, {**settled(wanted), key: "ok"})
                both.because("empty-answer")
    for message in messages(both.wanted):
        if (message.get("status") or {}).get("error", {}).get("message") == "$engine-error":
            message["status"] = {"type": "complete", "reason": "unknown"}
            both.because("empty-answer")


def _last_status(step: Json) -> Json:
    shown = step["state"]["messages"]
    return shown[-1].get("status", {}) if shown else {}


def approval_ambiguous(both: Both) -> None:
    """An answer that several open calls of a message could take is refused unless it says which."""
    for number, _, actual in both.steps():
        if actual.get("error") != {"error": "approval-ambiguous"}:
            continue
        asked = [
            part["approval"]["id"]
            for message in both.wanted[number - 1]["state"]["messages"]
            for part in message["content"]
            if part.get("approval") and not {"approved", "resolution"} & part["approval"].keys()
        ]
        if max((asked.count(item) for item in asked), default=0) > 1:
            both.part_at(number, "approval-ambiguous")


def error_text_kept(both: Both) -> None:
    """The record of an error keeps its text and its code, whatever else the exception carries."""
    scripted = [error for error in raised_by(both.given.get("model")) if isinstance(error, dict)]
    kept = [
        {"code": error["code"], "message": error["message"]}
        for error in scripted
        if isinstance(error.get("code"), str) and isinstance(error.get("message"), str)
    ]
    for message in messages(both.wanted):
        record = (message.get("status") or {}).get("error")
        if not isinstance(record, dict):
            continue
        by_code = [error for error in kept if error["code"] == record.get("code") and "message" not in record]
        by_object = [error for error in kept if str(record.get("message")).startswith("[object]")]
        if by_code or by_object:
            message["status"] = {**message["status"], "error": (by_code or by_object)[0]}
            both.because("error-with-code" if by_code else "error-text-kept")


def roundtrips_limited(both: Both) -> None:
    """The limit of steps counts calls of the model, also if it reports no steps."""
    limit = both.given.get("options", {}).get("maxSteps", 2)
    calls: dict[str, int] = {}
    started = False
    for number, wanted, actual in both.steps():
        options = both.op(number).get("set", {}).get("options", {})
        limit = options.get("maxSteps", limit)
        for entry in wanted["log"]:
            if entry == ["event", "runStart"]:
                started = True
            if entry[0] != "run":
                continue
            answer = entry[2]["assistantId"]
            calls[answer] = 1 if started else calls.get(answer, 0) + 1
            started = False
            before = entries(wanted, "run").index(entry)
            if calls[answer] > limit and _is_limited(actual, before):
                both.part_at(number, "roundtrips-limited")


def _is_limited(actual: Json, calls: int) -> bool:
    """Whether a step made so many calls of the model, and ended a message as out of steps."""
    is_ended = any(
        message.get("status") == {"type": "incomplete", "reason": "tool-calls"} for message in messages([actual])
    )
    return is_ended and len(entries(actual, "run")) == calls


def output_checked(both: Both) -> None:
    """What a model sends is read like any other message: an image that nobody can show is left out."""
    for message in messages(both.wanted):
        good = [
            part for part in message["content"] if part["type"] != "image" or _GOOD_IMAGE.match(part.get("image", ""))
        ]
        if len(good) < len(message["content"]):
            message["content"] = good
            both.because("model-output-checked")
