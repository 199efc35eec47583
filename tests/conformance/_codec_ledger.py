"""What is recorded of the wires, changed for the reasons that ``docs/differences.md`` gives."""

import copy
import re
from typing import Any

from ._outcome import Failed, first_difference
from ._stream_ledger import KNOWN, REASONS

Json = Any

NOTHING = {"inputTokens": 0, "outputTokens": 0}
MADE = re.compile(r"(@id|step-)[0-9]+")


class Promise:
    """Compares what a decoder read with what was recorded.

    Both sides are lists of chunks in their wire form. Each rule knows one difference: it changes what is
    recorded and names its row.
    """

    def __init__(self, given: Json, recorded: Json, actual: Json, rows: Json, *, is_strict: bool) -> None:
        self.given = given
        self.rows = rows
        self.is_strict = is_strict
        self.error = recorded.get("error", {}).get("kind")
        self.wanted = [_normal(chunk) for chunk in recorded.get("chunks", recorded.get("chunksBeforeError", []))]
        self.wanted = [chunk for chunk in self.wanted if chunk is not None]
        self.actual = [chunk for chunk in map(_normal, actual["chunks"]) if chunk is not None]
        self.actual_error = actual.get("error")
        self.text = given["text"]

    def difference(self) -> Failed | None:
        """The first difference that has no reason."""
        for rule in (self._ending, self._numbers, self._parts, self._extras, self._ui):
            rule()
        wanted = {"error": self.error, "chunks": _renamed(self.wanted)}
        actual = {"error": self.actual_error, "chunks": _renamed(self.actual)}
        if first_difference(_by_part(wanted["chunks"]), _by_part(actual["chunks"])) is None:
            wanted["chunks"] = actual["chunks"]  # only the order of different parts differs
        return first_difference(wanted, actual)

    def because(self, row: str) -> None:
        """Name a row."""
        self.rows[row] = None

    def _ending(self) -> None:
        if self.error is None and self.actual_error == "missing-done":
            self.because("cut-off-is-error")
            self.error = "missing-done"
        if self.error == "unknown-event" or "\\nevent: ping" in repr(self.text):
            self.because("sse-event-names")
            self.error, self.wanted = None, _wanted_with_events(self.text, self.actual)
        if self.given["codec"] == "ui-message-stream" and self.error in ("unknown-tool-call", "duplicate-tool-call"):
            self.because("bad-chunks-dropped")
            self.error, self.wanted = None, [*self.wanted, *self.actual[len(self.wanted) :]]

    def _numbers(self) -> None:
        for chunk, ours in zip(_marks(self.wanted), _marks(self.actual), strict=False):
            if chunk["type"] != ours["type"]:
                continue
            if chunk.get("usage") == NOTHING and "usage" not in ours:
                self.because("usage-not-made-up")
                del chunk["usage"]
            if "finishReason" in chunk and chunk["finishReason"] not in REASONS and ours["finishReason"] == "other":
                self.because("unlisted-reason-is-other")
                chunk["finishReason"] = "other"

    def _parts(self) -> None:
        for at, chunk in enumerate(self.wanted):
            if "messages" in chunk and at < len(self.actual):
                self.because("nested-messages-read")
                kept = [message for message in chunk["messages"] if isinstance(message, dict)]
                chunk["messages"] = len(kept)
            if chunk["type"] == "part-start" and not _is_known(chunk["part"]):
                self.because("unknown-part-as-data")
                if chunk["part"].get("sourceType") == "url":
                    chunk["part"]["parentId"] = None  # kept as it came, with all that was wrong
                rest = {key: value for key, value in chunk["part"].items() if key != "type"}
                chunk["part"] = {"type": "data", "name": chunk["part"].get("type", "unknown"), "data": rest}
        for chunk in self.actual:
            if "messages" in chunk:
                chunk["messages"] = len(chunk["messages"])
        source = [chunk["part"] for chunk in self.given.get("source", []) if chunk["type"] == "part-start"]
        if self.given["codec"] == "data-stream" and any(not _is_known(part) for part in source):
            self.because("unknown-part-as-data")
            self.wanted = self.actual if _kinds(self.actual) == [part["type"] for part in map(_as_data, source)] else []

    def _extras(self) -> None:
        for chunk in _marks(self.wanted):
            if isinstance(chunk.get("usage"), str) or not isinstance(chunk.get("messageId", ""), str):
                self.because("bad-chunks-dropped")
                self.wanted = [item for item in self.wanted if item is not chunk]
        for chunk, ours in zip(_marks(self.wanted), _marks(self.actual), strict=False):
            for where in (chunk, chunk.get("usage")):
                known = ours if where is chunk else ours.get("usage")
                if not (isinstance(where, dict) and isinstance(known, dict)):
                    continue
                for name in [name for name in where if name not in known]:
                    if name not in ("usage", "messageId", "finishReason") or not isinstance(chunk["type"], str):
                        self.because("loose-fields-reported")
                        del where[name]

    def _ui(self) -> None:
        if self.given["codec"] != "ui-message-stream":
            return
        if any("custom" in chunk for chunk in self.actual):
            self.because("ui-metadata-kept")
            self.actual = [chunk for chunk in self.actual if "custom" not in chunk]
        if any(chunk["type"] == "data" for chunk in self.wanted):
            self.because("ui-data-are-parts")
            self.wanted = [
                item
                for number, chunk in enumerate(self.wanted)
                for item in (
                    {"type": "part-start", "path": [], "part": {"type": "data", **chunk["data"][0]}},
                    {"type": "part-finish", "path": [number]},
                )
            ]
        if '"abort"' in self.text:
            self.because("abort-is-cancelled")
            finish = next(chunk for chunk in self.wanted if chunk["type"] == "message-finish")
            finish["finishReason"] = "cancelled"
        if self.wanted and self.wanted[-1]["type"] == "part-start" and self.error is not None:
            self.because("ui-blocks-begin-with-text")
            self.wanted.pop()
        if '"tool-input-' in self.text and _calls(self.wanted) != _calls(self.actual):
            self.because("ui-input-streams")
            if '"abort"' in self.text or _settled(self.wanted) == _settled(self.actual):
                self.wanted = self.actual


