"""Calls that a human must permit."""

from __future__ import annotations

from typing import Any

import anyio
import attrs
import pytest

import partwise as pw
from partwise.errors import ApprovalError, ApprovalNotFoundError, OptionNotFoundError
from partwise.messages import Approval, ApprovalOption, AssistantMessage
from partwise.stream import TextDelta
from tests.runtimes.scenes import (
    Log,
    Script,
    Shelf,
    Slow,
    approval_of,
    call,
    calls,
    last,
    settled,
    shown,
    statuses,
    talking,
    tool_call,
)


def gated(ran: list[str], **options: Any) -> pw.Toolkit:
    tools = pw.Toolkit()

    @tools.frontend(needs_approval=True, **options)
    async def delete(path: str = "") -> str:
        ran.append(path)
        return f"deleted {path}"

    return tools


async def test_a_permitted_call_runs_once_and_the_answer_goes_on() -> None:  # B26
    ran: list[str] = []
    model = Script(call("c0", "delete", '{"path":"x"}'), [TextDelta("gone")])
    async with talking(model, tools=gated(ran)) as thread:
        await thread.append("hi")
        assert (ran, statuses(thread)) == ([], ["requires-action/tool-calls"])
        assert not thread.state.is_running
        await thread.respond_to_approval(approval_of(thread), approved=True)
        assert ran == ["x"]
        assert tool_call(thread).approval.approved is True
        assert tool_call(thread).result == "deleted x"
        assert statuses(thread) == ["complete/unknown"]
        assert len(model.calls) == 2


async def test_while_a_permitted_call_runs_nothing_is_asked_any_more() -> None:  # B26
    tools = pw.Toolkit()
    gate = anyio.Event()

    @tools.frontend(needs_approval=True)
    async def slow() -> str:
        await gate.wait()
        return "done"

    async with talking(Script(calls("slow"), [TextDelta("x")]), tools=tools) as thread:
        await thread.append("hi")
        operation = thread.respond_to_approval(approval_of(thread), approved=True)
        await settled()
        assert statuses(thread) == ["running"]
        assert not tool_call(thread).has_result
        gate.set()
        await operation
        assert statuses(thread) == ["complete/unknown"]


async def test_a_denied_call_is_a_result_that_the_model_reads() -> None:
    ran: list[str] = []
    model = Script(calls("delete"), [TextDelta("as you wish")])
    for reason, text in (("not today", "not today"), ("", "Tool approval denied"), (None, "Tool approval denied")):
        async with talking(Script(*model.turns), tools=gated(ran)) as thread:
            await thread.append("hi")
            await thread.respond_to_approval(approval_of(thread), approved=False, reason=reason)
            part = tool_call(thread)
            assert (part.is_error, part.result, part.approval.reason) == (True, {"error": text}, reason)
            assert shown(thread)[-1] == "a:as you wish"
    assert not ran


async def test_denying_one_of_three_leaves_the_others_and_there_is_one_continuation() -> None:  # B31, trace 3
    ran: list[str] = []
    chunks = [*call("c0", "delete", '{"path":"0"}'), *call("c1", "delete", '{"path":"1"}')]
    chunks += call("c2", "delete", '{"path":"2"}')
    model = Script(chunks, [TextDelta("two gone")])
    history = Shelf()
    async with talking(model, tools=gated(ran), history=history) as thread:
        await thread.append("hi")
        ids = [approval_of(thread, f"c{number}") for number in range(3)]
        await thread.respond_to_approval(ids[0], approved=False)
        await thread.respond_to_approval(ids[1], approved=True)
        assert len(model.calls) == 1
        assert not ran
        await thread.respond_to_approval(ids[2], approved=True)
        assert sorted(ran) == ["1", "2"]
        assert [tool_call(thread, f"c{number}").is_error for number in range(3)] == [True, False, False]
        assert len(model.calls) == 2
        assert statuses(thread) == ["complete/unknown"]
        states = [status for _, name, status in history.writes if name.startswith("a:")]
        assert states == ["requires-action/tool-calls"] * 3 + ["complete/unknown"]


async def test_the_first_answer_is_final() -> None:  # B27
    ran: list[str] = []
    async with talking(Script(calls("delete", "delete"), [TextDelta("x")]), tools=gated(ran)) as thread:
        await thread.append("hi")
        denied, allowed = approval_of(thread, "c0"), approval_of(thread, "c1")
        await thread.respond_to_approval(denied, approved=False)
        before = thread.state
        with pytest.raises(ApprovalError) as caught:
            thread.respond_to_approval(denied, approved=True)
        assert (caught.value.code, caught.value.id) == ("approval-decided", denied)
        assert thread.state is before
        await thread.respond_to_approval(allowed, approved=True)
        with pytest.raises(ApprovalError):
            thread.respond_to_approval(allowed, approved=True)
        await settled()
        assert len(ran) == 1


