"""The law: what a slice emits is exactly what `map(selector), distinct` would, whatever happens."""

from __future__ import annotations

import random
from collections.abc import Mapping

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reactivex import operators as ops
from reactivex.subject import Subject

from partwise.reactive import ErrorContext, KeyedSeq, Store
from tests.reactive.worlds import ZOO, Hidden, change, random_selector, random_world

PLAIN = (str, int, float, bool, type(None), KeyedSeq, tuple, list, dict, set, frozenset, type)


class Naive:
    """The definition: map every snapshot, drop what equals the value before."""

    def __init__(self, selector) -> None:
        self.selector = selector
        self.values = []

    def see(self, state) -> None:
        try:
            value = self.selector(state)
        except Exception:
            return
        if not self.values or (self.values[-1] is not value and self.values[-1] != value):
            self.values.append(value)


def assert_plain(value, seen=0) -> None:
    kind = type(value)
    assert "StandIn" not in kind.__name__, value
    if seen > 6:
        return
    if kind is KeyedSeq or kind in {tuple, list, set, frozenset}:
        for item in value:
            assert_plain(item, seen + 1)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            assert_plain(key, seen + 1)
            assert_plain(item, seen + 1)
    elif attrs.has(kind):
        for field in attrs.fields(kind):
            assert_plain(getattr(value, field.name), seen + 1)
    elif kind is Hidden:
        assert_plain(value.held, seen + 1)


def ignore(error: Exception, context: ErrorContext) -> None:
    pass


def subscribe(store, selector):
    naive, heard = Naive(selector), []
    subscription = store.select(selector).subscribe(heard.append, lambda error: heard.append("error"))
    return naive, heard, subscription


def start(store, selectors):
    watched = []
    for name, selector in selectors:
        naive, heard, subscription = subscribe(store, selector)
        naive.see(store.value)
        if heard == ["error"]:
            assert naive.values == []
            continue
        watched.append((name, naive, heard, subscription))
    return watched


def assert_law(watched) -> None:
    for name, naive, heard, _ in watched:
        assert heard == naive.values, name
        assert [type(value) for value in heard] == [type(value) for value in naive.values], name
        for value in heard:
            assert_plain(value)


@given(st.integers(0, 2**32))
@settings(max_examples=150)
def test_every_selector_of_the_zoo_emits_what_the_naive_pipe_would(seed):
    rng = random.Random(seed)
    store = Store(random_world(rng), on_error=ignore)
    watched = start(store, ZOO.items())

    for _ in range(12):
        store.commit(change(store.value, rng))
        for _, naive, _, _ in watched:
            naive.see(store.value)

    assert_law(watched)


@given(st.integers(0, 2**32))
@settings(max_examples=200)
def test_generated_selectors_emit_what_the_naive_pipe_would(seed):
    rng = random.Random(seed)
    store = Store(random_world(rng), on_error=ignore)
    watched = start(store, [(str(n), random_selector(rng, rng.randrange(1, 5))) for n in range(25)])

    for _ in range(15):
        store.commit(change(store.value, rng))
        for _, naive, _, _ in watched:
            naive.see(store.value)

    assert_law(watched)


@attrs.define(eq=False)
class Guest:
    """A listener, the snapshot from which on it listens, and what it heard before it was disposed."""

    name: str
    selector: object
    start: int
    heard: list = attrs.field(factory=list)
    until: int | None = None
    failed: bool = False
    subscription: object = None


