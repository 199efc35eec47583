"""Running the tools that are called in messages of somebody else, if their owner wants that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anyio

from partwise.runtimes._operation import Operation
from partwise.tools import ContextProvider, ProviderHandle, ToolContext, ToolState, ToolTracker, TrackedResult

from ._host import Host, left_unsent, refused, told
from ._mirror import Mirror

__all__ = ["Tooling"]


class Tooling:
    """Follows the messages of a thread with a tracker, for as long as the owner says ``runs_tools``.

    Args:
        answer: Hands a result to the owner.
    """

    def __init__(self, host: Host, mirror: Mirror, answer: Callable[[TrackedResult], object]) -> None:
        self._host = host
        self._mirror = mirror
        self._answer = answer
        self._tracker: ToolTracker | None = None
        self._providers: tuple[ContextProvider, ...] = ()
        self._handles: list[ProviderHandle] = []

    def after_feed(self) -> None:
        """Look at what the owner shows now."""
        options = self._host.options
        if options.tools is not self._providers:
            self._offer(options.tools)
        if not options.runs_tools:
            self.stop()
            return
        if self._tracker is None:
            thread_id = None if options.threads is None else options.threads.current_id
            self._tracker = ToolTracker(
                lambda: self._host.context.get_model_context().tools,
                spawn=self._host.spawn,
                on_result=self._answer,
                on_states=self._show,
                report=lambda failure: self._host.report("tool", str(failure), failure),
                context=ToolContext(tool_call_id="", thread_id=thread_id),
            )
        # Hidden branches, too: what was there before it comes into view is no news then.
        messages = tuple(self._host.document.tree)
        self._tracker.take(messages, is_running=bool(options.is_running), is_loading=options.is_loading)

    def _offer(self, providers: tuple[ContextProvider, ...]) -> None:
        for handle in self._handles:
            handle.remove()
        self._providers = providers
        self._handles = [self._host.context.add_provider(provider) for provider in providers]

    def resume(self, tool_call_id: str, payload: Any) -> bool:
        """Answer a tool that runs here and asks a human; returns False when none does."""
        return self._tracker is not None and self._tracker.resume(tool_call_id, payload)

    def abort(self) -> anyio.Event | None:
        """Cancel what runs here; returns what tells of its end, or None if nothing ran."""
        ended = None if self._tracker is None else self._tracker.abort()
        return None if ended is None or ended.is_set() else ended

    def reset(self) -> None:
        """Take what is shown next for history; what still runs has no effect any more."""
        if self._tracker is not None:
            self._tracker.reset()

    def stop(self) -> None:
        """Run nothing any more."""
        tracker, self._tracker = self._tracker, None
        if tracker is not None:
            tracker.reset()

    def first(self, action: Callable[..., Operation], *args: Any) -> Operation:
        """Do something once what runs here was cancelled and has ended.

        If the thread is left before, it is not done, and the operation raises ``NotSentError``.
        """
        ended = self.abort()
        if ended is None:
            return refused(action, *args)
        operation = Operation()
        self._host.spawn(self._afterwards, ended, action, args, operation, self._host.generation)
        return operation

    async def _afterwards(
        self,
        ended: anyio.Event,
        action: Callable[..., Operation],
        args: tuple[Any, ...],
        operation: Operation,
        generation: int,
    ) -> None:
        try:
            await ended.wait()
            if self._host.generation == generation:
                await refused(action, *args)
            else:
                operation.settle(left_unsent())
        except BaseException as error:
            operation.settle(error)
            if not isinstance(error, Exception):
                raise
        operation.settle()

    def _show(self, states: Mapping[str, ToolState]) -> None:
        self._mirror.mark_tools(states)
        on_tool_states = self._host.options.on_tool_states
        if on_tool_states is not None:
            told(self._host, "on_tool_states", on_tool_states, states)
