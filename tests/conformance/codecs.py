"""Family ``codecs``: chunks to bytes and back, for each wire format; and bare server-sent events."""

import base64
import json
from itertools import pairwise
from typing import Any

from partwise.errors import InvalidInputError, WireError
from partwise.messages import thaw
from partwise.stream import PartChunk, PartDelta, SseReader, read_chunk, write_chunk
from partwise.stream.codecs import (
    AssistantTransportDecoder,
    AssistantTransportEncoder,
    DataStreamDecoder,
    DataStreamEncoder,
    PlainTextDecoder,
    PlainTextEncoder,
    UIMessageStreamDecoder,
)

from ._codec_ledger import Promise, promised_frames, shown_frames
from ._outcome import Failed, Outcome, differs, first_difference, passed

Json = Any

ENCODERS = {
    "data-stream": DataStreamEncoder,
    "assistant-transport": AssistantTransportEncoder,
    "plain-text": PlainTextEncoder,
}
DECODERS = {
    "data-stream": DataStreamDecoder,
    "assistant-transport": AssistantTransportDecoder,
    "plain-text": PlainTextDecoder,
    "ui-message-stream": UIMessageStreamDecoder,
}
OPTIONS = {"maxLineLength": "max_line_length", "maxEventLength": "max_event_length"}


def run(vector: Json) -> Outcome:
    """Run one vector; see `_outcome`."""
    given, wanted = vector["input"], vector["expected"]
    rows: dict[str, None] = {}
    match given["op"]:
        case "decode" if given["codec"] == "plain-text":
            found = _plain_text(given, wanted)
        case "decode":
            found = _decode(given, wanted, rows)
        case "encode":
            found = _encode(given, wanted, rows)
        case "roundtrip":
            found = _roundtrip(given, wanted, rows)
        case "sse-events":
            found = _sse(given, wanted, rows)
        case unknown:
            raise ValueError(f"unknown operation {unknown!r}")
    return found or (differs(*rows) if rows else passed())


# ---------------------------------------------------------------- decoding


def _bytes(given: Json) -> bytes:
    if "base64" in given:
        return base64.b64decode(given["base64"])
    return given["text"].encode("utf-8", "surrogatepass")


def cut(data: bytes, split: Json) -> list[bytes]:
    """The pieces that a way of cutting makes of bytes."""
    if split == "every-byte":
        return [data[at : at + 1] for at in range(len(data))]
    ends = [0, *split, len(data)]
    return [data[start:end] for start, end in pairwise(ends)]


def written(chunk: Json) -> list[Json]:
    """A chunk in its wire form."""
    if isinstance(chunk, PartChunk):
        return [{"type": "replaced", "part": {"name": chunk.part.name, "data": thaw(chunk.part.data)}}]
    if type(chunk).__name__ == "ToolArgsFinish":
        return [{"type": "replaced-args", "text": chunk.args_text}]
    return [thaw(item) for item in write_chunk(chunk)] or [{"type": "empty", **_empty(chunk)}]


def _empty(chunk: Json) -> Json:
    return {"custom": thaw(chunk.custom)} if chunk.custom else {}


def read(given: Json, *, is_strict: bool) -> Json:
    """What a decoder makes of the bytes, in every way of cutting them."""
    options = {OPTIONS[name]: value for name, value in given.get("options", {}).items()}
    results = []
    for split in given.get("splits") or [[]]:
        reports: list[WireError] = []
        told: list[Json] = []
        if given["codec"] == "ui-message-stream":
            options["on_data"] = lambda *event, told=told: told.append(event)
        decoder = DECODERS[given["codec"]](is_strict=is_strict, report=reports.append, **options)
        chunks = [chunk for piece in cut(_bytes(given), split) for chunk in decoder.feed(piece)]
        chunks += decoder.close()
        out: Json = {"chunks": [item for chunk in chunks for item in written(chunk)]}
        out["data"] = [tuple(map(thaw, event)) for event in told]
        out["reports"] = len(reports)
        if decoder.problem is not None:
            at = next(i for i, c in enumerate(out["chunks"]) if c.get("code") == decoder.problem.code)
            out |= {"error": decoder.problem.code, "chunks": out["chunks"][:at], "after": out["chunks"][at:]}
        results.append(out)
    assert all(result == results[0] for result in results), "the way of cutting matters"
    return results[0]


def _decode(given: Json, wanted: Json, rows: Json) -> Failed | None:
    for mode, recorded in wanted.items():
        for is_strict in {"strict": [True], "lenient": [False], "both": [True, False], "default": [False]}[mode]:
            found = _one_mode(given, recorded, is_strict=is_strict, rows=rows)
            if found is not None:
                return attrs_where(found, mode)
    return None


def attrs_where(found: Failed, mode: str) -> Failed:
    """The same failure, with the mode in its place."""
    return Failed(found.expected, found.actual, f".{mode}{found.where}")


