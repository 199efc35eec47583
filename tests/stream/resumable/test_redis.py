"""What only a store in Redis can get wrong."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from redis.asyncio import Redis

from partwise.errors import AdapterError, InvalidInputError, StreamFailedError, WrongEventLoopError
from partwise.persistence.redis import RedisStreamStore
from partwise.stream.resumable import ResumableStreams
from partwise.testing import settled
from tests.stream.resumable.scenes import Fed, acquired, all_of, tail, written


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def client(redis_port: int) -> AsyncIterator[Redis]:
    async with Redis(host="127.0.0.1", port=redis_port) as client:
        await client.flushall()
        yield client


@pytest.mark.parametrize("protocol", [2, 3])
async def test_both_versions_of_the_protocol_are_understood(redis_port: int, protocol: int) -> None:
    async with Redis(host="127.0.0.1", port=redis_port, protocol=protocol) as client:
        await client.flushall()
        store = RedisStreamStore(client)
        edition = await written(store, *[b"%d" % number for number in range(1, 100)])
        await store.finalize(edition, None)
        assert await tail(store, edition) == [(number, b"%d" % number) for number in range(1, 100)]
        assert await tail(store, edition, "2q") == [(99, b"99")]


async def test_a_client_that_decodes_is_refused(redis_port: int) -> None:
    async with Redis(host="127.0.0.1", port=redis_port, decode_responses=True) as client:
        with pytest.raises(InvalidInputError, match="decode_responses"):
            RedisStreamStore(client)


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_trio_is_refused_with_what_to_do() -> None:
    store = RedisStreamStore(Redis(port=1))
    with pytest.raises(WrongEventLoopError, match="MemoryStreamStore"):
        await store.acquire("a", ttl=None, lease=1)


async def test_a_server_that_is_not_there_is_an_error_of_the_store() -> None:
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    async with Redis(host="127.0.0.1", port=1, retry=Retry(NoBackoff(), 0)) as client:
        with pytest.raises(AdapterError, match="could not look at stream 'a'"):
            await RedisStreamStore(client).acquire("a", ttl=None, lease=1)


async def test_two_servers_share_streams(client: Redis, redis_port: int) -> None:
    source = Fed()
    async with (
        Redis(host="127.0.0.1", port=redis_port) as other,
        ResumableStreams(RedisStreamStore(client)) as one,
        ResumableStreams(RedisStreamStore(other)) as two,
    ):
        await one.produce("a", source)
        source.feed(b"1")
        joined = await two.produce("a", Fed())
        assert not joined.is_producer
        assert await anext(joined) == b"1"
        source.feed(b"2")
        source.end()
        assert await all_of(joined) == [b"2"]
        await two.delete("a")
        assert await one.status("a") == "missing"


async def test_a_reader_that_is_cancelled_while_it_waits_leaves_the_client_usable(client: Redis) -> None:
    store = RedisStreamStore(client, max_wait=2)
    edition = await acquired(store)
    for index in range(1, 6):
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(tail, store, edition)
            await settled()
            group.cancel_scope.cancel()
        await store.append(edition, index, b"%d" % index)
    await store.finalize(edition, None)
    assert [data for _, data in await tail(store, edition)] == [b"1", b"2", b"3", b"4", b"5"]


async def test_nothing_is_kept_for_ever(client: Redis) -> None:
    store = RedisStreamStore(client, default_ttl=100)
    edition = await written(store, b"1")
    await store.delete((await written(store, b"1", stream_id="deleted")).stream_id)
    await store.finalize(await written(store, b"1", stream_id="done"), None)
    keys = [key async for key in client.scan_iter("*")]
    assert len(keys) == 6
    assert {key: await client.ttl(key) for key in keys if not 0 < await client.ttl(key) <= 100} == {}
    await client.pexpire(f"partwise:stream:{{a}}:{edition.token}", 50_000)
    await store.append(edition, 2, b"2")
    assert await client.pttl(f"partwise:stream:{{a}}:{edition.token}") > 50_000


async def test_chunks_that_somebody_else_removed_are_a_gap_and_not_silence(client: Redis) -> None:
    store = RedisStreamStore(client)
    edition = await written(store, b"1", b"2", b"3", b"4")
    await client.xdel(f"partwise:stream:{{a}}:{edition.token}", "3-0")
    reader = store.read(edition)
    assert [(await anext(reader)).data, (await anext(reader)).data] == [b"1", b"2"]
    with pytest.raises(StreamFailedError, match="Chunks 3 to 3"):
        await anext(reader)


PRODUCER = """
import sys
import anyio
from redis.asyncio import Redis
from partwise.persistence.redis import RedisStreamStore
from partwise.stream.resumable import ResumableStreams

async def source():
    number = 0
    while True:
        number += 1
        yield b"%d" % number
        print(number, flush=True)
        if number == 50:
            await anyio.sleep_forever()

async def main():
    async with Redis(host="127.0.0.1", port=int(sys.argv[1])) as client:
        async with ResumableStreams(RedisStreamStore(client), lease=0.5) as streams:
            await streams.produce("a", source)
            await anyio.sleep_forever()

anyio.run(main)
"""


async def test_the_readers_of_a_killed_process_get_all_it_wrote_and_then_an_error(
    client: Redis, redis_port: int, repository_root: Path
) -> None:
    command = [sys.executable, "-c", PRODUCER, str(redis_port)]
    environment = {"PYTHONPATH": str(repository_root / "src")}
    async with await anyio.open_process(command, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        seen = b""
        while b"50\n" not in seen:
            seen += await process.stdout.receive()
        async with ResumableStreams(RedisStreamStore(client)) as streams:
            reader = await streams.resume("a")
            got = [await anext(reader) for _ in range(49)]
            process.send_signal(signal.SIGKILL)
            rest: list[bytes] = []
            with pytest.raises(StreamFailedError) as caught:
                rest.extend([data async for data in reader])
            assert caught.value.code == "abandoned"
            late = await streams.resume("a")
            everything = [await anext(late) for _ in range(50)]
            with pytest.raises(StreamFailedError):
                await anext(late)
            assert await streams.status("a") == "error"
    assert everything == [b"%d" % number for number in range(1, 51)]
    assert got == everything[:49]
