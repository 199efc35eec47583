"""The operators: frames, text deltas, keyed changes, recordings."""

from __future__ import annotations

import random

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reactivex.subject import Subject
from reactivex.testing import ReactiveTest, TestScheduler

from partwise.errors import StoreError
from partwise.reactive import (
    ItemInserted,
    ItemMoved,
    ItemRemoved,
    ItemUpdated,
    KeyedSeq,
    Store,
    TextAppended,
    TextDone,
    TextReset,
    keyed_changes,
    per_frame,
    record,
    text_deltas,
)

on_next, on_completed, on_error = ReactiveTest.on_next, ReactiveTest.on_completed, ReactiveTest.on_error


class ManualTimer:
    """A clock that a test turns by hand."""

    def __init__(self) -> None:
        self.time = 0.0
        self.due: list[tuple[float, object]] = []

    def now(self) -> float:
        return self.time

    def call_later(self, seconds, action):
        entry = (self.time + seconds, action)
        self.due.append(entry)
        return lambda: self.due.remove(entry) if entry in self.due else None

    def turn(self, seconds: float) -> None:
        end = self.time + seconds
        while self.due and min(when for when, _ in self.due) <= end + 1e-9:
            entry = min(self.due, key=lambda item: item[0])
            self.due.remove(entry)
            self.time = entry[0]
            entry[1]()
        self.time = end


def framed(*events, hz=0.1):
    scheduler = TestScheduler()
    source = scheduler.create_hot_observable(*events)
    return scheduler.start(lambda: source.pipe(per_frame(hz, scheduler=scheduler))).messages


def test_a_frame_gives_the_first_value_at_once_and_the_newest_at_its_end():
    events = [on_next(210 + n, n) for n in range(25)]
    assert framed(*events, on_completed(300)) == [
        on_next(210, 0),
        on_next(220, 10),
        on_next(230, 20),
        on_next(240, 24),
        on_completed(300),
    ]


def test_the_last_value_comes_before_a_completion_or_an_error():
    error = ValueError("x")
    assert framed(on_next(210, 1), on_next(212, 2), on_completed(213)) == [
        on_next(210, 1),
        on_next(213, 2),
        on_completed(213),
    ]
    assert framed(on_next(210, 1), on_next(212, 2), on_error(213, error)) == [
        on_next(210, 1),
        on_next(213, 2),
        on_error(213, error),
    ]


def test_a_quiet_frame_lets_the_next_value_through_at_once():
    assert framed(on_next(210, 1), on_next(250, 2)) == [on_next(210, 1), on_next(250, 2)]


def test_five_hundred_chunks_in_a_fifth_of_a_second_are_few_values():
    timer, store = ManualTimer(), Store("")
    text = store.select(lambda s: s)
    heard, as_of = [], []

    def hear(value: str) -> None:
        heard.append(value)
        as_of.append(value == text.value)

    text.pipe(per_frame(20, timer=timer)).subscribe(hear)
    for _ in range(500):
        store.update(lambda s: s + "x")
        timer.turn(0.2 / 500)
    store.close()

    assert len(heard) <= 7
    assert heard[-1] == "x" * 500
    assert all(as_of)
    assert timer.due == []


def test_disposing_cancels_the_frame():
    timer, source = ManualTimer(), Subject()
    recording = source.pipe(per_frame(10, timer=timer), record())
    source.on_next(1)
    source.on_next(2)

    recording.dispose()

    assert timer.due == []
    assert recording.values == [1]


def test_a_raising_listener_does_not_stop_the_frames():
    timer, store = ManualTimer(), Store(0, on_error=lambda error, context: None)
    calls = []

    def bad(n: int) -> None:
        calls.append(n)
        raise ValueError(n)

    store.select(lambda n: n).pipe(per_frame(10, timer=timer)).subscribe(bad)
    for n in (1, 2):
        store.commit(n)
    with pytest.raises(ValueError, match="2"):
        timer.turn(0.1)
    timer.turn(1)
    store.commit(3)

    assert calls == [0, 2, 3]


def test_frames_need_a_clock_and_a_positive_rate():
    recording = Subject().pipe(per_frame(10), record())
    assert isinstance(recording.error, StoreError)
    with pytest.raises(ValueError, match="positive"):
        per_frame(0)


