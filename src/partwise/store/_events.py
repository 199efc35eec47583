"""What happens in a thread, beside what can be seen in its snapshot."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

import attrs

__all__ = [
    "Initialize",
    "ModelContextUpdate",
    "PersistenceFailed",
    "Report",
    "RunEnd",
    "RunStart",
    "Sent",
    "ThreadEvent",
]


@attrs.frozen
class Initialize:
    """The thread is about to get its first message. Replayed to those who listen later."""

    type: ClassVar[Literal["initialize"]] = "initialize"


@attrs.frozen(kw_only=True)
class RunStart:
    """A run began; ``message_id`` is the answer that it will write."""

    type: ClassVar[Literal["run_start"]] = "run_start"
    run_id: str
    message_id: str


@attrs.frozen(kw_only=True)
class RunEnd:
    """A run ended, however; nothing that it still sends is looked at."""

    type: ClassVar[Literal["run_end"]] = "run_end"
    run_id: str
    message_id: str


@attrs.frozen
class ModelContextUpdate:
    """The instructions or the tools that the model is given changed."""

    type: ClassVar[Literal["model_context_update"]] = "model_context_update"


@attrs.frozen
class Sent:
    """A composer handed its draft over."""

    type: ClassVar[Literal["send"]] = "send"
    message_id: str | None = None


@attrs.frozen(kw_only=True)
class PersistenceFailed:
    """The history could not load or store; what is in memory is untouched."""

    type: ClassVar[Literal["persistence_failed"]] = "persistence_failed"
    operation: str
    message_id: str | None
    error: BaseException = attrs.field(eq=False)


@attrs.frozen(kw_only=True)
class Report:
    """Something went wrong that is nobody's call to raise: an adapter misbehaved, or a task failed.

    Attributes:
        where: Which adapter or task.
        error: What happened, when it was an exception.
    """

    type: ClassVar[Literal["report"]] = "report"
    where: str
    text: str
    error: BaseException | None = attrs.field(default=None, eq=False)


ThreadEvent: TypeAlias = Initialize | RunStart | RunEnd | ModelContextUpdate | Sent | PersistenceFailed | Report
