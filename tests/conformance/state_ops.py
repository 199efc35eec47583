"""Family ``state_ops``: operations on a streamed value, what they change, and the wire of object streams."""

import json
from typing import Any

from partwise.errors import StateOperationError, WireError
from partwise.messages import thaw
from partwise.stream import (
    OBJECT_STREAM_HEADERS,
    ObjectDecoder,
    ObjectEncoder,
    StateChanges,
    apply_operations,
    check_object_stream,
    fold_state,
    read_operation,
    write_operation,
)

from ._outcome import Outcome, differs, first_difference, passed

Json = Any


def run(vector: Json) -> Outcome:
    """Run one vector; see `_outcome`."""
    given, wanted = vector["input"], vector["expected"]
    match given["op"]:
        case "apply":
            actual = _apply(given)
        case "apply-lenient":
            actual = {"steps": _apply_lenient(given)}
        case "object-stream":
            actual = _write(given)
        case "object-decode":
            actual = _read(given)
        case unknown:
            raise ValueError(f"unknown operation {unknown!r}")
    promised, row = _promised(given, wanted)
    return first_difference(promised, _in_shape(actual, promised)) or (differs(*row) if row else passed())


def _promised(given: Json, wanted: Json) -> tuple[Json, list[str]]:
    """What is recorded, but with operations that have no value, or no text to append, refused."""
    match given["op"]:
        case "apply" | "apply-lenient" if any(_is_valueless(op) for batch in given["batches"] for op in batch):
            is_strict = given["op"] == "apply"
            refused = {"error": "invalid-operation", "state": given["initial"]}
            return {"steps": [refused if is_strict else {"state": given["initial"]} for _ in given["batches"]]}, [
                "state-needs-values"
            ]
        case "object-decode" if "event: " in given.get("text", "") and wanted.get("error") == "unknown-event":
            return {"chunks": [{"snapshot": None, "operations": []}]}, ["sse-event-names"]
        case _:
            return wanted, []


def _is_valueless(op: Json) -> bool:
    missing = op.get("type") == "set" and "value" not in op and "path" in op
    return missing or (op.get("type") == "append-text" and not isinstance(op.get("value"), str))


def _in_shape(actual: Json, wanted: Json) -> Json:
    """Put keys in the recorded order, and say ``malformed`` where the reference met an error of its language."""
    for step, recorded in zip(actual.get("steps", []), wanted.get("steps", []), strict=False):
        if recorded.get("error") == "malformed" and "error" in step:
            step["error"] = "malformed"
        for change, other in zip(step.get("changes", []), recorded.get("changes", []), strict=False):
            if sorted(change.get("keys", [])) == sorted(other.get("keys", [])) and "keys" in change:
                change["keys"] = other["keys"]
    if wanted.get("error") == "malformed" and "error" in actual:
        actual["error"] = "malformed"
    return actual


def _apply(given: Json) -> Json:
    state, changes, steps = given["initial"], StateChanges(None, None), []
    for batch in given["batches"]:
        step: Json = {}
        try:
            operations = [read_operation(op) for op in batch]
            after = apply_operations(state, operations)
            state, changes = after, StateChanges(state, after, operations)
        except StateOperationError as error:
            step["error"] = error.code
        step["state"] = thaw(state)
        if "queries" in given:
            step["changes"] = [_query(changes, path) for path in given["queries"]]
        steps.append(step)
    return {"steps": steps}


def _query(changes: StateChanges, path: Json) -> Json:
    try:
        return {"path": path, "changed": changes.has_changed(path), "keys": list(changes.changed_keys(path))}
    except StateOperationError as error:
        return {"path": path, "error": error.code}


def _apply_lenient(given: Json) -> Json:
    state, steps = given["initial"], []
    for batch in given["batches"]:
        state = fold_state(state, batch, report=lambda problem: None)
        steps.append({"state": thaw(state)})
    return steps


def _write(given: Json) -> Json:
    encoder = ObjectEncoder(given.get("defaultValue"))
    chunks, text = [], b""
    for batch in given["batches"]:
        try:
            text += encoder.encode([read_operation(op) for op in batch])
        except StateOperationError as error:
            return {"chunks": chunks, "error": {"kind": error.code}}
        chunks.append({"snapshot": thaw(encoder.value), "operations": batch})
    if "fail" in given:
        return {"chunks": chunks, "error": {"kind": "user", "message": given["fail"]}}
    decoder = ObjectDecoder()
    decoded = [_snapshot(item) for at in range(len(text)) for item in decoder.feed(text[at : at + 1])]
    frames = [json.loads(frame[len("data: ") :]) for frame in text.decode().split("\n\n") if frame]
    return {
        "chunks": chunks,
        "headers": dict(OBJECT_STREAM_HEADERS),
        "text": text.decode(),
        "frames": frames,
        "decoded": decoded,
    }


def _snapshot(item: Json) -> Json:
    return {"snapshot": thaw(item.value), "operations": [thaw(write_operation(op)) for op in item.operations]}


def _read(given: Json) -> Json:
    headers = {"Content-Type": "text/event-stream", "Assistant-Stream-Format": "object-stream/v0"}
    try:
        check_object_stream(given.get("status", 200), given.get("headers", headers), has_body=not given.get("noBody"))
    except WireError as error:
        return {"refused": error.code}
    decoder = ObjectDecoder(report=lambda problem: None)
    try:
        chunks = [_snapshot(item) for item in decoder.feed(given["text"].encode())]
        decoder.close()
    except WireError as error:
        return {"error": error.code}
    return {"chunks": chunks}
