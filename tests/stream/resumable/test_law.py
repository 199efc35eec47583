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
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.binary(max_size=3)),
        st.tuples(st.just("join"), st.integers(0, 3)),
        st.tuples(st.just("take"), st.integers(0, 5)),
        st.tuples(st.just("leave"), st.integers(0, 5)),
        st.tuples(st.just("return"), st.integers(0, 5)),
        st.tuples(st.just("trim"), st.integers(0, 3)),
        st.tuples(st.just("wait"), st.sampled_from([1000, 9_999, 10_000])),
        st.tuples(st.just("fail"), st.none()),
        st.tuples(st.just("finish"), st.none()),
        st.tuples(st.just("delete"), st.none()),
    ),
    max_size=30,
)


@attrs.define(eq=False)
class Edition:
    """What should be in the store."""

    handle: Any
    chunks: list[bytes] = attrs.field(factory=list[bytes])
    trimmed: int = 0
    ending: str | None = None


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

    async def play(self, steps: list[tuple[str, Any]]) -> None:
        async with anyio.create_task_group() as group:
            self.group = group
            for name, argument in steps:
                await getattr(self, f"do_{name}")(argument)
                await self.settle()
            await self.finish()
            group.cancel_scope.cancel()

    async def settle(self) -> None:
        for _ in range(12 + 2 * len(self.readers)):
            await anyio.lowlevel.checkpoint()

    async def do_append(self, data: bytes) -> None:
        edition = await self.current()
        if edition.ending is None:
            edition.chunks.append(data)
            await self.store.append(edition.handle, len(edition.chunks), data)
            self.touched = self.clock.now()

    async def do_join(self, back: int) -> None:
        edition = await self.current()
        place = max(edition.trimmed, len(edition.chunks) - back)
        self.add(edition, place)

    async def do_return(self, number: int) -> None:
        """Somebody who had left comes back to where they were."""
        for reader in self.readers[number : number + 1]:
            if reader.ending == "left":
                self.add(reader.edition, reader.place)

    def add(self, edition: Edition, place: int) -> None:
        from partwise.stream.resumable import Entry

        after = Entry(place, b"").cursor if place else None
        reader = Reader(edition, place, self.store.read(edition.handle, after))
        self.readers.append(reader)
        self.group.start_soon(reader.run)

    async def do_take(self, number: int) -> None:
        for reader in self.readers[number:]:
            reader.take(number + 1)

    async def do_leave(self, number: int) -> None:
        for reader in self.readers[number : number + 1]:
            if reader.ending is None:
                reader.scope.cancel()
                reader.ending = "left"

    async def do_trim(self, keep: int) -> None:
        edition = await self.current()
        await self.store.trim("a", keep)
        edition.trimmed = max(edition.trimmed, len(edition.chunks) - keep)

    async def do_wait(self, milliseconds: int) -> None:
        self.clock.advance(milliseconds)
        if self.edition is not None and self.clock.now() >= self.touched + LIFETIME:
            self.edition.ending, self.edition = "expired", None

    async def do_fail(self, _: None) -> None:
        await self.end("failed", StreamFailure("failed", "broke"))

    async def do_finish(self, _: None) -> None:
        await self.end("end", None)

    async def end(self, ending: str, failure: StreamFailure | None) -> None:
        edition = await self.current()
        if edition.ending is None:
            await self.store.finalize(edition.handle, failure)
            edition.ending, self.touched = ending, self.clock.now()

    async def do_delete(self, _: None) -> None:
        await self.store.delete("a")
        if self.edition is not None:
            self.edition.ending, self.edition = "deleted", None

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
        if self.edition is not None and self.edition.ending is None:
            await self.do_finish(None)
        for _ in range(40):
            await self.settle()
        for reader in self.readers:
            if reader.ending != "left":
                self.check_ending(reader)

    def check_ending(self, reader: Reader) -> None:
        edition = reader.edition
        match reader.ending:
            case "trimmed":
                assert reader.place < edition.trimmed
            case "expired" | "not-found" if edition.ending in ("expired", "deleted", "end", "failed"):
                assert edition is not self.edition
            case "end" if edition.ending == "deleted":
                pass
            case _:
                assert reader.ending == edition.ending
                assert reader.place == len(edition.chunks)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@given(steps=STEPS)
def test_any_interleaving_gives_every_chunk_exactly_once(backend: str, steps: list[tuple[str, Any]]) -> None:
    anyio.run(World().play, steps, backend=backend)
