"""What the owner of an external store says of it, and what may be done with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypedDict, Unpack

import attrs

from partwise.adapters import AttachmentAdapter, FeedbackFunction
from partwise.errors import InvalidInputError
from partwise.messages import MISSING, FrozenDict, Message, ModelContent, freeze
from partwise.runtimes._queue import MessageQueue
from partwise.runtimes._requests import AppendRequest
from partwise.store import Suggestion
from partwise.tools import ContextProvider, ToolState

from ._host_threads import ExternalThreads

__all__ = [
    "ApprovalResponse",
    "BranchChange",
    "ConvertFunction",
    "ExternalFields",
    "ExternalOptions",
    "ExternalSnapshot",
    "ExternalUpdate",
    "RunRequest",
    "SameFunction",
    "ToolOutput",
    "capabilities",
]


@attrs.frozen(kw_only=True)
class RunRequest:
    """A wish for an answer, new or going on.

    Attributes:
        parent_id: The message to answer; None answers nothing at all.
        source_id: The answer that it is another version of.
        run_config: Handed on from whoever asked.
        thread_id: The thread, for owners of several.
    """

    parent_id: str | None
    source_id: str | None = None
    run_config: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=freeze)
    thread_id: str | None = None


@attrs.frozen(kw_only=True)
class ToolOutput:
    """The result of a tool call, from a person or from a tool that ran here; ``thread_id`` is for owners of several."""

    message_id: str
    tool_call_id: str
    tool_name: str | None
    result: Any
    is_error: bool | None = False
    artifact: Any = None
    model_content: tuple[ModelContent, ...] | None = None
    thread_id: str | None = None


@attrs.frozen(kw_only=True)
class ApprovalResponse:
    """A person's decision on an approval; ``thread_id`` is for owners of several threads."""

    approval_id: str
    approved: bool | None
    option_id: str | None = None
    reason: str | None = None
    tool_call_id: str | None = None
    thread_id: str | None = None


@attrs.frozen(kw_only=True)
class BranchChange:
    """Another branch was chosen here; ``head_id`` is its last message that is no placeholder."""

    head_id: str | None
    visible_ids: tuple[str, ...]


Answer: TypeAlias = Awaitable[object] | None
ConvertFunction: TypeAlias = Callable[[Any], Any]
SameFunction: TypeAlias = Callable[[Message, Message], bool]


def _providers(providers: Iterable[ContextProvider]) -> tuple[ContextProvider, ...]:
    return providers if isinstance(providers, tuple) else tuple(providers)


@attrs.frozen(kw_only=True)
class ExternalOptions:
    """See ``ExternalStoreRuntime``; a function that is None is something that cannot be done."""

    convert: ConvertFunction | None = None
    joins: bool = False
    is_same: SameFunction | None = None
    is_running: bool | None = None
    is_loading: bool = False
    is_disabled: bool = False
    is_send_disabled: bool = False
    is_strict: bool = False
    can_copy: bool = True
    state: Any = None
    extras: Any = None
    suggestions: tuple[Suggestion, ...] = attrs.field(default=(), converter=tuple)
    threads: ExternalThreads | None = None
    tools: tuple[ContextProvider, ...] = attrs.field(default=(), converter=_providers)
    runs_tools: bool = False
    queue: MessageQueue | None = None
    feedback: FeedbackFunction | None = None
    attachments: AttachmentAdapter | None = None
    initialize: Callable[[], Awaitable[object] | None] | None = None
    on_new: Callable[[AppendRequest], Answer] | None = None
    on_edit: Callable[[AppendRequest], Answer] | None = None
    on_delete: Callable[[str], Answer] | None = None
    on_reload: Callable[[RunRequest], Answer] | None = None
    on_resume: Callable[[RunRequest], Answer] | None = None
    on_cancel: Callable[[], Answer] | None = None
    on_refetch: Callable[[], Answer] | None = None
    on_tool_result: Callable[[ToolOutput], Answer] | None = None
    on_tool_states: Callable[[Mapping[str, ToolState]], Answer] | None = None
    on_resume_tool_call: Callable[[str, Any], Answer] | None = None
    on_approval: Callable[[ApprovalResponse], Answer] | None = None
    on_import: Callable[[tuple[Message, ...]], Answer] | None = None
    on_export_state: Callable[[], Any] | None = None
    on_load_state: Callable[[Any], Answer] | None = None
    on_branch_change: Callable[[BranchChange], Answer] | None = None
    set_messages: Callable[[Sequence[Any]], Answer] | None = None

    def __attrs_post_init__(self) -> None:
        if self.runs_tools and self.on_tool_result is None:
            text = "Tools cannot run without 'on_tool_result', which takes their results; give it, or no 'runs_tools'."
            raise InvalidInputError(text)


