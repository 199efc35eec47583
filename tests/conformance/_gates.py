"""Scripted waits: named gates that a scenario opens, and what may interrupt the waiting."""

from collections.abc import Callable, Generator
from typing import Any

import anyio
import attrs

from partwise.adapters import CancelReason, CancelSignal

from ._failures import scripted

Json = Any


class EndOfScenario(Exception):
    """Raised by whatever still waits when a scenario is over."""


@attrs.define(eq=False)
class Gates:
    """The gates of one scenario; opened for good, or failed for good."""

    settled: dict[str, BaseException | None] = attrs.field(factory=dict)
    waiting: dict[str, list[anyio.Event]] = attrs.field(factory=dict)
    is_over: bool = False

    def open(self, name: str, failure: Json = None) -> None:
        self.settled[name] = None if failure is None else scripted(failure)
        for event in self.waiting.pop(name, []):
            event.set()

    def end(self) -> None:
        """Let nothing wait any more."""
        self.is_over = True
        for events in self.waiting.values():
            for event in events:
                event.set()

    async def wait(self, name: str, call: "Call | None" = None, *, shield: bool = True) -> bool:
        """Wait for a gate.

        Args:
            call: The call whose signal ends the waiting.
            shield: Whether to go on waiting when the runtime cancels the task.

        Returns:
            Whether the gate is open; False if the call's signal came first.
        """
        while not self.is_over and name not in self.settled:
            if call is not None and call.reason is not None:
                return False
            event = anyio.Event()
            self.waiting.setdefault(name, []).append(event)
            if call is not None:
                call.waiting.append(event)
            with anyio.CancelScope(shield=shield):
                await event.wait()
        if self.is_over:
            raise EndOfScenario
        failure = self.settled[name]
        if failure is not None:
            raise failure
        return True


@attrs.define(eq=False)
class Call:
    """One call of the model: its number, and what its signal has said."""

    number: int
    reason: CancelReason | None = None
    is_finished: bool = False
    waiting: list[anyio.Event] = attrs.field(factory=list)

    def watch(self, signal: CancelSignal, on_abort: Callable[[int, CancelReason], None]) -> None:
        """Hear of the signal at the moment when it is given, not a turn of the loop later."""
        inner = signal.set

        def heard(reason: CancelReason) -> bool:
            is_first = inner(reason)
            if is_first and not self.is_finished:
                self.reason = reason
                on_abort(self.number, reason)
                for event in self.waiting:
                    event.set()
            return is_first

        signal.set = heard  # type: ignore[method-assign]  # the order of the log needs the very moment


@attrs.define(eq=False)
class Later:
    """An awaitable that is no coroutine, so that nobody minds if it is never awaited."""

    run: Callable[[], Any]

    def __await__(self) -> Generator[Any, None, Any]:
        return self.run().__await__()