async def test_frames_follow_the_running_loop():
    store = Store(0)
    done = anyio.Event()
    heard = []

    def hear(n: int) -> None:
        heard.append(n)
        if n == 5:
            done.set()

    subscription = store.select(lambda n: n).pipe(per_frame(200)).subscribe(hear)
    for n in range(1, 6):
        store.commit(n)
    with anyio.fail_after(5):
        await done.wait()
    store.commit(6)
    subscription.dispose()

    assert heard == [0, 5]


def test_text_that_grows_is_appended_and_any_other_is_a_reset():
    source = Subject()
    heard = source.pipe(text_deltas(), record())

    for text in ("", "He", "Hello", "Hello", "Help", "", "x"):
        source.on_next(text)
    source.on_completed()

    assert heard.values == [
        TextAppended("He"),
        TextAppended("llo"),
        TextReset("Help"),
        TextReset(""),
        TextAppended("x"),
        TextDone("x"),
    ]
    assert heard.completed


@given(st.lists(st.text("ab", max_size=5), max_size=8))
def test_text_deltas_rebuild_every_text(texts):
    source = Subject()
    shown = []

    def show(event) -> None:
        match event:
            case TextAppended(text):
                shown.append((shown[-1] if shown else "") + text)
            case TextReset(text):
                shown.append(text)
            case TextDone(text):
                assert text == (texts[-1] if texts else "")

    source.pipe(text_deltas()).subscribe(show)
    for text in texts:
        source.on_next(text)
        assert (shown[-1] if shown else "") == text
    source.on_completed()


def apply(rows: list, changes) -> None:
    for change in changes:
        match change:
            case ItemInserted(index=at, key=key, value=value):
                rows.insert(at, (key, value))
            case ItemRemoved(index=at, key=key):
                assert rows.pop(at)[0] == key
            case ItemMoved(index=at, to=to, key=key):
                row = rows.pop(at)
                assert row[0] == key
                rows.insert(to, row)
            case ItemUpdated(index=at, key=key, value=value):
                assert rows[at][0] == key
                rows[at] = (key, value)


@given(st.integers(0, 2**32))
def test_keyed_changes_rebuild_every_list(seed):
    rng = random.Random(seed)
    source = Subject()
    rows: list = []
    source.pipe(keyed_changes(lambda item: item[0])).subscribe(lambda changes: apply(rows, changes))
    for _ in range(8):
        items = [(key, rng.randrange(2)) for key in rng.sample(range(12), rng.randrange(13))]
        source.on_next(items)
        assert [value for _, value in rows] == items


@given(st.integers(0, 2**32))
def test_keyed_changes_rebuild_every_keyed_sequence(seed):
    rng = random.Random(seed)
    store = Store(KeyedSeq())
    rows: list = []
    store.select(lambda s: s).pipe(keyed_changes()).subscribe(lambda changes: apply(rows, changes))
    for number in range(15):
        seq = store.value
        some = rng.choice(seq.keys()) if seq else None
        match rng.randrange(5):
            case 0 if seq:
                seq = seq.replace(some, object())
            case 1 if seq:
                seq = seq.remove(some)
            case 2:
                seq = seq.insert(0, number, object())
            case 3:
                seq = seq.truncate(rng.randrange(len(seq) + 1))
            case _:
                seq = seq.append(number, object())
        store.commit(seq)
        assert rows == list(seq.items())


def test_one_item_that_moves_is_one_move():
    source = Subject()
    heard = source.pipe(keyed_changes(lambda key: key), record())
    source.on_next("abcdef")
    source.on_next("bcdefa")
    source.on_next("abcdef")

    assert heard.values[1:] == [(ItemMoved(index=0, to=5, key="a"),), (ItemMoved(index=5, to=0, key="a"),)]


def test_keyed_changes_without_keys_end_with_an_error():
    source = Subject()
    heard = source.pipe(keyed_changes(), record())
    source.on_next([1])

    assert isinstance(heard.error, TypeError)


def test_a_recording_knows_how_it_ended():
    source = Subject()
    with source.pipe(record()) as recording:
        source.on_next(1)
    source.on_next(2)

    assert recording.values == [1]
    assert not recording.completed
    assert recording.error is None