class ExternalFields(TypedDict, total=False):
    """Everything beside the messages that the owner of a store may say; see ``ExternalStoreRuntime``."""

    convert: ConvertFunction | None
    joins: bool
    is_same: SameFunction | None
    is_running: bool | None
    is_loading: bool
    is_disabled: bool
    is_send_disabled: bool
    is_strict: bool
    can_copy: bool
    state: Any
    extras: Any
    suggestions: Iterable[Suggestion]
    threads: ExternalThreads | None
    tools: Iterable[ContextProvider]
    runs_tools: bool
    queue: MessageQueue | None
    feedback: FeedbackFunction | None
    attachments: AttachmentAdapter | None
    initialize: Callable[[], Awaitable[object] | None] | None
    on_new: Callable[[AppendRequest], Answer] | None
    on_edit: Callable[[AppendRequest], Answer] | None
    on_delete: Callable[[str], Answer] | None
    on_reload: Callable[[RunRequest], Answer] | None
    on_resume: Callable[[RunRequest], Answer] | None
    on_cancel: Callable[[], Answer] | None
    on_refetch: Callable[[], Answer] | None
    on_tool_result: Callable[[ToolOutput], Answer] | None
    on_tool_states: Callable[[Mapping[str, ToolState]], Answer] | None
    on_resume_tool_call: Callable[[str, Any], Answer] | None
    on_approval: Callable[[ApprovalResponse], Answer] | None
    on_import: Callable[[tuple[Message, ...]], Answer] | None
    on_export_state: Callable[[], Any] | None
    on_load_state: Callable[[Any], Answer] | None
    on_branch_change: Callable[[BranchChange], Answer] | None
    set_messages: Callable[[Sequence[Any]], Answer] | None


class ExternalUpdate(ExternalFields, total=False):
    """What an update may say; ``thread_id`` is the thread that it is about.

    If another one is in view, the update comes too late: it is left out and reported.
    """

    thread_id: str | None


class ExternalSnapshot:
    """One moment of an external store, for sources that say more than messages.

    Args:
        messages: A list of items or the export of a tree; not given: as before.
        fields: What else is another now; see ``ExternalStoreRuntime``.
    """

    __slots__ = ("fields", "messages")

    def __init__(self, messages: object = MISSING, **fields: Unpack[ExternalUpdate]) -> None:
        self.messages = messages
        self.fields = fields


def capabilities(options: ExternalOptions) -> frozenset[str]:
    """Tell what can be done with somebody else's messages, from the functions that their owner gave."""
    present = {
        "answer_tool_call": options.on_tool_result is not None,
        "attachments": options.attachments is not None,
        "cancel": options.on_cancel is not None,
        "copy": options.can_copy,
        "delete": options.on_delete is not None or options.set_messages is not None,
        "edit": options.on_edit is not None,
        "feedback": options.feedback is not None,
        "queue": options.queue is not None,
        "refetch": options.on_refetch is not None,
        "reload": options.on_reload is not None,
        "switch_to_branch": options.set_messages is not None,
    }
    return frozenset(name for name, is_present in present.items() if is_present)