def _normal(chunk: Json) -> Json:
    """A chunk without what says nothing: defaults that are left out, an addition of nothing."""
    chunk = copy.deepcopy(chunk)
    if chunk["type"] in ("empty", "data", "annotations") and not any(chunk.get(k) for k in ("custom", *ADDED)):
        return None
    if chunk["type"] == "error":
        chunk.setdefault("error", "unknown error")
    if chunk["type"] == "part-start":
        part = chunk["part"]
        if part.get("parentId") == "":
            del part["parentId"]  # an empty parent is none
        if part.get("sourceType") == "document":
            part.pop("url", None)  # nobody reads it
            part.setdefault("mediaType", "application/octet-stream")  # the reference adds it a step later
    chunk.setdefault("path", [])
    return _as_doubles(chunk)


def _as_doubles(value: Json) -> Json:
    """The same with integers that no double holds as the nearest double."""
    if isinstance(value, list):
        return [_as_doubles(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_doubles(item) for key, item in value.items()}
    return float(value) if type(value) is int and abs(value) > 2**53 else value


ADDED = ("data", "annotations")


def _marks(chunks: Json) -> Json:
    return [chunk for chunk in chunks if chunk["type"] in ("step-start", "step-finish", "message-finish")]


def _renamed(chunks: Json) -> Json:
    """The same chunks, with generated ids by the order of their appearance."""
    names: dict[str, str] = {}
    for chunk in chunks:
        made = chunk.get("messageId")
        if isinstance(made, str) and MADE.fullmatch(made):
            chunk["messageId"] = names.setdefault(made, f"made {len(names)}")
    return chunks


def _by_part(chunks: Json) -> Json:
    """Chunks by their part; those of one part never change order."""
    groups: dict[str, list[Json]] = {}
    number = 0
    for chunk in chunks:
        if chunk["type"] == "part-start":
            groups.setdefault(f"part {number}", []).append(chunk)
            number += 1
        else:
            groups.setdefault(f"part {chunk['path'][0]}" if chunk["path"] else "message", []).append(chunk)
    return groups


def _is_known(part: Json) -> bool:
    if part.get("type") == "source":
        texts = {"url": ("id", "url"), "document": ("id", "title")}.get(part.get("sourceType"))
        return texts is not None and all(isinstance(part.get(name), str) for name in texts)
    return part.get("type") in KNOWN


def _as_data(part: Json) -> Json:
    return part if _is_known(part) else {"type": "data"}


def _kinds(chunks: Json) -> Json:
    return [chunk["part"]["type"] for chunk in chunks if chunk["type"] == "part-start"]


def _calls(chunks: Json) -> Json:
    return [chunk for chunk in chunks if chunk["type"] != "message-finish"]


def _settled(chunks: Json) -> Json:
    """What becomes of each call: name, arguments and results, wherever it stands."""
    out: dict[int, Json] = {}
    number = 0
    for chunk in chunks:
        if chunk["type"] == "part-start":
            out[number] = {"part": chunk["part"], "text": "", "results": [], "is_ended": False}
            number += 1
        elif chunk["path"]:
            known = out[chunk["path"][0]]
            known["text"] += chunk.get("textDelta", "")
            known["is_ended"] |= chunk["type"] == "tool-call-args-text-finish"
            if chunk["type"] in ("result", "tool-call-approval"):
                known["results"].append({key: value for key, value in chunk.items() if key != "path"})
    return sorted(out.values(), key=repr)


def _wanted_with_events(text: str, actual: Json) -> Json:
    """Every delta on the wire is read, whatever its event is called."""
    deltas = re.findall(r'"(?:textDelta|delta)":"([^"]*)"', text)
    return actual if [chunk["textDelta"] for chunk in actual if "textDelta" in chunk] == deltas else []


def promised_frames(given: Json, recorded: Json, rows: Json) -> Json:
    """The frames that the product promises."""
    promised: list[Json] = []
    parts = [chunk["part"] for chunk in given["chunks"] if chunk["type"] == "part-start"]
    for frame in recorded:
        code, value = frame if given["codec"] == "data-stream" else (frame, frame)
        if value == [] or (isinstance(value, dict) and value.get("type") == "data" and value["data"] == []):
            continue  # an addition of nothing
        if isinstance(value, dict) and value.get("type") == "sparkle":
            rows["bad-chunks-dropped"] = None
            continue
        if isinstance(value, dict) and "messages" in value:
            rows["nested-messages-read"] = None
            value["messages"] = len(value["messages"])
        if isinstance(value, dict) and value.get("type") == "part-start" and not _is_known(value["part"]):
            rows["unknown-part-as-data"] = None
            value["part"] = _data_part(value["part"])
        promised.append([code, value] if given["codec"] == "data-stream" else value)
    if given["codec"] == "data-stream":
        unknown = [part for part in parts if not _is_known(part)]
        if unknown:
            rows["unknown-part-as-data"] = None
            fields = {key: value for key, value in _data_part(unknown[0]).items() if key != "type"}
            promised.insert(0, ["aui-data", fields])
    return promised


def shown_frames(given: Json, frames: Json) -> Json:
    """Frames with nested messages counted."""
    for frame in frames:
        value = frame[1] if given["codec"] == "data-stream" else frame
        if isinstance(value, dict) and "messages" in value:
            value["messages"] = len(value["messages"])
    return frames


def _data_part(part: Json) -> Json:
    rest = {key: value for key, value in part.items() if key not in ("type", "parentId")}
    return {"type": "data", "name": part["type"], "data": rest}


def counted_messages(chunks: Json, rows: Json) -> Json:
    """Chunks with nested messages counted, those that are none left out."""
    for chunk in chunks:
        if "messages" in chunk:
            rows["nested-messages-read"] = None
            chunk["messages"] = sum(isinstance(message, dict) for message in chunk["messages"])
    return chunks
