"""The protocol of a chat model, and what it is told about its run."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import anyio
import attrs

from partwise.messages import AssistantMessage, Message
from partwise.stream import Chunk
from partwise.tools import ModelContext, Tool

from ._result import RunResult

__all__ = ["CancelReason", "CancelSignal", "ChatModel", "ChatModelFunction", "ModelOutput", "RunContext"]

CancelReason: TypeAlias = Literal["cancel", "detach", "superseded"]


class CancelSignal:
    """Tells an adapter that its run should end, before its task is cancelled.

    ``reason`` is ``"cancel"`` when the user pressed stop, ``"detach"`` when the thread was left (a
    server may go on), ``"superseded"`` when a newer run took over, and None before any of it.
    """

    def __init__(self) -> None:
        self.reason: CancelReason | None = None
        self._event = anyio.Event()

    @property
    def is_set(self) -> bool:
        """Whether the run should end."""
        return self.reason is not None

    async def wait(self) -> None:
        """Wait until the run should end."""
        await self._event.wait()

    def set(self, reason: CancelReason) -> bool:
        """Give the signal; the first reason stays. Returns whether this was the first."""
        if self.reason is not None:
            return False
        self.reason = reason
        self._event.set()
        return True


@attrs.frozen(kw_only=True)
class RunContext:
    """Everything a chat model may know about the roundtrip that it serves.

    Attributes:
        messages: The visible conversation up to the question, without the answer in progress.
        message: The answer in progress as it is now, with the tool results of earlier roundtrips.
        context: System text, tools and settings, merged from all providers.
        run_config: What the caller of append or start_run handed over.
        roundtrip: 0 for the first call of the model in this run.
    """

    messages: tuple[Message, ...]
    assistant_message_id: str
    parent_id: str | None
    thread_id: str | None
    run_id: str
    roundtrip: int
    context: ModelContext
    run_config: Mapping[str, Any]
    signal: CancelSignal
    current_message: Callable[[], AssistantMessage] = attrs.field(repr=False)

    @property
    def message(self) -> AssistantMessage:
        """The answer in progress, as it stands at this moment."""
        return self.current_message()

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools that the model may call, by name."""
        return self.context.tools


ModelOutput: TypeAlias = RunResult | Chunk | Mapping[str, Any]
ChatModelFunction: TypeAlias = Callable[[RunContext], AsyncIterable[ModelOutput] | Awaitable[ModelOutput | None]]


@runtime_checkable
class ChatModel(Protocol):
    """An object that answers: its ``run`` is an async generator, or an async function of one result."""

    def run(self, run: RunContext, /) -> AsyncIterable[ModelOutput] | Awaitable[ModelOutput | None]:
        """Answer; yield whole results (content so far) or chunks (what is new), or return one result."""
        ...
