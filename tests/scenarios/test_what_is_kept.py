"""What a thread keeps alive, and what it does not take notice of."""

from __future__ import annotations

import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import anyio
import attrs
import pytest

import partwise as pw
from partwise.adapters import RunContext
from partwise.messages import message_text
from partwise.persistence import MemoryHistory
from partwise.runtimes import LocalRuntime
from partwise.stream import TextDelta
from tests.runtimes.scenes import Script, calls, last, settled, shown, statuses, talking, tool_call


async def test_a_deleted_message_and_those_who_looked_at_it_are_gone() -> None:  # B69
    tools = pw.Toolkit()

    @tools.frontend
    async def far() -> int:
        return 1

    model = Script([TextDelta("old "), *calls("far")], [TextDelta("text")], [TextDelta("new")])
    async with talking(model, tools=tools, history=MemoryHistory()) as thread:
        handles: list[Any] = []
        looking: list[weakref.ref[Any]] = []

        def look(source: Any) -> None:
            def see(value: object) -> None:
                pass

            looking.append(weakref.ref(see))
            handles.append(source.subscribe(see))

        operation = thread.append("one")
        answer_id = last(thread).id
        look(thread.message(answer_id))
        look(thread.message(answer_id).part(0))
        look(thread.message(answer_id).part(tool_call_id="c0"))
        look(thread.select(lambda s: s.messages[-1] if s.messages else None))
        look(thread.events)
        await operation
        question = thread.state.messages[0].id
        gone = [weakref.ref(message) for message in thread.state.messages]
        gone += [weakref.ref(part) for part in last(thread).content]
        await thread.delete_message(answer_id)
        await thread.delete_message(question)
        await thread.append("two")
        for handle in handles:
            handle.dispose()
        model.calls.clear()
        await settled()
        gc.collect()
        assert [ref() for ref in gone] == [None] * len(gone)
        assert [ref() for ref in looking] == [None] * 5
        assert shown(thread) == ["u:two", "a:new"]


async def test_a_run_that_has_ended_is_forgotten() -> None:  # B69
    contexts: list[weakref.ref[Any]] = []

    async def model(run: RunContext) -> AsyncIterator[Any]:
        contexts.append(weakref.ref(run.signal._event))
        yield TextDelta("x")
        if len(contexts) == 2:
            await anyio.sleep_forever()
        if len(contexts) == 3:
            raise ValueError("three")

    async with talking(model) as thread:
        await thread.append("one")
        operation = thread.append("two")
        await settled()
        thread.cancel_run()
        await operation
        with pytest.raises(ValueError, match="three"):
            await thread.append("three")
        del operation
        await settled()
        gc.collect()
        assert [ref() for ref in contexts] == [None] * 3


async def test_a_model_that_changes_its_own_values_and_gives_them_again_is_understood() -> None:  # B78
    content: list[Any] = [{"type": "text", "text": ""}]
    given: dict[str, Any] = {"content": content}
    steps = anyio.Event()

    async def model(run: RunContext) -> AsyncIterator[Any]:
        for number in range(3):
            content[0]["text"] += f"{number}"
            yield given
        content.append({"type": "tool-call", "tool_call_id": "c", "tool_name": "far", "args": {"list": [1]}})
        yield given
        content[1]["args"]["list"].append(2)
        yield given
        content[1]["args"]["list"].append("unsaid")
        content[0]["text"] = "unsaid"
        steps.set()

    async with talking(model) as thread:
        texts: list[str] = []
        arguments: list[Any] = []
        operation = thread.append("hi")
        part = thread.message(last(thread).id).part(0)
        part.select(lambda p: p.text).subscribe(texts.append)
        thread.message(last(thread).id).part(1).select(lambda p: p.args).subscribe(arguments.append)
        await operation
        assert texts == ["0", "01", "012"]
        assert arguments == [{"list": [1]}, {"list": [1, 2]}]


async def test_what_a_caller_changes_later_changes_nothing_and_what_a_thread_hands_out_cannot_be_changed() -> None:
    config: dict[str, Any] = {"k": [1]}  # B78
    message: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    result: dict[str, Any] = {"hits": [1]}
    model = Script(calls("human"), [TextDelta("x")])
    async with talking(model) as thread:
        seen: list[Any] = []
        thread.select(lambda s: s).subscribe(seen.append)
        await thread.append(message, run_config=config)
        message["content"][0]["text"] = "changed"
        config["k"].append(2)
        await thread.add_tool_result(last(thread).id, "c0", result)
        result["hits"].append(2)
        count = len(seen)
        await settled()
        assert message_text(thread.state.messages[0]) == "hi"
        assert [context.run_config for context in model.calls] == [{"k": [1]}, {"k": [1]}]
        assert tool_call(thread).result == {"hits": [1]}
        assert len(seen) == count
        for change in (
            lambda: thread.state.messages.append("x", last(thread)) and None,
            lambda: last(thread).content.append(1),
            lambda: setattr(last(thread), "status", None),
            lambda: tool_call(thread).result["hits"].append(3),
            lambda: tool_call(thread).result.update(hits=0),
            lambda: setattr(thread.state, "is_running", True),
        ):
            before = thread.state
            with suppress(AttributeError, TypeError):
                change()
            assert thread.state is before
            assert tool_call(thread).result == {"hits": [1]}


async def test_a_generator_with_a_group_around_its_yields_ends_well_when_its_message_goes() -> None:  # B95
    closed: list[int] = []
    tasks: set[int] = set()

    async def model(run: RunContext) -> AsyncIterator[Any]:
        tasks.add(anyio.get_current_task().id)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(anyio.sleep_forever)
                for number in range(1000):
                    yield TextDelta(f"{number} ")
                    await anyio.lowlevel.checkpoint()
        finally:
            tasks.add(anyio.get_current_task().id)
            closed.append(1)

    for act in (
        lambda thread: thread.reset(["fresh"]),
        lambda thread: thread.delete_message(thread.state.messages[-1].id),
        lambda thread: thread.delete_message(thread.state.messages[0].id),
        lambda thread: thread.append("newer", parent_id=None),
    ):
        closed.clear()
        tasks.clear()
        async with talking(model, history=MemoryHistory()) as thread:
            operation = thread.append("hi")
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            thread.set_options(model=Script([TextDelta("x")]))
            act(thread)
            await operation
            assert (closed, len(tasks)) == ([1], 1)
            await settled()
            assert not thread.state.is_running
            assert "running" not in statuses(thread)


async def test_a_runtime_that_is_left_leaves_no_task_behind() -> None:  # B95
    ended: list[str] = []

    async def model(run: RunContext) -> AsyncIterator[Any]:
        async def child() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                ended.append("child")

        async with anyio.create_task_group() as group:
            group.start_soon(child)
            yield TextDelta("x")
            await anyio.sleep_forever()

    async with LocalRuntime(model) as runtime:
        runtime.thread.append("hi")
        await settled()
    assert ended == ["child"]
    assert attrs.asdict(last(runtime.thread).status)["reason"] == "cancelled"
