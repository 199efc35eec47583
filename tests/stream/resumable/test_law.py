"""The law: whatever happens in whatever order, a reader gets a run of chunks without a gap or a double."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.errors import StreamFailedError, StreamNotFoundError
from partwise.stream.resumable import MemoryStreamStore, ResumableStore, StreamFailure
from tests.clocks import ManualClock

LIFETIME = 10.0
# Named as often as they should come: most of life is appending and reading.
OFTEN = ("append", "take", "join")
SELDOM = ("leave", "return", "trim", "wait", "fail", "finish", "delete")
STEPS = st.lists(
    st.tuples(st.sampled_from(OFTEN * 5 + SELDOM), st.integers(0, 7)),
    min_size=6,
    max_size=30,
)


@attrs.define(eq=False)
class Edition:
    """What should be in the store."""

    handle: Any
    chunks: list[bytes] = attrs.field(factory=list[bytes])
    trimmed: int = 0
    endings: list[str] = attrs.field(factory=list[str])


@attrs.define(eq=False)
class Reader:
    """A reader, where it is, and how it ended."""

    edition: Edition
    place: int
    entries: Any
    scope: anyio.CancelScope = attrs.field(factory=anyio.CancelScope)
    turns: int = 0
    news: anyio.Event = attrs.field(factory=anyio.Event)
    ending: str | None = None

    async def run(self) -> None:
        with self.scope:
            try:
                while True:
                    while not self.turns:
                        self.news = anyio.Event()
                        await self.news.wait()
                    self.turns -= 1
                    entry = await anext(self.entries)
                    assert entry.index == self.place + 1
                    assert entry.data == self.edition.chunks[self.place]
                    self.place += 1
            except StopAsyncIteration:
                self.ending = "end"
            except StreamFailedError as error:
                self.ending = error.code
            except StreamNotFoundError:
                self.ending = "not-found"

    def take(self, count: int) -> None:
        self.turns += count
        self.news.set()


class World:
    """A store, a clock and readers, moved by steps; `settle` holds what must be true after each."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store: ResumableStore = MemoryStreamStore(clock=self.clock)
        self.readers: list[Reader] = []
        self.edition: Edition | None = None
        self.touched = 0.0

    async def play(self, steps: list[tuple[str, int]]) -> None:
        async with anyio.create_task_group() as group:
            self.group = group
            for name, number in steps:
                await getattr(self, f"do_{name}")(number)
                await self.settle()
            await self.finish()
            group.cancel_scope.cancel()

    async def settle(self) -> None:
        for _ in range(8):
            await anyio.lowlevel.checkpoint()

    async def do_append(self, number: int) -> None:
        edition = await self.current()
        if not edition.endings:
            data = b"%d" % len(edition.chunks) if number else b""
            edition.chunks.append(data)
            await self.store.append(edition.handle, len(edition.chunks), data)
            self.touched = self.clock.now()

    async def do_join(self, back: int) -> None:
        edition = await self.current()
        place = max(edition.trimmed, len(edition.chunks) - back)
        self.add(edition, place)

    async def do_return(self, number: int) -> None:
        """Somebody who had left comes back to where they were."""
        gone = [reader for reader in self.readers if reader.ending == "left"]
        if gone:
            self.add(gone[number % len(gone)].edition, gone[number % len(gone)].place)

    def add(self, edition: Edition, place: int) -> None:
        from partwise.stream.resumable import Entry

        after = Entry(place, b"").cursor if place else None
        reader = Reader(edition, place, self.store.read(edition.handle, after))
        self.readers.append(reader)
        self.group.start_soon(reader.run)

    async def do_take(self, number: int) -> None:
        """One reader, or all of them, read on."""
        if self.readers:
            one = self.readers[number % len(self.readers)]
            for reader in self.readers if number == 7 else [one]:
                reader.take(1 + number // 2)

    async def do_leave(self, number: int) -> None:
        here = [reader for reader in self.readers if reader.ending is None]
        if here:
            reader = here[number % len(here)]
            reader.scope.cancel()
            reader.ending = "left"

    async def do_trim(self, number: int) -> None:
        keep = number // 2
        edition = await self.current()
        await self.store.trim("a", keep)
        edition.trimmed = max(edition.trimmed, len(edition.chunks) - keep)

    async def do_wait(self, number: int) -> None:
        self.clock.advance([1_000, 9_999, 10_000, 5_000][number % 4])
        if self.edition is not None and self.clock.now() >= self.touched + LIFETIME:
            self.edition.endings.append("expired")
            self.edition = None

    async def do_fail(self, _: int) -> None:
        await self.end("failed", StreamFailure("failed", "broke"))

    async def do_finish(self, _: int) -> None:
        await self.end("end", None)

    async def end(self, ending: str, failure: StreamFailure | None) -> None:
        edition = await self.current()
        if not edition.endings:
            await self.store.finalize(edition.handle, failure)
            edition.endings.append(ending)
            self.touched = self.clock.now()

    async def do_delete(self, _: int) -> None:
        await self.store.delete("a")
        if self.edition is not None:
            self.edition.endings.append("deleted")
            self.edition = None

    async def current(self) -> Edition:
        if self.edition is None:
            answer = await self.store.acquire("a", ttl=LIFETIME, lease=10**6)
            assert answer.is_producer
            self.edition, self.touched = Edition(answer.edition), self.clock.now()
        return self.edition

    async def finish(self) -> None:
        """Everybody reads on: who stays gets all there is, and then the ending; nobody hangs."""
        for reader in self.readers:
            reader.take(10**6)
        await self.settle()
        if self.edition is not None and not self.edition.endings:
            await self.do_finish(0)
        for _ in range(1000):
            if all(reader.ending is not None for reader in self.readers):
                break
            await self.settle()
        assert [reader for reader in self.readers if reader.ending is None] == []
        for reader in self.readers:
            if reader.ending != "left":
                self.check_ending(reader)

    def check_ending(self, reader: Reader) -> None:
        chunks, endings = len(reader.edition.chunks), reader.edition.endings
        match reader.ending:
            case "trimmed":
                assert reader.place < reader.edition.trimmed
            case "not-found":
                assert {"expired", "deleted"} & set(endings)
            case "expired":
                assert "expired" in endings
            case "failed":
                assert "failed" in endings
                assert reader.place == chunks
            case _:
                assert "deleted" in endings or ("end" in endings and reader.place == chunks)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@given(steps=STEPS)
def test_any_interleaving_gives_every_chunk_exactly_once(backend: str, steps: list[tuple[str, int]]) -> None:
    anyio.run(World().play, steps, backend=backend)