async def test_options_decide_by_their_kind() -> None:
    options = (
        ApprovalOption(id="yes", kind="allow-once"),
        ApprovalOption(id="never", kind="reject-always"),
        ApprovalOption(id="odd", kind="constructor"),
    )
    for option_id, approved, runs in (("yes", None, 1), ("never", None, 0), ("odd", True, 1), ("never", True, 1)):
        ran: list[str] = []
        tools = gated(ran, approval_options=options)
        async with talking(Script(calls("delete"), [TextDelta("x")]), tools=tools) as thread:
            await thread.append("hi")
            approval_id = approval_of(thread)
            assert tool_call(thread).approval.options == options
            with pytest.raises(OptionNotFoundError):
                thread.respond_to_approval(approval_id, option_id="missing")
            with pytest.raises(ApprovalError):
                thread.respond_to_approval(approval_id)
            if option_id == "odd":
                with pytest.raises(ApprovalError):
                    thread.respond_to_approval(approval_id, option_id="odd")
            await thread.respond_to_approval(approval_id, option_id=option_id, approved=approved)
            assert tool_call(thread).approval.option_id == option_id
            assert len(ran) == runs


async def test_a_function_of_the_arguments_decides_who_is_asked() -> None:
    tools = pw.Toolkit()
    ran: list[int] = []

    async def large(arguments: Any) -> bool:
        return arguments["n"] > 10

    @tools.frontend(needs_approval=large)
    async def pay(n: int) -> int:
        ran.append(n)
        return n

    model = Script([*call("c0", "pay", '{"n":5}'), *call("c1", "pay", '{"n":50}')], [TextDelta("x")])
    async with talking(model, tools=tools) as thread:
        await thread.append("hi")
        assert ran == [5]
        assert tool_call(thread, "c0").approval is None
        assert statuses(thread) == ["requires-action/tool-calls"]
        await thread.respond_to_approval(approval_of(thread, "c1"), approved=True)
        assert ran == [5, 50]
        assert len(model.calls) == 2


async def test_an_approval_is_answered_while_another_tool_still_runs() -> None:
    tools = pw.Toolkit()
    gate = anyio.Event()
    ran: list[str] = []

    @tools.frontend
    async def slow() -> str:
        await gate.wait()
        return "slow"

    @tools.frontend(needs_approval=True)
    async def delete() -> str:
        ran.append("delete")
        return "deleted"

    model = Script(calls("slow", "delete"), [TextDelta("x")])
    async with talking(model, tools=tools) as thread:
        operation = thread.append("hi")
        await settled()
        await thread.respond_to_approval(approval_of(thread, "c1"), approved=True)
        assert not ran
        gate.set()
        await operation
        await settled()
        assert ran == ["delete"]
        assert [tool_call(thread, "c0").result, tool_call(thread, "c1").result] == ["slow", "deleted"]
        assert statuses(thread) == ["complete/unknown"]
        assert not thread.state.is_running
        assert len(model.calls) == 2


async def test_the_tools_of_a_superseded_run_do_not_hide_that_those_of_the_newer_one_are_running() -> None:
    tools = pw.Toolkit()
    old, new = anyio.Event(), anyio.Event()

    @tools.frontend
    async def stubborn() -> None:
        with anyio.CancelScope(shield=True):
            await old.wait()

    @tools.frontend
    async def slow() -> None:
        await new.wait()

    @tools.frontend(needs_approval=True)
    async def delete() -> str:
        return "deleted"

    model = Script(calls("stubborn"), calls("slow", "delete"), [TextDelta("x")])
    async with talking(model, tools=tools) as thread:
        first = thread.append("one")
        await settled()
        second = thread.append("two")
        await settled()
        old.set()
        await first
        thread.respond_to_approval(approval_of(thread, "c1"), approved=True)
        new.set()
        await second
        assert tool_call(thread, "c1").result == "deleted"


async def test_what_cannot_be_answered_says_why() -> None:
    ran: list[str] = []
    gate = anyio.Event()
    model = Script(calls("delete"), [TextDelta("x"), gate])
    async with talking(model, tools=gated(ran)) as thread:
        await thread.append("hi")
        approval_id = approval_of(thread)
        with pytest.raises(ApprovalNotFoundError):
            thread.respond_to_approval("nowhere", approved=True)
        await thread.append("note", starts_run=False)
        with pytest.raises(ApprovalError) as caught:
            thread.respond_to_approval(approval_id, approved=True)
        assert caught.value.code == "not-head"
        thread.append("and now?")
        await settled()
        with pytest.raises(ApprovalError) as caught:
            thread.respond_to_approval(approval_id, approved=True)
        assert caught.value.code in {"run-in-progress", "approval-resolved"}
        gate.set()
    assert not ran


