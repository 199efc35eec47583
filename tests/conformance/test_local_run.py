"""The comparison of thread scenarios: it notices every kind of difference, and excuses none without its reason."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from . import local_run
from ._outcome import Differs, Failed, Passed
from ._vectors import KEPT, read_vectors

Json = Any

VECTORS = {vector["name"]: vector for vector in read_vectors(KEPT / "local_run.jsonl.xz")}


def changed(name: str, change: Callable[[Json], object]) -> Json:
    vector = copy.deepcopy(VECTORS[name])
    change(vector["expected"])
    return vector


def log_of(expected: Json, step: int, tag: str) -> Json:
    return next(entry for entry in expected["steps"][step]["log"] if entry[0] == tag)


def last_state(expected: Json, step: int) -> Json:
    return [entry for entry in expected["steps"][step]["log"] if entry[0] == "snapshot"][-1][1]


def without(expected: Json, step: int, tag: str) -> None:
    log = expected["steps"][step]["log"]
    log.remove(next(entry for entry in log if entry[0] == tag))


def put_last(expected: Json, step: int, tag: str) -> None:
    entry = log_of(expected, step, tag)
    without(expected, step, tag)
    expected["steps"][step]["log"].append(entry)


def answer_of(expected: Json, step: int) -> Json:
    states = [entry[1] for entry in expected["steps"][step]["log"] if entry[0] == "snapshot"]
    return next(item for state in reversed(states) for item in reversed(state["messages"]) if isinstance(item, dict))


CHANGES: list[tuple[str, str, Callable[[Json], object]]] = [
    ("a content", "run/promise-result", lambda e: answer_of(e, 0)["content"][0].update(text="other")),
    ("a status", "run/promise-result", lambda e: answer_of(e, 0).update(status={"type": "incomplete"})),
    ("whether it runs", "run/promise-result", lambda e: last_state(e, 0).update(isRunning=True)),
    ("an event less", "run/promise-result", lambda e: without(e, 0, "event")),
    ("a call less", "run/promise-result", lambda e: without(e, 0, "run")),
    ("an order", "run/promise-result", lambda e: put_last(e, 0, "run")),
    ("what a call sees", "run/promise-result", lambda e: log_of(e, 0, "run")[2].update(runConfig={"a": 1})),
    ("what settled", "run/promise-result", lambda e: e["steps"][0].pop("settled")),
    ("how it settled", "error/mid-stream", lambda e: e["steps"][0]["settled"][0].__setitem__(1, "ok")),
    ("an end less", "cancel/stream-ignore", lambda e: without(e, 1, "abort")),
    ("why it ended", "cancel/stream-ignore", lambda e: log_of(e, 1, "abort").__setitem__(2, "detach")),
    ("an error", "approval/unknown", lambda e: e["steps"][-1].pop("error")),
    ("an answer", "branch/lookup", lambda e: e["steps"][3].update(value=None)),
    ("alternatives", "branch/reload", lambda e: last_state(e, 1).pop("branches")),
    ("what is stored", "history/writes", lambda e: log_of(e, 0, "history")[2].update(parentId="ghost")),
    ("how it is stored", "history/pause-with-update", lambda e: log_of(e, 1, "history").__setitem__(1, "append")),
    ("suggestions", "suggestions/promise", lambda e: last_state(e, 0).pop("suggestions")),
    ("a request for them", "suggestions/promise", lambda e: without(e, 0, "suggest")),
    ("the tree", "branch/reload", lambda e: e["tree"]["messages"].pop()),
    ("what is pending", "cancel/between-roundtrips", lambda e: e.update(pending=[0])),
    (
        "capabilities",
        "thread/capabilities-follow-options",
        lambda e: last_state(e, 0)["capabilities"].remove("feedback"),
    ),
]


@pytest.mark.parametrize(("name", "change"), [pytest.param(*case[1:], id=case[0]) for case in CHANGES])
def test_a_changed_expectation_fails(name: str, change: Callable[[Json], object]) -> None:
    assert isinstance(local_run.run(VECTORS[name]), Passed)
    assert isinstance(local_run.run(changed(name, change)), Failed)


EXCUSED: list[tuple[str, str, Callable[[Json], object]]] = [
    ("suggestions-after-complete", "quirk/suggestions-after-cancel", lambda e: without(e, 1, "abort")),
    ("roundtrips-limited", "random/0011", lambda e: without(e, 0, "event")),
    ("empty-answer", "quirk/promise-without-result", lambda e: without(e, 0, "run")),
    ("error-with-code", "quirk/error-with-string-code", lambda e: e["steps"][0]["settled"][0].__setitem__(1, "ok")),
    ("error-text-kept", "quirk/error-structured-invalid-severity", lambda e: without(e, 0, "event")),
    ("model-output-checked", "run/every-part-type", lambda e: answer_of(e, 0)["content"].pop(0)),
    ("model-error-first", "quirk/assistant-write-failure-hides-run-error", lambda e: without(e, 0, "event")),
    ("history-retried", "history/user-write-fails", lambda e: e["steps"][0].update(error={"error": "x"})),
    ("writes-in-line", "history/slow-user-write", lambda e: without(e, 0, "run")),
    ("load-again", "history/load-fails", lambda e: e["steps"][1]["settled"][0].__setitem__(1, "ok")),
    ("strays-ended", "thread/reset-during-run", lambda e: e["steps"][2]["settled"][0].__setitem__(1, {"raised": "x"})),
    ("cancel-from-run-start", "quirk/cancel-from-run-start", lambda e: e["steps"][0].update(error={"error": "x"})),
    ("subscriber-isolated", "quirk/throwing-subscriber-fails-the-run", lambda e: without(e, 0, "run")),
    ("refused-unannounced", "append/unsupported-part", lambda e: e["steps"][0]["settled"][0].__setitem__(1, "ok")),
    ("approval-ambiguous", "quirk/approval-same-id-twice-in-one-message", lambda e: without(e, 0, "run")),
    ("resume-tool-call", "thread/unsupported", lambda e: e["steps"][2].pop("error")),
]


@pytest.mark.parametrize(("row", "name", "change"), [pytest.param(*case, id=case[0]) for case in EXCUSED])
def test_a_difference_on_purpose_excuses_nothing_else(row: str, name: str, change: Callable[[Json], object]) -> None:
    outcome = local_run.run(VECTORS[name])
    assert isinstance(outcome, Differs)
    assert row in outcome.rows
    assert isinstance(local_run.run(changed(name, change)), Failed)