def _one_mode(given: Json, recorded: Json, *, is_strict: bool, rows: Json) -> Failed | None:
    if recorded.get("error", {}).get("kind") == "invalid-limit":
        try:
            read(given, is_strict=is_strict)
        except InvalidInputError:
            return None
        return Failed("invalid-limit", "no error", ".options")
    actual = read(given, is_strict=is_strict)
    promise = Promise(given, recorded, actual, rows, is_strict=is_strict)
    found = promise.difference()
    is_told = actual["reports"] or "error" in actual or "sse-event-names" in rows
    if found is None and recorded.get("diagnostics") and not is_told:
        return Failed("a report", "none", ".diagnostics")
    return found


def _plain_text(given: Json, wanted: Json) -> Failed | None:
    seen = []
    for split in given["splits"]:
        decoder = PlainTextDecoder()
        chunks = [chunk for piece in cut(_bytes(given), split) for chunk in decoder.feed(piece)] + decoder.close()
        items = [item for chunk in chunks for item in written(chunk)]
        seen.append(
            {
                "text": "".join(item.get("textDelta", "") for item in items),
                "partCount": sum(item["type"] == "part-start" for item in items),
                "chunkTypes": list(dict.fromkeys(item["type"] for item in items)),
            }
        )
    for shown in seen:
        found = first_difference(wanted, shown)
        if found is not None:
            return found
    return None


# ---------------------------------------------------------------- encoding


def _chunks(given: Json, rows: Json) -> list[Json]:
    chunks: list[Json] = []
    for raw in given["chunks"]:
        try:
            chunks.append(read_chunk(raw, report=lambda problem: None))
        except WireError as problem:
            if raw["type"] == "text-delta":
                chunks.append(PartDelta(raw["path"], raw["textDelta"]))
            elif problem.code == "unsupported-type":
                chunks.append(problem)
            else:
                raise
    return chunks


def _write(given: Json, rows: Json) -> Json:
    encoder = ENCODERS[given["codec"]](report=lambda problem: None)
    data = b""
    for chunk in _chunks(given, rows):
        if isinstance(chunk, WireError):
            if given["codec"] == "data-stream":
                return {"error": {"kind": chunk.code}}
            rows["bad-chunks-dropped"] = None
            continue
        try:
            data += encoder.encode(chunk)
        except WireError as problem:
            return {"error": {"kind": problem.code}}
    data += encoder.close()
    return {"data": data, "headers": dict(encoder.headers)}


def frames(codec: str, text: str) -> list[Json]:
    """The frames of a wire, parsed."""
    if codec == "data-stream":
        pairs = [line.partition(":") for line in text.split("\n") if line]
        return [[code, json.loads(payload)] for code, _, payload in pairs]
    payloads = [frame.removeprefix("data: ") for frame in text.split("\n\n") if frame]
    return [payload if payload == "[DONE]" else json.loads(payload) for payload in payloads]


def _encode(given: Json, wanted: Json, rows: Json) -> Failed | None:
    actual = _write(given, rows)
    if "error" in wanted or "error" in actual:
        return first_difference(wanted.get("error"), actual.get("error"), ".error")
    text = actual["data"].decode("utf-8")
    found = first_difference(wanted["headers"], actual["headers"], ".headers")
    if found is not None or given["codec"] == "plain-text":
        return found or first_difference(wanted["text"], text, ".text")
    recorded = promised_frames(given, wanted["frames"], rows)
    return first_difference(recorded, shown_frames(given, frames(given["codec"], text)), ".frames")


def _roundtrip(given: Json, wanted: Json, rows: Json) -> Failed | None:
    actual = _write(given, rows)
    text = actual["data"].decode("utf-8")
    return _one_mode({"codec": given["codec"], "text": text, **_source(given)}, wanted, is_strict=True, rows=rows)


def _source(given: Json) -> Json:
    return {"source": given["chunks"]}


# ---------------------------------------------------------------- events


def _sse(given: Json, wanted: Json, rows: Json) -> Failed | None:
    options = dict(given.get("options", {}))
    is_dispatched = options.pop("trailing", "drop") == "dispatch"
    try:
        reader = SseReader(**{OPTIONS[name]: value for name, value in options.items()})
    except InvalidInputError:
        return first_difference(wanted, {"error": {"kind": "invalid-limit"}})
    events: list[Json] = []
    for at, segment in enumerate(given["segments"]):
        events += [_event(event, at) for event in reader.feed(segment.encode())]
    rest = [_event(event, 0) for event in reader.close()]
    flush = rest[0] if rest and is_dispatched else None
    return first_difference(wanted, {"events": events, "flush": flush})


def _event(event: Json, at: int) -> Json:
    if event.problem is not None:
        return {"error": event.problem.code, "at": at}
    named = {"data": event.data, "event": event.event, "id": event.id, "retry": event.retry}
    return {name: value for name, value in named.items() if value is not None}
