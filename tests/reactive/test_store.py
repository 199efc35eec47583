"""The rules of the store: one writer, one snapshot, one queue; and where errors go."""

from __future__ import annotations

import gc
import random
import threading
import warnings
import weakref
from typing import ClassVar

import attrs
import pytest
import reactivex
from reactivex import operators as ops

from partwise.errors import SelectorError, StoreClosedError, WrongThreadError
from partwise.reactive import KeyedSeq, SelectorWarning, Store, attr, first, index, key, record, shallow_equal


@attrs.frozen
class Part:
    text: str
    id: str = ""


@attrs.frozen(weakref_slot=True)
class Message:
    id: str
    content: tuple = ()


@attrs.frozen
class Thread:
    messages: KeyedSeq = attrs.field(factory=KeyedSeq)
    flag: bool = False
    a: int = 1
    b: int = 1
    draft: str = ""


def thread(count: int, parts: int = 1) -> Thread:
    content = tuple(Part(f"p{n}") for n in range(parts))
    return Thread(KeyedSeq((f"m{n}", Message(f"m{n}", content)) for n in range(count)))


def with_text(state: Thread, id: str, part: int, text: str) -> Thread:
    old = state.messages.by_key(id)
    content = (*old.content[:part], Part(text), *old.content[part + 1 :])
    return attrs.evolve(state, messages=state.messages.replace(id, attrs.evolve(old, content=content)))


class Hook:
    def __init__(self) -> None:
        self.seen = []

    def __call__(self, error, context) -> None:
        self.seen.append((context.culprit, str(error)))


# Order and re-entrancy


def test_a_subscriber_gets_the_present_value_and_then_changes_only():
    store = Store(thread(2))
    heard = store.select(lambda s: len(s.messages)).pipe(record())

    store.commit(with_text(store.value, "m0", 0, "x"))
    store.commit(thread(3))
    store.commit(store.value)

    assert heard.values == [2, 3]


def test_every_listener_sees_the_same_order_when_one_commits_while_being_told():
    store = Store("init")
    one, three = [], []
    whole = store.select(lambda s: s)
    whole.subscribe(one.append)
    whole.subscribe(lambda value: store.commit("good") if value == "bad" else None)
    whole.subscribe(three.append)

    store.commit("bad")

    assert one == three == ["init", "bad", "good"]
    assert store.value == "good"


def test_a_commit_during_a_delivery_can_be_read_at_once():
    store = Store(0)
    seen = []

    def bump(value: int) -> None:
        if value == 1:
            store.update(lambda n: n + 10)
            store.update(lambda n: n + 100)
            seen.append(store.value)

    store.select(lambda n: n).subscribe(bump)
    heard = store.select(lambda n: n).pipe(record())
    store.commit(1)

    assert seen == [111]
    assert heard.values == [0, 1, 11, 111]


def test_ten_thousand_nested_commits_do_not_deepen_the_stack():
    store = Store(0)
    number = store.select(lambda n: n)
    number.subscribe(lambda n: store.commit(n + 1) if n < 10_000 else None)
    heard = number.pipe(record())

    assert heard.values == [10_000]
    store.commit(-10_000)
    assert heard.values == [10_000, *range(-10_000, 10_001)]


def test_two_linked_stores_settle():
    a, b = Store(0), Store(0)
    a.select(lambda n: n).subscribe(b.commit)
    b.select(lambda n: n).subscribe(a.commit)

    a.commit(-1)

    assert (a.value, b.value) == (-1, -1)


def test_no_slice_shows_half_of_a_commit():
    store = Store(Thread())
    both = store.select(lambda s: (s.a, s.b)).pipe(record())
    seen = []
    store.select(lambda s: s.a).subscribe(lambda a: seen.append((a, store.select(lambda s: s.b).value)))

    store.commit(attrs.evolve(store.value, a=2, b=2))

    assert both.values == [(1, 1), (2, 2)]
    assert seen == [(1, 1), (2, 2)]


