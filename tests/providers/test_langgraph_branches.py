"""Time travel: where a branch begins, what it is called, and what the graph remembers of it."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from partwise.errors import MessageNotFoundError, NotAllowedError, UnsupportedError
from partwise.messages import Message, ToolCallPart, message_text
from partwise.providers.langgraph import LangGraphAgent
from partwise.runtimes import Thread
from partwise.testing import Script, settled, shown, status_of
from tests.providers.langgraph_models import ScriptedChat, State, row, speaking, talking

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])

CONFIG = {"configurable": {"thread_id": "t"}}


def tree_of(thread: Thread) -> list[tuple[str | None, str, str, str]]:
    """Every message of every branch: its parent, its id, what it says, how far it has come."""
    return [
        (entry.parent_id, entry.message.id, shown([entry.message])[0], status_of(entry.message))
        for entry in thread.export().entries
    ]


async def texts(graph: Any) -> list[str]:
    return [message.text for message in (await graph.aget_state(CONFIG)).values["messages"]]


async def test_an_answer_is_made_again_from_its_question_with_nothing_that_came_later() -> None:
    script = Script("one", "two", "three")
    graph = talking(script)
    async with LangGraphAgent(graph, thread_id="t") as agent:
        thread = agent.thread
        await thread.append("first")
        answer = thread.state.messages[-1].id
        await thread.append("second")
        await thread.reload(answer)

        assert shown(thread.state.messages) == ["u:first", "a:three"]
        assert await texts(graph) == ["first", "three"]
        assert script.asked == ["first", "second", "first"]
        assert thread.branches_of(answer) == (answer, thread.state.messages[-1].id)


@pytest.mark.parametrize("place", [0, 2, 4])
async def test_an_edit_begins_before_the_message_and_takes_over_no_old_input(place: int) -> None:
    script = Script("one", "two", "three", "again")
    graph = talking(script)
    async with LangGraphAgent(graph, thread_id="t") as agent:
        thread = agent.thread
        for text in ("first", "second", "third"):
            await thread.append(text)
        before = shown(thread.state.messages)
        composer = thread.begin_edit(thread.state.messages[place].id)
        composer.set_text("other")
        await composer.send()

        assert shown(thread.state.messages) == [*before[:place], "u:other", "a:again"]
        assert await texts(graph) == [text[2:] for text in shown(thread.state.messages)]
        assert len(thread.branches_of(thread.state.messages[place].id)) == 2


async def test_a_step_before_the_answer_is_done_again_with_it() -> None:
    looked: list[str] = []

    async def look(state: State) -> dict[str, Any]:
        looked.append(state["messages"][-1].text)
        return {}

    graph = row(("look", look), ("call", speaking(ScriptedChat(script=Script("one", "two")))))
    async with LangGraphAgent(graph) as agent:
        await agent.thread.append("hi")
        await agent.thread.reload(agent.thread.state.messages[-1].id)

    assert looked == ["hi", "hi"]


async def test_a_thread_that_is_opened_again_has_the_same_tree_under_the_same_names() -> None:
    saver = InMemorySaver()
    async with LangGraphAgent(talking(Script("1", "2", "3", "4", "5"), saver), thread_id="t") as agent:
        thread = agent.thread
        await thread.append("a")
        first = thread.state.messages[-1].id
        await thread.append("b")
        await thread.reload(first)
        thread.switch_to_branch(first)
        await settled()
        await thread.append("c", parent_id=first)
        composer = thread.begin_edit(thread.state.messages[0].id)
        composer.set_text("z")
        await composer.send()
        before, visible = tree_of(thread), shown(thread.state.messages)
        made = {entry.message.id: entry.message.created_at for entry in thread.export().entries}
    async with LangGraphAgent(talking(Script("6"), saver), thread_id="t") as agent:
        assert tree_of(agent.thread) == before
        assert shown(agent.thread.state.messages) == visible
        assert {one.message.id for one in agent.thread.export().entries} == set(made)
        branches = agent.thread.branches_of(first)
        assert [shown([place.message])[0] for id in branches if (place := agent.thread.find(id))] == ["a:1", "a:3"]


class Bare(TypedDict):
    messages: Annotated[list[Any], operator.add]


async def test_messages_without_ids_have_names_that_last() -> None:
    words = iter("xyz")

    async def node(state: Bare) -> dict[str, Any]:
        return {"messages": [AIMessage(next(words))]}

    builder = StateGraph(Bare)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    graph = builder.compile(checkpointer=InMemorySaver())

    def bare(message: Message) -> Any:
        return {"messages": [HumanMessage(message_text(message))]}

    async with LangGraphAgent(graph, thread_id="t", make_input=bare) as agent:
        thread = agent.thread
        await thread.append("a")
        await thread.append("a")
        await thread.reload(thread.state.messages[1].id)
        assert [text for _, _, text, _ in tree_of(thread)] == ["u:a", "a:x", "u:a", "a:y", "a:z"]
        before = tree_of(thread)
    async with LangGraphAgent(graph, thread_id="t") as agent:
        assert tree_of(agent.thread) == before


async def test_a_fork_that_somebody_made_in_the_middle_of_an_answer_is_a_branch() -> None:
    """As LangGraph Studio does: the first step is shared, the second is another."""
    steps = iter(("one", "two"))

    async def begin(state: State) -> dict[str, Any]:
        return {"messages": [AIMessage("first step", id="begin")]}

    async def end(state: State) -> dict[str, Any]:
        return {"messages": [AIMessage(step := next(steps), id=step)]}

    graph = row(("begin", begin), ("end", end))
    async with LangGraphAgent(graph, thread_id="t") as agent:
        await agent.thread.append("hi")
        history = [one async for one in graph.aget_state_history(CONFIG)]
        middle = next(one for one in history if one.next == ("end",))
        await graph.ainvoke(None, middle.config)
        await agent.thread.refetch()
        thread = agent.thread

        assert shown(thread.state.messages) == ["u:hi", "a:first step\n\ntwo"]
        assert thread.branches_of(thread.state.messages[-1].id) == ("begin", "begin~")
        before = tree_of(thread)
    async with LangGraphAgent(graph, thread_id="t") as agent:
        assert tree_of(agent.thread) == before


async def test_messages_that_a_graph_forgets_are_no_branch() -> None:
    async def forget(state: State) -> dict[str, Any]:
        return {"messages": [RemoveMessage(id=message.id) for message in state["messages"][:-1]]}

    graph = row(("forget", forget), ("call", speaking(ScriptedChat(script=Script("one", "two", "three")))))
    async with LangGraphAgent(graph, thread_id="t") as agent:
        thread = agent.thread
        await thread.append("a")
        await thread.append("b")
        assert shown(thread.state.messages) == ["u:b", "a:two"]
        assert len(thread.branches_of(thread.state.messages[0].id)) == 1
        composer = thread.begin_edit(thread.state.messages[0].id)
        composer.set_text("B")
        await composer.send()
        assert shown(thread.state.messages) == ["u:B", "a:three"]
        assert len(thread.branches_of(thread.state.messages[0].id)) == 2


async def test_a_deleted_message_is_taken_out_of_the_graph() -> None:
    graph = talking(Script("one", "two"))
    async with LangGraphAgent(graph, thread_id="t") as agent:
        thread = agent.thread
        await thread.append("a")
        await thread.append("b")
        await thread.delete_message(thread.state.messages[1].id)
        assert await texts(graph) == ["a", "b", "two"]
        with pytest.raises(MessageNotFoundError):
            await thread.delete_message("nobody")
    async with LangGraphAgent(graph, thread_id="t") as agent:
        assert shown(agent.thread.state.messages) == ["u:a", "u:b", "a:two"]


async def test_what_a_graph_cannot_do_is_said() -> None:
    graph = talking(Script("one"))
    await graph.aupdate_state(
        CONFIG, {"messages": [HumanMessage("a"), AIMessage("b"), HumanMessage("c"), AIMessage("d")]}
    )
    async with LangGraphAgent(graph, thread_id="t") as agent:
        thread = agent.thread
        before = tree_of(thread)
        with pytest.raises(NotAllowedError) as caught:
            await thread.reload(thread.state.messages[1].id)
        assert (caught.value.code, caught.value.id) == ("no-checkpoint", thread.state.messages[0].id)
        with pytest.raises(NotAllowedError):
            await thread.start_run(None)
        with pytest.raises(UnsupportedError):
            thread.reset(["somebody else's"])
        assert tree_of(thread) == before
    with pytest.raises(UnsupportedError, match="checkpointer"):
        LangGraphAgent(graph.copy(update={"checkpointer": None}))


async def test_somebody_else_goes_on_with_the_thread() -> None:
    graph = talking(Script("one", "two"))
    async with LangGraphAgent(graph, thread_id="t") as agent:
        await agent.thread.append("a")
        await graph.ainvoke({"messages": [HumanMessage("b")]}, CONFIG)
        await agent.thread.refetch()
        assert shown(agent.thread.state.messages) == ["u:a", "a:one", "u:b", "a:two"]
        assert not [
            part for one in agent.thread.state.messages for part in one.content if isinstance(part, ToolCallPart)
        ]


async def test_a_long_thread_can_be_opened_by_its_newest_checkpoints() -> None:
    saver = InMemorySaver()
    async with LangGraphAgent(talking(Script("ok"), saver), thread_id="t") as agent:
        for number in range(20):
            await agent.thread.append(str(number))
        whole = shown(agent.thread.state.messages)
    async with LangGraphAgent(talking(Script("new"), saver), thread_id="t", max_checkpoints=4) as agent:
        thread = agent.thread
        assert shown(thread.state.messages) == whole
        await thread.reload(thread.state.messages[-1].id)
        assert shown(thread.state.messages)[-2:] == ["u:19", "a:new"]
        with pytest.raises(NotAllowedError) as caught:
            await thread.reload(thread.state.messages[1].id)
        assert caught.value.code == "no-checkpoint"


async def test_many_checkpoints_that_somebody_else_made_are_all_read() -> None:
    graph = talking(Script("ok"))
    async with LangGraphAgent(graph, thread_id="t") as agent:
        await agent.thread.append("a")
        for number in range(20):
            await graph.ainvoke({"messages": [HumanMessage(str(number))]}, CONFIG)
        await agent.thread.refetch()
        assert len(agent.thread.state.messages) == 42
        await agent.thread.reload(agent.thread.state.messages[3].id)
        assert len(agent.thread.branches_of(agent.thread.state.messages[-1].id)) == 2
