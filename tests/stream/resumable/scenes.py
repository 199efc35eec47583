"""Stores to be tested in one way, sources that tests feed, and readers that are asked for all they get."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
import attrs

from partwise.stream.resumable import Acquired, Edition, ResumableStore, ResumableStreams, StreamReader


@attrs.frozen
class Bench:
    """A store, and how its time is made to pass.

    Attributes:
        expire: Lets a stream's life end.
        kill: Lets a stream's lease run out.
    """

    store: ResumableStore
    expire: Callable[[str], Awaitable[None]]
    kill: Callable[[str], Awaitable[None]]
    options: dict[str, Any] = attrs.field(factory=dict)

    def streams(self, **options: Any) -> ResumableStreams:
        return ResumableStreams(self.store, **{**self.options, **options})


class Fed:
    """A source that yields what the test feeds it, and tells how it was left."""

    def __init__(self) -> None:
        self._items: deque[Any] = deque()
        self._news = anyio.Event()
        self.starts = 0
        self.closed = anyio.Event()

    def __call__(self) -> AsyncIterator[bytes]:
        self.starts += 1
        return self._run()

    async def _run(self) -> AsyncIterator[bytes]:
        try:
            while True:
                while not self._items:
                    self._news = anyio.Event()
                    await self._news.wait()
                item = self._items.popleft()
                if item is None:
                    return
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            self.closed.set()

    def feed(self, *items: Any) -> None:
        self._items.extend(items)
        self._news.set()

    def end(self) -> None:
        self.feed(None)


async def turns(count: int = 60) -> None:
    """Let every task come to rest that needs no more than memory to do so."""
    for _ in range(count):
        await anyio.lowlevel.checkpoint()


async def all_of(reader: AsyncIterator[bytes]) -> list[bytes]:
    return [data async for data in reader]


async def some_of(reader: StreamReader, count: int) -> list[bytes]:
    return [await anext(reader) for _ in range(count)]


async def acquired(store: ResumableStore, stream_id: str = "a", *, lease: float = 30.0) -> Edition:
    """Make a stream in a store, and be its producer."""
    answer: Acquired = await store.acquire(stream_id, ttl=None, lease=lease)
    assert answer.is_producer
    return answer.edition


async def written(store: ResumableStore, *chunks: bytes, stream_id: str = "a") -> Edition:
    """Make a stream with chunks."""
    edition = await acquired(store, stream_id)
    for index, data in enumerate(chunks, 1):
        await store.append(edition, index, data)
    return edition


async def tail(store: ResumableStore, edition: Edition, after: str | None = None) -> list[tuple[int, bytes]]:
    """Read to the end from a place."""
    return [(entry.index, entry.data) async for entry in store.read(edition, after)]
