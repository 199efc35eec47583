"""Family ``partial_json``: what every beginning of a JSON text tells, and which fields of it are complete."""

import json
import math
import re
from typing import Any

from partwise.messages import thaw
from partwise.stream import ArgsReader

from ._outcome import Outcome, differs, first_difference, passed

Json = Any

# A number or literal at the end of a text that stops there, outside of any string.
ATOM = re.compile(r"(?:-?[0-9][0-9.eE+-]*|-|t|tr|tru|true|f|fa|fal|fals|false|n|nu|nul|null)\Z")
HALF = re.compile(r"[\ud800-\udbff]\Z")


def run(vector: Json) -> Outcome:
    """Run one vector; see `_outcome`."""
    given, wanted = vector["input"], vector["expected"]
    rows: dict[str, None] = {}
    match given["op"]:
        case "prefixes":
            expected = _promised(given["text"], _unpacked(wanted), rows)
            actual = [_prefix(given["text"][:length]) for length in range(len(given["text"]) + 1)]
        case "incremental":
            ends = ["", *("".join(given["deltas"][: count + 1]) for count in range(len(given["deltas"])))]
            expected = promised_steps(ends, wanted["steps"], rows)
            actual = _steps(given["deltas"])
        case "field-state":
            expected, actual = _fields(given, wanted, rows)
        case "no-meta":
            return passed()  # completeness belongs to the reader here, so no object can be without it
        case unknown:
            raise ValueError(f"unknown operation {unknown!r}")
    return first_difference(_in_order(expected), _in_order(actual)) or (differs(*rows) if rows else passed())


def _in_order(shown: Json) -> Json:
    """The same with lists of paths in one order."""
    if isinstance(shown, list):
        return [_in_order(item) for item in shown]
    if not isinstance(shown, dict):
        return shown
    return {key: sorted(item) if key in {"complete", "partial"} else item for key, item in shown.items()}


def _unpacked(wanted: Json) -> list[Json]:
    unpacked = []
    for item in wanted["runs"]:
        shown = {key: value for key, value in item.items() if key not in {"from", "to"}}
        unpacked += [shown] * (item["to"] - item["from"] + 1)
    return unpacked


def _promised(text: str, recorded: list[Json], rows: dict[str, None]) -> list[Json]:
    """What is recorded, changed for the reasons that ``docs/differences.md`` gives."""
    promised = list(recorded)
    for length, shown in enumerate(recorded):
        row, promise = _other_prefix(text, length, promised)
        if promise == shown:
            continue
        rows[row] = None
        promised[length] = promise
        if row == "errors-at-once":
            promised[length:] = [promise] * (len(recorded) - length)
            break
    return promised


def _other_prefix(text: str, length: int, promised: list[Json]) -> tuple[str, Json]:
    """What is promised of a prefix in place of what is recorded, and the row that says why."""
    start, shown = text[:length], promised[length]
    if is_other(start):
        return "args-are-objects", {"parsed": False}
    if start and not start.strip(" \t\r\n"):
        return "args-are-objects", promised[0]
    if _is_hostile(start):
        return "keys-are-data", _prefix(start) | _strictly(start)
    if not shown["parsed"]:
        return "", shown
    if _read(start).error is not None and not _is_text(text):
        return "errors-at-once", {"parsed": False}
    if (atom := _atom(start)) is not None:
        return "half-typed-values", promised[atom]
    if HALF.search(_open_text(shown) or ""):
        return "whole-characters", promised[length - 1] if length else shown
    if _repeats(start):
        return "repeated-keys-open", _prefix(start) | {"value": shown["value"]}
    if shown["value"] != _exactly(start, shown["value"]):
        return "numbers-in-args-text", shown | {"value": _exactly(start, shown["value"])}
    return "", shown


def promised_steps(ends: list[str], recorded: list[Json], rows: dict[str, None]) -> list[Json]:
    promised = list(recorded)
    for step, (start, shown) in enumerate(zip(ends, recorded, strict=True)):
        if is_other(start):
            rows["args-are-objects"] = None
            promised[step] = {"value": {}, "state": "partial", "partialPath": []}
        elif _is_hostile(start):
            rows["keys-are-data"] = None
            reader = _read(start)
            promised[step] = _step(reader) | ({"value": json.loads(start)} if reader.is_complete else {})
        elif _read(start).error is not None:
            atom = _broken_atom(start)
            if atom is not None:
                rows["half-typed-values"] = None
                promised[step] = _step(_read(start)) | {"value": _closed(start[:atom])}
            elif HALF.search(_open_text(shown) or ""):
                rows["whole-characters"] = None
                promised[step] = shown | {"value": promised[step - 1]["value"]}
        elif (atom := _atom(start)) is not None or HALF.search(_open_text(shown) or ""):
            rows["half-typed-values" if atom is not None else "whole-characters"] = None
            promised[step] = _step(_read(start)) | ({} if atom is None else {"value": _closed(start[:atom])})
    return promised


