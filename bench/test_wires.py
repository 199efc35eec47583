"""How fast do bytes become a message, on each wire, beside the published package on node?"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from bench._answer import Answer, Step, question_of, take_turns
from bench.peers.node import BENCH
from partwise.messages import TextPart
from partwise.stream import Accumulator, Chunk, Finish, PartDelta, PartFinish, PartStart
from partwise.stream.codecs import CODECS

SHORT, TIMES = 1_000, 10
PIECE = 4_096
SCRIPT = BENCH / "peers" / "node" / "wires.mjs"
ON_NODE = ("data-stream", "assistant-transport", "ui-message-stream", "plain-text")


def chunks_of(count: int) -> list[Chunk]:
    """An answer of so many deltas."""
    deltas = [PartDelta((0,), f"word{number} ") for number in range(count)]
    return [PartStart(TextPart("")), *deltas, PartFinish((0,)), Finish("stop")]


def written(wire: str, chunks: list[Chunk]) -> bytes:
    encoder = CODECS[wire].encoder()
    return b"".join([*(encoder.encode(chunk) for chunk in chunks), encoder.close()])


def folded(chunks: list[Chunk]) -> str:
    accumulator = Accumulator(clock=lambda: 0.0)
    for chunk in chunks:
        accumulator.apply(chunk)
    return "".join(part.text for part in accumulator.finish().content if isinstance(part, TextPart))


def read(wire: str, data: bytes) -> str:
    """Decode and fold, piece by piece, as a client does."""
    decoder, accumulator = CODECS[wire].decoder(), Accumulator(clock=lambda: 0.0)
    for at in range(0, len(data), PIECE):
        for chunk in decoder.feed(data[at : at + PIECE]):
            accumulator.apply(chunk)
    for chunk in decoder.close():
        accumulator.apply(chunk)
    return "".join(part.text for part in accumulator.finish().content if isinstance(part, TextPart))


class Node:
    """The published package, in one process for each size."""

    def __init__(self, wire: str, data: bytes, folder: Path, rounds: int) -> None:
        file = folder / f"{wire}-{len(data)}"
        file.write_bytes(data)
        command = [shutil.which("node") or "", str(SCRIPT), wire, str(file), str(rounds)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.length = answers[-1]["length"]
        self.seconds = min(answer["seconds"] for answer in answers)


def measure(on_step: Step, *, short: int = SHORT, times: int = TIMES, rounds: int = 9) -> Answer:
    """Write, fold and read an answer, and one that is ten times as long."""
    rows: list[tuple[str, ...]] = []
    figures: dict[str, float] = {}
    has_node = shutil.which("node") is not None and (BENCH / "node_modules" / "assistant-stream").is_dir()
    few, many = chunks_of(short), chunks_of(short * times)

    def add(name: str, small: Callable[[], object], large: Callable[[], object], size: int, peer: str = "-") -> None:
        on_step(name)
        taken = take_turns({"small": _seconds(small, times), "large": _seconds(large)}, rounds)
        pairs = zip(taken["large"].seconds, taken["small"].seconds, strict=True)
        seconds, growth = taken["large"].best, times * median(one / several for one, several in pairs)
        figures[f"wires/growth/{name}"] = growth * 10 / times
        figures[f"wires/{name}"] = seconds
        rate = f"{size / seconds / 1e6:.1f}" if size else "-"
        rows.append((name, f"{len(many) / seconds:,.0f}", rate, f"{growth:.1f}", peer))

    add("fold", lambda: folded(few), lambda: folded(many), 0)
    with tempfile.TemporaryDirectory() as folder:
        for wire in CODECS:
            small, large = written(wire, few), written(wire, many)
            add(f"{wire}: write", lambda w=wire: written(w, few), lambda w=wire: written(w, many), len(large))
            peer = "no reader there" if has_node and wire not in ON_NODE else "-"
            if has_node and wire in ON_NODE:
                node = Node(wire, large, Path(folder), rounds)
                figures[f"wires/node/{wire}"] = node.seconds
                if node.length != len(read(wire, large)):
                    raise AssertionError(f"node reads {node.length} characters of {wire}")
                peer = f"{len(many) / node.seconds:,.0f}"
            add(
                f"{wire}: read and fold",
                lambda w=wire, d=small: read(w, d),
                lambda w=wire, d=large: read(w, d),
                len(large),
                peer,
            )
    return Answer(
        question=question_of(__doc__),
        heads=("what", "chunks a second", "MB a second", f"{times} times the length, times the time", "on node"),
        rows=tuple(rows),
        figures=figures,
        notes=(
            f"An answer of {short * times:,} text deltas, in pieces of {PIECE:,} bytes, folded after each chunk. "
            + f"In seconds of the processor, best of {rounds} rounds. The growth is {times} times the median ratio of "
            + f"one answer to {times} answers of a {times}th of its length, taken in turns: {times} is linear. "
            + "Plain text has no deltas: a piece is one. "
            + (
                "On node: assistant-stream 0.3.57, the same bytes; it has no reader for the wires that say so."
                if has_node
                else "No node, or no packages for it."
            ),
        ),
    )


def _seconds(function: Callable[[], object], times: int = 1) -> Callable[[], float]:
    def once() -> float:
        start = time.process_time()
        for _ in range(times):
            function()
        return time.process_time() - start

    return once


@pytest.mark.parametrize("wire", CODECS)
def test_what_is_measured_is_right(wire: str) -> None:
    chunks = chunks_of(50)
    assert read(wire, written(wire, chunks)) == folded(chunks) == "".join(f"word{number} " for number in range(50))


def test_the_question_is_answered() -> None:
    answer = measure(lambda text: None, short=5, times=2, rounds=1)
    assert len(answer.rows) == 1 + 2 * len(CODECS)
