"""The snapshot of one thread: everything that a UI may show of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import attrs

from partwise.messages import Attachment, FrozenDict, Message, Part, Role, freeze
from partwise.reactive import KeyedSeq

__all__ = ["ComposerState", "QueueItem", "Quote", "Suggestion", "ThreadState", "with_messages"]


@attrs.frozen
class Suggestion:
    """A prompt that the user might send next, with words for its button."""

    prompt: str
    title: str | None = attrs.field(default=None, kw_only=True)
    label: str | None = attrs.field(default=None, kw_only=True)


@attrs.frozen(kw_only=True)
class QueueItem:
    """A message that waits for the thread to be free.

    Attributes:
        prompt: Its text, for a list of what is waiting.
        parts: Its text and files, as a UI would show them.
    """

    id: str
    prompt: str
    parts: tuple[Part, ...] = ()


@attrs.frozen(kw_only=True)
class Quote:
    """The piece of another message that a draft answers."""

    text: str
    message_id: str


@attrs.frozen(kw_only=True)
class ComposerState:
    """A draft.

    Attributes:
        is_editing: Whether the draft can be typed into; an edit composer exists only while it is.
        is_sending: Whether a send is under way; the draft cannot be sent meanwhile.
    """

    text: str = ""
    role: Role = "user"
    attachments: tuple[Attachment, ...] = ()
    run_config: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=freeze)
    quote: Quote | None = None
    is_editing: bool = True
    is_sending: bool = False


Branches: TypeAlias = Mapping[str, tuple[str, ...]]


@attrs.frozen(kw_only=True)
class ThreadState:
    """One thread at one moment.

    Attributes:
        messages: The visible branch, root first; read by position or by id.
        branches: For each visible message that has alternatives: the ids of all of them, oldest first.
        head_id: The last visible message.
        is_running: Whether a run is live, also one whose branch is hidden.
        is_loading: Whether the history is being loaded.
        capabilities: What may be done here, for example ``"cancel"``.
        suggestions: What the user might say next.
        state: The model's own state: that of the last visible assistant message.
        queue, steer_queue: Messages that wait for the thread to be free; the second go first.
        composer: The draft of the next message.
        edits: Open drafts of edited messages, by message id.
        extras: Whatever the owner of an external store adds.
    """

    messages: KeyedSeq[str, Message] = attrs.field(factory=KeyedSeq)
    branches: Branches = attrs.field(factory=FrozenDict)
    head_id: str | None = None
    is_running: bool = False
    is_loading: bool = False
    is_disabled: bool = False
    is_send_disabled: bool = False
    capabilities: frozenset[str] = frozenset()
    suggestions: tuple[Suggestion, ...] = ()
    state: Any = None
    queue: tuple[QueueItem, ...] = ()
    steer_queue: tuple[QueueItem, ...] = ()
    composer: ComposerState = attrs.field(factory=ComposerState)
    edits: Mapping[str, ComposerState] = attrs.field(factory=FrozenDict)
    extras: Any = None


def with_messages(state: ThreadState, messages: KeyedSeq[str, Message]) -> ThreadState:
    """Return ``state`` with other messages, and everything else as it is."""
    # Spelled out, because it runs for every delta and attrs.evolve takes nearly twice as long.
    return ThreadState(
        messages=messages,
        branches=state.branches,
        head_id=state.head_id,
        is_running=state.is_running,
        is_loading=state.is_loading,
        is_disabled=state.is_disabled,
        is_send_disabled=state.is_send_disabled,
        capabilities=state.capabilities,
        suggestions=state.suggestions,
        state=state.state,
        queue=state.queue,
        steer_queue=state.steer_queue,
        composer=state.composer,
        edits=state.edits,
        extras=state.extras,
    )
