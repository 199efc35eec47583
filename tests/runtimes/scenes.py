"""What the tests of the runtime have in common: models that play a script, histories that can fail, open threads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import anyio

from partwise.adapters import HistoryItem, LoadedHistory, RunContext
from partwise.messages import (
    COMPLETE_UNKNOWN,
    AssistantMessage,
    Message,
    MessageStatus,
    TextPart,
    ToolCallPart,
    UserMessage,
    message_text,
)
from partwise.persistence import MemoryHistory
from partwise.repository import Entry, Export
from partwise.runtimes import LocalRuntime, LocalThread, Thread
from partwise.stream import Finish, ToolArgsDelta, ToolArgsFinish, ToolCallStart
from partwise.testing import settled as settled

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


class Script:
    """A chat model that plays one turn for each time it is asked; the last turn is played again and again.

    A turn is a list: an event is waited for, an exception is raised, a function is called with the
    context, and everything else is yielded.
    """

    def __init__(self, *turns: list[Any]) -> None:
        self.turns = turns
        self.calls: list[RunContext] = []
        self.closed = 0

    async def run(self, run: RunContext) -> AsyncIterator[Any]:
        self.calls.append(run)
        try:
            for step in self.turns[min(len(self.calls), len(self.turns)) - 1]:
                if isinstance(step, anyio.Event):
                    await step.wait()
                elif isinstance(step, BaseException):
                    raise step
                elif callable(step):
                    step(run)
                else:
                    yield step
        finally:
            self.closed += 1


def call(tool_call_id: str, name: str, args: str = "{}") -> list[Any]:
    """The chunks of one whole tool call."""
    return [ToolCallStart(tool_call_id, name), ToolArgsDelta(tool_call_id, args), ToolArgsFinish(tool_call_id)]


def calls(*names: str) -> list[Any]:
    """The chunks of an answer that calls these tools, as c0, c1 and so on, and waits for them."""
    chunks = [chunk for number, name in enumerate(names) for chunk in call(f"c{number}", name)]
    return [*chunks, Finish("tool-calls")]


class Log:
    """A history that only appends. Names of messages in ``failing`` fail once each; ``gate`` holds all writes."""

    def __init__(self, loaded: LoadedHistory | None = None) -> None:
        self.loaded = loaded
        self.writes: list[tuple[str, str, str]] = []
        self.items: dict[str, HistoryItem] = {}
        self.failing: list[str] = []
        self.gate: anyio.Event | None = None
        self.load_gate: anyio.Event | None = None
        self.loads = 0

    async def load(self) -> LoadedHistory | None:
        self.loads += 1
        if self.load_gate is not None:
            await self.load_gate.wait()
        if "load" in self.failing:
            self.failing.remove("load")
            raise OSError("disk")
        return self.loaded

    async def append(self, item: HistoryItem) -> None:
        await self._write("append", item)

    async def _write(self, verb: str, item: HistoryItem) -> None:
        if self.gate is not None:
            await self.gate.wait()
        name = describe(item.message)
        if name in self.failing:
            self.failing.remove(name)
            raise OSError("disk")
        self.writes.append((verb, name, status_of(item.message)))
        self.items[item.message.id] = item

    @property
    def order(self) -> list[str]:
        return [f"{verb} {name}" for verb, name, _ in self.writes]


class Shelf(Log):
    """A history that can do everything."""

    def __init__(self, loaded: LoadedHistory | None = None) -> None:
        super().__init__(loaded)
        self.deleted: list[str] = []
        self.heads: list[str | None] = []

    async def update(self, item: HistoryItem) -> None:
        await self._write("update", item)

    async def delete(self, items: tuple[HistoryItem, ...]) -> None:
        if "delete" in self.failing:
            self.failing.remove("delete")
            raise OSError("disk")
        self.deleted += [item.message.id for item in items]

    async def set_head(self, message_id: str | None) -> None:
        if "set_head" in self.failing:
            raise OSError("disk")
        self.heads.append(message_id)


class Slow(MemoryHistory):
    """A history in memory that can be slow, and can fail; what it holds can be loaded again."""

    def __init__(self, items: tuple[HistoryItem, ...] = ()) -> None:
        super().__init__(items)
        self.gate: anyio.Event | None = None
        self.failures = 0

    async def _wait(self) -> None:
        while self.gate is not None:
            await self.gate.wait()
        if self.failures:
            self.failures -= 1
            raise OSError("disk")

    async def load(self) -> LoadedHistory | None:
        while self.gate is not None:
            await self.gate.wait()
        return await super().load()

    async def append(self, item: HistoryItem, /) -> None:
        await self._wait()
        await super().append(item)

    async def update(self, item: HistoryItem, /) -> None:
        await self._wait()
        await super().append(item)

    async def delete(self, items: tuple[HistoryItem, ...], /) -> None:
        await self._wait()
        await super().delete(items)

    def be_slow(self) -> None:
        if self.gate is None:
            self.gate = anyio.Event()

    def open(self) -> None:
        gate, self.gate = self.gate, None
        if gate is not None:
            gate.set()


def describe(message: Message) -> str:
    return f"{message.role[0]}:{message_text(message)}"


def status_of(message: Message) -> str:
    if not isinstance(message, AssistantMessage):
        return "-"
    status = message.status
    reason = getattr(status, "reason", None)
    return status.type if reason is None else f"{status.type}/{reason}"


def shown(thread: Thread) -> list[str]:
    """Each visible message: who, what."""
    return [describe(message) for message in thread.state.messages]


def statuses(thread: Thread) -> list[str]:
    """The status of each visible answer."""
    return [status_of(message) for message in thread.state.messages if isinstance(message, AssistantMessage)]


def last(thread: Thread) -> AssistantMessage:
    message = thread.state.messages[-1]
    assert isinstance(message, AssistantMessage)
    return message


def tool_call(thread: Thread, tool_call_id: str = "c0") -> ToolCallPart:
    for message in reversed(thread.state.messages):
        for part in message.content:
            if isinstance(part, ToolCallPart) and part.tool_call_id == tool_call_id:
                return part
    raise AssertionError(tool_call_id)


def approval_of(thread: Thread, tool_call_id: str = "c0") -> str:
    approval = tool_call(thread, tool_call_id).approval
    assert approval is not None
    return approval.id


def heard(thread: Thread) -> list[str]:
    """The kinds of events from now on."""
    kinds: list[str] = []
    thread.events.subscribe(lambda event: kinds.append(event.type))
    return kinds


def reports(thread: Thread) -> list[str]:
    """What is reported from now on, by whom."""
    found: list[str] = []
    thread.events.subscribe(
        lambda event: (
            found.append(f"{event.where}: {event.text}")
            if event.type == "report"
            else found.append(f"history: {event.operation}")
            if event.type == "persistence_failed"
            else None
        )
    )
    return found


def question(message_id: str, text: str = "") -> UserMessage:
    return UserMessage(id=message_id, created_at=LONG_AGO, content=(TextPart(text or message_id),))


def answer(message_id: str, *parts: Any, status: MessageStatus = COMPLETE_UNKNOWN) -> AssistantMessage:
    return AssistantMessage(id=message_id, created_at=LONG_AGO, content=parts or (TextPart(message_id),), status=status)


def called(tool_call_id: str, name: str, **fields: Any) -> ToolCallPart:
    return ToolCallPart(tool_call_id=tool_call_id, tool_name=name, args={}, args_text="{}", **fields)


def stored(*messages: Message, head_id: str | None = None, resume: bool = False) -> LoadedHistory:
    """A history of one branch."""
    parents = [None, *(message.id for message in messages[:-1])]
    entries = tuple(Entry(parent, message) for parent, message in zip(parents, messages, strict=True))
    return LoadedHistory(entries=entries, head_id=head_id, resume=resume)


def chain(*messages: Message) -> Export[Message]:
    loaded = stored(*messages)
    return Export(messages[-1].id, loaded.entries)


@asynccontextmanager
async def talking(model: Any, **options: Any) -> AsyncIterator[LocalThread]:
    """An open runtime's thread; listeners and selectors that raise fail the test unless it gives ``on_error``."""
    errors: list[Exception] = []
    options.setdefault("on_error", lambda error, context: errors.append(error))
    async with LocalRuntime(model, **options) as runtime:
        yield runtime.thread
    assert not errors


async def until(condition: Callable[[], object], turns: int = 200) -> None:
    """Give other tasks turns until something is so."""
    for _ in range(turns):
        if condition():
            return
        await anyio.lowlevel.checkpoint()
    raise AssertionError("it did not come to pass")
