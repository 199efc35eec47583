"""Family ``accumulate``: the message after every chunk of a stream."""

from typing import Any

from partwise.errors import StateOperationError, WireError
from partwise.stream import Accumulator, read_chunk

from . import partial_json
from ._outcome import Failed, Outcome, differs, first_difference, passed
from ._stream_ledger import Ledger
from ._stream_shown import T0, initial_message, shown

Json = Any


def run(vector: Json) -> Outcome:
    """Run one vector; see `_outcome`."""
    given, wanted = vector["input"], vector["expected"]
    rows: dict[str, None] = {}
    ledger = Ledger(given, rows)
    now = [T0]
    accumulator = Accumulator(
        initial_message(given),
        clock=lambda: now[0],
        is_strict=given.get("strict", True),
        report=lambda problem: None,
    )
    metas = wanted.get("argsMeta") or [{}] * (len(given["chunks"]) or 1)
    for at, raw in enumerate(given["chunks"]):
        now[0] += 10
        before = accumulator.message
        failure = _apply(accumulator, raw, is_strict=given.get("strict", True))
        recorded = wanted.get("error", {})
        if failure == "refused" and at and wanted["snapshots"][at : at + 1] == [wanted["snapshots"][at - 1]]:
            ledger.ignored.add("totalChunks")  # both drop it; here it is not even read as a chunk
            continue
        if recorded.get("at") == at or failure == "refused":
            return _ended(recorded if recorded.get("at") == at else {}, failure, before, accumulator, rows)
        if failure is not None:
            return Failed("no error", failure, f"chunks[{at}]")
        ledger.take(raw, wanted["snapshots"][at], metas[at])
        found = _compare(ledger, wanted["snapshots"][at], metas[at], accumulator, f"[{at}]")
        if found is not None:
            return found
    now[0] += 10
    final = accumulator.finish()
    if wanted["final"] is None:
        return differs(*rows) if rows else passed()
    ledger.end(wanted["final"])
    found = _compare(ledger, wanted["final"], metas[-1], accumulator, ".final")
    assert final is accumulator.message
    return found or (differs(*rows) if rows else passed())


def _apply(accumulator: Accumulator, raw: Json, *, is_strict: bool) -> str | None:
    """Apply a chunk; returns what kept it from being applied."""
    problems: list[WireError] = []
    try:
        chunk = read_chunk(raw, report=problems.append)
    except WireError:
        return "refused"
    try:
        if is_strict and problems and raw["type"] == "update-state":
            return problems[0].code
        accumulator.apply(chunk)
    except StateOperationError as error:
        return error.code
    return None


def _ended(recorded: Json, failure: str | None, before: Json, accumulator: Accumulator, rows: Json) -> Outcome:
    """Compare where the reference died, or where it used a chunk that is refused here."""
    if failure == "refused":
        rows["bad-chunks-dropped"] = None
        return differs(*rows) if accumulator.message is before else Failed("dropped", "applied", "refused chunk")
    if failure != recorded["kind"]:
        return Failed(recorded, failure, ".error")
    return differs(*rows) if rows else passed()


def _compare(ledger: Ledger, recorded: Json, meta: Json, accumulator: Accumulator, where: str) -> Failed | None:
    promised = ledger.promised(recorded)
    actual = shown(accumulator.message, ledger.ignored)
    for index, part in enumerate(promised["parts"]):
        if part["type"] == "tool-call":
            recorded_meta = ledger.parts[index].get("meta", meta.get(str(index)))
            _promise_args(part, actual["parts"][index], recorded_meta, accumulator, ledger.rows)
    return first_difference(promised, actual, where)


def _promise_args(part: Json, actual: Json, meta: Json, accumulator: Accumulator, rows: Json) -> None:
    """Put the arguments as they are promised into the recorded part, and what is known of them into both."""
    state = meta or {"state": "partial", "partialPath": []}
    if part["argsText"] == "{}" and part["args"] == {}:
        state = {"state": "complete", "partialPath": []}
    if isinstance(part["args"], dict) or partial_json.is_other(part["argsText"]):
        (step,) = partial_json.promised_steps([part["argsText"]], [{"value": part["args"], **state}], rows)
        part["args"] = step["value"]
        reader = accumulator.args_reader(actual["toolCallId"])
        if reader is not None and not reader.is_blank:
            part["argsMeta"] = {key: step[key] for key in ("state", "partialPath")}
            actual["argsMeta"] = {
                "state": "complete" if reader.is_complete else "partial",
                "partialPath": [] if reader.is_complete else list(map(str, reader.partial_path)),
            }
