"""The stores: one in memory with a clock of its own, and one in a real Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from partwise.persistence.redis import RedisStreamStore
from partwise.stream.resumable import MemoryStreamStore, StreamLimits
from tests.clocks import ManualClock
from tests.stream.resumable.scenes import Bench

LIMITS = StreamLimits(chunk_bytes=1 << 20, entries=500, total_bytes=4 << 20)
STORES = ["memory-asyncio", "memory-trio", "redis-asyncio"]


@pytest.fixture(params=STORES)
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param.rpartition("-")[2]


@pytest.fixture
async def bench(request: pytest.FixtureRequest, anyio_backend: str) -> AsyncIterator[Bench]:
    """A store, empty; the same tests run over each."""
    kind = request.node.callspec.params["anyio_backend"].partition("-")[0]
    if kind == "memory":
        clock = ManualClock()
        store = MemoryStreamStore(limits=LIMITS, clock=clock)

        async def expire(_: str) -> None:
            clock.advance(10**9)

        async def kill(_: str) -> None:
            clock.advance(60_000)

        yield Bench(store, expire, kill, {"clock": clock})
        return
    from redis.asyncio import Redis

    port = request.getfixturevalue("redis_port")
    async with Redis(host="127.0.0.1", port=port) as client:
        await client.flushall()

        async def expire_now(stream_id: str) -> None:
            keys = [key async for key in client.scan_iter(f"partwise:stream:{{{stream_id}}}*")]
            for key in keys:
                await client.pexpire(key, 1)
            while await client.exists(*keys):
                pass

        async def kill_now(stream_id: str) -> None:
            await client.delete(f"partwise:stream:{{{stream_id}}}:lease")

        yield Bench(RedisStreamStore(client, limits=LIMITS, max_wait=0.02), expire_now, kill_now)
