"""A graph of LangGraph that asks before it acts; the thread shows it, and answers for the user."""

from typing import Annotated, Any, TypedDict

import anyio
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph  # pyright: ignore[reportMissingTypeStubs]  # it has none
from langgraph.graph.message import add_messages  # pyright: ignore[reportMissingTypeStubs]  # it has none
from langgraph.types import interrupt

import partwise as pw
from partwise.providers.langgraph import LangGraphAgent


class State(TypedDict):
    """What the graph remembers."""

    messages: Annotated[list[AnyMessage], add_messages]


def plan(state: State) -> dict[str, Any]:
    """Say what is to be done."""
    return {"messages": [AIMessage(f"I would answer {state['messages'][-1].text!r} by mail.")]}


def act(state: State) -> dict[str, Any]:
    """Do it, if somebody says so."""
    answer = interrupt({"question": "Send it?"})
    return {"messages": [AIMessage(" Sent." if answer == "yes" else " Not sent.")]}


def build() -> Any:
    """Compile the graph; its checkpoints are the branches of the thread."""
    builder: Any = StateGraph(State)
    builder.add_node("plan", plan)
    builder.add_node("act", act)
    builder.add_edge(START, "plan")
    builder.add_edge("plan", "act")
    builder.add_edge("act", END)
    return builder.compile(checkpointer=InMemorySaver())


def question(agent: LangGraphAgent) -> pw.ToolCallPart:
    """What the graph waits for."""
    parts = agent.thread.state.messages[-1].content
    return next(part for part in parts if isinstance(part, pw.ToolCallPart) and part.interrupt is not None)


async def main() -> None:
    """Ask, answer the graph's own question, and look at the branches after another try."""
    async with LangGraphAgent(build(), thread_id="1") as agent:
        thread = agent.thread
        thread.select(lambda s: s.is_running).subscribe(lambda running: print("running:", running))
        await thread.append("When do we meet?")
        asked = question(agent)
        print("asks:", asked.args["question"])
        thread.resume_tool_call(asked.tool_call_id, "yes")
        await anyio.wait_all_tasks_blocked()
        print(pw.message_text(thread.state.messages[-1]))

        await thread.reload(thread.state.messages[-1].id)
        print("answers:", len(thread.branches_of(thread.state.messages[-1].id)))


if __name__ == "__main__":
    anyio.run(main)
