"""The one place that talks to the graph."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final, cast

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, ToolMessage

from ._checkpoints import Checkpoint, Checkpoints
from ._reading import CUT, FAILED, dangling_calls

__all__ = ["GraphThread"]

_FIRST_PAGE: Final = 6
_PAGE: Final = 64


class GraphThread:
    """One thread of a compiled graph, and what is known of its checkpoints.

    Args:
        graph: A compiled graph.
        config: Laid under the config of each call.
        checkpoints: Kept up to date.
        max_checkpoints: How many are read at first; None: all.
    """

    def __init__(
        self, graph: Any, config: Mapping[str, Any], checkpoints: Checkpoints, max_checkpoints: int | None
    ) -> None:
        self._graph = graph
        self._config = {**config}
        self._checkpoints = checkpoints
        self._first_page = max_checkpoints
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
        """Read the checkpoints that were made since the last time; at the first time all, or as many as is wanted."""
        if self.thread_id is None:
            return
        found: list[Any] = []
        # The graph reads a page as a whole before it gives the first of it, so pages are small where little is new.
        size = self._first_page if self._checkpoints.newest is None else _FIRST_PAGE
        page = await self._page(size, None)
        while page:
            found += page
            is_joined = any(_id(one) in self._checkpoints for one in page)
            if is_joined or self._checkpoints.newest is None:
                break
            page = await self._page(_PAGE, page[-1].config)
        until = next((index + 1 for index, one in enumerate(found) if _id(one) in self._checkpoints), len(found))
        self._checkpoints.take(found[:until][::-1])

    async def _page(self, size: int | None, before: Any) -> list[Any]:
        history = self._graph.aget_state_history(self._at(None), limit=size, before=before)
        return [snapshot async for snapshot in history]

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
            cut = [ToolMessage("Cancelled.", tool_call_id=id, status="error", response_metadata=mark) for id in calls]
            messages = [*cut, *messages]
        if messages:
            node = said[0][0] if said else next(iter(end.next), None)
            await self.write({"messages": messages}, end, node)

    def _at(self, base: Checkpoint | None, *, is_exact: bool = False) -> dict[str, Any]:
        place: dict[str, Any] = {"thread_id": self.thread_id}
        if base is not None and (is_exact or base is not self._checkpoints.newest):
            place = base.config["configurable"]
        return {**self._config, "configurable": {**self._config.get("configurable", {}), **place}}


def _id(snapshot: Any) -> object:
    return snapshot.config["configurable"]["checkpoint_id"]
