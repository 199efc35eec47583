"""Runs of a graph: what streams, what it costs, what breaks off."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from partwise.errors import NotAllowedError, NotSentError
from partwise.messages import AssistantMessage, IncompleteStatus, ReasoningPart, TextPart, ToolCallPart
from partwise.persistence import MemoryThreadList
from partwise.providers.langgraph import LangGraphAgent
from partwise.runtimes import Thread, ThreadItem, ThreadListRuntime
from partwise.testing import Script, ThreadRecorder, settled, shown, status_of
from tests.providers.langgraph_models import ScriptedChat, State, row, speaking, talking

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])

CONFIG = {"configurable": {"thread_id": "t"}}


class Chunks(BaseChatModel):
    """Plays chunks, one list for each answer."""

    turns: list[list[Any]]

    @property
    def _llm_type(self) -> str:
        return "chunks"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for step in self.turns.pop(0):
            if isinstance(step, anyio.Event):
                await step.wait()
            else:
                yield ChatGenerationChunk(message=AIMessageChunk(**step))


def call_chunk(args: str, *, index: int = 1, id: str | None = None, name: str | None = None) -> dict[str, Any]:
    return {"type": "tool_call_chunk", "name": name, "args": args, "id": id, "index": index}


def parts(thread: Thread) -> tuple[Any, ...]:
    return thread.state.messages[-1].content


async def test_calls_stream_their_arguments_and_get_their_results_as_they_come() -> None:
    gates = [anyio.Event() for _ in range(2)]
    model = Chunks(
        turns=[
            [
                {"content": [{"type": "reasoning", "reasoning": "hm"}]},
                {"content": "Let me look. "},
                {"content": "", "tool_call_chunks": [call_chunk("", id="c1", name="look")]},
                {"content": "", "tool_call_chunks": [call_chunk('{"path":')]},
                {"content": "", "tool_call_chunks": [call_chunk("", id="c2", name="count", index=2)]},
                {"content": "", "tool_call_chunks": [call_chunk('"x"}'), call_chunk("{}", index=2)]},
            ],
            [{"content": "Done."}],
        ]
    )

    def tool(index: int) -> Any:
        async def run(state: State) -> dict[str, Any]:
            await gates[index].wait()
            return {"messages": [ToolMessage(f"result {index}", tool_call_id=f"c{index + 1}", artifact={"n": index})]}

        return run

    builder = StateGraph(State)
    builder.add_node("plan", speaking(model))
    builder.add_node("end", speaking(model))
    builder.add_edge(START, "plan")
    for index in range(2):
        builder.add_node(f"tool{index}", tool(index))
        builder.add_edge("plan", f"tool{index}")
    builder.add_edge(["tool0", "tool1"], "end")
    async with LangGraphAgent(builder.compile(checkpointer=InMemorySaver())) as agent:
        thread = agent.thread
        args: list[str] = []
        thread.select(
            lambda s: next((p.args_text for m in s.messages for p in m.content if isinstance(p, ToolCallPart)), "")
        ).subscribe(args.append)
        operation = thread.append("go")
        await settled()
        assert args == ["", '{"path":', '{"path":"x"}']
        reasoning, text, look, count = parts(thread)
        assert (type(reasoning), reasoning.text, text.text) == (ReasoningPart, "hm", "Let me look. ")
        assert [(call.tool_call_id, call.args, call.has_result) for call in (look, count)] == [
            ("c1", {"path": "x"}, False),
            ("c2", {}, False),
        ]
        gates[1].set()
        await settled()
        assert [call.has_result for call in parts(thread)[2:4]] == [False, True]
        gates[0].set()
        await operation
        assert [call.result for call in parts(thread)[2:4]] == ["result 0", "result 1"]
        assert parts(thread)[2].artifact == {"n": 0}
        assert parts(thread)[4] == TextPart("Done.")
        assert args == ["", '{"path":', '{"path":"x"}']
        assert len(thread.state.messages) == 2
        assert len(thread.state.branches) == 0


async def test_a_graph_within_the_graph_streams_as_part_of_the_answer() -> None:
    inner = talking(Script(["in", "ner"]))
    graph = row(("inner", inner), ("outer", speaking(ScriptedChat(script=Script(["ou", "ter"])))))
    async with LangGraphAgent(graph) as agent:
        with ThreadRecorder(agent.thread) as recorder:
            await agent.thread.append("hi")
        seen = [text for text in recorder.last_texts if text not in {"", "hi"}]

        assert seen == ["in", "inner", "inner\n\nou", "inner\n\nouter"]
        assert len(agent.thread.export().entries) == 2


async def test_what_belongs_to_no_answer_need_not_be_shown() -> None:
    async def route(state: State) -> dict[str, Any]:
        await ScriptedChat(script=Script(["se", "cret"])).ainvoke(state["messages"])
        return {}

    def is_shown(told: Any) -> bool:
        return bool(told["langgraph_node"] != "route")

    graph = row(("route", route), ("call", speaking(ScriptedChat(script=Script(["o", "pen"])))))
    async with LangGraphAgent(graph, is_shown=is_shown) as agent:
        with ThreadRecorder(agent.thread) as recorder:
            await agent.thread.append("hi")
        assert [text for text in recorder.last_texts if text] == ["o", "open"]


async def test_a_model_that_does_not_stream_is_shown_all_the_same() -> None:
    async def node(state: State) -> dict[str, Any]:
        call = {"name": "look", "args": {"a": 1}, "id": "c1", "type": "tool_call"}
        return {"messages": [AIMessage("whole", tool_calls=[call]), ToolMessage("found", tool_call_id="c1")]}

    async with LangGraphAgent(row(("node", node))) as agent:
        await agent.thread.append("hi")
        text, call = parts(agent.thread)
        assert (text.text, call.args, call.result) == ("whole", {"a": 1}, "found")


async def test_the_cost_of_a_token_does_not_grow_with_the_thread() -> None:
    def counted(calls: list[int]) -> Any:
        def profile(_frame: Any, event: str, _arg: Any) -> None:
            if event == "call":
                calls[0] += 1

        return profile

    async def measured(pairs: int) -> tuple[int, int, int, int]:
        tokens, gates = 40, [anyio.Event(), anyio.Event()]
        graph = talking(Script(["a", gates[0], *["b"] * tokens, gates[1]]))
        told = [make(str(index)) for index in range(pairs) for make in (HumanMessage, AIMessage)]
        if told:
            await graph.aupdate_state(CONFIG, {"messages": told})
        async with LangGraphAgent(graph, thread_id="t") as agent:
            thread: Any = agent.thread
            emissions: list[Any] = []
            for message in thread.state.messages:
                thread.message(message.id).subscribe(emissions.append)
            before = len(emissions)
            thread.append("hi")
            await settled()
            store, made = thread._host.document.store, agent._owner._view.converted
            marks, conversions, calls = store.statistics(), made.count, [0]
            gates[0].set()
            sys.setprofile(counted(calls))
            try:
                await settled()
            finally:
                sys.setprofile(None)
            after = store.statistics()
            assert len(emissions) == before
            assert shown(thread.state.messages)[-1] == "a:a" + "b" * tokens
            gates[1].set()
            return (
                calls[0],
                after.commits - marks.commits,
                after.deliveries - marks.deliveries,
                made.count - conversions,
            )

    short, long = await measured(2), await measured(500)

    assert short[1:] == long[1:] == (40, 0, 0)
    assert long[0] <= short[0] * 1.02


async def test_a_run_converts_what_is_new_and_reads_no_old_checkpoint() -> None:
    graph = talking(Script("ok"))
    reads: list[int] = []
    async with LangGraphAgent(graph, thread_id="t") as agent:
        made = agent._owner._view.converted
        counts: list[int] = []
        take = agent._owner.checkpoints.take

        def counting(snapshots: Any) -> None:
            reads.append(len(snapshots))
            take(snapshots)

        agent._owner.checkpoints.take = counting  # type: ignore[method-assign]  # to look on
        for number in range(12):
            before = made.count
            await agent.thread.append(str(number))
            counts.append(made.count - before)

    assert len(set(counts[1:])) == 1
    assert len(set(reads[1:])) == 1


async def test_a_node_that_fails_leaves_an_answer_that_says_so_also_when_it_is_opened_again() -> None:
    async def plan(state: State) -> dict[str, Any]:
        return {"messages": [AIMessage("Let me see.", id="plan")]}

    tries: list[str] = []

    async def fail(state: State) -> dict[str, Any]:
        tries.append("try")
        if len(tries) == 1:
            message = "lost"
            raise OSError(message)
        return {"messages": [AIMessage("found", id="found")]}

    graph = row(("plan", plan), ("fail", fail))
    async with LangGraphAgent(graph, thread_id="t") as agent:
        with pytest.raises(OSError, match="lost"):
            await agent.thread.append("hi")
        assert status_of(agent.thread.state.messages[-1]) == "incomplete/error"
    async with LangGraphAgent(graph, thread_id="t") as agent:
        thread = agent.thread
        status = thread.state.messages[-1].status
        assert isinstance(status, IncompleteStatus)
        assert "lost" in status.error["message"]
        await thread.resume_run(thread.state.messages[-1].id)
        assert shown(thread.state.messages) == ["u:hi", "a:Let me see.\n\nfound"]
        assert status_of(thread.state.messages[-1]) == "complete/unknown"


async def test_a_failure_before_the_first_word_is_shown_and_can_be_tried_again() -> None:
    async with LangGraphAgent(talking(Script([OSError("lost")], "ok")), thread_id="t") as agent:
        thread = agent.thread
        with pytest.raises(OSError, match="lost"):
            await thread.append("hi")
        failed = thread.state.messages[-1]
        assert isinstance(failed, AssistantMessage)
        assert (failed.content, status_of(failed)) == ((), "incomplete/error")
        await thread.reload(failed.id)
        assert shown(thread.state.messages) == ["u:hi", "a:ok"]


async def test_what_had_been_said_before_a_failure_is_kept() -> None:
    graph = talking(Script(["ha", "lf", OSError("lost")], "whole"))
    async with LangGraphAgent(graph, thread_id="t") as agent:
        with pytest.raises(OSError, match="lost"):
            await agent.thread.append("hi")
        before = agent.thread.state.messages[-1].id
    async with LangGraphAgent(graph, thread_id="t") as agent:
        thread = agent.thread
        assert shown(thread.state.messages) == ["u:hi", "a:half"]
        assert (thread.state.messages[-1].id, status_of(thread.state.messages[-1])) == (before, "incomplete/error")
        await thread.reload(before)
        assert shown(thread.state.messages) == ["u:hi", "a:whole"]
        assert len(thread.branches_of(before)) == 2


async def test_a_message_that_the_graph_did_not_take_is_a_draft_again() -> None:
    def refuse(_message: Any) -> Any:
        return 5

    async with LangGraphAgent(talking(Script("ok")), make_input=refuse) as agent:
        thread = agent.thread
        thread.composer.set_text("hello")
        operation = thread.composer.send()
        with pytest.raises(NotSentError):
            await operation
        await settled()
        assert thread.state.composer.text == "hello"
        assert shown(thread.state.messages) == []


async def test_a_cancel_in_the_middle_of_a_tool_settles_its_call() -> None:
    async def plan(state: State) -> dict[str, Any]:
        call = {"name": "wait", "args": {}, "id": "c1", "type": "tool_call"}
        return {"messages": [AIMessage("One moment.", tool_calls=[call])]}

    gate = anyio.Event()

    async def tools(state: State) -> dict[str, Any]:
        await gate.wait()
        return {"messages": [ToolMessage("late", tool_call_id="c1")]}

    graph = row(("plan", plan), ("tools", tools))
    async with LangGraphAgent(graph, thread_id="t") as agent:
        thread = agent.thread
        thread.append("go")
        await settled()
        thread.cancel_run()
        await settled()
        (_, call) = parts(thread)
        assert (call.result, call.is_error) == ("Cancelled.", True)
        gate.set()
        await settled()
        assert shown(thread.state.messages) == ["u:go", "a:One moment."]
        messages = (await graph.aget_state(CONFIG)).values["messages"]
        assert [message.type for message in messages] == ["human", "ai", "tool"]
        assert status_of(thread.state.messages[-1]) == "incomplete/cancelled"
    async with LangGraphAgent(graph, thread_id="t") as agent:
        thread = agent.thread
        assert status_of(thread.state.messages[-1]) == "incomplete/cancelled"
        await thread.append("again")
        assert status_of(thread.state.messages[-1]) == "complete/unknown"


async def test_a_question_that_nobody_answered_goes_back_and_leaves_the_graph() -> None:
    graph = talking(Script([anyio.Event()], "ok"))
    async with LangGraphAgent(graph, thread_id="t") as agent:
        thread = agent.thread
        thread.composer.set_text("hello")
        thread.composer.send()
        await settled()
        thread.cancel_run()
        await settled()
        assert thread.state.composer.text == "hello"
        assert shown(thread.state.messages) == []
        assert (await graph.aget_state(CONFIG)).values["messages"] == []
        await thread.composer.send()
        assert shown(thread.state.messages) == ["u:hello", "a:ok"]
    async with LangGraphAgent(graph, thread_id="t") as agent:
        assert shown(agent.thread.state.messages) == ["u:hello", "a:ok"]


@pytest.mark.parametrize("turns", range(12))
async def test_a_cancel_at_any_moment_loses_no_question(turns: int) -> None:
    saver = InMemorySaver()
    async with LangGraphAgent(talking(Script(["half", anyio.Event()]), saver), thread_id="t") as agent:
        thread = agent.thread
        thread.composer.set_text("a draft that stays")
        thread.append("hello")
        for _ in range(turns):
            await anyio.lowlevel.checkpoint()
        thread.cancel_run()
        await settled()
        assert not thread.state.is_running
        assert shown(thread.state.messages) in (["u:hello"], ["u:hello", "a:half"], [])
        if shown(thread.state.messages) == []:
            assert turns == 0  # nothing had begun
    async with LangGraphAgent(talking(Script("ok"), saver), thread_id="t") as agent:
        assert shown(agent.thread.state.messages) == shown(thread.state.messages)
        await agent.thread.append("next")
        assert shown(agent.thread.state.messages)[-2] == "u:next"


async def test_leaving_keeps_what_had_come() -> None:
    graph = talking(Script(["half", anyio.Event()]))
    async with LangGraphAgent(graph, thread_id="t") as agent:
        agent.thread.append("hello")
        await settled()
    async with LangGraphAgent(graph, thread_id="t") as agent:
        assert shown(agent.thread.state.messages) == ["u:hello", "a:half"]
        assert status_of(agent.thread.state.messages[-1]) == "incomplete/cancelled"


async def test_of_two_messages_sent_at_once_one_is_answered_and_one_comes_back() -> None:
    script = Script("one")
    async with LangGraphAgent(talking(script)) as agent:
        thread = agent.thread
        first, second = thread.append("a"), thread.append("b")
        await first
        with pytest.raises(NotAllowedError) as caught:
            await second
        assert caught.value.code == "run-in-progress"
        assert script.asked == ["a"]
        assert shown(thread.state.messages) == ["u:a", "a:one"]


async def test_a_thread_of_a_list_is_kept_under_the_id_that_its_keeper_gave() -> None:
    class Numbered(MemoryThreadList):
        async def initialize(self, thread_id: str) -> Any:
            return await super().initialize(f"remote-{thread_id}")

    graph, stored = talking(Script("one", "two")), Numbered()

    def open_thread(item: ThreadItem) -> LangGraphAgent:
        return LangGraphAgent(graph, thread_id=item.find_remote_id, initialize=item.initialize)

    async with ThreadListRuntime(open_thread, stored, new_id="local") as threads:
        assert shown(threads.main.state.messages) == []
        await threads.main.append("hello")
    async with ThreadListRuntime(open_thread, stored) as threads:
        await threads.load()
        await threads.switch_to("remote-local")
        assert shown(threads.main.state.messages) == ["u:hello", "a:one"]
    assert (await graph.aget_state({"configurable": {"thread_id": "remote-local"}})).values["messages"]