def test_a_listener_removed_in_a_round_is_not_called_any_more():
    store = Store(0)
    number = store.select(lambda n: n)
    heard = []
    holder = []
    number.subscribe(lambda n: holder[0].dispose() if n == 1 else None)
    holder.append(number.subscribe(heard.append))

    store.commit(1)
    store.commit(2)

    assert heard == [0]


def test_a_listener_added_in_a_round_gets_the_present_value_once():
    store = Store(0)
    number = store.select(lambda n: n)
    heard, fresh = [], []

    def add(n: int) -> None:
        if n == 1:
            number.subscribe(heard.append)
            store.select(lambda m: m * 10).subscribe(fresh.append)

    number.subscribe(add)
    store.commit(1)
    store.commit(2)

    assert heard == [1, 2]
    assert fresh == [10, 20]


def test_a_subscription_through_a_pipe_made_in_a_delivery_is_told_at_once():
    store = Store(0)
    order = []

    def add(n: int) -> None:
        store.select(lambda m: m + 5).pipe(ops.map(lambda m: m * 2)).subscribe(lambda m: order.append(("inner", m)))
        order.append(("outer", n))

    store.select(lambda n: n).pipe(ops.take(1)).subscribe(add)

    assert order == [("inner", 10), ("outer", 0)]


def test_batches_are_read_inside_and_told_once_at_the_end():
    store = Store(Thread(thread(3).messages, draft="m1"))
    selected = store.select(lambda s: s.messages.get(s.draft))
    heard = store.select(lambda s: (s.draft, s.a)).pipe(record())
    quiet = store.select(lambda s: s.a).pipe(record())

    with store.batch():
        store.update(lambda s: attrs.evolve(s, draft="m2"))
        with store.batch():
            store.update(lambda s: attrs.evolve(s, a=len(selected.value.id)))
        assert selected.value.id == "m2"
        late = store.select(lambda s: s.draft).pipe(record())
        assert heard.values == [("m1", 1)]

    assert heard.values == [("m1", 1), ("m2", 2)]
    assert quiet.values == [1, 2]
    assert late.values == ["m2"]


def test_a_batch_that_raises_delivers_what_it_had_committed():
    store = Store(0)
    heard = store.select(lambda n: n).pipe(record())

    def commit_and_fail() -> None:
        with store.batch():
            store.commit(1)
            raise KeyError

    with pytest.raises(KeyError):
        commit_and_fail()

    assert heard.values == [0, 1]


def test_who_subscribes_in_a_batch_hears_when_the_batch_takes_it_back():
    store = Store(0)
    with store.batch():
        store.commit(1)
        heard = store.select(lambda n: n).pipe(record())
        store.commit(0)

    store.commit(2)

    assert heard.values == [1, 0, 2]


def test_a_batch_that_takes_everything_back_is_told_to_nobody():
    store = Store(0)
    heard = store.select(lambda n: n).pipe(record())
    with store.batch():
        store.commit(1)
        store.commit(0)
    later = store.select(lambda n: n + 1).pipe(record())
    store.commit(5)

    assert heard.values == [0, 5]
    assert later.values == [1, 6]


# Errors


@pytest.mark.parametrize("through_pipe", [False, True])
def test_a_raising_listener_stays_and_disturbs_nobody(through_pipe):
    hook = Hook()
    store = Store(0, on_error=hook)
    number = store.select(lambda n: n)
    calls = []

    def bad(n: int) -> None:
        calls.append(n)
        raise ValueError(n)

    (number.pipe(ops.map(lambda n: n), ops.filter(lambda n: True)) if through_pipe else number).subscribe(bad)
    heard = number.pipe(record())

    store.commit(1)
    store.commit(2)

    assert calls == heard.values == [0, 1, 2]
    assert hook.seen == [("listener", "0"), ("listener", "1"), ("listener", "2")]


def test_a_selector_that_raises_at_subscription_errors_that_subscriber_only():
    hook = Hook()
    store = Store(0, on_error=hook)
    inverse = store.select(lambda n: 1 / n)

    failed = inverse.pipe(record())
    with pytest.raises(ZeroDivisionError):
        inverse.subscribe(print)
    with pytest.raises(ZeroDivisionError):
        _ = inverse.value
    store.commit(2)

    assert isinstance(failed.error, ZeroDivisionError)
    assert failed.values == hook.seen == []
    assert store.statistics().live_slices == 0


