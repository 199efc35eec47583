"""Where subscribing, disposing, failing and writing meet: no gap, no dead lock, no cost that grows."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import attrs
import pytest
from reactivex import operators as ops

from partwise.reactive import Events, KeyedSeq, Store, attr, index, key, record


@attrs.frozen
class Part:
    text: str


@attrs.frozen
class Message:
    id: str
    content: tuple[Part, ...]


@attrs.frozen
class Thread:
    messages: KeyedSeq[str, Message]
    a: int = 0
    b: int = 0


def thread(text: str) -> Thread:
    return Thread(KeyedSeq([("m", Message("m", (Part(text),)))]))


def address(store: Store[Thread]) -> Any:
    return store.at(attr("messages"), key("m"), attr("content"), index(0), attr("text"))


OBSERVABLES: dict[str, Callable[[Store[Thread]], Any]] = {
    "selected": lambda store: store.select(lambda s: s.messages[0].content[0].text),
    "broad": lambda store: store.select(lambda s: repr(s)),
    "derived": lambda store: store.select(lambda s: s.messages[0]).select(lambda m: m.content[0].text),
    "address": address,
    "below an address": lambda store: store.at(attr("messages"), key("m")).select(lambda m: m.content[0].text),
    "piped": lambda store: address(store).pipe(ops.map(str), ops.filter(bool)),
}


@pytest.mark.parametrize("has_on_error", [False, True])
@pytest.mark.parametrize("name", [*OBSERVABLES, "events"])
def test_a_listener_that_raises_is_treated_alike_everywhere(name: str, has_on_error: bool) -> None:
    reported: list[str] = []
    on_error = lambda error, context: reported.append(f"{context.culprit} {error}")  # noqa: E731 - both take it
    store = Store(thread("0"), on_error=on_error)
    events: Events[str] = Events(on_error=on_error)
    source = events if name == "events" else OBSERVABLES[name](store)
    calls: list[object] = []
    others: list[object] = []
    told: list[Exception] = []

    def bad(value: object) -> None:
        calls.append(value)
        if len(calls) == 2:
            raise ValueError(2)

    source.subscribe(bad, told.append if has_on_error else None)
    source.subscribe(others.append)
    for number in range(1, 6):
        if name == "events":
            events.emit(str(number))
        else:
            store.commit(thread(str(number)))

    assert calls == others
    assert len(calls) == (5 if name == "events" else 6)
    assert (reported, told) == (["listener 2"], [])


def test_a_value_that_was_read_before_it_was_emitted_is_emitted_all_the_same() -> None:
    store = Store(thread("x"))
    numbers = store.select(lambda s: s.b)
    heard: list[int] = []
    subscription = numbers.subscribe(heard.append)

    store.commit(attrs.evolve(store.value, a=1))
    assert numbers.value == 0
    store.commit(attrs.evolve(store.value, b=7))
    assert heard == [0, 7]
    with store.batch():
        store.commit(attrs.evolve(store.value, b=8))
        assert numbers.value == 8
    assert heard == [0, 7, 8]

    subscription.dispose()
    store.commit(attrs.evolve(store.value, b=9))
    again = numbers.pipe(record())
    assert (again.values, numbers.value) == ([9], 9)


async def test_who_comes_and_goes_while_another_thread_writes_misses_nothing() -> None:
    store = Store(0)
    number = store.select(lambda n: n)
    recordings: list[tuple[int, list[int]]] = []
    done = anyio.Event()

    def write() -> None:
        for value in range(1, 2001):
            store.post(lambda value=value: store.commit(value))
        store.post(done.set)

    async with anyio.create_task_group() as tasks:
        number.subscribe(lambda n: None)
        tasks.start_soon(anyio.to_thread.run_sync, write)
        while not done.is_set():
            heard: list[int] = []
            before = store.value
            subscription = number.subscribe(heard.append)
            for _ in range(3):
                await anyio.lowlevel.checkpoint()
            recordings.append((before, heard))
            if len(recordings) % 2:
                await anyio.to_thread.run_sync(subscription.dispose)
            else:
                subscription.dispose()

    assert store.value == 2000
    for before, heard in recordings:
        assert heard == list(range(before, before + len(heard)))
    assert store.statistics().live_slices == 1


def test_a_listener_that_takes_a_lock_of_the_application_stops_nobody_who_holds_it() -> None:
    store = Store(0)
    mine = threading.Lock()
    holds, posted = threading.Event(), threading.Event()
    heard: list[int] = []

    def push() -> None:
        with mine:
            holds.set()
            store.post(lambda: store.commit(2))
            subscription.dispose()
            posted.set()

    def hear(value: int) -> None:
        heard.append(value)
        if value == 1:
            worker.start()
            assert holds.wait(10)
            assert mine.acquire(timeout=10)
            mine.release()
            assert posted.wait(10)

    worker = threading.Thread(target=push)
    subscription = store.select(lambda n: -n).subscribe(lambda n: None)
    store.select(lambda n: n).subscribe(hear)
    store.commit(1)
    worker.join(10)
    store.drain()

    assert posted.is_set()
    assert heard == [0, 1, 2]


def ignore(value: object) -> None:
    pass


def work(action: Callable[[], object]) -> int:
    """Lines of Python that an action runs: the same on every machine."""
    lines = 0

    def trace(frame: Any, event: str, argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("kind", ["one slice", "own slices", "events", "in a batch", "take one"])
def test_coming_and_going_costs_the_same_however_many_there_are(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0

    def looks(one: object, other: object) -> bool:
        # A list that is searched asks each of its items whether it is the one.
        nonlocal looked_at
        looked_at += 1
        return one is other

    heard: Events[int] = Events()
    heard.subscribe(ignore)
    for listener in (Store(0).select(lambda n: n).subscribe(ignore), next(iter(heard._listeners))):
        monkeypatch.setattr(type(listener), "__eq__", looks)

    def cost(count: int) -> float:
        store = Store(thread("x"))
        events: Events[int] = Events()
        shared = store.select(lambda s: s.a)
        nonlocal looked_at
        looked_at = 0

        def come_and_go() -> None:
            subscriptions = []
            for _ in range(count):
                if kind == "events":
                    subscriptions.append(events.subscribe(ignore))
                elif kind == "take one":
                    shared.pipe(ops.take(1)).subscribe(ignore)
                else:
                    source = store.select(lambda s: s.a) if kind == "own slices" else shared
                    subscriptions.append(source.subscribe(ignore))
            for number in range(len(subscriptions)):
                subscriptions[number * 7919 % count].dispose()

        def in_a_batch() -> None:
            with store.batch():
                store.commit(attrs.evolve(store.value, a=1))
                come_and_go()

        lines = work(in_a_batch if kind == "in a batch" else come_and_go)
        assert store.statistics().live_slices == store.statistics().index_entries == 0
        return (lines + looked_at) / count

    assert cost(1000) < 1.2 * cost(125)


def test_long_chains_of_slices_and_of_disposals_need_no_recursion() -> None:
    store = Store(0)
    chained = store.select(lambda n: n)
    for _ in range(5000):
        chained = chained.select(lambda n: n + 1)
    heard = chained.pipe(record())
    subscriptions: list[Any] = []
    ended: list[int] = []

    def end(number: int) -> None:
        ended.append(number)
        if number + 1 < len(subscriptions):
            subscriptions[number + 1].dispose()

    for number in range(5000):
        source = store.select(lambda n: n)
        subscriptions.append(source.subscribe(on_completed=lambda number=number: end(number)))
    store.commit(1)
    store.close()

    assert heard.values == [5000, 5001]
    assert ended == list(range(0, 5000, 2))
