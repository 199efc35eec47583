"""What a thread of a graph is doing: running from a checkpoint, waiting, or showing a branch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Final

import anyio
import attrs
from langgraph.types import Command

from partwise.errors import NotAllowedError, NotSentError, RuntimeClosedError, StoreClosedError
from partwise.messages import Message, new_id
from partwise.runtimes.external import ExternalStoreRuntime

from ._asking import IsApproval
from ._checkpoints import Checkpoint, Checkpoints
from ._converting import NOTHING
from ._graph import GraphThread
from ._reading import id_of
from ._run import IsShown, Run
from ._view import View

__all__ = ["Owner"]

# How long what is left of a run may take to be written, in seconds.
_GRACE: Final = 10.0


@attrs.define(eq=False)
class _Ended:
    """How a run ended."""

    is_cut: bool = True
    failure: Exception | None = None


class Owner:
    """Owns the messages of a thread, since the graph does; whatever a user wants goes through here.

    Attributes:
        path: What is shown.
        checkpoints: What the graph remembers.
    """

    def __init__(
        self,
        graph: Any,
        runtime: ExternalStoreRuntime,
        config: Mapping[str, Any],
        thread_id: str | Callable[[], str | None] | None,
        initialize: Callable[[], Awaitable[object] | None] | None,
        *,
        is_approval: IsApproval,
        is_shown: IsShown,
        max_checkpoints: int | None,
    ) -> None:
        self.path: Sequence[Message] = ()
        self.checkpoints = Checkpoints()
        self._runtime = runtime
        self._graph = GraphThread(graph, config, self.checkpoints, max_checkpoints)
        self._graph.thread_id = new_id() if thread_id is None else thread_id if isinstance(thread_id, str) else None
        self._find_id = thread_id if callable(thread_id) else None
        self._initialize = initialize
        self._view = View(self.checkpoints, is_approval)
        self._is_approval, self._is_shown = is_approval, is_shown
        self._lock = anyio.Lock()
        self._scope: anyio.CancelScope | None = None
        self._end: Checkpoint | None = None
        self._asking = NOTHING

    # What is shown

    def present(self) -> Checkpoint | None:
        """Return the end of the branch that is shown."""
        return self._end

    def end_of(self, message_id: str | None) -> Checkpoint:
        """Return the end of a branch that has a message.

        Raises:
            NotAllowedError: The graph does not remember it (code ``"no-checkpoint"``).
        """
        end = self._end if message_id is None else self.checkpoints.end_of(message_id, self._end)
        if end is None:
            text = f"The graph does not remember message {message_id!r}, so nothing can begin there."
            raise NotAllowedError(text, code="no-checkpoint", id=message_id)
        return end

    def show_branch(self, message_id: str) -> None:
        """Show the branch that ends with a message."""
        self._go_to(self.checkpoints.end_of(message_id, self._end))

    def check_idle(self) -> None:
        """Check that no run is in progress.

        Raises:
            NotAllowedError: One is (code ``"run-in-progress"``).
        """
        if self._scope is not None:
            text = "The graph is answering; cancel that first."
            raise NotAllowedError(text, code="run-in-progress")

    async def refetch(self) -> None:
        """Read what is new, and show the newest branch."""
        if self._find_id is not None and self._graph.thread_id is None:
            self._graph.thread_id = self._find_id()
        await self._graph.read()
        self._go_to(self.checkpoints.newest)

    # What is done

    def cancel(self) -> None:
        """Stop a run."""
        if self._scope is not None:
            self._scope.cancel()

    def answer(self, ask_id: str, answer: Any) -> Awaitable[None] | None:
        """Take in an answer; the graph goes on once it has all of them.

        Raises:
            NotAllowedError: Nobody asks, or a run is in progress.
            ApprovalError: It was answered already.
        """
        self.check_idle()
        self._asking = self._asking.answered(ask_id, answer)
        if not self._asking.is_answered:
            self._show(self._view.path(self._end, self._asking))
            return None
        resume, end = self._asking.resume, self._end
        return self.run(Command(resume=resume), lambda: end)

    async def remove(self, message_ids: Collection[str]) -> None:
        """Take messages out of the state, after a run if there is one."""
        async with self._lock:
            groups = () if self._end is None else self._end.groups or ()
            ids = [id_of(message) for name, group in groups if name in message_ids for message in group]
            if ids and self._end is not None:
                await self._graph.remove(ids, self._end)
                await self._graph.read()
                self._go_to(self.checkpoints.newest)

    def run(
        self,
        given: Any,
        find_base: Callable[[], Checkpoint | None],
        question: Message | None = None,
        *,
        is_fork: bool = False,
    ) -> Awaitable[None]:
        """Run the graph, and show what it says; from now on it is busy, and can be cancelled.

        Args:
            given: Its input.
            find_base: Finds where it runs from; called when it can.
            question: The message that the input was made of.
            is_fork: Whether to begin another branch there.

        Raises:
            NotAllowedError: A run is in progress already (code ``"run-in-progress"``).
            NotSentError: When awaited: it failed before the graph had taken the question in.
            Exception: When awaited: what the graph raised.
        """
        self.check_idle()
        self._scope = anyio.CancelScope()
        return self._run(given, find_base, question, self._scope, is_fork=is_fork)

    async def _run(
        self,
        given: Any,
        find_base: Callable[[], Checkpoint | None],
        question: Message | None,
        scope: anyio.CancelScope,
        *,
        is_fork: bool,
    ) -> None:
        ended = _Ended()
        try:
            await self._prepare()
            async with self._lock:
                base = find_base()
                run = self._begin(base, question)
                try:
                    await self._follow(run, given, scope, ended, is_fork=is_fork)
                finally:
                    with anyio.move_on_after(_GRACE, shield=True):
                        await self._settle(run, given, question, ended)
        finally:
            self._scope = None
            self._say(is_running=False)
        if ended.failure is not None:
            self._raise(ended.failure, question)

    async def _prepare(self) -> None:
        made = None if self._initialize is None else self._initialize()
        if made is not None:
            await made
        if self._graph.thread_id is None:
            self._graph.thread_id = (self._find_id() if self._find_id is not None else None) or new_id()

    def _begin(self, base: Checkpoint | None, question: Message | None) -> Run:
        groups = self._view.groups(base)
        path = self._view.messages(groups, NOTHING)
        if question is not None:
            path.append(question)
            self._view.converted.saw(question)
        self._asking = NOTHING

        def show(path: Sequence[Message]) -> None:
            self.path = path
            self._say(self._view.export(path, base), is_running=True)

        def put(message: Message) -> None:
            self._put(message)

        show(path)
        return Run(
            self.checkpoints,
            self._view,
            base,
            groups,
            path,
            show=show,
            put=put,
            is_approval=self._is_approval,
            is_shown=self._is_shown,
        )

    async def _follow(self, run: Run, given: Any, scope: anyio.CancelScope, ended: _Ended, *, is_fork: bool) -> None:
        try:
            with scope:
                async for place, mode, payload in self._graph.stream(given, run.base, is_fork=is_fork):
                    run.take(place, mode, payload)
                ended.is_cut = False
        except Exception as error:
            ended.is_cut, ended.failure = False, error

    async def _settle(self, run: Run, given: Any, question: Message | None, ended: _Ended) -> None:
        """Have the graph remember what broke off, and show what it remembers."""
        end = await self._read(run.base)
        if ended.is_cut or ended.failure is not None:
            if ended.is_cut and question is not None and not self._has(question.id, end):
                await self._graph.write(given, run.base, "__start__")
                end = await self._read(run.base)
            if end is not None:
                await self._graph.keep(run.live.said, end, None if ended.is_cut else _told(ended.failure))
            end = await self._read(end)
        self._go_to(end)

    async def _read(self, base: Checkpoint | None) -> Checkpoint | None:
        """Read what is new; returns the end of the branch that went on from a checkpoint."""
        before = self.checkpoints.newest
        await self._graph.read()
        newest = self.checkpoints.newest
        if newest is not None and (before is None or newest.id != before.id):
            return newest
        if base is not None:
            await self._graph.read_again(base)
            return self.checkpoints.get(base.id)
        return newest

    def _has(self, message_id: str, end: Checkpoint | None) -> bool:
        return end is not None and message_id in self.checkpoints.path(end)

    def _raise(self, failure: Exception, question: Message | None) -> None:
        if question is None or self._has(question.id, self._end):
            raise failure
        text = f"The graph did not take message {question.id!r}: {failure}"
        raise NotSentError(text, message_id=question.id) from failure

    def _go_to(self, end: Checkpoint | None) -> None:
        self._end, self._asking = end, self._view.asking(end)
        self._show(self._view.path(end, self._asking))

    def _show(self, path: Sequence[Message]) -> None:
        self.path = path
        self._say(self._view.export(path), is_running=False, is_loading=False)

    def _put(self, message: Message) -> None:
        try:
            self._runtime.put(message)
        except (RuntimeClosedError, StoreClosedError):
            return  # nobody looks any more

    def _say(self, *messages: Any, **fields: Any) -> None:
        try:
            self._runtime.update(*messages, **fields)
        except (RuntimeClosedError, StoreClosedError):
            return  # nobody looks any more


def _told(failure: Exception | None) -> str:
    return f"{type(failure).__name__}: {failure}"
