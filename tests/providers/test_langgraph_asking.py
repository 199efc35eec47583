"""What a graph waits for: all of it is shown, all of it is answered, and the graph goes on once."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from partwise.errors import ApprovalError, NotAllowedError
from partwise.messages import ToolCallPart
from partwise.providers.langgraph import LangGraphAgent
from partwise.runtimes import Thread
from partwise.testing import ThreadRecorder, settled, shown, status_of
from tests.providers.langgraph_models import State, row

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])


def open_calls(thread: Thread) -> list[ToolCallPart]:
    parts = thread.state.messages[-1].content
    return [part for part in parts if isinstance(part, ToolCallPart) and not part.has_result]


def several(*names: str, saver: Any = None) -> tuple[Any, list[str]]:
    """A graph of nodes that ask at the same time, and the answers that they got, in the order of the nodes' ends."""
    got: list[str] = []

    def asks(name: str) -> Any:
        async def node(state: State) -> dict[str, Any]:
            answer = interrupt(f"{name}?")
            got.append(f"{name}={answer}")
            return {"messages": [AIMessage(f"{name}:{answer} ", id=f"said-{name}")]}

        return node

    graph = StateGraph(State)
    for name in names:
        graph.add_node(name, asks(name))
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    return graph.compile(checkpointer=saver or InMemorySaver()), got


async def test_interrupts_of_parallel_nodes_are_shown_and_answered_together() -> None:
    graph, got = several("a", "b", "c")
    async with LangGraphAgent(graph) as agent:
        thread = agent.thread
        await thread.append("go")
        calls = open_calls(thread)
        assert sorted(call.args["value"] for call in calls) == ["a?", "b?", "c?"]
        assert status_of(thread.state.messages[-1]) == "requires-action/interrupt"
        with ThreadRecorder(thread) as recorder:
            for call in calls[:2]:
                thread.resume_tool_call(call.tool_call_id, call.args["value"].upper())
                await settled()
            assert got == []
            assert [call.tool_call_id for call in open_calls(thread)] == [calls[2].tool_call_id]
            assert status_of(thread.state.messages[-1]) == "requires-action/interrupt"
            thread.resume_tool_call(calls[2].tool_call_id, "last")
            await settled()

        answers = {call.args["value"][0]: call.args["value"].upper() for call in calls[:2]}
        answers[calls[2].args["value"][0]] = "last"
        assert sorted(got) == [f"{name}={answers[name]}" for name in "abc"]
        assert recorder.running == [False, True, False]
        assert shown(thread.state.messages)[1].split() == [f"a:a:{answers['a']}", *(f"{n}:{answers[n]}" for n in "bc")]
        assert status_of(thread.state.messages[-1]) == "complete/unknown"


async def test_the_first_answer_stays_and_nobody_answers_what_is_not_asked() -> None:
    graph, got = several("a", "b")
    reports: list[str] = []
    async with LangGraphAgent(graph, is_approval=lambda _value: True) as agent:
        thread = agent.thread
        await thread.append("go")
        first, second = (call.approval.id for call in open_calls(thread) if call.approval is not None)
        await thread.respond_to_approval(first, approved=True)
        with pytest.raises(ApprovalError) as caught:
            await thread.respond_to_approval(first, approved=False)
        assert caught.value.code == "approval-decided"
        with pytest.raises(NotAllowedError) as refused:
            await thread.respond_to_approval("nobody", approved=True)
        assert (refused.value.code, refused.value.id) == ("not-waiting", "nobody")
        decided = thread.state.messages[-1].content
        assert [part.approval.approved for part in decided if isinstance(part, ToolCallPart) and part.approval] == [
            True,
            None,
        ]
        await thread.respond_to_approval(second, approved=False)
        assert [answer.split("'approved': ")[1].split(",")[0] for answer in sorted(got)] in (
            ["True", "False"],
            ["False", "True"],
        )
        thread.events.subscribe(lambda event: reports.append(event.type))
        with pytest.raises(NotAllowedError):
            await thread.respond_to_approval(second, approved=True)
    assert len(got) == 2


