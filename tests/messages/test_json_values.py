import math

import pytest
from hypothesis import given

from partwise.messages import freeze, is_json_value, json_equal
from tests.strategies import json_values


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@given(json_values)
def test_json_is_json_frozen_or_not_and_equals_itself(value: object) -> None:
    assert is_json_value(value)
    assert is_json_value(freeze(value))
    assert json_equal(value, freeze(value))


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), {1: 2}, [{1}], b"x", {"a": [-math.inf]}])
def test_what_json_cannot_hold_is_no_json(value: object) -> None:
    assert not is_json_value(value)


def test_too_deep_is_no_json_and_equals_nothing() -> None:
    assert is_json_value(nested(100))
    assert not is_json_value(nested(101))
    assert json_equal(nested(99), nested(99))
    assert not json_equal(nested(102), nested(102))


def test_a_value_that_holds_itself_is_no_json() -> None:
    loop: list[object] = []
    loop += [loop, loop]

    assert not is_json_value(loop)


@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}, True),
        ([1, 2], [2, 1], False),
        (1, 1.0, True),
        (1, True, False),
        ([0], [False], False),
        (None, False, False),
        ("1", 1, False),
        ({"a": None}, {}, False),
        ({}, [], False),
        ([], {}, False),
        ([1], [1, 2], False),
    ],
)
def test_equality_is_that_of_json(one: object, other: object, are_equal: bool) -> None:
    assert json_equal(one, other) is are_equal
    assert json_equal(other, one) is are_equal
