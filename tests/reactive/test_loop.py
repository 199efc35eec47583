"""The store on an event loop: async iteration, and the door for other threads. On asyncio and on trio."""

from __future__ import annotations

from contextlib import aclosing

import anyio
import anyio.to_thread
import pytest

from partwise.reactive import Store, record


async def test_async_for_gives_every_value_in_order_and_ends_with_the_store():
    store = Store(0)
    seen = []

    async def write() -> None:
        for n in range(1, 20):
            store.commit(n)
            if n % 5 == 0:
                await anyio.lowlevel.checkpoint()
        store.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        with anyio.fail_after(5):
            seen += [n async for n in store.select(lambda n: n)]

    assert seen == list(range(seen[0], 20))


async def test_leaving_the_loop_ends_the_subscription():
    store = Store(0)
    number = store.select(lambda n: n)

    async for _ in number:
        assert store.statistics().live_slices == 1
        break
    async with aclosing(aiter(number)) as values:
        async for _ in values:
            break

    assert store.statistics().live_slices == 0


async def test_a_cancelled_wait_loses_nothing():
    store = Store(0)
    values = aiter(store.select(lambda n: n))
    assert await anext(values) == 0

    with anyio.move_on_after(0) as scope:
        await anext(values)
    store.commit(1)
    store.commit(2)

    assert scope.cancelled_caught
    assert [await anext(values), await anext(values)] == [1, 2]
    await values.aclose()
    with pytest.raises(StopAsyncIteration):
        await anext(values)
    assert store.statistics().live_slices == 0


async def test_an_error_of_the_selector_ends_the_loop():
    store = Store(0)
    with pytest.raises(ZeroDivisionError):
        async for _ in store.select(lambda n: 1 // n):
            pass


async def test_posted_calls_arrive_in_order_while_the_loop_is_idle():
    store = Store(-1)
    last = anyio.Event()
    heard = store.select(lambda n: n).pipe(record())
    store.select(lambda n: n == 999).subscribe(lambda done: last.set() if done else None)

    def push() -> None:
        for n in range(1000):
            store.post(lambda n=n: store.commit(n))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.to_thread.run_sync, push)
        with anyio.fail_after(10):
            await last.wait()

    assert heard.values == list(range(-1, 1000))


async def test_four_threads_lose_no_update():
    store = Store(0)
    done = anyio.Event()
    heard = store.select(lambda n: n).pipe(record())
    store.select(lambda n: n == 2000).subscribe(lambda all_in: done.set() if all_in else None)

    def push() -> None:
        for _ in range(500):
            store.post(lambda: store.update(lambda n: n + 1))

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(anyio.to_thread.run_sync, push)
        with anyio.fail_after(10):
            await done.wait()

    assert heard.values == list(range(2001))


async def test_after_a_dispose_from_a_thread_nothing_is_called():
    store = Store(0)
    heard = []
    subscription = store.select(lambda n: n).subscribe(heard.append)

    await anyio.to_thread.run_sync(subscription.dispose)
    store.commit(1)

    assert heard == [0]


def test_a_store_made_before_the_loop_is_reached_once_somebody_listens_in_it(anyio_backend_name):
    store = Store(0)

    async def main() -> None:
        done = anyio.Event()
        with store.select(lambda n: n).subscribe(lambda n: done.set() if n == 1 else None):
            await anyio.to_thread.run_sync(store.post, lambda: store.commit(1))
            with anyio.fail_after(5):
                await done.wait()

    for value in (0, 0):
        store.commit(value)
        anyio.run(main, backend=anyio_backend_name)
