"""Scripts of models and suggestion sources, performed step by step."""

from collections.abc import Callable
from typing import Any

import anyio
import attrs

from partwise.errors import AbortedError

from ._failures import scripted
from ._gates import Call, Gates, Later

Json = Any
Nested = Callable[[Json], None]


@attrs.define(eq=False)
class Script:
    """The steps of one script, performed for a call of the model or a request for suggestions.

    Attributes:
        make: Makes what is handed over of what the script says.
        on_cancel: Told when a wait is cancelled; without it, waits go on whatever happens to the task.
    """

    steps: list[Json]
    gates: Gates
    nested: Nested
    make: Callable[[Json], Any]
    call: Call
    on_cancel: Callable[[], None] | None = None

    async def until(self, stop: str) -> tuple[str, Any]:
        """Perform steps up to one that hands something over; returns how it ended and what it gave."""
        while self.steps:
            step = self.steps.pop(0)
            if "wait" in step:
                if not await self._wait(step):
                    return "stopped", None
            elif "raise" in step:
                raise scripted(step["raise"])
            elif "do" in step:
                self.nested(step["do"])
            elif stop in step:
                return stop, self.make(step[stop])
            else:
                raise ValueError(f"unknown step {step!r}")
        return "end", None

    async def _wait(self, step: Json) -> bool:
        on_abort = step.get("onAbort", "ignore")
        call = None if on_abort == "ignore" else self.call
        try:
            is_open = await self.gates.wait(step["wait"], call, shield=self.on_cancel is None)
        except anyio.get_cancelled_exc_class():
            if self.on_cancel is not None:
                self.on_cancel()
            raise
        if is_open or on_abort == "continue":
            return True
        if on_abort == "stop":
            return False
        raise AbortedError(f"aborted: {self.call.reason}")

    async def promise(self) -> Any:
        try:
            how, value = await self.until("return")
            return self.make({}) if how == "stopped" else value
        finally:
            self.call.is_finished = True

    def __aiter__(self) -> "Script":
        return self

    async def __anext__(self) -> Any:
        try:
            how, value = await self.until("yield")
        except BaseException:
            self.call.is_finished = True
            raise
        if how != "yield":
            self.call.is_finished = True
            raise StopAsyncIteration
        return value

    async def aclose(self) -> None:
        """Leaving the loop over the stream ends it."""
        self.call.is_finished = True


def start(
    script: Json,
    gates: Gates,
    nested: Nested,
    make: Callable[[Json], Any],
    call: Call,
    on_cancel: Callable[[], None] | None = None,
) -> Any:
    """What calling a scripted function gives: an awaitable, or an asynchronous iterator."""
    if script["mode"] == "throw":
        call.is_finished = True
        raise scripted(script["raise"])
    running = Script(list(script["steps"]), gates, nested, make, call, on_cancel)
    return running if script["mode"] == "stream" else Later(running.promise)
