"""What people test their own sources with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from partwise.reactive import Store, per_frame, record
from partwise.runtimes import LocalRuntime, Thread
from partwise.runtimes.external import ExternalStoreRuntime
from partwise.testing import CONTRACT, Script, ThreadRecorder, VirtualTimer, settled, shown, status_of


async def test_a_script_plays_its_turns_and_the_last_one_again_and_again() -> None:
    script = Script("one", ["t", "wo"])
    async with LocalRuntime(script) as runtime:
        for text in ("a", "b", "c"):
            await runtime.thread.append(text)

        assert shown(runtime.thread.state.messages) == ["u:a", "a:one", "u:b", "a:two", "u:c", "a:two"]
    assert script.asked == ["a", "b", "c"]
    assert script.closed == 3


async def test_a_script_waits_and_fails_where_it_says_so() -> None:
    gate = anyio.Event()
    script = Script(["half", gate, OSError("lost")])
    async with LocalRuntime(script) as runtime:
        operation = runtime.thread.append("a")
        await settled()
        assert shown(runtime.thread.state.messages)[-1] == "a:half"
        gate.set()
        with pytest.raises(OSError, match="lost"):
            await operation
        assert status_of(runtime.thread.state.messages[-1]) == "incomplete/error"
    assert script.closed == 1


async def test_a_script_without_turns_says_nothing() -> None:
    async with LocalRuntime(Script()) as runtime:
        await runtime.thread.append("a")
        assert shown(runtime.thread.state.messages) == ["u:a", "a:"]


async def test_a_recorder_writes_down_every_frame_until_it_is_left() -> None:
    async with LocalRuntime(Script(["a", "b"])) as runtime:
        with ThreadRecorder(runtime.thread) as recorder:
            await runtime.thread.append("hello")
        await runtime.thread.append("unseen")

    assert recorder.running == [False, True, False]
    assert recorder.frames == [[], ["u:hello"], ["u:hello", "a:"], ["u:hello", "a:a"], ["u:hello", "a:ab"]]
    assert recorder.last_texts == ["", "hello", "", "a", "ab"]
    assert recorder.statuses == ["-", "running", "complete/unknown"]
    assert recorder.events == ["initialize", "run_start", "run_end"]


def test_virtual_time_passes_when_it_is_told_to() -> None:
    timer = VirtualTimer()
    called: list[tuple[str, float]] = []

    def later() -> None:
        called.append(("b", timer.now()))
        timer.call_later(1, lambda: called.append(("d", timer.now())))

    timer.call_later(2, later)
    timer.call_later(1, lambda: called.append(("a", timer.now())))
    timer.call_later(2, lambda: called.append(("c", timer.now())))
    cancel = timer.call_later(1, lambda: called.append(("never", timer.now())))
    cancel()
    timer.advance(2)
    assert called == [("a", 1), ("b", 2), ("c", 2)]
    timer.advance(1)

    assert called[3:] == [("d", 3)]
    assert timer.now() == 3


def test_frames_follow_virtual_time() -> None:
    timer, store = VirtualTimer(), Store(0)
    frames = store.select(lambda value: value).pipe(per_frame(10, timer=timer), record())
    for value in range(1, 6):
        store.commit(value)
        timer.advance(0.03)
    timer.advance(1)

    assert frames.values == [0, 4, 5]


@asynccontextmanager
async def forgetful(script: Script) -> AsyncIterator[Thread]:
    """A source that makes new objects of everything each time, loses a letter, and says that it can cancel."""
    items: list[dict[str, str]] = []

    async def on_new(request: object) -> None:
        items.append({"id": str(len(items)), "role": "user", "content": "hello"})
        text = ""
        async for piece in script.pieces("hello"):
            text += piece
            runtime.update([*map(dict, items), {"id": "x", "role": "assistant", "content": text[1:]}], is_running=True)
        runtime.update([*map(dict, items)], is_running=False)

    runtime = ExternalStoreRuntime(on_new=on_new, on_cancel=lambda: None, is_running=False)
    async with runtime:
        yield runtime.thread


@pytest.mark.parametrize(
    "name",
    [
        "answers come in order, one for each question",
        "the text of an answer only grows",
        "what did not change stays the same object",
    ],
)
async def test_the_contract_names_what_a_source_does_wrong(name: str) -> None:
    check = next(check for check in CONTRACT if str(check) == name)

    with pytest.raises(AssertionError, match="promised"):
        await check(forgetful)


async def test_a_promise_about_something_that_a_source_cannot_do_is_left_out() -> None:
    @asynccontextmanager
    async def silent(script: Script) -> AsyncIterator[Thread]:
        async with ExternalStoreRuntime() as runtime:
            yield runtime.thread

    checked = {str(check) for check in CONTRACT if not check.needs or await check(silent)}

    assert "a cancelled answer keeps what had come" not in checked
    assert "another answer is a branch" not in checked
