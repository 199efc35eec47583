"""The context: producers that outlive their readers, and what becomes of both when something ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from partwise.errors import (
    InvalidInputError,
    NotAllowedError,
    StreamFailedError,
    StreamIdError,
    StreamLostError,
    StreamNotFoundError,
)
from partwise.stream.resumable import (
    MemoryStreamStore,
    ResumableStreams,
    StreamAcquired,
    StreamAppended,
    StreamEvent,
    StreamFailure,
    StreamFinalized,
    StreamLimits,
    StreamTrouble,
)
from tests.clocks import ManualClock
from tests.stream.resumable.scenes import Bench, Fed, all_of, some_of, turns


async def test_everybody_gets_every_chunk_once_whenever_they_come(bench: Bench) -> None:
    source = Fed()
    async with bench.streams() as streams:
        first = await streams.produce("a", source)
        source.feed(b"1", b"2")
        assert await some_of(first, 2) == [b"1", b"2"]
        second = await streams.produce("a", source)
        third = await streams.resume("a", after=first.cursor)
        assert [first.is_producer, second.is_producer, third.is_producer] == [True, False, False]
        source.feed(b"3")
        source.end()
        assert await all_of(second) == [b"1", b"2", b"3"]
        assert await all_of(third) == [b"3"]
        assert await all_of(first) == [b"3"]
        assert await all_of(await streams.resume("a")) == [b"1", b"2", b"3"]
        assert await streams.status("a") == "done"
        assert source.starts == 1
        with pytest.raises(StreamNotFoundError):
            await streams.resume("b")


async def test_of_many_producers_at_once_one_wins_and_all_read_the_same(bench: Bench) -> None:
    sources = [Fed() for _ in range(8)]
    got: list[list[bytes]] = []
    async with bench.streams() as streams:

        async def ask(number: int) -> None:
            sources[number].feed(b"%d" % number, b"!")
            sources[number].end()
            got.append(await all_of(await streams.produce("a", sources[number])))

        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(ask, number)
    [winner] = [number for number, source in enumerate(sources) if source.starts]
    assert got == [[b"%d" % winner, b"!"]] * 8


async def test_a_producer_goes_on_when_all_its_readers_are_cancelled(bench: Bench) -> None:
    source = Fed()
    async with bench.streams() as streams:
        got: list[bytes] = []

        async def read() -> None:
            async with await streams.produce("a", source) as reader:
                async for data in reader:
                    got.append(data)
                    leave.cancel()

        with anyio.CancelScope() as leave:
            source.feed(b"1")
            await read()
        assert got == [b"1"]
        source.feed(b"2")
        source.end()
        await streams.drain()
        assert streams.producing == 0
        assert await all_of(await streams.resume("a")) == [b"1", b"2"]


async def test_leaving_the_context_cancels_producers_closes_sources_and_tells_readers(bench: Bench) -> None:
    source, never = Fed(), Fed()
    async with bench.streams() as streams:
        reader = await streams.produce("a", source)
        unread = await streams.produce("b", never)
        source.feed(b"1")
        assert await some_of(reader, 1) == [b"1"]
    assert source.closed.is_set()
    for chunks in (reader, unread):
        with pytest.raises(StreamFailedError) as caught:
            await all_of(chunks)
        assert caught.value.code == "cancelled"
    async with bench.streams() as streams:
        assert await streams.status("a") == await streams.status("b") == "error"
        late = await streams.resume("a")
        assert await anext(late) == b"1"
        with pytest.raises(StreamFailedError):
            await anext(late)


async def test_a_context_that_is_not_open_produces_nothing(bench: Bench) -> None:
    streams = bench.streams()
    with pytest.raises(NotAllowedError, match="'a' cannot be produced"):
        await streams.produce("a", Fed())
    async with streams:
        assert await streams.status("a") == "missing"
    with pytest.raises(NotAllowedError):
        await streams.produce("a", Fed())


async def test_what_the_block_raises_leaves_as_it_is(bench: Bench) -> None:
    class Mine(Exception):
        pass

    async def block() -> None:
        async with bench.streams() as streams:
            await streams.produce("a", Fed())
            raise Mine

    with pytest.raises(Mine):
        await block()


async def test_a_source_that_raises_fails_the_stream_with_its_words(bench: Bench) -> None:
    source = Fed()
    events: list[StreamEvent] = []
    async with bench.streams(listener=events.append) as streams:
        reader = await streams.produce("a", source)
        source.feed(b"12", ValueError("broke"))
        assert await some_of(reader, 1) == [b"12"]
        with pytest.raises(StreamFailedError, match=r"^broke$"):
            await anext(reader)
        await streams.drain()
    failure = StreamFailure("failed", "broke")
    trouble = next(event for event in events if isinstance(event, StreamTrouble))
    assert isinstance(trouble.error, ValueError)
    expected = [StreamAcquired("a", True), StreamAppended("a", 2), trouble, StreamFinalized("a", failure)]
    assert events == expected


async def _text() -> AsyncIterator[Any]:
    yield "text"


def _raise() -> AsyncIterator[bytes]:
    raise KeyError


async def _late() -> AsyncIterator[bytes]:
    return _good()


async def _good() -> AsyncIterator[bytes]:
    yield bytearray(b"good")
    yield memoryview(b"good")


async def test_sources_of_all_kinds(bench: Bench) -> None:
    async with bench.streams(listener=lambda event: None) as streams:
        assert await all_of(await streams.produce("good", _late)) == [b"good", b"good"]
        for name, make, text in (("text", _text, "yielded str, not bytes"), ("raises", _raise, "KeyError")):
            with pytest.raises(StreamFailedError, match=text):
                await all_of(await streams.produce(name, make))


async def test_a_listener_that_raises_changes_nothing(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    def broken(event: StreamEvent) -> None:
        raise RuntimeError(event)

    async with bench.streams(listener=broken) as streams:
        assert await all_of(await streams.produce("a", _good)) == [b"good", b"good"]
    assert "A listener to resumable streams raised" in caplog.text


async def test_without_a_listener_trouble_is_logged(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    async with bench.streams() as streams:
        with pytest.raises(StreamFailedError):
            await all_of(await streams.produce("a", _raise))
    assert "Stream 'a'" in caplog.text


async def test_a_delete_is_noticed_with_the_next_chunk_and_the_source_is_closed(bench: Bench) -> None:
    source, new = Fed(), Fed()
    events: list[StreamEvent] = []
    async with bench.streams(listener=events.append) as streams:
        old = await streams.produce("a", source)
        source.feed(b"1")
        assert await some_of(old, 1) == [b"1"]
        await streams.delete("a")
        reader = await streams.produce("a", new)
        source.feed(b"old")
        await source.closed.wait()
        new.feed(b"new")
        new.end()
        assert await all_of(reader) == [b"new"]
        assert await all_of(old) == []
        await streams.drain()
    [trouble] = [event.error for event in events if isinstance(event, StreamTrouble)]
    assert isinstance(trouble, StreamLostError)
    assert trouble.code == "superseded"


@pytest.mark.parametrize("bad", ["", "a b", "a/b", "é", "x" * 257, "a\n", "a{b}", None, 5])
async def test_an_id_that_no_stream_can_have_is_refused_everywhere(bench: Bench, bad: Any) -> None:
    async with bench.streams() as streams:
        for attempt in (
            lambda: streams.produce(bad, Fed()),
            lambda: streams.resume(bad),
            lambda: streams.status(bad),
            lambda: streams.delete(bad),
        ):
            with pytest.raises(StreamIdError, match="Use 1 to 256 letters"):
                await attempt()


@pytest.mark.parametrize("options", [{"ttl": -1}, {"lease": 0}, {"lease": -3}, {"ttl": float("nan")}])
def test_a_time_that_makes_no_sense_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError, match="number of seconds"):
        ResumableStreams(MemoryStreamStore(), **options)


# What follows needs a clock that the test moves, and so the store in memory.


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


class TestTime:
    """Leases and lifetimes, by a clock."""

    @pytest.fixture(params=["asyncio", "trio"])
    def anyio_backend(self, request: pytest.FixtureRequest) -> str:
        return request.param

    async def test_a_silent_producer_keeps_its_lease(self, clock: ManualClock) -> None:
        source = Fed()
        store = MemoryStreamStore(clock=clock)
        async with ResumableStreams(store, lease=30, clock=clock) as streams:
            reader = await streams.produce("a", source)
            for _ in range(100):
                await turns()
                clock.advance(10_000)
            await turns()
            assert await streams.status("a") == "streaming"
            source.feed(b"1")
            source.end()
            assert await all_of(reader) == [b"1"]

    async def test_a_producer_whose_event_loop_stood_still_too_long_gives_up(self, clock: ManualClock) -> None:
        source = Fed()
        events: list[StreamEvent] = []
        store = MemoryStreamStore(clock=clock)
        async with ResumableStreams(store, lease=30, clock=clock, listener=events.append) as streams:
            reader = await streams.produce("a", source)
            await turns()
            clock.advance(30_000)
            await source.closed.wait()
            with pytest.raises(StreamFailedError) as caught:
                await all_of(reader)
            await streams.drain()
        assert caught.value.code == "abandoned"
        assert [type(event) for event in events] == [StreamAcquired, StreamTrouble]

    async def test_a_delete_is_noticed_with_the_next_sign_of_life(self, clock: ManualClock) -> None:
        source = Fed()
        store = MemoryStreamStore(clock=clock)
        async with ResumableStreams(store, lease=30, clock=clock, listener=lambda event: None) as streams:
            await streams.produce("a", source)
            await streams.delete("a")
            await turns()
            assert not source.closed.is_set()
            clock.advance(10_000)
            await source.closed.wait()
            await streams.drain()

    async def test_expired_streams_make_room_though_nobody_asks_for_them(self, clock: ManualClock) -> None:
        store = MemoryStreamStore(limits=StreamLimits(streams=3), clock=clock)
        async with ResumableStreams(store, ttl=10, clock=clock) as streams:
            for round_ in range(4):
                for number in range(3):
                    assert await all_of(await streams.produce(f"{round_}-{number}", _good)) == [b"good"] * 2
                clock.advance(10_000)
            assert [await streams.status(f"{round_}-0") for round_ in range(4)] == ["missing"] * 4

    async def test_the_real_clock_ends_a_wait(self) -> None:
        store = MemoryStreamStore()
        edition = (await store.acquire("a", ttl=0.01, lease=30)).edition
        with pytest.raises(StreamFailedError) as caught:
            [entry async for entry in store.read(edition)]
        assert caught.value.code == "expired"


@pytest.mark.parametrize("way", ["deleted", "expired"])
async def test_what_is_gone_takes_no_room(way: str) -> None:
    clock = ManualClock()
    store = MemoryStreamStore(clock=clock)
    for number in range(200):
        acquired = await store.acquire(f"kept-{number % 3}", ttl=1e9, lease=1e9)
        gone = await store.acquire(f"gone-{number}", ttl=10, lease=10)
        await store.append(gone.edition, 1, b"x" * 100)
        assert acquired.edition.stream_id == f"kept-{number % 3}"
        if way == "deleted":
            await store.delete(f"gone-{number}")
        else:
            clock.advance(20_000)
            assert await store.find(f"gone-{number}") is None
    assert len(store._deadlines) <= 2 * 3 + 17
    assert len(store._streams) == 3
