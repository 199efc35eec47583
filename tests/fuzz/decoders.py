"""Fuzzing of everything that reads bytes of others: no exception, no hang, and the same from any cut.

A tool for developers and no test. It needs atheris (``pip install atheris``), which is for Linux and macOS:

    python tests/fuzz/decoders.py ui-message-stream -max_total_time=600

What follows the name goes to libFuzzer. Names: those of the codecs, ``sse``, ``object-stream``,
``arguments``, ``chunk-json``.
A seed for each is in `SEEDS`. A finding is written to the current folder as ``crash-...``; the same command with
that file runs it again.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["partwise"]):
    from partwise.errors import InvalidInputError, WireError
    from partwise.messages import thaw
    from partwise.stream import (
        Accumulator,
        ArgsReader,
        Chunk,
        ObjectDecoder,
        SseReader,
        WireChunk,
        read_chunk,
        write_chunk,
    )
    from partwise.stream.codecs import CODECS

Reading = Callable[[list[bytes]], object]


def _silent(problem: object) -> None:
    del problem


def codec(name: str) -> Reading:
    """Decode, and fold what came of it: the message has to be whole, too."""

    def read(pieces: list[bytes]) -> object:
        decoder = CODECS[name].decoder()
        chunks: list[Chunk] = []
        for piece in pieces:
            chunks += decoder.feed(piece)
        chunks += decoder.close()
        accumulator = Accumulator(clock=lambda: 0.0, report=_silent, is_strict=False)
        for chunk in chunks:
            accumulator.apply(chunk)
        accumulator.finish()
        if name == "plain-text":  # the size of its deltas follows the pieces
            return accumulator.message.content
        return chunks

    return read


def sse(pieces: list[bytes]) -> object:
    reader = SseReader(max_line_length=200, max_event_length=300)
    events = [event for piece in pieces for event in reader.feed(piece)]
    return [(event.data, event.event, event.id, event.retry, str(event.problem)) for event in events + reader.close()]


def object_stream(pieces: list[bytes]) -> object:
    decoder = ObjectDecoder(report=_silent)
    found: list[Any] = []
    try:
        for piece in pieces:
            found += decoder.feed(piece)
        decoder.close()
    except InvalidInputError as error:
        return found, type(error)
    return found, None


def arguments(pieces: list[bytes]) -> object:
    reader = ArgsReader()
    for text in [piece.decode("latin-1") for piece in pieces]:
        reader.feed(text)
    return reader.value, reader.is_complete


def chunk_json(pieces: list[bytes]) -> object:
    """Chunks from JSON, one a line; what is read can be written, and reads the same again."""
    found: list[WireChunk] = []
    for line in b"".join(pieces).decode("utf-8", "replace").split("\n"):
        try:
            chunk = read_chunk(json.loads(line), report=_silent)
        except (ValueError, RecursionError, WireError):
            continue
        again = [read_chunk(json.loads(json.dumps(thaw(written))), report=_silent) for written in write_chunk(chunk)]
        if len(again) == 1 and write_chunk(again[0]) != write_chunk(chunk):
            raise AssertionError(f"{chunk!r} is written as {again!r}")
        found.append(chunk)
    return found


TARGETS: dict[str, Reading] = {
    **{name: codec(name) for name in CODECS},
    "sse": sse,
    "object-stream": object_stream,
    "arguments": arguments,
    "chunk-json": chunk_json,
}

SEEDS: dict[str, list[bytes]] = {
    "data-stream": [
        b'0:"Hi"\ng:"hm"\nb:{"toolCallId":"c","toolName":"t"}\nc:{"toolCallId":"c","argsTextDelta":"{}"}\n'
        b'a:{"toolCallId":"c","result":1}\n',
        b'k:{"mimeType":"a/b","data":"eA=="}\nh:{"sourceType":"url","id":"1","url":"u"}\n2:[1]\n8:[2]\nf:{"messageId":"m"}\n'
        b'e:{"finishReason":"stop","usage":{"promptTokens":1,"completionTokens":2},"isContinued":false}\n'
        b'd:{"finishReason":"stop"}\n3:"bad"\n',
    ],
    "assistant-transport": [
        b'data: {"type":"part-start","part":{"type":"tool-call","toolCallId":"c","toolName":"t"},"path":[]}\n\n'
        b'data: {"type":"text-delta","path":[0],"textDelta":"{"}\n\ndata: {"type":"result","path":[0],"result":1}\n\n'
        b'data: {"type":"update-state","path":[],"operations":[{"type":"set","path":["a"],"value":1}]}\n\n'
        b"data: [DONE]\n\n"
    ],
    "ui-message-stream": [
        b'data: {"type":"start","messageId":"m"}\n\ndata: {"type":"text-start","id":"1"}\n\n'
        b'data: {"type":"text-delta","id":"1","delta":"x"}\n\ndata: {"type":"text-end","id":"1"}\n\n'
        b'data: {"type":"tool-input-start","toolCallId":"c","toolName":"t"}\n\n'
        b'data: {"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"{"}\n\n'
        b'data: {"type":"tool-input-available","toolCallId":"c","toolName":"t","input":{}}\n\n'
        b'data: {"type":"tool-output-available","toolCallId":"c","output":1}\n\n'
        b'data: {"type":"finish"}\n\ndata: [DONE]\n\n'
    ],
    "ag-ui": [
        b'data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\n'
        b'data: {"type":"TEXT_MESSAGE_START","messageId":"m"}\n\n'
        b'data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}\n\n'
        b'data: {"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"t"}\n\n'
        b'data: {"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{}"}\n\n'
        b'data: {"type":"TOOL_CALL_RESULT","toolCallId":"c","content":"1"}\n\n'
        b'data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}\n\n',
        b'data: {"type":"STATE_SNAPSHOT","snapshot":{"a":[1]}}\n\n'
        b'data: {"type":"STATE_DELTA","delta":[{"op":"add","path":"/a/0","value":2},'
        b'{"op":"move","from":"/a/0","path":"/b"}]}\n\n'
        b'data: {"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"p","content":{}}\n\n'
        b'data: {"type":"ACTIVITY_DELTA","messageId":"m","activityType":"p",'
        b'"patch":[{"op":"add","path":"/s","value":1}]}\n\n'
        b'data: {"type":"MESSAGES_SNAPSHOT","messages":[{"id":"x","role":"assistant","content":"xy"}]}\n\n'
        b'data: {"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"y"}\n\n'
        b'data: {"type":"RUN_ERROR","message":"boom"}\n\n',
    ],
    "chunk-json": [
        b'{"type":"part-start","part":{"type":"tool-call","toolCallId":"c","toolName":"t"},"path":[]}\n'
        b'{"type":"result","path":[0],"result":1,"modelContent":[{"type":"text","text":"x"}],"messages":[]}\n'
        b'{"type":"tool-call-approval","path":[0],"approval":{"id":"a","options":[{"id":"o","kind":"allow-once"}]}}\n'
        b'{"type":"step-finish","finishReason":"stop","usage":{"inputTokens":1}}\n{"type":"error","error":"boom"}\n'
    ],
    "plain-text": ["h\u00e9\U0001f642".encode()],
    "sse": [b"event: a\nid: 1\nretry: 5\ndata: x\ndata: y\r\n\r\n:c\r\rerror: z\n\ndata"],
    "object-stream": [
        b'data: [{"type":"set","path":["a"],"value":{"b":["c"]}}]\n\n'
        b'data: [{"type":"append-text","path":["a","b","0"],"value":"x"}]\n\ndata: [DONE]\n\n'
    ],
    "arguments": [b'{"a": [1, -2.5e3, true, null, "x\\u00e9\\n"], "b": {"c": {}}}'],
}


def main() -> None:
    name, *options = sys.argv[1:]
    logging.disable()
    read = TARGETS[name]

    def test_one(data: bytes) -> None:
        at = data[0] % len(data) if data else 0
        body = data[1:]
        whole = read([body])
        for pieces in ([body[:at], body[at:]], [body[i : i + 1] for i in range(len(body))]):
            cut = read(pieces)
            if cut != whole:
                raise AssertionError(f"cut {[len(piece) for piece in pieces][:3]}: {cut!r}, whole: {whole!r}")

    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(SEEDS[name]):
            (Path(corpus) / f"seed-{number}").write_bytes(b"\x07" + seed)
        atheris.Setup([sys.argv[0], corpus, "-timeout=10", "-max_len=2000", *options], test_one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
