"""What is recorded of tool streams, changed for the reasons that ``docs/differences.md`` gives."""

import copy
import json
from typing import Any

from ._codec_ledger import counted_messages
from ._outcome import Failed, first_difference

Json = Any

CANCELLED = "Tool execution was cancelled."


class Promise:
    """Compares a script that ran with its recording, step by step.

    Each rule knows one difference: it changes what is recorded and names its row.
    """

    def __init__(self, given: Json, wanted: Json, actual: Json, rows: Json) -> None:
        self.given = given
        self.tools = given["tools"] or {}
        self.wanted = copy.deepcopy(wanted)
        self.actual = actual
        self.rows = rows
        self.text = json.dumps(given["steps"])

    def difference(self) -> Failed | None:
        """The first difference that has no reason."""
        wanted = [_sorted(step) for step in self.wanted["steps"]]
        actual = [_sorted(step) for step in self.actual["steps"]]
        if self._is_over(wanted, actual):
            return None
        for number, (one, other) in enumerate(zip(wanted, actual, strict=True)):
            counted_messages(one["emitted"], self.rows)
            for chunk in one["emitted"]:
                if "messages" in chunk:
                    chunk["messages"] = 0  # those of the vectors have no content
            counted_messages(other["emitted"], {})
            self._results(one["emitted"], other["emitted"])
            self._events(one, other)
            if _by_part(one["emitted"]) == _by_part(other["emitted"]):
                one["emitted"] = other["emitted"]  # only the order of different calls differs
            found = first_difference(one, other, f".steps[{number}]")
            if found is not None:
                return found
        if any("cancel" in step for step in self.given["steps"]):
            return None  # the reader has gone, so nothing ends for it
        return first_difference(self.wanted["ended"], self.actual["ended"], ".ended")

    def because(self, row: str) -> None:
        """Name a row."""
        self.rows[row] = None

    def _is_over(self, wanted: Json, actual: Json) -> bool:
        """Whether the stream died where ours goes on, or runs what is not run here; then only the beginning agrees."""
        chunks = [step["chunk"] for step in self.given["steps"] if "chunk" in step]
        row = self._row_of_the_end(chunks)
        if row is None:
            return False
        self.because(row)
        first = next((i for i, (a, b) in enumerate(zip(wanted, actual, strict=True)) if a != b), len(wanted))
        return first > 0 or bool(self.wanted.get("error"))

    def _row_of_the_end(self, chunks: Json) -> str | None:
        error = self.wanted.get("error", {}).get("kind")
        ends = [tuple(chunk["path"]) for chunk in chunks if chunk["type"] == "tool-call-args-text-finish"]
        if error in ("bad-path-index", "nested-part", "no-tool-call-at-path"):
            return "bad-chunks-dropped"
        if error == "user":
            is_source = any("fail" in step for step in self.given["steps"])
            return "failed-merge-is-error" if is_source else "tool-failure-alone"
        if len(ends) != len(set(ends)):
            return "tools-run-once"
        if any("await" in spec.get("parameters", {}) for spec in self.tools.values()):
            return "validators-are-plain"
        if any(spec.get("type") == "backend" and "execute" in spec for spec in self.tools.values()):
            return "only-frontend-runs"
        return None

    def _results(self, wanted: Json, actual: Json) -> None:
        texts = self._args()
        for chunk in list(wanted):
            if chunk["type"] != "result":
                continue
            ours = next((item for item in actual if item["type"] == "result" and item["path"] == chunk["path"]), None)
            if ours is None:
                self._without_ours(wanted, chunk)
                continue
            if self._stops_on_abort(chunk, ours):
                self.because("cancellation-structured")
                chunk["result"], chunk["isError"] = ours["result"], ours["isError"]
            if chunk["result"] == "@thrown: arguments are not valid JSON" and not ours["isError"]:
                self.because("keys-are-data" if "__proto__" in texts[chunk["path"][0]] else "blank-args-are-empty")
                chunk["result"], chunk["isError"] = ours["result"], ours["isError"]
            elif texts[chunk["path"][0]].startswith("[") and ours["isError"]:
                self.because("args-are-objects")
                chunk["result"], chunk["isError"] = ours["result"], ours["isError"]
            elif _is_text_of(chunk["result"], ours["result"]):
                # The vectors say of a text that was raised that any rendering of it is right.
                if not chunk["result"].startswith("@thrown: "):
                    self.because("raised-text")
                chunk["result"] = ours["result"]

    def _without_ours(self, wanted: Json, chunk: Json) -> None:
        number = chunk["path"][0]
        started = [
            item["chunk"]["part"] for item in self.given["steps"] if item.get("chunk", {}).get("type") == "part-start"
        ]
        if chunk["result"] == "@thrown: arguments are not valid JSON" and started[number]["toolName"] not in self.tools:
            self.because("unknown-tools-unjudged")
            wanted.remove(chunk)
        elif chunk["result"] in ("server", "from backend") or not chunk.get("isPreliminary"):
            self.because("first-result-final")
            wanted.remove(chunk)

    def _stops_on_abort(self, chunk: Json, ours: Json) -> bool:
        reacts = any("untilAbort" in (spec.get("execute") or {}) for spec in self.tools.values())
        return reacts and ours["result"] == {"error": CANCELLED} and chunk["result"] != CANCELLED

    def _args(self) -> list[str]:
        texts: list[str] = []
        for step in self.given["steps"]:
            chunk = step.get("chunk", {})
            if chunk.get("type") == "part-start":
                texts.append("")
            elif chunk.get("type") == "text-delta" and chunk["path"] and 0 <= chunk["path"][0] < len(texts):
                texts[chunk["path"][0]] += chunk["textDelta"]
        return texts

    def _events(self, wanted: Json, actual: Json) -> None:
        if wanted["events"] == actual["events"]:
            return
        if {"keys-are-data", "blank-args-are-empty", "args-are-objects"} & set(self.rows):
            wanted["events"] = actual["events"]  # the tool ran here, or did not
            return
        theirs, ours = _reads(wanted["events"]), _reads(actual["events"])
        rest = [event for event in wanted["events"] if "read" not in event]
        if theirs != ours and rest == [event for event in actual["events"] if "read" not in event]:
            self.because("half-typed-values")
            wanted["events"] = actual["events"]


