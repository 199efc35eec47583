"""Slow readers of a fast answer, the clocks behind them, and the times that messages carry."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from partwise.adapters import RunContext
from partwise.messages import message_text
from partwise.reactive import TextAppended, TextDone, TextReset, per_frame, text_deltas
from partwise.stream import TextDelta
from tests.runtimes.scenes import Script, last, settled, talking


class HandTimer:
    """A clock that a test turns by hand."""

    def __init__(self) -> None:
        self.due: list[tuple[float, Callable[[], None]]] = []
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def call_later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        entry = (self.time + seconds, action)
        self.due.append(entry)
        return lambda: self.due.remove(entry) if entry in self.due else None

    def turn(self, seconds: float) -> None:
        self.time += seconds
        for entry in [entry for entry in self.due if entry[0] <= self.time + 1e-9]:
            if entry in self.due:
                self.due.remove(entry)
                entry[1]()


@pytest.mark.parametrize("ending", ["finish", "error", "cancel", "reset", "leave"])
async def test_a_slow_reader_gets_few_values_and_the_last_however_the_run_ends(ending: str) -> None:  # B83, B100
    timer = HandTimer()

    async def model(run: RunContext) -> AsyncIterator[Any]:
        for number in range(500):
            timer.turn(0.2 / 500)
            yield TextDelta(f"{number} ")
        if ending == "error":
            raise OSError("down")
        if ending != "finish":
            await anyio.sleep_forever()

    whole = "".join(f"{number} " for number in range(500))
    heard: list[str] = []
    as_of: list[bool] = []
    completed: list[bool] = []
    async with talking(model) as thread:
        operation = thread.append("hi")
        text = thread.message(last(thread).id).part(0).select(lambda part: part.text)

        def hear(value: str) -> None:
            heard.append(value)
            as_of.append(not thread.state.messages or text.value == value)

        text.pipe(per_frame(20, timer=timer)).subscribe(hear, on_completed=lambda: completed.append(True))
        await settled()
        assert 1 < len(heard) <= 6
        assert all(as_of)
        {"cancel": thread.cancel_run, "reset": thread.reset}.get(ending, lambda: None)()
        if ending != "leave":
            with suppress(OSError):
                await operation
            timer.turn(1)
    assert heard[-1] == whole
    assert len(heard) <= 7
    assert completed == [True]


async def test_a_reader_of_deltas_is_told_when_arguments_do_not_only_grow() -> None:  # B109
    steps = [anyio.Event() for _ in range(4)]
    texts = ('{"a":1', "{}", '{"a":1,"b":2}', '{"b":2,"a":1}')

    async def model(run: RunContext) -> AsyncIterator[Any]:
        for args_text, step in zip(texts, steps, strict=True):
            call = {"type": "tool-call", "tool_call_id": "c", "tool_name": "far", "args_text": args_text}
            yield {"content": [call]}
            await step.wait()

    async with talking(model) as thread:
        operation = thread.append("hi")
        part = thread.message(last(thread).id).part(tool_call_id="c")
        shown: list[str] = []
        kinds: list[str] = []
        arguments: list[Any] = []

        def show(event: Any) -> None:
            kinds.append(type(event).__name__)
            match event:
                case TextAppended(text):
                    shown.append((shown[-1] if shown else "") + text)
                case TextReset(text) | TextDone(text):
                    shown.append(text)

        part.select(lambda call: call.args_text).pipe(text_deltas()).subscribe(show)
        part.select(lambda call: call.args).subscribe(arguments.append)
        for args_text, step in zip(texts, steps, strict=True):
            await settled()
            assert shown[-1] == args_text
            step.set()
        await operation
        assert kinds == ["TextAppended", "TextReset", "TextReset", "TextReset"]
        assert arguments[-1] == {"b": 2, "a": 1}
        assert len(last(thread).content) == 1


async def test_times_of_messages_are_of_the_world_wherever_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    async with talking(Script([TextDelta("x")])) as thread:  # B114
        made: list[Any] = []
        done = anyio.Event()

        def send() -> None:
            made.append(thread.append("in a callback"))
            done.set()

        before = datetime.now(UTC)
        thread._host.document.store.post(send)
        thread.select(lambda s: s.is_running).subscribe(lambda value: None)
        with anyio.fail_after(10):
            await done.wait()
        await made[0]
        after = datetime.now(UTC)
        for message in thread.state.messages:
            assert message.created_at.utcoffset() == timedelta(0)
            assert before <= message.created_at <= after
        assert message_text(thread.state.messages[0]) == "in a callback"


async def test_frames_do_not_care_what_the_clock_on_the_wall_says(monkeypatch: pytest.MonkeyPatch) -> None:
    async with talking(Script([])) as thread:  # B114
        monkeypatch.setattr(time, "time", lambda: 0.0)
        heard: list[str] = []
        done = anyio.Event()

        def hear(text: str) -> None:
            heard.append(text)
            if text == "last":
                done.set()

        thread.select(lambda s: s.composer.text).pipe(per_frame(100)).subscribe(hear)
        for text in ("a", "b", "last"):
            thread.composer.set_text(text)
        with anyio.fail_after(10):
            await done.wait()
        assert heard == ["", "last"]
