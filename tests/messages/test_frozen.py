import copy
import pickle
from collections.abc import Callable

import attrs
import pytest
from hypothesis import given

from partwise.messages import (
    MISSING,
    AssistantMetadata,
    DataPart,
    FrozenDict,
    FrozenList,
    Message,
    TextPart,
    ToolCallPart,
    freeze,
    thaw,
)
from tests.strategies import json_values, messages

from ._answers import answer


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(a=1),
        lambda d: d.__setitem__("a", 1),
        lambda d: d.pop("list"),
        lambda d: d.clear(),
        lambda d: d.__ior__({"a": 1}),
        lambda d: d["list"].append(1),
        lambda d: d["list"].sort(),
        lambda d: d["list"].__iadd__([1]),
        lambda d: d["list"].__setitem__(0, 1),
        lambda d: d["list"][1].update(a=1),
    ],
    ids=["update", "set", "pop", "clear", "merge", "append", "sort", "extend", "replace", "inner"],
)
def test_what_a_part_holds_cannot_be_changed(change: Callable[[object], object]) -> None:
    part = ToolCallPart(tool_call_id="c", tool_name="t", args={"list": [1, {"b": 2}]})

    with pytest.raises(TypeError, match="cannot be changed; make a copy"):
        change(part.args)
    assert part.args == {"list": [1, {"b": 2}]}


def test_a_part_is_not_touched_by_changes_to_what_it_was_made_of() -> None:
    given_args = {"list": [1]}
    annotation = {"a": [1]}
    part = ToolCallPart(tool_call_id="c", tool_name="t", args=given_args)
    metadata = AssistantMetadata(annotations=[annotation])  # type: ignore[arg-type]  # any iterable
    given_args["list"].append(2)
    annotation["a"].append(2)

    assert part.args == {"list": [1]}
    assert metadata.annotations == ({"a": [1]},)


def test_values_cannot_be_changed() -> None:
    for value in (TextPart("x"), answer(TextPart("x")), answer().metadata):
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            value.text = "y"  # type: ignore[union-attr, misc]  # the point


@given(json_values)
def test_freezing_keeps_equality_and_thawing_takes_it_back(value: object) -> None:
    frozen = freeze(value)

    assert frozen == value
    assert thaw(frozen) == value
    assert freeze(frozen) is frozen
    assert copy.deepcopy(frozen) == frozen
    assert pickle.loads(pickle.dumps(frozen)) == frozen
    hash(frozen)


def test_tuples_become_lists_and_other_values_stay() -> None:
    odd = object()

    assert freeze({"a": (1, [2])}) == FrozenDict(a=FrozenList([1, FrozenList([2])]))
    assert freeze(odd) is odd
    assert freeze(MISSING) is MISSING


@given(messages())
def test_messages_can_be_pickled_copied_and_hashed(message: Message) -> None:
    assert pickle.loads(pickle.dumps(message)) == message
    assert copy.deepcopy(message) == message
    hash(message)


def test_a_copy_can_be_changed() -> None:
    part = DataPart(name="n", data={"a": [1]})
    mine = thaw(part.data)
    mine["a"].append(2)

    assert part.data == {"a": [1]}
