"""Coming to rest: nothing that can go on by itself is left, and nobody sleeps."""

from __future__ import annotations

import anyio
import anyio.abc
import anyio.lowlevel
import pytest

from partwise.testing import settled


async def test_all_that_can_happen_by_itself_has_happened() -> None:
    done: list[str] = []
    gate, door = anyio.Event(), anyio.Event()

    async def long() -> None:
        for _ in range(500):
            await anyio.lowlevel.checkpoint()
        done.append("long")
        gate.set()

    async def after() -> None:
        await gate.wait()
        await anyio.lowlevel.checkpoint()
        done.append("after")
        await door.wait()
        done.append("never")

    async with anyio.create_task_group() as group:
        group.start_soon(after)
        group.start_soon(long)
        await settled()
        assert done == ["long", "after"]
        door.set()
        await settled()
        assert done == ["long", "after", "never"]


async def test_time_is_not_waited_for() -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep_forever)
        group.start_soon(anyio.sleep, 3600)
        for _ in range(1000):
            await settled()
        group.cancel_scope.cancel()


async def test_what_is_shielded_from_a_cancel_is_at_rest() -> None:
    gate = anyio.Event()
    seen: list[str] = []

    async def stubborn() -> None:
        with anyio.CancelScope(shield=True):
            await gate.wait()
        seen.append("end")

    async with anyio.create_task_group() as outer:
        async with anyio.create_task_group() as group:
            group.start_soon(stubborn)
            outer.start_soon(anyio.sleep_forever)
            await settled()
            group.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await settled()
            assert seen == []
            gate.set()
            with anyio.CancelScope(shield=True):
                await settled()
            assert seen == ["end"]
        outer.cancel_scope.cancel()


async def test_a_pipe_that_has_something_to_read_is_read() -> None:
    seen: list[bytes] = []

    async def serve(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            seen.append(await stream.receive())

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, serve)
        async with await anyio.connect_tcp("127.0.0.1", port) as client:
            await settled()
            await client.send(b"hello")
            await settled()
            assert seen == [b"hello"]
        group.cancel_scope.cancel()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_who_never_stops_is_told() -> None:
    async def busy() -> None:
        while True:
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(busy)
        with pytest.raises(AssertionError, match="never came to rest"):
            await settled()
        group.cancel_scope.cancel()
