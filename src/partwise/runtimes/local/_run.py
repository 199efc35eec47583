"""One run: its identity, its signal, and how it is cancelled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import anyio
import attrs

from partwise.adapters import CancelReason, CancelSignal, ChatModel, ChatModelFunction
from partwise.messages import AssistantMessage
from partwise.runtimes._operation import Operation

__all__ = ["Run", "RunBoard"]


@attrs.define(kw_only=True, eq=False)
class Run:
    """A run from its start until it has settled.

    Attributes:
        stream: Answers the first roundtrip in place of the model, for a resumed run.
        tells_again: Whether that stream tells a message that is there, from its first chunk.
        roundtrips: How many times the model has been asked.
        scope: The cancel scope around the adapter and the tools, while they work.
        is_forced: Whether the adapter had its chance to end by itself.
        is_concluded: Whether nothing more will be made of the message, though it may still be stored.
        is_settled: Whether the run has ended; nothing it does later counts.
    """

    id: str
    message_id: str
    parent_id: str | None
    run_config: Mapping[str, Any]
    stream: ChatModel | ChatModelFunction | None = None
    via: str | None = None
    tells_again: bool = False
    roundtrips: int = 0
    signal: CancelSignal = attrs.field(factory=CancelSignal)
    scope: anyio.CancelScope | None = None
    is_forced: bool = False
    is_concluded: bool = False
    is_settled: bool = False
    operation: Operation = attrs.field(factory=Operation)
    ended: anyio.Event = attrs.field(factory=anyio.Event)
    error: Exception | None = None

    @property
    def is_cancelled(self) -> bool:
        """Whether the run was told to end."""
        return self.signal.is_set

    def tell(self, reason: CancelReason) -> bool:
        """Ask the adapter to end; returns whether this was the first time."""
        return self.signal.set(reason)

    def force(self) -> None:
        """End what the adapter is waiting for."""
        self.is_forced = True
        if self.scope is not None:
            self.scope.cancel()

    def new_scope(self) -> anyio.CancelScope:
        """Return the scope for the next piece of work; already cancelled if the run is."""
        self.scope = anyio.CancelScope()
        if self.is_forced:
            self.scope.cancel()
        return self.scope


class RunBoard(Protocol):
    """Who may write which message, as far as a roundtrip needs to know."""

    @property
    def active(self) -> Run | None:
        """The current run, if there is one."""
        ...

    def owned(self, run: Run) -> AssistantMessage | None:
        """Return the message that a run may write, or None when it may not any more."""
        ...

    def write(self, run: Run, message: AssistantMessage) -> bool:
        """Store what a run made of its message; returns False when it may not write."""
        ...