class Party:
    """Listeners that commit, raise, dispose others and subscribe further ones while they are told."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.store = Store(random_world(rng), on_error=ignore)
        self.history = [self.store.value]
        self.guests: list[Guest] = []
        self.budget = 25

    def commit(self) -> None:
        self.budget -= 1
        state = change(self.store.value, self.rng)
        if state is not self.store.value:
            self.history.append(state)
            self.store.commit(state)

    def watch(self) -> None:
        name = self.rng.choice(list(ZOO))
        selector = ZOO[name] if self.rng.random() < 0.6 else random_selector(self.rng)
        guest = Guest(name, selector, len(self.history) - 1)

        def fail(error: Exception) -> None:
            guest.failed = True

        guest.subscription = self.store.select(selector).subscribe(lambda value: self.hear(guest, value), fail)
        self.guests.append(guest)

    def hear(self, guest: Guest, value: object) -> None:
        guest.heard.append(value)
        act = self.rng.random()
        if act < 0.25:
            if self.budget > 0:
                self.commit()
        elif act < 0.35:
            raise ValueError("a listener's own")
        elif act < 0.4:
            if len(self.guests) < 40:
                self.watch()
        elif act < 0.5 and self.guests:
            victim = self.rng.choice(self.guests)
            if victim.until is None:
                victim.until = len(victim.heard)
                victim.subscription.dispose()

    def assert_law(self, guest: Guest) -> None:
        if guest.failed:
            return
        naive = Naive(guest.selector)
        for state in self.history[guest.start :]:
            naive.see(state)
        if guest.until is not None:
            assert len(guest.heard) == guest.until, guest.name
        assert guest.heard == naive.values[: guest.until], guest.name


@given(st.integers(0, 2**32))
@settings(max_examples=100)
def test_the_law_holds_with_listeners_that_commit_raise_dispose_and_subscribe(seed):
    party = Party(random.Random(seed))
    for _ in range(12):
        party.watch()
    for _ in range(15):
        party.commit()

    for guest in party.guests:
        party.assert_law(guest)
    for guest in party.guests:
        guest.subscription.dispose()
    statistics = party.store.statistics()
    assert statistics.index_entries == statistics.live_slices == 0
    root = party.store._engine.root
    assert not root.children
    assert not root.facts


@given(st.integers(0, 2**32))
@settings(max_examples=60)
def test_batches_emit_what_the_naive_pipe_would_see_at_their_ends(seed):
    rng = random.Random(seed)
    store = Store(random_world(rng), on_error=ignore)
    watched = start(store, ZOO.items())
    late = []

    for _ in range(6):
        with store.batch():
            for _ in range(rng.randrange(4)):
                store.commit(change(store.value, rng))
                if rng.random() < 0.3:
                    name = rng.choice(list(ZOO))
                    late += start(store, [(name, ZOO[name])])
        for _, naive, _, _ in watched + late:
            naive.see(store.value)

    assert_law(watched)
    assert_law(late)


@given(st.integers(0, 2**32))
@settings(max_examples=40)
def test_a_sub_slice_emits_what_a_pipe_of_two_maps_would(seed):
    rng = random.Random(seed)
    store = Store(random_world(rng), on_error=ignore)
    watched = []
    for _ in range(15):
        one, two = random_selector(rng, 2), random_selector(rng, 2)
        naive, heard = Naive(lambda s, one=one, two=two: two(one(s))), []
        subscription = store.select(one).select(two).subscribe(heard.append)
        naive.see(store.value)
        watched.append(("composed", naive, heard, subscription))

    for _ in range(12):
        store.commit(change(store.value, rng))
        for _, naive, _, _ in watched:
            naive.see(store.value)

    assert_law(watched)


WITHIN = st.tuples(st.integers(-3, 3), st.integers(-9, 9), st.integers(0, 9))


@given(st.lists(WITHIN, min_size=1, max_size=4), st.lists(st.integers(-20, 20), max_size=12), st.booleans())
def test_each_selector_of_a_chain_is_compared_by_its_own_comparer(stages, numbers, debug):
    store = Store(0, debug=debug)
    source = Subject()
    slice_, naive = store, source
    for times, plus, within in stages:
        step = lambda n, times=times, plus=plus: n * times + plus  # noqa: E731 - given to both
        eq = lambda one, other, within=within: abs(one - other) <= within  # noqa: E731 - given to both
        slice_ = slice_.select(step, eq=eq)
        naive = naive.pipe(ops.map(step), ops.distinct_until_changed(comparer=eq))
    wanted, heard = [], []
    naive.subscribe(wanted.append)
    source.on_next(0)
    slice_.subscribe(heard.append)

    for number in numbers:
        store.commit(number)
        source.on_next(number)

    assert heard == wanted


@pytest.mark.parametrize("name", ["hidden", "json", "table view"])
def test_what_cannot_be_followed_is_still_right(name):
    rng = random.Random(3)
    store = Store(random_world(rng), on_error=ignore)
    watched = start(store, [(name, ZOO[name])])

    for _ in range(40):
        store.commit(change(store.value, rng))
        watched[0][1].see(store.value)

    assert_law(watched)