def test_a_selector_that_raises_later_keeps_its_value_reports_and_goes_on():
    hook = Hook()
    store = Store(4, on_error=hook)
    inverse = store.select(lambda n: 4 // n)
    heard = inverse.pipe(record())

    store.commit(0)
    assert inverse.value == 1
    store.commit(2)

    assert heard.values == [1, 2]
    assert heard.error is None
    assert [culprit for culprit, _ in hook.seen] == ["selector"]


def test_what_the_hook_raises_surfaces_when_everybody_was_served():
    def strict(error: Exception, context: object) -> None:
        raise error

    store = Store(0, on_error=strict)
    number = store.select(lambda n: n)

    def bad(n: int) -> None:
        if n:
            raise ValueError(n)

    number.subscribe(bad)
    heard = number.pipe(record())

    with pytest.raises(ValueError, match="1"):
        store.commit(1)
    number.subscribe(lambda n: bad(n) if n == 2 else None)
    with pytest.raises(ExceptionGroup):
        store.commit(2)

    assert heard.values == [0, 1, 2]


def test_a_comparer_that_raises_means_changed():
    hook = Hook()
    store = Store([1], on_error=hook)
    heard = store.select(lambda s: list(s), eq=lambda a, b: 1 / 0).pipe(record())

    store.commit([2])

    assert heard.values == [[1], [2]]
    assert [culprit for culprit, _ in hook.seen] == ["comparer"]


# Derived values


def test_a_selector_that_builds_a_new_container_emits_nothing_while_it_is_equal():
    store = Store(thread(2))
    built = store.select(lambda s: {"ids": [m.id for m in s.messages], "n": len(s.messages)})
    shallow = store.select(lambda s: list(s.messages), eq=shallow_equal)
    heard, also = built.pipe(record()), shallow.pipe(record())

    for n in range(1000):
        store.update(lambda s, n=n: attrs.evolve(s, draft=str(n)))

    assert len(heard.values) == len(also.values) == 1
    assert built.value is built.value is heard.values[0]
    unread = store.select(lambda s: [s.draft])
    assert unread.value is unread.value


def test_a_second_selector_is_not_called_while_the_first_gives_the_same():
    store = Store(Thread())
    calls = []
    parity = store.select(lambda s: s.a % 2)
    doubled = parity.select(lambda p: calls.append(p) or p * 2)
    heard = doubled.pipe(record())

    store.commit(attrs.evolve(store.value, a=3, b=9))
    store.commit(attrs.evolve(store.value, a=4))

    assert calls == [1, 0]
    assert heard.values == [2, 0]


def test_a_path_switch_with_an_equal_value_keeps_no_old_dependency():
    store = Store(Thread())
    heard = store.select(lambda s: s.a if s.flag else s.b).pipe(record())

    store.commit(attrs.evolve(store.value, flag=True))
    store.commit(attrs.evolve(store.value, a=2))

    assert heard.values == [1, 2]


def test_an_index_follows_what_stands_there():
    store = Store(thread(2))
    heard = store.select(lambda s: s.messages[0].id).pipe(record())
    last = store.select(lambda s: s.messages[-1].id).pipe(record())

    def messages(change) -> None:
        store.update(lambda s: attrs.evolve(s, messages=change(s.messages)))

    messages(lambda m: m.insert(0, "new", Message("new")))
    messages(lambda m: m.remove("new"))
    messages(lambda m: m.with_items(reversed(list(m.items()))))
    messages(lambda m: m.append("end", Message("end")))

    assert heard.values == ["m0", "new", "m0", "m1"]
    assert last.values == ["m1", "m0", "end"]


def test_a_value_read_while_nobody_listens_is_never_served_later():
    store = Store(Thread())
    numbers = store.select(lambda s: s.a)
    subscription = numbers.subscribe(lambda a: None)
    assert numbers.value == 1
    subscription.dispose()
    assert numbers.value == 1

    store.commit(attrs.evolve(store.value, a=5))

    assert numbers.value == 5
    assert numbers.pipe(record()).values == [5]


def test_a_view_rebuilt_from_emissions_is_the_state_while_the_tail_moves():
    store = Store(Thread())
    view: dict[tuple[str, int], str] = {}
    ids = store.select(lambda s: s.messages.keys()).pipe(record())
    last = store.select(lambda s: s.messages[-1] if s.messages else None).pipe(record())

    for number in range(6):
        id = f"m{number}"
        store.update(lambda s, id=id: attrs.evolve(s, messages=s.messages.append(id, Message(id, (Part(""),)))))
        store.at(attr("messages"), key(id), attr("content"), index(0), attr("text")).subscribe(
            lambda text, id=id: view.update({(id, 0): text})
        )
        by_place = store.select(lambda s, n=number: s.messages[n].content[0].text).pipe(record())
        for length in range(1, 4):
            store.commit(with_text(store.value, id, 0, "x" * length))
            assert view == {(m.id, 0): m.content[0].text for m in store.value.messages}
            assert ids.values[-1] == store.value.messages.keys()
            assert last.values[-1] is store.value.messages[-1]
            assert by_place.values[-1] == "x" * length


# Addresses


def test_an_address_completes_when_its_key_is_gone():
    store = Store(thread(3))
    text = store.at(attr("messages"), key("m1"), attr("content"), index(0), attr("text"))
    upper = store.at(attr("messages"), key("m1")).select(lambda m: m.content[0].text.upper())
    one, two = text.pipe(record()), upper.pipe(record())

    store.commit(with_text(store.value, "m1", 0, "hi"))
    store.commit(with_text(store.value, "m2", 0, "other"))
    store.update(lambda s: attrs.evolve(s, messages=s.messages.remove("m1")))

    assert (one.values, one.completed) == (["p0", "hi"], True)
    assert (two.values, two.completed) == (["P0", "HI"], True)
    assert text.pipe(record()).completed
    with pytest.raises(SelectorError, match="m1"):
        _ = text.value
    assert store.statistics().index_entries == 0


def test_an_address_without_a_value_waits_for_one():
    store = Store(thread(1))
    second = store.at(attr("messages"), key("m0"), attr("content"), index(1), attr("text"))
    named = store.at(attr("messages"), key("m0"), attr("content"), first("id", "call"), attr("text"))
    one, two = second.pipe(record()), named.pipe(record())

    store.commit(with_text(store.value, "m0", 1, "late"))
    message = Message("m0", (Part("x", "call"), Part("later")))
    store.update(lambda s: attrs.evolve(s, messages=s.messages.replace("m0", message)))

    assert one.values == ["late", "later"]
    assert two.values == ["x"]
    assert not one.completed


# Counts


@pytest.mark.parametrize("how", ["key", "index", "address"])
def test_one_change_evaluates_and_tells_one_of_ten_thousand(how):
    store = Store(thread(3334, parts=3))
    heard = []
    subscriptions = []
    for number in range(10_000):
        at, part = divmod(number, 3)
        if how == "key":
            slice_ = store.select(lambda s, id=f"m{at}", part=part: s.messages.by_key(id).content[part].text)
        elif how == "index":
            slice_ = store.select(lambda s, at=at, part=part: s.messages[at].content[part].text)
        else:
            slice_ = store.at(attr("messages"), key(f"m{at}"), attr("content"), index(part), attr("text"))
        subscriptions.append(slice_.subscribe(heard.append))
    heard.clear()
    before = store.statistics()

    store.commit(with_text(store.value, "m77", 1, "delta"))

    after = store.statistics()
    assert heard == ["delta"]
    assert after.evaluations - before.evaluations == 1
    assert after.deliveries - before.deliveries == 1
    assert after.live_slices == after.index_entries == 10_000

    store.update(lambda s: attrs.evolve(s, draft="typing"))
    store.update(lambda s: attrs.evolve(s, messages=s.messages.append("end", Message("end"))))
    assert store.statistics().evaluations == after.evaluations

    random.Random(1).shuffle(subscriptions)
    for subscription in subscriptions:
        subscription.dispose()
    assert store.statistics().index_entries == store.statistics().live_slices == 0


def test_a_keystroke_wakes_the_composer_and_a_token_its_own_chain():
    store = Store(thread(500, parts=4))
    parts = [
        store.select(lambda s, id=f"m{n}", part=part: s.messages.by_key(id).content[part].text).pipe(record())
        for n in range(500)
        for part in range(4)
    ]
    messages = [store.at(attr("messages"), key(f"m{n}")).pipe(record()) for n in range(500)]
    ids = store.select(lambda s: s.messages.keys()).pipe(record())
    draft = store.select(lambda s: s.draft).pipe(record())
    begin = store.statistics()

    for length in range(1, 21):
        store.update(lambda s, length=length: attrs.evolve(s, draft="x" * length))
    typed = store.statistics()
    for length in range(1, 201):
        store.commit(with_text(store.value, "m499", 3, "y" * length))
    streamed = store.statistics()

    assert (typed.evaluations - begin.evaluations, typed.deliveries - begin.deliveries) == (20, 20)
    assert (streamed.evaluations - typed.evaluations, streamed.deliveries - typed.deliveries) == (400, 400)
    assert len(draft.values) == 21
    assert len(ids.values) == 1
    assert [len(one.values) for one in parts] == [1] * 1999 + [201]
    assert [len(one.values) for one in messages] == [1] * 499 + [201]


def test_a_loop_over_all_items_is_evaluated_once_and_needs_few_entries():
    store = Store(thread(3000))
    ids = store.select(lambda s: tuple(m.id for m in s.messages)).pipe(record())
    before = store.statistics()

    for number in range(100):
        store.commit(with_text(store.value, f"m{number}", 0, "new"))

    assert before.index_entries == 2
    assert store.statistics().evaluations == before.evaluations
    assert len(ids.values) == 1


def test_subscribers_of_one_slice_share_one_evaluation():
    store = Store(0)
    calls = []
    doubled = store.select(lambda n: calls.append(n) or n * 2)
    recordings = [doubled.pipe(record()) for _ in range(5)]

    store.commit(1)

    assert calls == [0, 1]
    assert all(recording.values == [0, 2] for recording in recordings)


# Life and death


def test_take_one_leaves_nothing_registered():
    store = Store(0)
    for _ in range(1000):
        store.select(lambda n: n).pipe(ops.take(1)).subscribe(lambda n: None)

    assert store.statistics().live_slices == store.statistics().index_entries == 0


def test_nothing_keeps_a_removed_message_or_a_disposed_listener_alive():
    store = Store(thread(3))
    last = store.select(lambda s: s.messages[-1])
    assert last.value.id == "m2"
    heard = weakref.ref(listener := lambda message: None)
    selector = weakref.ref(pick := lambda s: s.messages.get("m1"))
    subscriptions = [last.subscribe(listener), store.select(pick).subscribe(listener)]
    message = weakref.ref(store.value.messages.by_key("m2"))

    store.update(lambda s: attrs.evolve(s, messages=s.messages.truncate(2)))
    for subscription in subscriptions:
        subscription.dispose()
    del listener, pick
    gc.collect()

    assert message() is None
    assert heard() is None
    assert selector() is None


def test_a_subscription_does_not_depend_on_its_handle_and_ends_with_its_scope():
    store = Store(0)
    heard, scoped = [], []
    store.select(lambda n: n).subscribe(heard.append)
    gc.collect()
    with store.select(lambda n: n).subscribe(scoped.append):
        store.commit(1)
    store.commit(2)

    assert heard == [0, 1, 2]
    assert scoped == [0, 1]


def test_closing_completes_everybody_and_keeps_the_last_snapshot():
    store = Store(1)
    number = store.select(lambda n: n)
    open_one = number.pipe(record())

    store.close()
    store.close()

    assert open_one.completed
    assert number.pipe(record()).completed
    assert store.value == number.value == 1
    with pytest.raises(StoreClosedError):
        store.commit(2)
    assert store.statistics().live_slices == 0


def test_closing_in_a_delivery_delivers_what_was_committed_before():
    store = Store(0)
    number = store.select(lambda n: n)

    def stop(n: int) -> None:
        if n == 1:
            store.commit(2)
            store.close()

    number.subscribe(stop)
    heard = number.pipe(record())
    store.commit(1)

    assert heard.values == [0, 1, 2]
    assert heard.completed


def test_a_slice_is_an_observable_to_all_operators():
    store = Store(thread(2))
    count = store.select(lambda s: len(s.messages))
    draft = store.select(lambda s: s.draft)

    merged = count.pipe(ops.combine_latest(draft), ops.map(lambda pair: pair[0]), record())
    both = reactivex.merge(count, draft).pipe(record())
    scanned = count.scan(lambda total, n: total + n, 0).pipe(record())
    store.commit(attrs.evolve(thread(3), draft="hello"))

    assert merged.values[-1] == 3
    assert both.values == [2, "", 3, "hello"]
    assert scanned.values == [2, 5]


# Threads


def in_thread(function) -> list[BaseException]:
    errors = []

    def run() -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    worker = threading.Thread(target=run)
    worker.start()
    worker.join()
    return errors


def test_a_commit_or_subscription_from_another_thread_is_a_clear_error():
    store = Store(0, name="thread")

    for call in (lambda: store.commit(1), lambda: store.select(lambda n: n).subscribe(print), store.drain):
        (error,) = in_thread(call)
        assert isinstance(error, WrongThreadError)
        assert "post" in str(error) or "thread" in str(error)
    assert store.value == 0


def test_without_a_loop_posted_calls_wait_for_drain_or_the_next_commit():
    hook = Hook()
    store = Store(0, on_error=hook)
    heard = store.select(lambda n: n).pipe(record())

    in_thread(lambda: [store.post(lambda n=n: store.commit(n)) for n in (1, 2)])
    assert store.value == 0
    store.drain()
    store.post(lambda: 1 / 0)
    store.post(lambda: store.update(lambda n: n + 1))
    store.commit(10)

    assert heard.values == [0, 1, 2, 10, 11]
    assert [culprit for culprit, _ in hook.seen] == ["posted"]


def test_dispose_from_another_thread_takes_effect_at_once():
    store = Store(0)
    heard = []
    subscription = store.select(lambda n: n).subscribe(heard.append)

    in_thread(subscription.dispose)
    store.commit(1)

    assert heard == [0]
    assert store.statistics().live_slices == 0


# Debug mode


def test_debug_mode_warns_of_what_tracking_cannot_see_and_is_right():
    store = Store(Thread(), debug=True)
    with pytest.warns(SelectorWarning, match="when tracked"):
        heard = store.select(lambda s: type(s) is Thread).pipe(record())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.commit(attrs.evolve(store.value, a=2))

    assert heard.values == [True]


def test_debug_mode_warns_of_unstable_results():
    store = Store(0, debug=True)
    with pytest.warns(SelectorWarning, match="another value each time"):
        store.select(lambda n: object()).pipe(record())


@attrs.frozen
class Marked:
    """A value whose class says what kind of thing it is."""

    kind: ClassVar[str] = "marked"
    size: ClassVar[int] = 3
    text: str = ""


@attrs.frozen
class OtherMark:
    """The other kind."""

    kind: ClassVar[str] = "other"
    text: str = ""


def test_reading_what_a_class_says_depends_on_the_class_and_not_on_the_value() -> None:
    store: Store[tuple[Marked | OtherMark, ...]] = Store((Marked("a"),))
    seen: list[object] = []
    store.select(lambda s: (s[0].kind, getattr(s[0], "size", None))).subscribe(seen.append)

    before = store.statistics().evaluations
    store.commit((Marked("b"),))
    assert store.statistics().evaluations == before
    store.commit((OtherMark("b"),))

    assert seen == [("marked", 3), ("other", None)]
