"""The one place that talks to the graph."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, ToolMessage

from ._checkpoints import Checkpoint, Checkpoints
from ._reading import CUT, FAILED, dangling_calls

__all__ = ["GraphThread"]


class GraphThread:
    """One thread of a compiled graph, and what is known of its checkpoints.

    Args:
        graph: A compiled graph.
        config: Laid under the config of each call.
        checkpoints: Kept up to date.
    """

    def __init__(self, graph: Any, config: Mapping[str, Any], checkpoints: Checkpoints) -> None:
        self._graph = graph
        self._config = {**config}
        self._checkpoints = checkpoints
        self.thread_id: str | None = None

    async def stream(
        self, given: Any, base: Checkpoint | None, *, is_fork: bool
    ) -> AsyncGenerator[tuple[Sequence[str], str, Any]]:
        """Run, and yield where each event comes from, its kind, and what it tells.

        Args:
            given: The input, or what a graph that waits goes on with.
            base: Where to run from.
            is_fork: Whether to begin a new branch there, also where nothing follows yet.
        """
        place = self._at(base, is_exact=is_fork)
        events = self._graph.astream(given, place, stream_mode=["messages", "values"], subgraphs=True)
        async with aclosing(cast("AsyncGenerator[tuple[Sequence[str], str, Any]]", events)) as told:
            async for event in told:
                yield event

    async def read(self) -> None:
        """Read the checkpoints that were made since the last time."""
        if self.thread_id is None:
            return
        found: list[Any] = []
        history = cast("AsyncGenerator[Any]", self._graph.aget_state_history(self._at(None)))
        async with aclosing(history) as snapshots:
            async for snapshot in snapshots:
                found.append(snapshot)
                if snapshot.config["configurable"]["checkpoint_id"] in self._checkpoints:
                    break
        self._checkpoints.take(found[::-1])

    async def read_again(self, checkpoint: Checkpoint) -> None:
        """Read one checkpoint again: a step that fails or waits changes nothing but what is known of it."""
        self._checkpoints.take([await self._graph.aget_state(self._at(checkpoint, is_exact=True))])

    async def write(self, values: Any, base: Checkpoint | None, node: str | None = None) -> None:
        """Change the state behind a checkpoint, as a node would.

        Args:
            values: What the node would return.
            base: The checkpoint; None: the newest.
            node: The node; None: the one that ran last.
        """
        await self._graph.aupdate_state(self._at(base, is_exact=base is not None), values, as_node=node)

    async def remove(self, ids: Sequence[str], base: Checkpoint) -> None:
        """Remove messages from the state."""
        await self.write({"messages": [RemoveMessage(id=id) for id in ids]}, base)

    async def keep(self, said: Sequence[tuple[str, str, str]], end: Checkpoint, failure: str | None) -> None:
        """Have the graph remember an answer that broke off, and settle the calls that a cancelled one has open.

        Args:
            said: For each message that was being said: its node, its id and its text.
            end: Where the run got to.
            failure: What went wrong; None if it was cancelled.
        """
        mark = {CUT: True} if failure is None else {FAILED: failure}
        messages: list[BaseMessage] = [AIMessage(text, id=id, response_metadata=mark) for _, id, text in said]
        if failure is None:
            calls = dangling_calls([group for _, group in end.groups or ()])
            messages = [*(ToolMessage("Cancelled.", tool_call_id=id, status="error") for id in calls), *messages]
        if messages:
            node = said[0][0] if said else next(iter(end.next), None)
            await self.write({"messages": messages}, end, node)

    def _at(self, base: Checkpoint | None, *, is_exact: bool = False) -> dict[str, Any]:
        place: dict[str, Any] = {"thread_id": self.thread_id}
        if base is not None and (is_exact or base is not self._checkpoints.newest):
            place = base.config["configurable"]
        return {**self._config, "configurable": {**self._config.get("configurable", {}), **place}}
