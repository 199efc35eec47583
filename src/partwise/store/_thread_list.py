"""The snapshot of a list of threads, and what happens beside it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal, TypeAlias

import attrs

from partwise.messages import FrozenDict, freeze
from partwise.reactive import KeyedSeq

__all__ = [
    "ThreadListEvent",
    "ThreadListFailed",
    "ThreadListReport",
    "ThreadListState",
    "ThreadRow",
    "ThreadStatus",
]

ThreadStatus: TypeAlias = Literal["new", "regular", "archived"]


@attrs.frozen(kw_only=True)
class ThreadRow:
    """What a list shows of one thread.

    Attributes:
        id: The id that it has here, from first to last.
        remote_id: The id under which it is kept; None until it is.
        external_id: An id of somebody else's.
        status: New until its first message is sent.
        is_live: Whether its runtime is open, in view or in the background.
        is_running: Whether an answer is being made in it.
        is_unread: Whether an answer came while another thread was in view.
    """

    id: str
    remote_id: str | None = None
    external_id: str | None = None
    status: ThreadStatus = "new"
    title: str | None = None
    last_message_at: datetime | None = None
    custom: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=freeze)
    is_live: bool = False
    is_running: bool = False
    is_unread: bool = False


@attrs.frozen(kw_only=True)
class ThreadListState:
    """A list of threads at one moment.

    Attributes:
        rows: All threads, read by id: new ones, regular ones, archived ones.
        new_ids: Threads without a first message; the newest first, seldom more than one.
        regular_ids, archived_ids: The threads of the two lists, in order.
        main_id: The thread in view; None only before the list is entered.
        is_loading: Whether the first page is on its way.
        is_loading_more: Whether another page is on its way.
        has_more: Whether there is another page.
        capabilities: What the list can do beyond the rest: ``"update_custom"``, ``"generate_title"``.
    """

    rows: KeyedSeq[str, ThreadRow] = attrs.field(factory=KeyedSeq)
    new_ids: tuple[str, ...] = ()
    regular_ids: tuple[str, ...] = ()
    archived_ids: tuple[str, ...] = ()
    main_id: str | None = None
    is_loading: bool = False
    is_loading_more: bool = False
    has_more: bool = False
    capabilities: frozenset[str] = frozenset()


@attrs.frozen(kw_only=True)
class ThreadListFailed:
    """Something that was asked of the list failed; it shows what it showed before.

    Attributes:
        operation: For example ``"rename"``, ``"list"`` or ``"open"``.
        thread_id: The id of the row, or None when it is about the list.
    """

    type: ClassVar[Literal["thread_list_failed"]] = "thread_list_failed"
    operation: str
    thread_id: str | None
    error: BaseException = attrs.field(eq=False)


@attrs.frozen(kw_only=True)
class ThreadListReport:
    """The adapter said something that cannot be used as it is; the rest was."""

    type: ClassVar[Literal["report"]] = "report"
    where: str
    text: str


ThreadListEvent: TypeAlias = ThreadListFailed | ThreadListReport
