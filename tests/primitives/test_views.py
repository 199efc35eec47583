"""Headless widgets over a real thread: what they show, what they do, and what wakes them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest

from partwise.adapters import RunContext
from partwise.errors import ApprovalNotFoundError, BranchNotFoundError, NotAllowedError, ToolCallNotFoundError
from partwise.messages import COMPLETE, AssistantMessage, TextPart, ToolCallPart, message_text
from partwise.primitives import BranchPlace, MessageView, PartKey, PartView, ThreadView, part_keys
from partwise.reactive import Slice
from partwise.runtimes import LocalRuntime
from partwise.store import Suggestion
from partwise.stream import Chunk, Finish, ReasoningDelta, TextDelta, ToolArgsDelta, ToolArgsFinish, ToolCallStart
from partwise.testing import settled
from partwise.tools import ToolContext, Toolkit
from tests.primitives.scenes import echo, long, statistics


def heard(source: Slice[Any]) -> list[Any]:
    values: list[Any] = []
    source.subscribe(values.append)
    return values


# ---------------------------------------------------------------- what is shown


async def test_a_thread_tells_its_messages_and_whether_it_runs() -> None:
    async with LocalRuntime(echo) as runtime:
        view = ThreadView(runtime.thread)
        empty, running, ids = heard(view.is_empty), heard(view.is_running), heard(view.message_ids)

        await runtime.thread.append("hi")

        assert empty == [True, False]
        assert running == [False, True, False]
        assert [len(one) for one in ids] == [0, 1, 2]


async def test_the_status_and_the_text_of_whatever_stands_there_can_be_read() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("Hel")
        yield TextDelta("lo")
        yield ToolCallStart("c", "look")
        yield Finish("stop")

    async with LocalRuntime(model) as runtime:
        thread = runtime.thread
        await thread.append("hi", starts_run=False)
        status = thread.select(lambda state: state.messages[-1].status.type)
        statuses = heard(status)
        texts: list[list[str]] = []

        def look(number: int) -> None:
            if number == 2:
                message = thread.message(thread.state.messages[-1].id)
                texts.extend(heard(message.part(position).text) for position in (0, 1))

        thread.select(lambda state: len(state.messages)).subscribe(look)
        await thread.start_run(thread.state.messages[-1].id)

        assert statuses == ["complete", "running", "complete"]
        assert texts == [["Hel", "Hello"], [""]]


async def test_a_message_tells_its_parts_as_they_appear_and_not_as_they_grow() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        for word in ["a", "b", "c", "d"]:
            yield ReasoningDelta(word)
        for word in ["e", "f", "g", "h"]:
            yield TextDelta(word)

    async with LocalRuntime(model) as runtime:
        thread = runtime.thread
        shapes: list[list[str]] = []
        statuses: list[str] = []

        def look(ids: tuple[str, ...]) -> None:
            if len(ids) == 2:
                view = ThreadView(thread).message(ids[1])
                view.parts.subscribe(lambda keys: shapes.append([key.type for key in keys]))
                view.status.subscribe(lambda status: statuses.append(status.type))

        ThreadView(thread).message_ids.subscribe(look)
        await thread.append("hi")

        assert shapes == [[], ["reasoning"], ["reasoning", "text"]]
        assert statuses == ["running", "complete"]


async def test_who_speaks_and_who_is_last() -> None:
    async with LocalRuntime(echo, messages=["one", {"role": "assistant", "content": "two"}]) as runtime:
        user, answer = (MessageView(runtime.thread, message.id) for message in runtime.thread.state.messages)
        last = heard(answer.is_last)

        assert (user.role.value, answer.role.value) == ("user", "assistant")
        assert user.status.value == COMPLETE
        assert (user.is_last.value, answer.is_last.value) == (False, True)
        await runtime.thread.append("three")
        assert last == [True, False]


def test_parts_are_told_apart_by_their_calls_and_a_repeated_id_by_its_place() -> None:
    call = ToolCallPart(tool_call_id="x", tool_name="look")
    message = AssistantMessage(
        id="a", created_at=datetime(2026, 1, 1, tzinfo=UTC), content=(TextPart("a"), call, TextPart("b"), call)
    )

    assert part_keys(message) == (
        PartKey(position=0, type="text"),
        PartKey(position=1, type="tool-call", tool_call_id="x"),
        PartKey(position=2, type="text"),
        PartKey(position=3, type="tool-call"),
    )


async def test_a_part_tells_its_derived_status() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("a")
        yield ToolCallStart("x", "look")
        yield ToolArgsFinish("x")
        yield Finish("tool-calls")

    async with LocalRuntime(model) as runtime:
        thread = runtime.thread
        seen: dict[int, list[str]] = {0: [], 1: []}

        def look(ids: tuple[str, ...]) -> None:
            if len(ids) == 2:
                for position, found in seen.items():
                    status = PartView(thread, ids[1], position).status
                    status.subscribe(lambda value, found=found: found.append(value.type))

        ThreadView(thread).message_ids.subscribe(look)
        await thread.append("hi")
        assert seen == {0: ["complete", "running", "complete"], 1: ["complete", "running", "requires-action"]}

        answer = thread.state.messages[-1]
        thread.add_tool_result(answer.id, "x", None)
        assert seen[1][-1] == "complete"


# ---------------------------------------------------------------- branches


async def test_a_branch_picker_counts_and_switches() -> None:
    async with LocalRuntime(echo) as runtime:
        thread = runtime.thread
        await thread.append("hi")
        first = thread.state.messages[-1].id
        picker = MessageView(thread, first).branch_picker
        assert picker.place.value == BranchPlace(number=1, count=1)
        assert (picker.can_previous.value, picker.can_next.value) == (False, False)

        await thread.reload(first)
        second = thread.state.messages[-1].id
        picker = MessageView(thread, second).branch_picker
        assert picker.place.value == BranchPlace(number=2, count=2)
        assert (picker.number.value, picker.count.value) == (2, 2)
        assert (picker.can_previous.value, picker.can_next.value) == (True, False)

        picker.previous()
        picker = MessageView(thread, first).branch_picker
        assert thread.state.messages[-1].id == first
        assert (picker.place.value, picker.can_next.value) == (BranchPlace(number=1, count=2), True)
        picker.next()
        assert thread.state.messages[-1].id == second
        with pytest.raises(BranchNotFoundError):
            MessageView(thread, second).branch_picker.next()


# ---------------------------------------------------------------- actions


async def test_an_answer_can_be_copied_and_made_again_only_when_it_stands_still() -> None:
    go = anyio.Event()

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("so")
        await go.wait()
        yield TextDelta(" be it")

    async with LocalRuntime(model) as runtime:
        thread = runtime.thread
        operation = thread.append("hi")
        user, answer = (MessageView(thread, message.id) for message in thread.state.messages)
        copy, reload = heard(answer.action_bar.can_copy), heard(answer.action_bar.can_reload)
        assert user.action_bar.can_copy.value
        assert not user.action_bar.can_reload.value

        go.set()
        await operation
        assert copy == [False, True]
        assert reload == [False, True]
        assert answer.action_bar.copy_text() == "so be it"
        assert not answer.action_bar.can_speak.value
        assert not answer.action_bar.can_delete.value
        assert not answer.action_bar.can_give_feedback.value

        await answer.action_bar.reload()
        assert not answer.action_bar.can_copy.value
        assert len(thread.branches_of(answer.id)) == 2


async def test_an_edit_is_a_draft_of_its_own_until_it_is_sent() -> None:
    async with LocalRuntime(echo) as runtime:
        thread = runtime.thread
        await thread.append("one")
        view = MessageView(thread, thread.state.messages[0].id)
        can_edit, editing, text = (
            heard(view.action_bar.can_edit),
            heard(view.composer.is_editing),
            heard(view.composer.text),
        )

        view.action_bar.edit()
        assert not view.action_bar.can_edit.value
        assert view.composer.can_cancel.value
        with pytest.raises(NotAllowedError):
            view.action_bar.edit()
        view.composer.set_text("two")
        await view.composer.send()

        assert can_edit[:2] == [True, False]
        assert editing == [False, True, False]
        assert text == ["", "one", "two", ""]
        assert [message_text(message) for message in thread.state.messages] == ["two", "heard two"]


async def test_a_cancelled_edit_leaves_everything_as_it_was() -> None:
    async with LocalRuntime(echo) as runtime:
        thread = runtime.thread
        await thread.append("one")
        view = MessageView(thread, thread.state.messages[0].id)
        view.action_bar.edit()
        view.composer.cancel()

        assert not view.composer.is_editing.value
        assert view.action_bar.can_edit.value
        assert not thread.state.branches
        with pytest.raises(NotAllowedError):
            view.composer.set_text("x")


# ---------------------------------------------------------------- composer


async def test_a_composer_sends_what_says_something_and_cancels_what_runs() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("wait")
        await anyio.sleep_forever()

    async with LocalRuntime(model) as runtime:
        thread = runtime.thread
        view = ThreadView(thread).composer
        can_send, disabled, cancel = heard(view.can_send), heard(view.is_send_disabled), heard(view.can_cancel)
        view.set_text(" \n")
        assert view.is_empty.value
        await view.send()
        assert not thread.state.messages

        view.set_text("one")
        operation = view.send()
        view.set_text("two")
        assert view.can_send.value
        assert view.is_send_disabled.value
        await view.send()
        assert len(thread.state.messages) == 2
        view.cancel()
        await operation

        assert can_send == [False, True, False, True]
        assert disabled == [True, False, True, False]
        assert cancel == [False, True, False]
        assert view.text.value == "two"


async def test_with_a_queue_a_draft_can_be_sent_during_a_run() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("wait")
        await anyio.sleep_forever()

    async with LocalRuntime(model, has_queue=True) as runtime:
        view = ThreadView(runtime.thread).composer
        for text in ("one", "two"):
            view.set_text(text)
            assert not view.is_send_disabled.value
            view.send()
            await settled()

        state = runtime.thread.state
        assert [item.prompt for item in (*state.queue, *state.steer_queue)] == ["two"]


async def test_a_suggestion_is_sent_unless_a_run_is_in_the_way() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("wait")
        await anyio.sleep_forever()

    async with LocalRuntime(model) as runtime:
        view = ThreadView(runtime.thread)
        view.take_suggestion(Suggestion("one"))
        view.take_suggestion(Suggestion("two"))

        assert message_text(runtime.thread.state.messages[0]) == "one"
        assert len(runtime.thread.state.messages) == 2
        view.cancel()


# ---------------------------------------------------------------- people's answers


async def test_a_part_shows_what_it_asks_and_takes_the_answer() -> None:
    tools = Toolkit()

    @tools.frontend(needs_approval=True)
    async def ask(context: ToolContext) -> str:
        """Ask somebody."""
        return str(await context.human("who?"))

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        if run.roundtrip or run.message.content:
            yield TextDelta("done")
            return
        yield ToolCallStart("x", "ask")
        yield ToolArgsDelta("x", "{}")
        yield ToolArgsFinish("x")
        yield Finish("tool-calls")

    async with LocalRuntime(model, tools=tools) as runtime:
        thread = runtime.thread
        await thread.append("hi")
        part = MessageView(thread, thread.state.messages[-1].id).part(0)
        interrupts = heard(part.interrupt)
        asking = part.approval.value
        assert asking is not None
        assert asking.is_open

        operation = part.respond(approved=True)
        with anyio.fail_after(5):
            while interrupts[-1] is None:
                await anyio.lowlevel.checkpoint()
        assert interrupts[-1].payload == "who?"
        part.resume("Ada")
        await operation

        call = part.part.value
        assert isinstance(call, ToolCallPart)
        assert call.result == "Ada"
        assert MessageView(thread, thread.state.messages[-1].id).part(1).text.value == "done"
        text = MessageView(thread, thread.state.messages[-1].id).part(1)
        for command in (lambda: text.respond(approved=True), lambda: text.add_result(1), lambda: text.resume(1)):
            with pytest.raises(ToolCallNotFoundError):
                command()


async def test_a_call_that_nobody_runs_takes_a_result() -> None:
    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield ToolCallStart("x", "look")
        yield ToolArgsFinish("x")
        yield Finish("tool-calls")

    async with LocalRuntime(model, max_steps=1) as runtime:
        await runtime.thread.append("hi")
        part = MessageView(runtime.thread, runtime.thread.state.messages[-1].id).part(0)
        with pytest.raises(ApprovalNotFoundError):
            part.respond(approved=True)
        part.add_result({"seen": 1})

        call = part.part.value
        assert isinstance(call, ToolCallPart)
        assert call.result == {"seen": 1}


# ---------------------------------------------------------------- what wakes whom


async def test_a_token_wakes_one_part_and_a_keystroke_only_the_draft() -> None:
    counted: list[tuple[int, int]] = []

    async def model(run: RunContext) -> AsyncGenerator[Chunk, None]:
        yield TextDelta("first ")
        await ready.wait()
        for _ in range(200):
            before = statistics(thread)
            yield TextDelta("word ")
            after = statistics(thread)
            counted.append((after.evaluations - before.evaluations, after.deliveries - before.deliveries))

    ready = anyio.Event()
    async with LocalRuntime(model, messages=long(500, parts=4)) as runtime:
        thread = runtime.thread
        operation = thread.append("go")
        await settled()
        view = ThreadView(thread)
        woken: list[str] = []
        for message_id in view.message_ids.value:
            message = view.message(message_id)
            for position in range(len(message.parts.value)):
                name = f"{message_id}.{position}"
                message.part(position).text.subscribe(lambda _, name=name: woken.append(name))
                message.part(position).status.subscribe(lambda _, name=name: woken.append(f"{name} status"))
            for part in (message.parts, message.status, message.is_last, message.branch_picker.place):
                part.subscribe(lambda _, name=message_id: woken.append(name))
            for part in (message.action_bar.can_copy, message.action_bar.can_reload, message.action_bar.can_edit):
                part.subscribe(lambda _, name=message_id: woken.append(f"{name} actions"))
        for field in ("text", "can_send", "is_send_disabled", "can_cancel", "is_empty"):
            getattr(view.composer, field).subscribe(lambda _, field=field: woken.append(field))

        woken.clear()
        before = statistics(thread)
        for number in range(20):
            view.composer.set_text("x" * (number + 1))
        after = statistics(thread)
        assert sorted(set(woken)) == ["can_send", "is_empty", "text"]
        assert woken.count("text") == 20
        assert after.deliveries - before.deliveries == len(woken) == 22
        assert after.evaluations - before.evaluations <= 20 * 5

        woken.clear()
        ready.set()
        await operation
        last = thread.state.messages[-1].id
        assert woken.count(f"{last}.0") == 200
        # The commit of a token is delivered to the one slice that renders it; besides that, at most the two slices of
        # the message that tell its parts apart are asked, among thousands.
        assert statistics(thread).live_slices > 7000
        assert {deliveries for _, deliveries in counted} == {1}
        assert max(evaluations for evaluations, _ in counted) <= 3
        others = [name for name in woken if not name.startswith((last, "can_cancel", "is_send"))]
        assert all(name.endswith("actions") for name in others)