def _by_part(chunks: Json) -> Json:
    return sorted(chunks, key=lambda chunk: chunk["path"])


def _sorted(step: Json) -> Json:
    emitted = [{**chunk, "path": chunk.get("path", [])} for chunk in step.get("emitted", [])]
    events = [_event(event) for event in step.get("events", [])]
    return {"emitted": emitted, "events": sorted(events, key=lambda event: json.dumps(event, sort_keys=True))}


def _event(event: Json) -> Json:
    if "toModelOutput" in event:
        return {"toModelOutput": {"output": event["toModelOutput"]["output"]}}
    value = event.get("value")
    if isinstance(value, dict) and "isError" in value:  # the text of an error is compared where it is emitted
        return {**event, "value": {**value, "result": "error" if value["isError"] else value["result"]}}
    return event


def _reads(events: Json) -> Json:
    return [event for event in events if "read" in event]


def _is_text_of(recorded: Json, ours: Json) -> bool:
    """Whether ours is the same failure as a typed error result."""
    if not (isinstance(recorded, str) and isinstance(ours, dict) and set(ours) == {"error"}):
        return False
    text = recorded.removeprefix("@thrown: ")
    kinds = {"arguments are not valid JSON": "valid JSON", "arguments failed validation": "failed validation"}
    return kinds.get(text, text) in ours["error"]


def promised_pending(given: Json, wanted: Json, actual: Json, rows: Json) -> Json:
    """What is promised of the open calls of a message."""
    out: Json = {"events": [event for event in wanted["events"] if "validate" not in event]}
    if wanted.get("pending"):
        return {**out, "pending": True}
    if given.get("aborted") or any("abort" in step for step in given.get("steps") or []):
        rows["cancellation-structured"] = None
        return {**out, **actual}  # nothing is answered, and nothing is changed
    if "error" in wanted:
        rows["tool-failure-alone"] = None
        is_told = all(call.get("isError") for call in actual["calls"])
        return {**out, "calls": actual["calls"] if is_told else [], "sameObject": False}
    parts = [part for part in wanted["message"]["parts"] if part["type"] == "tool-call"]
    calls = [
        {"id": part["toolCallId"], **{key: part[key] for key in ("result", "isError") if key in part}} for part in parts
    ]
    return {**out, "calls": calls, "sameObject": wanted["sameObject"]}
