"""What does an answer cost that is ten times as long, as text and as arguments of a tool?"""

from __future__ import annotations

import gc
import json

import anyio

from bench._answer import Answer, Step, millis, question_of
from bench._conversations import Streaming
from partwise.stream import Chunk, TextDelta, ToolArgsDelta, ToolArgsFinish, ToolCallStart

DELTA = 16
SIZES = (1_000, 10_000, 100_000, 1_000_000)


def text_of(size: int) -> list[Chunk]:
    """Return an answer of that many characters, sixteen at a time."""
    return [TextDelta("x" * DELTA) for _ in range(size // DELTA)]


def arguments_of(size: int) -> list[Chunk]:
    """Return a tool call with that many characters of arguments: a file to write, as models stream them."""
    lines = "".join(f"line {number} of the file\n" for number in range(size // 20))
    text = json.dumps({"path": "notes.txt", "content": lines})[:size] + '"}'
    pieces = [text[at : at + DELTA] for at in range(0, len(text), DELTA)]
    return [ToolCallStart("call", "write"), *(ToolArgsDelta("call", piece) for piece in pieces), ToolArgsFinish("call")]


KINDS = {"text": text_of, "arguments": arguments_of}


def measure(on_step: Step, *, sizes: tuple[int, ...] = SIZES) -> Answer:
    """Stream whole answers through the runtime, each with one listener that is given every state of its part."""
    return anyio.run(_measure, on_step, sizes)


async def _measure(on_step: Step, sizes: tuple[int, ...]) -> Answer:
    rows: list[tuple[str, ...]] = []
    figures: dict[str, float] = {}
    for kind, make in KINDS.items():
        before = None
        for size in sizes:
            on_step(f"{kind}, {size:,} characters")
            chunks = make(size)
            repeats = max(1, min(15, 200_000 // size))
            seconds = min([await _answered(chunks) for _ in range(repeats)])
            growth = "" if before is None else f"{seconds / before:,.1f}"
            rows.append((kind, f"{size:,}", f"{len(chunks):,}", millis(seconds), millis(seconds / len(chunks)), growth))
            figures[f"answer/{kind}/{size}"] = seconds
            before = seconds
    return Answer(
        question=question_of(__doc__),
        heads=("answer", "characters", "deltas", "ms", "ms per delta", "times the one before"),
        rows=tuple(rows),
        figures=figures,
        notes=(f"{DELTA} characters a delta; the best of several answers.",),
    )


async def _answered(chunks: list[Chunk]) -> float:
    heard = 0

    def hear(value: object) -> None:
        nonlocal heard
        del value
        heard += 1

    async with Streaming(2) as streaming:
        thread = streaming.thread
        id = thread.state.messages[-1].id
        thread.message(id).part(-1).subscribe(hear)
        gc.collect()
        heard = 0
        seconds = await streaming.say(chunks)
    if not len(chunks) - 2 <= heard <= len(chunks) + 1:
        text = f"{len(chunks)} chunks were heard {heard} times"
        raise AssertionError(text)
    return seconds


def test_every_delta_of_an_answer_is_heard():
    answer = measure(lambda text: None, sizes=(320, 1_600))

    assert [row[0] for row in answer.rows] == ["text", "text", "arguments", "arguments"]


def test_streamed_arguments_are_whole_in_the_end():
    text = "".join(chunk.text for chunk in arguments_of(2_000) if isinstance(chunk, ToolArgsDelta))

    assert json.loads(text)["path"] == "notes.txt"