def _closed(text: str) -> Json:
    """What a strict parser says about a beginning, once what is open in it is closed."""
    text = re.sub(r'(?:,?\s*"(?:[^"\\]|\\.)*"\s*:)?\s*\Z', "", text).rstrip(" \t\r\n,")
    closing = [{"{": "}", "[": "]"}[mark] for mark in _open_marks(text)]
    return json.loads(text + "".join(reversed(closing)))


def _open_marks(text: str) -> list[str]:
    marks: list[str] = []
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text):
        if token in "[{":
            marks.append(token)
        elif token in "]}":
            marks.pop()
    return marks


def _strictly(text: str) -> Json:
    try:
        return {"value": json.loads(text)}
    except ValueError:
        return {}


def is_other(text: str) -> bool:
    return text.lstrip(" \t\r\n")[:1] not in ("", "{")


def _is_hostile(text: str) -> bool:
    """Whether the text has a key that the reference refuses."""
    keys = [json.loads(key) for key in re.findall(r'("(?:[^"\\\x00-\x1f]|\\.)*")\s*:', text) if _is_text(key)]
    return "__proto__" in keys or ("constructor" in keys and "prototype" in keys)


def _is_text(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_number, parse_float=_number)
    except ValueError:
        return False
    return True


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _is_in_text(text: str) -> bool:
    quotes = re.findall(r'\\.|"', text, re.DOTALL)
    return quotes.count('"') % 2 == 1


def _atom(text: str) -> int | None:
    """Where the number or literal begins that the text ends in."""
    found = ATOM.search(text)
    if found is None:
        return None
    start = found.start()
    is_value = re.search(r"[:\[,]\s*\Z", text[:start]) is not None
    return start if is_value and not _is_in_text(text[:start]) else None


def _broken_atom(text: str) -> int | None:
    """Where a number or literal begins that is none, if the text is good up to there."""
    for found in reversed(list(re.finditer(r"[:\[,]\s*(?=([-+.0-9A-Za-z]+))", text))):
        if not _is_in_text(text[: found.start()]) and not _is_text(found[1]):
            try:
                _closed(text[: found.end()])
            except (ValueError, IndexError):
                continue
            return found.end()
    return None


def _repeats(text: str) -> bool:
    keys = re.findall(r'("(?:[^"\\]|\\.)*")\s*(?::|\Z)', text)
    return len(keys) > len(set(keys))


def _exactly(text: str, shown: Json) -> Json:
    """The same value with integers in all of their digits."""
    digits = {float(number): int(number) for number in re.findall(r"[0-9]{16,}(?![.eE0-9])", text)}

    def visit(value: Json) -> Json:
        if isinstance(value, dict):
            return {key: visit(inner) for key, inner in value.items()}
        return digits.get(value, value) if isinstance(value, float) else value

    return visit(shown)


def _open_text(shown: Json) -> str | None:
    value = shown.get("value")
    for key in shown.get("partialPath", []):
        value = value[int(key)] if isinstance(value, list) else value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


def _read(text: str) -> ArgsReader:
    reader = ArgsReader()
    reader.feed(text)
    return reader


def _prefix(text: str) -> Json:
    reader = _read(text)
    if reader.error is not None:
        return {"parsed": False}
    shown = {"parsed": True, **_step(reader)}
    if not reader.is_complete:
        paths = _paths(reader.value)
        shown["complete"] = [list(map(str, path)) for path in paths if reader.complete(path)]
        shown["partial"] = [list(map(str, path)) for path in paths if not reader.complete(path)]
    return shown


def _step(reader: ArgsReader) -> Json:
    return {
        "value": thaw(reader.value),
        "state": "complete" if reader.is_complete else "partial",
        "partialPath": [] if reader.is_complete else list(map(str, reader.partial_path)),
    }


def _paths(value: Json) -> list[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(), *((key, *path) for key, inner in items for path in _paths(inner))]


def _steps(deltas: list[str]) -> list[Json]:
    reader = ArgsReader()
    steps = [_step(reader)]
    for delta in deltas:
        reader.feed(delta)
        steps.append(_step(reader))
    return steps


def _fields(given: Json, wanted: Json, rows: dict[str, None]) -> tuple[Json, Json]:
    reader = _read(given["text"])
    if reader.error is not None:
        return wanted, {"parsed": False}
    paths = [[int(key) if str(key).isdigit() else key for key in path] for path in given["paths"]]
    if _atom(given["text"]) is not None:
        rows["half-typed-values"] = None
        wanted = {**wanted, "states": ["partial" for _ in paths]}
    return wanted, {"parsed": True, "states": ["complete" if reader.complete(path) else "partial" for path in paths]}
