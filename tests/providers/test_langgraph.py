"""A real graph as the owner of a thread: streams, tools, interrupts, branches."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.types import interrupt

from partwise.errors import NotAllowedError, WrongEventLoopError
from partwise.messages import ToolCallPart
from partwise.persistence import MemoryThreadList
from partwise.providers.langgraph import LangGraphAgent
from partwise.runtimes import Thread, ThreadItem, ThreadListRuntime
from partwise.testing import CONTRACT, Check, Script, ThreadRecorder, shown, status_of
from tests.providers.langgraph_models import State, row, talking

on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"])


@asynccontextmanager
async def source(script: Script) -> AsyncIterator[Thread]:
    async with LangGraphAgent(talking(script)) as agent:
        yield agent.thread


@on_asyncio
@pytest.mark.parametrize("check", CONTRACT, ids=str)
async def test_a_graph_keeps_every_promise(check: Check) -> None:
    assert await check(source)


@on_asyncio
async def test_an_answer_is_streamed_token_by_token() -> None:
    async with source(Script(["Hel", "lo"])) as thread:
        with ThreadRecorder(thread) as recorder:
            await thread.append("hi")

        assert [text for text in recorder.last_texts if text] == ["Hel", "Hello"]
        assert recorder.running == [False, True, False]


@on_asyncio
async def test_a_thread_is_shown_again_with_its_branches() -> None:
    graph = talking(Script("one", "two"))
    async with LangGraphAgent(graph, thread_id="t") as agent:
        await agent.thread.append("hello")
        await agent.thread.reload(agent.thread.state.messages[-1].id)
    async with LangGraphAgent(graph, thread_id="t") as again:
        thread = again.thread
        assert shown(thread.state.messages) == ["u:hello", "a:two"]
        branches = thread.branches_of(thread.state.messages[-1].id)
        assert len(branches) == 2
        thread.switch_to_branch(branches[0])
        await anyio.wait_all_tasks_blocked()
        assert shown(thread.state.messages) == ["u:hello", "a:one"]
        await thread.append("on from here")

        assert shown(thread.state.messages) == ["u:hello", "a:one", "u:on from here", "a:two"]


def asking() -> Any:
    """A graph that calls a tool, asks for permission, then asks a human something."""

    async def begin(state: State) -> dict[str, Any]:
        call = {"name": "look", "args": {"path": "x"}, "id": "c1", "type": "tool_call"}
        return {"messages": [AIMessage("Let me look.", tool_calls=[call])]}

    async def look(state: State) -> dict[str, Any]:
        given = interrupt({"kind": "permission", "tool": "look"})
        result = "found" if given["approved"] else f"denied: {given['reason']}"
        return {"messages": [ToolMessage(result, tool_call_id="c1")]}

    async def ask(state: State) -> dict[str, Any]:
        return {"messages": [AIMessage(f"You chose {interrupt('Which one?')}.")]}

    return row(("begin", begin), ("look", look), ("ask", ask))


def is_permission(value: Any) -> bool:
    return isinstance(value, dict) and value.get("kind") == "permission"


def calls(thread: Thread) -> list[ToolCallPart]:
    return [part for part in thread.state.messages[-1].content if isinstance(part, ToolCallPart)]


@on_asyncio
@pytest.mark.parametrize("approved", [True, False])
async def test_interrupts_are_permissions_and_questions_to_a_human(approved: bool) -> None:
    async with LangGraphAgent(asking(), is_approval=is_permission) as agent:
        thread = agent.thread
        await thread.append("go")
        look, gate = calls(thread)
        assert (look.tool_name, look.args, look.has_result) == ("look", {"path": "x"}, False)
        assert gate.approval is not None
        assert status_of(thread.state.messages[-1]).startswith("requires-action")

        await thread.respond_to_approval(gate.approval.id, approved=approved, reason="no")
        await anyio.wait_all_tasks_blocked()
        look, question = calls(thread)
        assert look.result == ("found" if approved else "denied: no")
        assert question.interrupt is not None
        assert question.interrupt.payload == "Which one?"

        thread.resume_tool_call(question.tool_call_id, "the left")
        await anyio.wait_all_tasks_blocked()
        (_, answer) = shown(thread.state.messages)
        assert answer.startswith("a:Let me look.")
        assert answer.endswith("You chose the left.")
        assert status_of(thread.state.messages[-1]) == "complete/unknown"


@on_asyncio
async def test_a_graph_that_fails_is_told_and_the_next_question_is_answered() -> None:
    async with source(Script([OSError("lost")], "ok")) as thread:
        with ThreadRecorder(thread) as recorder:
            with pytest.raises(OSError, match="lost"):
                await thread.append("one")
            await anyio.wait_all_tasks_blocked()
            assert not thread.state.is_running
            await thread.append("two")

        assert recorder.running == [False, True, False, True, False]
        assert shown(thread.state.messages)[-2:] == ["u:two", "a:ok"]


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_trio_is_refused_with_what_to_do() -> None:
    with pytest.raises(WrongEventLoopError, match="asyncio only"):
        async with LangGraphAgent(talking(Script("ok"))):
            raise AssertionError


@on_asyncio
async def test_a_graph_that_is_answering_takes_no_second_question() -> None:
    gate = anyio.Event()
    async with source(Script(["half", gate, " and half"])) as thread:
        first = thread.append("one")
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(NotAllowedError) as caught:
            await thread.append("two")
        assert caught.value.code == "run-in-progress"
        gate.set()
        await first
        await anyio.wait_all_tasks_blocked()

        assert shown(thread.state.messages) == ["u:one", "a:half and half"]


@on_asyncio
async def test_what_a_cancelled_answer_had_said_is_remembered_by_the_graph() -> None:
    graph = talking(Script(["half", anyio.Event()]))
    async with LangGraphAgent(graph, thread_id="t") as agent:
        agent.thread.append("one")
        await anyio.wait_all_tasks_blocked()
        agent.thread.cancel_run()
        await anyio.wait_all_tasks_blocked()
    async with LangGraphAgent(graph, thread_id="t") as again:
        assert shown(again.thread.state.messages) == ["u:one", "a:half"]
        assert status_of(again.thread.state.messages[-1]) == "incomplete/cancelled"


@on_asyncio
async def test_threads_of_a_list_can_be_graphs() -> None:
    graph = talking(Script("one", "two"))
    stored = MemoryThreadList()

    def open_thread(item: ThreadItem) -> LangGraphAgent:
        return LangGraphAgent(graph, thread_id=item.find_remote_id, initialize=item.initialize)

    async with ThreadListRuntime(open_thread, stored) as threads:
        first = threads.state.main_id or ""
        await threads.main.append("hello")
        await threads.switch_to_new()
        await threads.main.append("hi")
        await threads.close(first)
        await threads.switch_to(first)

        assert shown(threads.main.state.messages) == ["u:hello", "a:one"]
        assert threads.state.regular_ids[1:] == (first,)
