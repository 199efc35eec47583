"""Streams of real graphs, recorded as JSON, as a graph that runs elsewhere tells them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from partwise.messages import ReasoningPart, TextPart, ToolCallPart, message_text
from partwise.providers.langgraph import LangGraphAgent
from partwise.testing import ThreadRecorder, status_of

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])


class Recorded:
    """A graph that plays a recording, and remembers its last state."""

    def __init__(self, path: Path) -> None:
        self.events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
        self.values: dict[str, Any] = {}
        self.waiting: list[Any] = []
        self.resumed: list[Any] = []

    async def astream(self, given: Any, config: Any, **_more: Any) -> AsyncIterator[tuple[Any, str, Any]]:
        self.resumed.append(given)
        for mode, payload in self.events:
            if mode == "values":
                self.values |= {key: value for key, value in payload.items() if key != "__interrupt__"}
                self.waiting = payload.get("__interrupt__", [])
            yield (), mode, payload

    async def aget_state_history(self, config: Any, **_more: Any) -> AsyncIterator[Any]:
        if self.values:
            yield await self.aget_state(config)

    async def aget_state(self, config: Any) -> Any:
        return SimpleNamespace(
            values=self.values,
            config={"configurable": {"thread_id": "t", "checkpoint_id": "1"}},
            parent_config=None,
            metadata={"source": "loop"},
            created_at="2026-01-01T00:00:00+00:00",
            next=(),
            tasks=[SimpleNamespace(result=None, error=None, interrupts=self.waiting)],
        )


async def test_an_agent_with_tools(recordings: Path) -> None:
    graph = Recorded(recordings / "langgraph/react-agent.jsonl")
    async with LangGraphAgent(graph, thread_id="t") as agent:
        thread = agent.thread
        with ThreadRecorder(thread) as recorder:
            await thread.append("What is the weather?")
        answer = thread.state.messages[-1]

        assert [type(part) for part in answer.content] == [ReasoningPart, ToolCallPart, ToolCallPart, TextPart]
        calls = [part for part in answer.content if isinstance(part, ToolCallPart)]
        assert [json.loads(call.args_text) == call.args and call.has_result for call in calls] == [True, True]
        assert len(thread.state.messages) == 2
        assert status_of(answer) == "complete/unknown"
        texts = [text for text in recorder.last_texts if text]
        assert texts[-1] == message_text(answer)
        # The question comes back under another id; from then on nothing is said twice or taken back.
        grown = texts[1:]
        assert all(after.startswith(before) for before, after in pairwise(grown))


async def test_a_graph_that_asks_before_it_deletes(recordings: Path) -> None:
    graph = Recorded(recordings / "langgraph/hitl-interrupt.jsonl")
    async with LangGraphAgent(graph, thread_id="t") as agent:
        thread = agent.thread
        await thread.append("Delete the file report.pdf")
        calls = [part for part in thread.state.messages[-1].content if isinstance(part, ToolCallPart)]
        assert [(call.tool_name, call.args) for call in calls] == [("delete_file", {"filename": "report.pdf"})]
        approval = calls[0].approval
        assert approval is not None
        assert status_of(thread.state.messages[-1]) == "requires-action/interrupt"
        await thread.respond_to_approval(approval.id, approved=True)

        assert graph.resumed[-1].resume == {graph.waiting[0]["id"]: {"decisions": [{"type": "approve"}]}}
