"""The local runtime: this process owns the messages and runs the tool loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self, cast

from partwise.adapters import AttachmentAdapter, ChatModel, ChatModelFunction, FeedbackFunction, History, Suggestions
from partwise.reactive import ErrorHook, log_error
from partwise.runtimes._lifetime import Lifetime
from partwise.runtimes._tasks import Tasks
from partwise.tools import ContextProvider

from ._options import DEFAULT_MAX_STEPS, InitializeFunction, LocalOptions
from ._thread import LocalThread

__all__ = ["LocalRuntime"]


class LocalRuntime:
    """Owns one thread and everything that runs in it; used with ``async with``, on asyncio or trio.

    Leaving the block cancels a run in progress, keeps what it had streamed, waits for the history, and
    closes the thread's slices.

    Args:
        model: An async generator function, an async function, or an object whose ``run`` is one. It is
            called with a ``RunContext`` and yields chunks or whole results.
        tools: Toolkits, or other providers of a model context; the first ones count for more where
            their priorities are equal.
        instructions: System text for the model.
        history: Where the thread is stored; call ``thread.load()`` to show what is there.
        suggestions: Asked for prompts after each completed answer.
        feedback: Told what users think of answers.
        attachments: Takes in the files that users add to drafts.
        messages: What the thread begins with: messages, or anything message-like.
        max_steps: How many roundtrips to the model a run may make by itself before it ends as
            incomplete/tool-calls.
        human_tools: Tools whose results come from people; see ``should_continue``.
        has_queue: Whether messages sent during a run wait for its end instead of superseding it.
        clears_queue_on_rewind: Whether an edit drops the waiting messages.
        clears_queue_on_cancel: Whether a cancel drops the waiting messages.
        initialize: Awaited before a message is stored or answered, for threads that must be made first.
        thread_id: Told to the model and to tools.
        cancel_timeout: Seconds that a cancelled adapter has for its clean-up.
        on_error: Told of listeners and selectors that raise; they are logged if it is not given.
    """

    def __init__(
        self,
        model: ChatModel | ChatModelFunction,
        *,
        tools: ContextProvider | Sequence[ContextProvider] = (),
        instructions: str | None = None,
        history: History | None = None,
        suggestions: Suggestions | None = None,
        feedback: FeedbackFunction | None = None,
        attachments: AttachmentAdapter | None = None,
        messages: Iterable[object] = (),
        max_steps: int = DEFAULT_MAX_STEPS,
        human_tools: Iterable[str] | None = None,
        has_queue: bool = False,
        clears_queue_on_rewind: bool = True,
        clears_queue_on_cancel: bool = True,
        initialize: InitializeFunction | None = None,
        thread_id: str | None = None,
        cancel_timeout: float = 5.0,
        on_error: ErrorHook = log_error,
    ) -> None:
        options = LocalOptions(
            model=model,
            history=history,
            suggestions=suggestions,
            feedback=feedback,
            attachments=attachments,
            max_steps=max_steps,
            human_tools=None if human_tools is None else frozenset(human_tools),
            has_queue=has_queue,
            clears_queue_on_rewind=clears_queue_on_rewind,
            clears_queue_on_cancel=clears_queue_on_cancel,
            initialize=initialize,
            thread_id=thread_id,
            cancel_timeout=cancel_timeout,
        )
        tasks = Tasks()
        self.thread = LocalThread(options, tasks, on_error=on_error)
        self._lifetime = Lifetime(tasks, self.thread.finish, self.thread.close)
        self.thread.begin(instructions, _providers(tools), tuple(messages))

    async def __aenter__(self) -> Self:
        """Start the runtime's task group.

        Raises:
            RuntimeClosedError: It was entered before.
        """
        await self._lifetime.enter()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        """End what runs, wait for what is being stored, and close the thread."""
        return await self._lifetime.leave(kind, error, traceback)


def _providers(tools: ContextProvider | Sequence[ContextProvider]) -> tuple[ContextProvider, ...]:
    # A toolkit may be iterated, too: what it gives are its tools.
    if isinstance(tools, (list, tuple)):
        return tuple(cast("Sequence[ContextProvider]", tools))
    return (cast("ContextProvider", tools),)
