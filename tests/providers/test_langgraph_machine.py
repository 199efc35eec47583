"""Random conversations with a graph: what is shown is what the graph remembers, however it came to that."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from partwise.errors import NotAllowedError
from partwise.messages import AssistantMessage, ToolCallPart, UserMessage
from partwise.providers.langgraph import LangGraphAgent
from partwise.runtimes import Thread
from partwise.testing import Script, settled, status_of
from tests.providers.langgraph_models import ScriptedChat, State, row, speaking

OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["send", "reload", "edit", "switch", "delete", "cancel", "answer", "reopen", "fail"]),
        st.integers(0, 7),
    ),
    max_size=14,
)


def graph_of(saver: Any, script: Script) -> Any:
    """Speaks, calls a tool for every other question, and asks before it ends the answer to every third."""

    async def tool(state: State) -> dict[str, Any]:
        asked = sum(message.type == "human" for message in state["messages"])
        if asked % 2:
            return {}
        call = {"name": "look", "args": {"n": asked}, "id": f"call-{len(state['messages'])}", "type": "tool_call"}
        said = AIMessage("", tool_calls=[call])
        return {"messages": [said, ToolMessage("found", tool_call_id=call["id"])]}

    async def ask(state: State) -> dict[str, Any]:
        asked = sum(message.type == "human" for message in state["messages"])
        return {} if asked % 3 else {"messages": [AIMessage(str(interrupt("well?")))]}

    return row(("call", speaking(ScriptedChat(script=script))), ("tool", tool), ("ask", ask), saver=saver)


def tree_of(thread: Thread) -> list[Any]:
    return [
        (entry.parent_id, entry.message.id, entry.message.content, status_of(entry.message))
        for entry in thread.export().entries
    ]


class Conversation:
    def __init__(self) -> None:
        self.saver = InMemorySaver()
        self.turns: list[Any] = []
        self.has_deleted = False
        self.script = Script("never")
        self.script._turns = self.turns  # type: ignore[assignment]  # turns are added as they come
        self.agent = self.open()

    def open(self) -> LangGraphAgent:
        return LangGraphAgent(graph_of(self.saver, self.script), thread_id="t")

    async def play(self, kind: str, number: int) -> None:
        thread = self.agent.thread
        steps: list[Any] = [f"answer {len(self.turns)}, ", "and more"]
        if kind == "cancel":
            steps.insert(number % 3, anyio.Event())
        elif kind == "fail":
            steps.insert(number % 3, OSError("lost"))
        self.turns.append(steps)
        self.script._played = len(self.turns) - 1
        self.act(kind, number)
        await settled()
        if kind == "cancel":
            thread.cancel_run()
            thread.composer.set_text("")
            await settled()

    def act(self, kind: str, number: int) -> None:
        thread = self.agent.thread
        messages = thread.state.messages
        chosen = messages[number % len(messages)] if len(messages) else None
        if kind in {"send", "cancel", "fail"}:
            thread.append(f"question {len(self.turns)}")
        elif kind == "reload" and isinstance(chosen, AssistantMessage):
            thread.reload(chosen.id)
        elif kind == "edit" and isinstance(chosen, UserMessage):
            composer = thread.begin_edit(chosen.id)
            composer.set_text(f"edited {len(self.turns)}")
            composer.send()
        elif kind == "switch" and chosen is not None:
            branches = thread.branches_of(chosen.id)
            thread.switch_to_branch(branches[number % len(branches)])
        elif kind == "delete" and chosen is not None:
            self.has_deleted = True
            thread.delete_message(chosen.id)
        elif kind == "answer" and chosen is not None:
            for part in messages[-1].content:
                if isinstance(part, ToolCallPart) and part.interrupt is not None and not part.has_result:
                    thread.resume_tool_call(part.tool_call_id, "yes")

    async def check(self) -> None:
        thread = self.agent.thread
        assert not thread.state.is_running
        shown = [message.id for message in thread.state.messages]
        end = self.agent._owner.present()
        known = [] if end is None else [name for name, _ in end.groups or ()]
        assert shown[: len(known)] == known
        assert len(shown) - len(known) <= 1
        assert all(name.startswith(("interrupt-", "error-")) for name in shown[len(known) :])
        async with LangGraphAgent(graph_of(self.saver, Script("x")), thread_id="t") as again:
            if self.has_deleted:
                # One branch may lack what another one has above a shared message: the shown one says what is above it.
                assert sorted(map(_said, tree_of(again.thread))) == sorted(map(_said, tree_of(thread)))
            else:
                assert tree_of(again.thread) == tree_of(thread)


def _said(entry: tuple[Any, ...]) -> str:
    return str(entry[1:])


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=OPERATIONS)
async def test_a_thread_that_is_opened_again_is_the_thread_that_was_left(operations: list[tuple[str, int]]) -> None:
    conversation = Conversation()
    agent = await conversation.agent.__aenter__()
    try:
        for kind, number in operations:
            if kind == "reopen":
                await agent.__aexit__(None, None, None)
                agent = conversation.agent = await conversation.open().__aenter__()
            else:
                try:
                    await conversation.play(kind, number)
                except NotAllowedError as error:
                    assert error.code in {"no-checkpoint", "not-waiting"}  # noqa: PT017 - most operations raise nothing
            await conversation.check()
    finally:
        await agent.__aexit__(None, None, None)
