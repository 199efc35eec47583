"""What a local runtime is given; read at the time of use, so a host may exchange it between runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import attrs

from partwise.adapters import AttachmentAdapter, ChatModel, ChatModelFunction, FeedbackFunction, History, Suggestions

__all__ = ["DEFAULT_MAX_STEPS", "InitializeFunction", "LocalOptions"]

DEFAULT_MAX_STEPS: Final = 2
# Makes the thread's record, wherever threads are kept; None when there is nothing to wait for.
InitializeFunction: TypeAlias = Callable[[], Awaitable[object] | None]


@attrs.frozen(kw_only=True)
class LocalOptions:
    """Adapters and settings of a local thread.

    Attributes:
        max_steps: How many roundtrips to the model one run may make by itself, and how many steps a
            message may report; reaching it ends the message as incomplete/tool-calls.
        human_tools: Tools whose results come from people. None: every call needs a result or an
            approval before the run goes on; a list: only calls of these do.
        has_queue: Whether messages sent during a run wait for its end instead of superseding it.
        clears_queue_on_rewind, clears_queue_on_cancel: Whether waiting messages are dropped then.
        initialize: Awaited before the first message is stored or answered.
        cancel_timeout: Seconds that a cancelled adapter has for its clean-up; after that the run is
            settled without it, and whatever it still sends is dropped.
    """

    model: ChatModel | ChatModelFunction
    history: History | None = None
    suggestions: Suggestions | None = None
    feedback: FeedbackFunction | None = None
    attachments: AttachmentAdapter | None = None
    max_steps: int = DEFAULT_MAX_STEPS
    human_tools: frozenset[str] | None = None
    has_queue: bool = False
    clears_queue_on_rewind: bool = True
    clears_queue_on_cancel: bool = True
    initialize: InitializeFunction | None = None
    thread_id: str | None = None
    cancel_timeout: float = 5.0
