"""The external-store runtime: somebody else owns the messages, and is asked for everything."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self, Unpack

from partwise.messages import MISSING
from partwise.reactive import ErrorHook, log_error
from partwise.runtimes._lifetime import Lifetime
from partwise.runtimes._tasks import Tasks

from ._current import Current
from ._options import ExternalFields, ExternalOptions, ExternalUpdate
from ._sources import Source, first_of
from ._thread import ExternalThread
from ._thread_list import ExternalThreadList

__all__ = ["ExternalStoreRuntime"]


class ExternalStoreRuntime:
    """Shows messages that somebody else owns, with the same thread that a local runtime has.

    The owner says what there is: as the first argument, and later by ``update``; or it hands over a source
    that is followed while the runtime is open. What may be done is told from the functions that it gives;
    each may be plain or async.

    Args:
        messages: A list of items, or an ``Export`` of a tree of them; or a source of such values, of
            ``ExternalSnapshot`` or of ``ThreadState``: an async iterable, an Rx observable, a store.
        on_error: Told of listeners and selectors that raise; they are logged if it is not given.
        convert: Makes a message, or something message-like, of one item. Not given: the items are that.
        joins: Whether what follows each other becomes one answer: ``convert`` may then give several outputs for an
            item, or none, and results of tools as outputs of their own.
        is_same: Tells of a message that left and one that came in its place whether the second is the
            first with its final id; it then takes its place instead of becoming an alternative.
        is_running: Whether an answer is being made. None: told from the last message.
        is_loading, is_disabled, is_send_disabled, suggestions, extras: Shown as they are.
        state: The model's state; None: that of the last answer.
        is_strict: Whether a duplicate, an unknown part and the like raise from ``update``, instead of being
            reported once and left out.
        can_copy: Whether messages may be copied.
        threads: Which threads the owner has, which one the messages are of, and what can be done with them;
            see ``ExternalThreads``. Another current thread begins a new thread here, with the messages of the
            same update.
        tools: What can be called: toolkits and other providers of context.
        runs_tools: Whether tools of this program that are called in new messages are run here; their results go to
            ``on_tool_result``. Never those of the first messages, nor of messages that are loading.
        queue: Takes new messages in the place of ``on_new``.
        feedback: Told what users think of answers.
        attachments: Takes files in; see ``AttachmentAdapter``.
        initialize: Begun with each message, for threads that must be made first; the queue waits for it.
        on_new: Takes a new message at the end.
        on_edit: Takes an edited message.
        on_delete: Deletes a message.
        on_reload: Makes an answer, once more or for the first time.
        on_resume: Goes on with an answer.
        on_cancel: Stops.
        on_refetch: Looks for the newest messages.
        on_tool_result, on_resume_tool_call, on_approval: Take what people (and tools) answer.
        on_tool_states: Told what tools that run here are doing, by the id of the call.
        on_import: Told of the messages of an import.
        on_export_state, on_load_state: Give and take the owner's own description of the thread.
        on_branch_change: Told which branch was chosen here.
        set_messages: Takes the whole list of items back: for branches, deletions and cancelled messages.
    """

    def __init__(
        self, messages: object = (), *, on_error: ErrorHook = log_error, **fields: Unpack[ExternalFields]
    ) -> None:
        tasks = Tasks()
        options = ExternalOptions(**fields)  # type: ignore[arg-type]  # the converter of suggestions takes any iterable
        first, is_source = first_of(messages)
        self._current = Current(first, options, tasks, on_error=on_error)
        self._source = Source(messages, tasks, self._current) if is_source else None
        self._lifetime = Lifetime(tasks, self._finish, self._current.close)

    @property
    def thread(self) -> ExternalThread:
        """The thread whose messages the owner gives; another one once the owner says so, see ``threads.follow``."""
        return self._current.thread

    @property
    def threads(self) -> ExternalThreadList:
        """The list of threads; without one of the owner's, it has the one thread that is in view."""
        return self._current.list

    def update(self, messages: object = MISSING, **fields: Unpack[ExternalUpdate]) -> None:
        """Say what there is now, all of it in one emission.

        An item that is the same object as before is taken as unchanged, so a new list of mostly old items
        costs little. If this raises, nothing has changed, and the same may be said again.

        Args:
            messages: A list of items or an export of a tree; not given: as before.
            fields: What else is another now, by the names that the constructor has; and ``thread_id``, the thread that
                all of this is about: if another one is in view, it is left out and reported.

        Raises:
            Exception: What ``convert`` raised.
            FeedError: It is no feed, or there is something wrong with the feed, and it is to be strict.
            ParentNotFoundError: A parent is not in the tree.
            CycleError: A message of the tree would be its own ancestor.
            WrongThreadError: Another thread of execution owns the runtime; use ``post``.
        """
        changes: dict[str, Any] = {**fields}
        self._current.update(messages, changes, is_new=messages is not MISSING)

    def put(self, item: object) -> None:
        """Say one thing that is new: an item for the end, or a newer version of one that is there.

        It costs the same however many messages there are.

        Args:
            item: What ``convert`` takes; its message goes by its id.

        Raises:
            Exception: What ``convert`` raised; nothing has changed.
            WrongThreadError: Another thread of execution owns the runtime.
        """
        self._current.put(item)

    def remove(self, message_id: str) -> None:
        """Say that a message is gone; what follows it moves up.

        Raises:
            MessageNotFoundError: It was not there.
            WrongThreadError: Another thread of execution owns the runtime.
        """
        self._current.remove(message_id)

    def post(self, messages: object = MISSING, **fields: Unpack[ExternalUpdate]) -> None:
        """Do what ``update`` does, soon and in order, from any thread of execution; failures are reported."""
        changes: dict[str, Any] = {**fields}
        self._current.post(messages, changes, is_new=messages is not MISSING)

    def refresh(self) -> None:
        """Convert every item again, as after changes in place that no new object tells of."""
        self.thread.refresh()

    async def __aenter__(self) -> Self:
        """Start the runtime's task group, and follow the source.

        Raises:
            RuntimeClosedError: It was entered before.
        """
        await self._lifetime.enter()
        if self._source is not None:
            self._source.follow()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        """Let go of the source, end what is under way here, and close the thread."""
        return await self._lifetime.leave(kind, error, traceback)

    async def _finish(self) -> None:
        if self._source is not None:
            self._source.leave()
        await self.thread.finish()
