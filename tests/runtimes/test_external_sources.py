"""Sources of an external store: async iterators, observables and stores, each of them well and badly behaved."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
import reactivex
from reactivex.subject import BehaviorSubject, Subject

from partwise.reactive import Store
from partwise.runtimes import ExternalSnapshot, ExternalStoreRuntime, LocalRuntime
from partwise.store import ThreadState
from partwise.stream import TextDelta
from tests.runtimes.scenes import Script, answer, question, reports, settled, shown, statuses

U1, A1, U2 = question("u1"), answer("a1"), question("u2")


class Feed:
    """An async iterator that gives what it is told to, and notes its end."""

    def __init__(self, *values: Any) -> None:
        self.values = list(values)
        self.is_over = False
        self.changed = anyio.Event()
        self.closed = 0

    def give(self, value: Any) -> None:
        self.values.append(value)
        self.changed.set()

    def end(self) -> None:
        self.is_over = True
        self.changed.set()

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            while True:
                while self.values:
                    value = self.values.pop(0)
                    if isinstance(value, BaseException):
                        raise value
                    yield value
                if self.is_over:
                    return
                self.changed = anyio.Event()
                await self.changed.wait()
        finally:
            self.closed += 1


async def test_nothing_of_a_source_is_taken_before_the_runtime_is_open() -> None:
    feed = Feed([U1])
    runtime = ExternalStoreRuntime(feed)
    assert shown(runtime.thread) == []
    async with runtime:
        await settled()
        assert shown(runtime.thread) == ["u:u1"]


async def test_an_iterator_is_followed_until_it_ends_and_closed_once() -> None:
    feed = Feed([U1])
    async with ExternalStoreRuntime(feed) as runtime:
        found = reports(runtime.thread)
        await settled()
        feed.give(ExternalSnapshot([U1, A1], is_running=True))
        await settled()
        assert (shown(runtime.thread), runtime.thread.state.is_running) == (["u:u1", "a:a1"], True)
        feed.give(ExternalSnapshot(is_running=False))
        await settled()
        assert not runtime.thread.state.is_running
        feed.end()
        await settled()
        assert (shown(runtime.thread), feed.closed, found) == (["u:u1", "a:a1"], 1, [])
        runtime.update([U2])
        assert shown(runtime.thread) == ["u:u2"]


async def test_an_iterator_that_raises_is_reported_and_what_it_said_stays() -> None:
    feed = Feed([U1], OSError("gone"))
    async with ExternalStoreRuntime(feed) as runtime:
        found = reports(runtime.thread)
        await settled()
        assert (shown(runtime.thread), found, feed.closed) == (["u:u1"], ["source: failed: gone"], 1)
        runtime.update([U1, A1])
        assert shown(runtime.thread) == ["u:u1", "a:a1"]


class Broken:
    """An async iterator that fails at one point, and then when it is closed, too."""

    def __init__(self, at: str) -> None:
        self.at = at

    def __aiter__(self) -> AsyncIterator[Any]:
        if self.at == "begin":
            raise OSError("begin")
        return 5 if self.at == "kind" else self  # type: ignore[return-value]  # pyright: ignore[reportReturnType]

    async def __anext__(self) -> Any:
        raise OSError("first")

    async def aclose(self) -> None:
        raise OSError("close")


def refuse(observer: object, scheduler: object) -> Any:
    raise OSError("subscribe")


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (Broken("begin"), ["begin"]),
        (Broken("kind"), ["aiter() returned not an async iterator of type 'int'"]),
        (Broken("first"), ["first", "close"]),
        (reactivex.create(refuse), ["subscribe"]),
        (reactivex.throw(OSError("thrown")), ["thrown"]),
    ],
)
async def test_a_source_that_fails_as_it_begins_is_reported_and_ends_nothing_else(source: Any, told: list[str]) -> None:
    runtime = ExternalStoreRuntime(source)
    found = reports(runtime.thread)
    async with runtime:
        await settled()
        assert found == [f"source: failed: {text}" for text in told]
        runtime.update([U1])
        assert shown(runtime.thread) == ["u:u1"]


async def test_leaving_the_runtime_closes_an_iterator_that_waits() -> None:
    feed = Feed([U1])
    async with ExternalStoreRuntime(feed) as runtime:
        await settled()
    assert (feed.closed, shown(runtime.thread)) == (1, ["u:u1"])


@pytest.mark.parametrize("bad", [None, 5, "text", [5], [{"role": "robot"}]])
async def test_a_value_that_cannot_be_shown_is_reported_and_the_next_is_taken(bad: Any) -> None:
    feed = Feed([U1], bad, [U1, A1])
    async with ExternalStoreRuntime(feed) as runtime:
        found = reports(runtime.thread)
        await settled()
        assert shown(runtime.thread) == ["u:u1", "a:a1"]
        assert len(found) == 1
        assert found[0].startswith("feed: ")


async def test_a_converter_that_raises_is_reported_for_each_value() -> None:
    def convert(item: Any) -> Any:
        if item == "bad":
            raise ValueError("no note")
        return item

    async with ExternalStoreRuntime(Feed([U1], ["bad"], [U1, A1], ["bad", A1], [U1]), convert=convert) as runtime:
        found = reports(runtime.thread)
        await settled()
        assert (shown(runtime.thread), found) == (["u:u1"], ["feed: failed: no note"] * 2)


async def test_an_observable_is_followed_and_let_go() -> None:
    subject: Subject[Any] = Subject()
    async with ExternalStoreRuntime(subject) as runtime:
        found = reports(runtime.thread)
        subject.on_next([U1])
        assert shown(runtime.thread) == ["u:u1"]  # at once, within the call
        subject.on_next([U1, A1])
        subject.on_error(OSError("gone"))
        await settled()
        assert (shown(runtime.thread), found) == (["u:u1", "a:a1"], ["source: failed: gone"])
    behaved: BehaviorSubject[Any] = BehaviorSubject([U1])
    async with ExternalStoreRuntime(behaved) as runtime:
        assert shown(runtime.thread) == ["u:u1"]
        behaved.on_completed()
        assert shown(runtime.thread) == ["u:u1"]
    other: Subject[Any] = Subject()
    async with ExternalStoreRuntime(other) as runtime:
        pass
    other.on_next([U1])
    assert (shown(runtime.thread), len(other.observers)) == ([], 0)


async def test_an_observable_may_emit_on_another_thread_of_execution() -> None:
    subject: Subject[Any] = Subject()
    async with ExternalStoreRuntime(subject) as runtime:

        def talk() -> None:
            for number in range(50):
                subject.on_next([question(f"u{index}") for index in range(number + 1)])

        worker = threading.Thread(target=talk)
        worker.start()
        await anyio.to_thread.run_sync(worker.join)
        await settled()
        assert len(runtime.thread.state.messages) == 50


async def test_what_arrives_after_the_end_changes_nothing() -> None:
    late: list[Any] = []
    source = reactivex.create(lambda observer, scheduler: late.append(observer))
    async with ExternalStoreRuntime(source) as runtime:
        late[0].on_next([U1])
    late[0].on_next([U1, A1])
    late[0].on_error(OSError("late"))
    assert shown(runtime.thread) == ["u:u1"]


async def test_another_store_is_mirrored_with_its_flags() -> None:
    gate = anyio.Event()
    model = Script([TextDelta("Hel"), gate, TextDelta("lo")])
    async with LocalRuntime(model) as local, ExternalStoreRuntime(local.thread._host.document.store) as mirror:
        operation = local.thread.append("hi")
        await settled()
        assert (shown(mirror.thread), mirror.thread.state.is_running) == (["u:hi", "a:Hel"], True)
        assert statuses(mirror.thread) == ["running"]
        gate.set()
        await operation
        assert (shown(mirror.thread), mirror.thread.state.is_running) == (["u:hi", "a:Hello"], False)
        assert all(
            one is other for one, other in zip(local.thread.state.messages, mirror.thread.state.messages, strict=True)
        )


async def test_a_slice_of_threads_states_is_a_source_too() -> None:
    store: Store[ThreadState] = Store(ThreadState())
    async with ExternalStoreRuntime(store.select(lambda state: state)) as runtime:
        store.commit(ThreadState(is_running=True))
        assert runtime.thread.state.is_running
        store.close()
        assert runtime.thread.state.is_running


async def test_a_source_that_hangs_when_it_is_closed_holds_nobody_up_for_ever() -> None:
    release = anyio.Event()

    async def stubborn() -> AsyncIterator[Any]:
        try:
            yield [U1]
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await release.wait()

    async with anyio.create_task_group() as tasks:

        async def let_go() -> None:
            await settled()
            release.set()

        async with ExternalStoreRuntime(stubborn()) as runtime:
            await settled()
            assert shown(runtime.thread) == ["u:u1"]
            tasks.start_soon(let_go)
        assert release.is_set()  # what a source insists on finishing is waited for, as a task group does