async def test_going_on_without_an_answer_closes_the_question() -> None:  # B26
    ran: list[str] = []
    history = Shelf()
    async with talking(Script(calls("delete"), [TextDelta("x")]), tools=gated(ran), history=history) as thread:
        await thread.append("hi")
        paused = last(thread).id
        await thread.append("never mind")
        message = thread.find(paused).message
        assert message.status.reason == "cancelled"
        assert message.content[0].approval.resolution == "cancelled"
        assert history.items[paused].message == message
        assert not ran


async def test_going_on_while_the_pause_is_still_being_stored_closes_the_question() -> None:  # B26
    ran: list[str] = []
    history = Slow()
    async with talking(Script(calls("delete"), [TextDelta("x")]), tools=gated(ran), history=history) as thread:
        history.be_slow()
        first = thread.append("hi")
        await settled()
        paused = last(thread).id
        assert statuses(thread) == ["requires-action/tool-calls"]
        second = thread.append("never mind")
        await settled()
        history.open()
        await first
        await second
        message = thread.find(paused).message
        assert statuses(thread) == ["incomplete/cancelled", "complete/unknown"]
        assert message.content[0].approval.resolution == "cancelled"
        loaded = await history.load()
        assert [entry.message for entry in loaded.entries] == list(thread.state.messages)
        assert not ran


async def test_an_expired_approval_closes_the_gate() -> None:  # B26
    ran: list[str] = []
    async with talking(Script(calls("delete"), [TextDelta("x")]), tools=gated(ran)) as thread:
        await thread.append("hi")
        approval_id = approval_of(thread)
        message = last(thread)
        part = attrs.evolve(tool_call(thread), approval=Approval(id=approval_id, resolution="expired"))
        exported = thread.export()
        thread.import_(
            attrs.evolve(
                exported,
                entries=tuple(
                    attrs.evolve(entry, message=attrs.evolve(message, content=(part,)))
                    if entry.message.id == message.id
                    else entry
                    for entry in exported.entries
                ),
            )
        )
        with pytest.raises(ApprovalError) as caught:
            thread.respond_to_approval(approval_id, approved=True)
        assert caught.value.code == "approval-resolved"
        assert not ran


async def test_two_calls_with_one_approval_id_are_told_apart() -> None:
    part = {"type": "tool-call", "tool_name": "far", "args": {}, "approval": {"id": "p"}}
    content = [{**part, "tool_call_id": "c0"}, {**part, "tool_call_id": "c1"}]
    model = Script(
        [{"content": content, "status": {"type": "requires-action", "reason": "tool-calls"}}], [TextDelta("x")]
    )
    async with talking(model) as thread:
        await thread.append("hi")
        with pytest.raises(ApprovalError) as caught:
            thread.respond_to_approval("p", approved=True)
        assert caught.value.code == "approval-ambiguous"
        await thread.respond_to_approval("p", approved=False, tool_call_id="c0")
        await thread.respond_to_approval("p", approved=True, tool_call_id="c1")
        assert len(model.calls) == 2


async def test_a_slow_write_of_a_decision_never_lands_after_the_final_one() -> None:  # B24
    ran: list[str] = []
    history = Shelf()
    async with talking(
        Script(calls("delete", "delete"), [TextDelta("x")]), tools=gated(ran), history=history
    ) as thread:
        await thread.append("hi")
        history.gate = anyio.Event()
        thread.respond_to_approval(approval_of(thread, "c0"), approved=True)
        operation = thread.respond_to_approval(approval_of(thread, "c1"), approved=True)
        await settled()
        assert statuses(thread) == ["complete/unknown"]
        history.gate.set()
        await operation
        written = [status for _, name, status in history.writes if name.startswith("a:")]
        assert written == ["requires-action/tool-calls", "requires-action/tool-calls", "complete/unknown"]
        assert history.items[last(thread).id].message == last(thread)
        assert len(ran) == 2


async def test_an_answer_without_a_pause_is_written_once() -> None:  # B24
    tools = pw.Toolkit()

    @tools.frontend
    async def far() -> int:
        return 1

    history = Log()
    async with talking(Script(calls("far"), [TextDelta("x")]), tools=tools, history=history) as thread:
        await thread.append("hi")
        assert history.order == ["append u:hi", "append a:x"]
        assert isinstance(last(thread), AssistantMessage)
