"""A graph of LangGraph as the owner of a thread's messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeAlias, cast

import anyio
import anyio.lowlevel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langgraph.types import Command

from partwise.errors import NotAllowedError, RuntimeClosedError, WrongEventLoopError
from partwise.messages import Message, message_text, new_id
from partwise.repository import Entry, Export
from partwise.runtimes import AppendRequest, Thread
from partwise.runtimes.external import ApprovalResponse, BranchChange, ExternalStoreRuntime, RunRequest

from ._checkpoints import Checkpoints
from ._converting import Converted
from ._reading import CANCELLED, Item, items_of, with_interrupts

__all__ = ["LangGraphAgent"]

MakeInput: TypeAlias = Callable[[Message], Any]


class LangGraphAgent:
    """Shows one thread of a compiled graph, and lets it answer; used with ``async with``, on asyncio.

    The graph's state needs ``messages``, and the graph a checkpointer: its checkpoints are the branches of
    the thread. What the graph interrupts for is shown as a call that waits: for a permission, or for what a
    human answers.

    Args:
        graph: A compiled graph.
        thread_id: The graph's thread; a new one if not given.
        config: Laid under the config of each run.
        make_input: Makes the input of a run of a user's message; not given: its text.
        is_approval: Whether the value of an interrupt asks for a permission. It is then resumed with
            ``{"approved": ..., "reason": ..., "option_id": ...}``; others with what ``resume_tool_call`` is given.
    """

    def __init__(
        self,
        graph: Any,
        *,
        thread_id: str | None = None,
        config: Mapping[str, Any] | None = None,
        make_input: MakeInput | None = None,
        is_approval: Callable[[Any], bool] = lambda _value: False,
    ) -> None:
        self._graph = graph
        self._config: dict[str, Any] = {**(config or {})}
        self._place: dict[str, Any] = {"thread_id": new_id() if thread_id is None else thread_id}
        self._make_input = make_input or _as_input
        self._is_approval = is_approval
        self._checkpoints = Checkpoints()
        self._converted = Converted()
        self._path: list[Item] = []
        self._partial: dict[str, AIMessageChunk] = {}
        self._interrupts: dict[str, Any] = {}
        self._head_id: str | None = None
        self._node: str | None = None
        self._scope: anyio.CancelScope | None = None
        self.runtime = ExternalStoreRuntime(
            is_running=False,
            is_loading=True,
            on_new=self._on_new,
            on_edit=self._on_edit,
            on_reload=self._on_reload,
            on_cancel=self._on_cancel,
            on_refetch=self._refetch,
            on_approval=self._on_approval,
            on_resume_tool_call=self._on_answer,
            on_branch_change=self._on_branch_change,
            set_messages=_take_note,
        )

    @property
    def thread(self) -> Thread:
        """The thread."""
        return self.runtime.thread

    async def __aenter__(self) -> Self:
        """Show what the graph remembers.

        Raises:
            WrongEventLoopError: The event loop is trio's; LangGraph runs on asyncio only.
        """
        if type(anyio.lowlevel.current_token().native_token).__module__.startswith("trio"):
            text = "LangGraph runs on asyncio only, and this is trio. Start the program with anyio.run(main)."
            raise WrongEventLoopError(text)
        await self.runtime.__aenter__()
        try:
            await self._refetch()
        except BaseException as error:
            await self.runtime.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        """Stop a run, and close the thread."""
        self._on_cancel()
        return await self.runtime.__aexit__(kind, error, traceback)

    # What users do

    async def _on_new(self, request: AppendRequest) -> None:
        await self._run(self._make_input(request.message), self._head_id, request.message)

    async def _on_edit(self, request: AppendRequest) -> None:
        await self._run(self._make_input(request.message), request.parent_id, request.message)

    async def _on_reload(self, request: RunRequest) -> None:
        await self._run(None, request.parent_id)

    async def _on_approval(self, response: ApprovalResponse) -> None:
        answer = {"approved": response.approved, "reason": response.reason, "option_id": response.option_id}
        await self._on_answer(response.approval_id, answer)

    async def _on_answer(self, interrupt_id: str, payload: Any) -> None:
        if interrupt_id not in self._interrupts:
            text = f"The graph does not wait for an answer to {interrupt_id!r}."
            raise NotAllowedError(text, code="not-waiting", id=interrupt_id)
        await self._run(Command(resume={interrupt_id: payload}), self._head_id)

    def _on_cancel(self) -> None:
        if self._scope is not None:
            self._scope.cancel()

    def _on_branch_change(self, change: BranchChange) -> None:
        self._head_id = change.head_id
        self._path = self._checkpoints.path_to(change.head_id)
        self._partial, self._interrupts = {}, {}
        self._show(is_running=False)

    # What the graph does

    async def _run(self, given: Any, from_id: str | None, question: Message | None = None) -> None:
        if self._scope is not None:
            text = "The graph is answering; cancel that first."
            raise NotAllowedError(text, code="run-in-progress")
        config = self._run_config(from_id)
        self._path = self._checkpoints.path_to(from_id if from_id in self._checkpoints.entries else None)
        if question is not None:
            self._path.append({"id": question.id, "role": "user", "content": message_text(question)})
        self._partial, self._interrupts = {}, {}
        self._scope = anyio.CancelScope()
        try:
            with self._scope:
                self._show(is_running=True)
                await self._follow(self._graph.astream(given, config, stream_mode=["messages", "values"]))
            if self._scope.cancelled_caught:
                await self._keep_partial(config)
            await self._refetch()
        finally:
            self._scope = None
            self._say(is_running=False)

    def _run_config(self, from_id: str | None) -> dict[str, Any]:
        place = self._place
        if from_id != self._newest_id and from_id in self._checkpoints.configs:
            place = self._checkpoints.configs[from_id]["configurable"]
        return {**self._config, "configurable": {**self._config.get("configurable", {}), **place}}

    @property
    def _newest_id(self) -> str | None:
        return next(iter(self._checkpoints.configs), None)

    async def _follow(self, stream: AsyncIterator[tuple[str, Any]]) -> None:
        async for mode, payload in stream:
            if mode == "messages":
                self._take_piece(*payload)
            else:
                self._take_values(payload)
            self._show(is_running=True)

    def _take_piece(self, piece: Any, told: Mapping[str, Any]) -> None:
        if isinstance(piece, AIMessageChunk):
            self._node = told.get("langgraph_node")
            before = self._partial.get(str(piece.id))
            self._partial[str(piece.id)] = piece if before is None else before + piece

    def _take_values(self, values: Mapping[str, Any]) -> None:
        messages: list[BaseMessage] = values.get("messages", [])
        kept = {str(message.id) for message in messages}
        self._partial = {id: message for id, message in self._partial.items() if id not in kept}
        self._path = items_of(messages)
        self._interrupts = {one.id: one.value for one in values.get("__interrupt__", ())}

    async def _refetch(self) -> None:
        """Read every checkpoint, and show the newest."""
        history = [one async for one in self._graph.aget_state_history(self._run_config(self._newest_id))]
        self._checkpoints.take(history)
        self._path, self._partial = items_of(history[0].values.get("messages", ()) if history else ()), {}
        self._interrupts = {one.id: one.value for one in (history[0].interrupts if history else ())}
        self._show(is_running=False)

    async def _keep_partial(self, config: dict[str, Any]) -> None:
        """Have the graph remember what had come when its answer was cancelled."""
        said = [piece for piece in self._partial.values() if piece.content]
        if said:
            messages = [AIMessage(piece.content, id=piece.id, response_metadata={CANCELLED: True}) for piece in said]
            thread = {**config, "configurable": {**config["configurable"], **self._place}}
            thread["configurable"].pop("checkpoint_id", None)
            await self._graph.aupdate_state(thread, {"messages": messages}, as_node=self._node)

    def _show(self, *, is_running: bool) -> None:
        path = _joined(self._path, items_of(cast("list[AIMessage]", list(self._partial.values()))))
        asked = [id for id, value in self._interrupts.items() if self._is_approval(value)]
        shown = with_interrupts(path, self._interrupts, asked)
        self._head_id = shown[-1]["id"] if shown else None
        entries = tuple(
            Entry(place.parent_id, self._converted.of(place.item)) for place in self._checkpoints.with_path(shown)
        )
        self._say(Export(self._head_id, entries), is_running=is_running, is_loading=False)

    def _say(self, *messages: Any, **fields: Any) -> None:
        try:
            self.runtime.update(*messages, **fields)
        except RuntimeClosedError:
            return  # nobody looks any more


def _joined(path: list[Item], more: list[Item]) -> list[Item]:
    """Lay what is just being said behind a path; it belongs to an answer that has begun."""
    if path and more and path[-1]["role"] == more[0]["role"] == "assistant":
        whole = {**path[-1], "content": [*path[-1]["content"], *more[0]["content"]]}
        return [*path[:-1], whole, *more[1:]]
    return [*path, *more]


def _as_input(message: Message) -> Any:
    return {"messages": [HumanMessage(message_text(message), id=message.id)]}


def _take_note(_messages: Any) -> None:
    """The checkpoints are the truth; a branch that was chosen here needs no list."""
