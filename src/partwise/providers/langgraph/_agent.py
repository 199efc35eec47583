"""A graph of LangGraph as the owner of a thread's messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.lowlevel

from partwise.adapters import AttachmentAdapter, FeedbackFunction
from partwise.errors import MessageNotFoundError, UnsupportedError, WrongEventLoopError
from partwise.messages import Message
from partwise.runtimes import AppendRequest, Thread
from partwise.runtimes.external import ApprovalResponse, ExternalStoreRuntime, RunRequest

from ._asking import IsApproval
from ._input import MakeInput, input_of
from ._owner import Owner
from ._run import IsShown

__all__ = ["LangGraphAgent"]


class LangGraphAgent:
    """Shows one thread of a compiled graph, and lets it answer; used with ``async with``, on asyncio.

    The graph's state needs ``messages``, and the graph a checkpointer: its checkpoints are the branches of
    the thread. What the graph interrupts for is shown as a call that waits: for a permission, or for what a
    human answers. Once all that is asked has been answered, the graph goes on.

    Args:
        graph: A compiled graph.
        thread_id: The graph's thread, or what finds its id once there is one; a new one if not given.
        initialize: Makes the thread; awaited before its first run. For threads of a list: ``item.initialize``.
        config: Laid under the config of each run.
        make_input: Makes the input of a run of a user's message; not given: its text and files.
        is_approval: Whether the value of an interrupt asks for a permission. It is then resumed with
            ``{"approved": ..., "reason": ..., "option_id": ...}``; others with what ``resume_tool_call`` is given.
            What LangChain's middleware asks is understood without it.
        is_shown: Whether what a model says is part of the answer, told from the metadata of its stream.
        max_checkpoints: How many of the newest checkpoints are read when the thread is opened; None: all. Branches
            that only older ones know of are not shown, and nothing can begin at those.
        attachments: Takes files in; see ``AttachmentAdapter``.
        feedback: Told what users think of answers.
    """

    def __init__(
        self,
        graph: Any,
        *,
        thread_id: str | Callable[[], str | None] | None = None,
        initialize: Callable[[], Awaitable[object] | None] | None = None,
        config: Mapping[str, Any] | None = None,
        make_input: MakeInput = input_of,
        is_approval: IsApproval = lambda _value: False,
        is_shown: IsShown = lambda _told: True,
        max_checkpoints: int | None = None,
        attachments: AttachmentAdapter | None = None,
        feedback: FeedbackFunction | None = None,
    ) -> None:
        if getattr(graph, "checkpointer", graph) is None:
            action, text = (
                "branches",
                "The graph has no checkpointer; its checkpoints are the branches. Compile it with one.",
            )
            raise UnsupportedError(action, text)
        self._make_input = make_input
        self.runtime = ExternalStoreRuntime(
            is_running=False,
            is_loading=True,
            attachments=attachments,
            feedback=feedback,
            on_new=self._on_new,
            on_edit=self._on_edit,
            on_reload=self._on_reload,
            on_resume=self._on_resume,
            on_cancel=self._on_cancel,
            on_delete=self._on_delete,
            on_refetch=self._on_refetch,
            on_approval=self._on_approval,
            on_resume_tool_call=self._on_answer,
            set_messages=self._set_messages,
        )
        self._owner = Owner(
            graph,
            self.runtime,
            config or {},
            thread_id,
            initialize,
            is_approval=is_approval,
            is_shown=is_shown,
            max_checkpoints=max_checkpoints,
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
            await self._owner.refetch()
        except BaseException as error:
            await self.runtime.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        """Stop a run, and close the thread."""
        self._owner.cancel()
        return await self.runtime.__aexit__(kind, error, traceback)

    def _on_new(self, request: AppendRequest) -> Awaitable[None]:
        return self._owner.run(self._make_input(request.message), self._owner.present, request.message)

    def _on_edit(self, request: AppendRequest) -> Awaitable[None]:
        owner, source_id = self._owner, request.source_id
        if source_id is None:
            base = owner.checkpoints.after(request.parent_id, owner.end_of(request.parent_id), is_first=False)
        else:
            base = owner.checkpoints.before(source_id, owner.end_of(source_id))
        return owner.run(self._make_input(request.message), lambda: base, request.message)

    def _on_reload(self, request: RunRequest) -> Awaitable[None]:
        owner = self._owner
        base = owner.checkpoints.after(request.parent_id, owner.end_of(request.parent_id), is_first=True)
        return owner.run(None, lambda: base, is_fork=True)

    def _on_resume(self, _request: RunRequest) -> Awaitable[None]:
        return self._owner.run(None, self._owner.present)

    def _on_approval(self, response: ApprovalResponse) -> Awaitable[None] | None:
        answer = {"approved": response.approved, "reason": response.reason, "option_id": response.option_id}
        return self._owner.answer(response.approval_id, answer)

    def _on_answer(self, tool_call_id: str, payload: Any) -> Awaitable[None] | None:
        return self._owner.answer(tool_call_id, payload)

    def _on_cancel(self) -> None:
        self._owner.cancel()

    async def _on_delete(self, message_id: str) -> None:
        if message_id not in {message.id for message in self._owner.path}:
            raise MessageNotFoundError(message_id, where="the visible branch")
        self._owner.check_idle()
        await self._owner.remove({message_id})

    async def _on_refetch(self) -> None:
        self._owner.check_idle()
        await self._owner.refetch()

    def _set_messages(self, messages: Sequence[Message]) -> Awaitable[None] | None:
        """Show the branch that a list is, or take out of the state what is missing from it."""
        ids, shown = {message.id for message in messages}, {message.id for message in self._owner.path}
        if ids <= shown:
            return self._owner.remove(shown - ids)
        if not all(one.id in self._owner.checkpoints.first_seen for one in messages):
            action, text = "reset", "The messages of a graph are changed by its runs."
            raise UnsupportedError(action, text)
        self._owner.show_branch(messages[-1].id)
        return None