async def test_what_was_asked_is_asked_again_under_the_same_names_after_reopening() -> None:
    saver = InMemorySaver()
    graph, got = several("a", "b", saver=saver)
    async with LangGraphAgent(graph, thread_id="t") as agent:
        await agent.thread.append("go")
        before = agent.thread.state.messages[-1]
    async with LangGraphAgent(several("a", "b", saver=saver)[0], thread_id="t") as agent:
        thread = agent.thread
        after = thread.state.messages[-1]
        assert (after.id, after.content, status_of(after)) == (before.id, before.content, status_of(before))
    async with LangGraphAgent(graph, thread_id="t") as agent:
        for call in open_calls(agent.thread):
            agent.thread.resume_tool_call(call.tool_call_id, "x")
            await settled()
        assert sorted(got) == ["a=x", "b=x"]


async def test_a_node_that_asks_twice_is_answered_twice() -> None:
    async def node(state: State) -> dict[str, Any]:
        return {"messages": [AIMessage(f"{interrupt('one?')} {interrupt('two?')}")]}

    async with LangGraphAgent(row(("node", node))) as agent:
        thread = agent.thread
        await thread.append("go")
        for expected in ("one?", "two?"):
            (call,) = open_calls(thread)
            assert call.args["value"] == expected
            thread.resume_tool_call(call.tool_call_id, expected.upper())
            await settled()
        assert shown(thread.state.messages) == ["u:go", "a:ONE? TWO?"]


@pytest.mark.parametrize("key", ["action_requests", "actionRequests"])
async def test_the_calls_that_middleware_asks_about_are_decided_one_by_one(key: str) -> None:
    """LangChain's human-in-the-loop middleware: one interrupt for all calls of an answer."""
    got: list[Any] = []

    async def begin(state: State) -> dict[str, Any]:
        calls = [{"name": "rm", "args": {"path": path}, "id": path, "type": "tool_call"} for path in ("x", "y")]
        return {"messages": [AIMessage("", tool_calls=calls)]}

    async def gate(state: State) -> dict[str, Any]:
        actions = [{"name": "rm", "args": {"path": path}, "description": "really?"} for path in ("x", "y")]
        got.append(interrupt({key: actions, "review_configs": []}))
        return {
            "messages": [
                ToolMessage(one["type"], tool_call_id=id) for one, id in zip(got[-1]["decisions"], "xy", strict=True)
            ]
        }

    async with LangGraphAgent(row(("begin", begin), ("gate", gate))) as agent:
        thread = agent.thread
        await thread.append("clean up")
        calls = open_calls(thread)
        assert [(call.tool_name, call.tool_call_id) for call in calls] == [("rm", "x"), ("rm", "y")]
        assert status_of(thread.state.messages[-1]) == "requires-action/interrupt"
        first, second = (call.approval.id for call in calls if call.approval is not None)
        await thread.respond_to_approval(second, approved=False, reason="too much")
        assert got == []
        await thread.respond_to_approval(first, approved=True)

        assert got == [{"decisions": [{"type": "approve"}, {"type": "reject", "message": "too much"}]}]
        assert [part.result for part in thread.state.messages[-1].content if isinstance(part, ToolCallPart)] == [
            "approve",
            "reject",
        ]


async def test_a_branch_that_waits_waits_again_when_it_is_shown_again() -> None:
    async def begin(state: State) -> dict[str, Any]:
        return {"messages": [AIMessage(f"{len(state['messages'])}.")]}

    async def ask(state: State) -> dict[str, Any]:
        return {"messages": [AIMessage(f" {interrupt('well?')}")]}

    async with LangGraphAgent(row(("begin", begin), ("ask", ask))) as agent:
        thread = agent.thread
        await thread.append("go")
        first = thread.state.messages[-1].id
        await thread.reload(first)
        assert thread.branches_of(first)[0] == first
        (call,) = open_calls(thread)
        thread.resume_tool_call(call.tool_call_id, "second")
        await settled()
        assert shown(thread.state.messages) == ["u:go", "a:1.\n\n second"]
        thread.switch_to_branch(first)
        await settled()
        (call,) = open_calls(thread)
        thread.resume_tool_call(call.tool_call_id, "first")
        await settled()

        assert shown(thread.state.messages) == ["u:go", "a:1.\n\n first"]
        assert thread.state.messages[-1].id == first
        assert len(thread.branches_of(first)) == 2
