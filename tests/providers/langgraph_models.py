"""A chat model of LangChain that plays a script, and graphs around it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, TypedDict

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from pydantic import ConfigDict

from partwise.testing import Script


class ScriptedChat(BaseChatModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    script: Script

    @property
    def _llm_type(self) -> str:
        return "script"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        pieces = [piece async for piece in self.script.pieces(str(messages[-1].content))]
        return ChatResult(generations=[ChatGeneration(message=AIMessage("".join(pieces)))])

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        stream = self.script.pieces(str(messages[-1].content))
        try:
            async for piece in stream:
                yield ChatGenerationChunk(message=AIMessageChunk(piece))
        finally:
            await stream.aclose()


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]


def row(*nodes: tuple[str, Any], saver: Any = None) -> Any:
    """A graph of nodes that run one after the other."""
    graph = StateGraph(State)
    above = START
    for name, node in nodes:
        graph.add_node(name, node)
        graph.add_edge(above, name)
        above = name
    graph.add_edge(above, END)
    return graph.compile(checkpointer=saver or InMemorySaver())


def speaking(model: Any) -> Any:
    """A node that lets a model answer."""

    async def call(state: State) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    return call


def talking(script: Script, saver: Any = None) -> Any:
    """A graph of one node, whose model plays a script."""
    return row(("call", speaking(ScriptedChat(script=script))), saver=saver)
