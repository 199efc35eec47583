"""Performs a vector's steps one after the other and takes down what happened."""

from collections.abc import Callable
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from partwise.runtimes import Operation
from partwise.testing import settled as at_rest

from ._failures import written
from ._gates import Gates
from ._operations import Operations
from ._trace import EVENTS, Trace, capabilities, state

Json = Any

# Operations whose call never raises in the reference: what goes wrong is told by what they return.
PROMISING = {
    "append",
    "delete_message",
    "load",
    "start_run",
    "send",
    "add_attachment",
    "remove_attachment",
    "clear_attachments",
    "composer_reset",
    "threads",
}
# Those that are waited for, in addition; but their call may raise.
AWAITED = {"resume_run", "respond_to_approval"}
# Turns of the loop before asking whether anything still moves: the asking sleeps if something does.
_TURNS = 60


class Scenario:
    """One local runtime, driven by a vector."""

    def __init__(self, given: Json, suggestion_numbers: list[int], make: Callable[..., Any] = Operations) -> None:
        self.given = given
        self.trace = Trace()
        self.gates = Gates()
        self.open: dict[int | str, Operation] = {}
        self.settled: list[Json] = []
        self.nested_count = 0
        self.operations = make(given, self.trace, self.gates, self.nested, suggestion_numbers)
        self.operations.listen(self._heard)

    def _heard(self, event: Any) -> None:
        if event.type in EVENTS:
            self.trace.note("event", EVENTS[event.type])

    async def run(self) -> Json:
        """Perform every step; returns the steps, the creation first, and what there is at the end."""
        async with anyio.create_task_group() as tasks:
            runtime = await self._enter(tasks)
            initial = await self._rest({})
            steps = [await self._step(number, op) for number, op in enumerate(self.given["steps"])]
            end = {"tree": self.operations.exported(), "pending": sorted(self.open, key=str)}
            outcome = {"steps": [initial, *steps], "end": end}
            self.gates.end()
            runtime.cancel()
        return outcome

    async def _enter(self, tasks: Any) -> anyio.CancelScope:
        scope, entered = anyio.CancelScope(), anyio.Event()

        async def live() -> None:
            with scope:
                async with self.operations.runtime:
                    entered.set()
                    await anyio.sleep_forever()

        tasks.start_soon(live)
        await entered.wait()
        return scope

    async def _step(self, number: int, op: Json) -> Json:
        answer: Json = {}
        self.operations.begin(op)
        try:
            value = self.perform(op, number)
        except Exception as error:
            if op["op"] in PROMISING and getattr(error, "code", "") != "composer-unavailable":
                self.settled.append([number, written(error)])
            else:
                answer["error"] = written(error)
        else:
            if op["op"].startswith("get_") or op["op"] in {"export", "restore_draft", "threads_state"}:
                answer["value"] = value
        self.operations.performed(op)
        return await self._rest(answer)

    async def _rest(self, answer: Json) -> Json:
        for _ in range(_TURNS):
            await checkpoint()
        await at_rest()
        for key, operation in list(self.open.items()):
            if operation.is_done:
                del self.open[key]
                self.settled.append(
                    [key, getattr(operation, "gives", "ok") if operation.error is None else written(operation.error)]
                )
        settled, self.settled = sorted(self.settled, key=lambda pair: str(pair[0])), []
        now = self.operations.thread.state
        shown = {"state": {**state(now), **self.operations.also(now)}, "capabilities": capabilities(now)}
        return {**answer, **({"settled": settled} if settled else {}), "log": self.trace.take(), **shown}

    def nested(self, op: Json) -> None:
        """Perform an operation from inside a callback."""
        key = f"nested-{self.nested_count}"
        self.nested_count += 1
        self.trace.note("nested", op["op"])
        try:
            self.perform(op, key)
        except Exception as error:
            if op["op"] in PROMISING:
                self.settled.append([key, written(error)])
            else:
                self.trace.note("nested-error", written(error))

    def perform(self, op: Json, key: int | str) -> Json:
        """Perform one operation; what settles later is kept under the key."""
        answer = self.operations.perform(op)
        if op["op"] in PROMISING | AWAITED:
            self.open[key] = answer
        return answer
