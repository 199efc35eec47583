"""Threads of real messages, and a local runtime whose model says what it is told to, when it is told to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from typing import Self

import anyio

from bench._answer import clock
from partwise.adapters import RunContext
from partwise.messages import COMPLETE_STOP, AssistantMessage, Message, TextPart, UserMessage
from partwise.repository import Entry, Export
from partwise.runtimes import LocalRuntime, LocalThread
from partwise.stream import Chunk, TextDelta

WHEN = datetime(2026, 1, 1, tzinfo=UTC)
PARTS = 3


def message(number: int, *, parts: int = PARTS) -> Message:
    """Return the message of that number: questions and answers in turn."""
    content = tuple(TextPart(f"part {part} of message {number}") for part in range(parts))
    if number % 2:
        return AssistantMessage(id=f"m{number}", created_at=WHEN, content=content, status=COMPLETE_STOP)
    return UserMessage(id=f"m{number}", created_at=WHEN, content=content)


def conversation(messages: int) -> list[Message]:
    """Return so many messages."""
    return [message(number) for number in range(messages)]


def branched(messages: int, branches: int) -> Export[Message]:
    """Return a thread whose second half has alternatives all along: every so many messages, one that was not taken."""
    items: list[Entry[Message]] = []
    every = max(1, (messages - branches) // (2 * max(1, branches)))
    above: str | None = None
    for number in range(messages - branches):
        given = message(number)
        items.append(Entry(above, given))
        if number > messages // 2 and number % every == 0 and len(items) < messages:
            items.append(Entry(above, message(messages + number)))
        above = given.id
    return Export(above, tuple(items))


class Streaming:
    """A local runtime in the middle of an answer; used with ``async with``.

    Args:
        messages: How many messages stand before the question.
        listen: Subscribes to the thread, before the answer begins.
    """

    def __init__(self, messages: int) -> None:
        self._orders, self._ordered = anyio.create_memory_object_stream[Sequence[Chunk]](1)
        self._report, self._reports = anyio.create_memory_object_stream[float](1)
        self.runtime = LocalRuntime(self._model, messages=conversation(messages))

    @property
    def thread(self) -> LocalThread:
        return self.runtime.thread

    async def _model(self, run: RunContext) -> AsyncIterator[Chunk]:
        yield TextDelta("Well. ")
        await self._report.send(0.0)
        async for chunks in self._ordered:
            start = clock()
            for chunk in chunks:
                yield chunk
            await self._report.send(clock() - start)

    async def __aenter__(self) -> Self:
        await self.runtime.__aenter__()
        self.thread.append("Tell me.")
        await self._reports.receive()
        return self

    async def __aexit__(self, *error: object) -> None:
        self._orders.close()
        await self.runtime.__aexit__(None, None, None)
        for stream in (self._ordered, self._report, self._reports):
            stream.close()

    async def say(self, chunks: Sequence[Chunk]) -> float:
        """Have the model yield chunks; returns the seconds from the first yield until the last was taken."""
        await self._orders.send(chunks)
        return await self._reports.receive()


def listen_to_every_part(thread: LocalThread, slices: int, hear: Callable[[object], None]) -> None:
    """Subscribe a tracked selector for each part of the first messages, the streamed part not included."""
    for number in range(slices):
        at, part = divmod(number, PARTS)
        thread.select(_text_of(f"m{at}", part)).subscribe(hear)


def _text_of(id: str, part: int) -> Callable[..., object]:
    return lambda state: state.messages.by_key(id).content[part].text
