"""The keyed sequence against a plain list of pairs, and what its versions share."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.reactive import KeyedSeq, diff

SIZES = (0, 1, 5, 31, 32, 33, 64, 1023, 1024, 1025)


def step(seq: KeyedSeq, model: list, rng: random.Random, fresh: int) -> tuple[KeyedSeq, list]:
    value = object()
    at = rng.randrange(len(model)) if model else 0
    match rng.randrange(7):
        case 0 if model:
            return seq.replace(model[at][0], value), [*model[:at], (model[at][0], value), *model[at + 1 :]]
        case 1:
            return seq.append(fresh, value), [*model, (fresh, value)]
        case 2:
            model = list(model)
            where = rng.randrange(-3, len(model) + 3)
            model.insert(where, (fresh, value))
            return seq.insert(where, fresh, value), model
        case 3 if model:
            return seq.remove(model[at][0]), [*model[:at], *model[at + 1 :]]
        case 4:
            length = rng.choice((at, max(len(model) - 1, 0)))
            return seq.truncate(length), model[:length]
        case 5:
            model = [*model, (fresh, value)]
            return seq.with_items(model), model
        case 6:
            model = list(model)
            rng.shuffle(model)
            return seq.with_items(model), model
    return seq, model


def assert_same(seq: KeyedSeq, model: list) -> None:
    assert list(seq.items()) == model
    assert len(seq) == len(model)
    assert list(seq) == [value for _, value in model]
    assert list(reversed(seq)) == [value for _, value in reversed(model)]
    for at in {0, len(model) // 2, len(model) - 1, -len(model)} if model else ():
        assert seq[at] is model[at][1]
        assert seq.key_at(at) == model[at][0]
        assert seq.by_key(model[at][0]) is model[at][1]
        assert seq.index_of(model[at][0]) == at % len(model)
    assert seq[2:40] == tuple(value for _, value in model[2:40])
    assert seq[::-3] == tuple(value for _, value in model[::-3])


@given(st.integers(0, 2**32), st.sampled_from(SIZES))
@settings(max_examples=60)
def test_every_version_is_the_list_it_should_be_and_diff_names_what_differs(seed, size):
    rng = random.Random(seed)
    model = [(number, object()) for number in range(size)]
    seq = KeyedSeq(model)
    versions = [(seq, model)]

    for number in range(25):
        seq, model = step(*rng.choice(versions[-3:]), rng, 10_000 + number)
        versions.append((seq, model))

    for version, expected in versions:
        assert_same(version, expected)
    for _ in range(10):
        (old, before), (new, after) = rng.choice(versions), rng.choice(versions)
        was, now = dict(before), dict(after)
        found = diff(old, new)
        assert found.changed == tuple(key for key in now if key in was and was[key] is not now[key])
        assert found.added == tuple(key for key in now if key not in was)
        assert found.removed == tuple(key for key in was if key not in now)
        assert found.reordered == ([k for k in now if k in was] != [k for k in was if k in now])
        assert bool(found) == (before != after)


def test_a_replaced_item_shares_everything_else():
    old = KeyedSeq((n, object()) for n in range(10_000))
    new = old.replace(5_000, object())

    shared = sum(one is other for one, other in zip(old.tree, new.tree, strict=True))
    assert shared == len(old.tree) - 1
    assert diff(old, new).changed == (5_000,)
    assert new.replace(5_000, new[5_000]) is new


def test_a_whole_list_that_arrives_again_is_recognised():
    values = [(n, object()) for n in range(1000)]
    old = KeyedSeq(values)
    assert old.with_items(values) is old

    values[7] = (7, object())
    new = old.with_items(values)

    assert new.order is old.order
    assert sum(one is not other for one, other in zip(old.tree, new.tree, strict=True)) == 1


ITEMS = st.lists(st.integers(0, 99), unique=True)


@given(ITEMS, ITEMS)
def test_values_are_taken_in_as_their_pairs_are(before, after):
    old = KeyedSeq.of(before, key=str)

    new = old.with_values(after, key=str)

    assert new == old.with_items((str(value), value) for value in after)
    assert (new is old) == (before == after)


def test_values_of_one_key_are_refused():
    with pytest.raises(ValueError, match="key '1' is used twice"):
        KeyedSeq.of([1, 2], key=str).with_values([1, 2, 1], key=str)


def test_two_versions_may_grow_from_one():
    base = KeyedSeq([("a", 1)])
    one, two = base.append("b", 2), base.append("b", 3).append("c", 4)
    cut = two.truncate(1).append("d", 5)

    assert base.keys() == ("a",)
    assert "b" not in base
    assert base.get("b") is None
    assert list(one) == [1, 2]
    assert list(two) == [1, 3, 4]
    assert cut.keys() == ("a", "d")


def test_wrong_keys_and_positions_are_errors():
    seq = KeyedSeq.of(["x", "yy"], key=len)
    with pytest.raises(KeyError):
        seq.by_key(9)
    with pytest.raises(KeyError):
        seq.index_of(9)
    with pytest.raises(KeyError):
        seq.replace(9, "")
    with pytest.raises(KeyError):
        seq.remove(9)
    for index in (2, -3):
        with pytest.raises(IndexError):
            seq[index]
        with pytest.raises(IndexError):
            seq.key_at(index)
    for wrong in (lambda: seq.append(1, "z"), lambda: seq.insert(0, 1, "z"), lambda: KeyedSeq([(1, 2), (1, 3)])):
        with pytest.raises(ValueError, match="key 1"):
            wrong()


def test_equality_hash_and_repr_are_those_of_the_items():
    one, two = KeyedSeq([("a", 1), ("b", 2)]), KeyedSeq([("a", 1)]).append("b", 2)
    assert one == two
    assert hash(one) == hash(two)
    assert one != KeyedSeq([("b", 2), ("a", 1)])
    assert one != (1, 2)
    assert repr(one) == "KeyedSeq([('a', 1), ('b', 2)])"
    assert isinstance(one, Sequence)
    match one:
        case [first, *_]:
            assert first == 1
