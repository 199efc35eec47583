"""Arguments are read strictly, or not at all."""

from __future__ import annotations

import dataclasses
import json
from datetime import date, timedelta
from decimal import Decimal
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from partwise.errors import ToolArgumentsError
from partwise.messages import ToolCallPart
from partwise.tools import Tool, bind_arguments, parse_arguments, tool_from_function


def call(text: str, args: dict[str, Any] | None = None) -> ToolCallPart:
    return ToolCallPart(tool_call_id="tc1", tool_name="t", args_text=text, args=args or {})


@pytest.mark.parametrize("text", ["", " ", "\n", "\ufeff"])
def test_no_text_means_no_arguments(text: str) -> None:
    assert parse_arguments(call(text)) == {}


def test_without_text_the_arguments_given_beside_it_count() -> None:
    assert parse_arguments(call("", {"a": 1})) == {"a": 1}


def test_the_text_counts_before_what_was_salvaged_from_it() -> None:
    assert parse_arguments(call('{"a": 2}', {"a": 1})) == {"a": 2}


@pytest.mark.parametrize(
    "text",
    ['{"a": 1,,}', '{"path":"notes/x.txt","content":"abc', "{", '{"a": 1} x', "{'a': 1}", '{"a": NaN}', "[" * 100_000],
    ids=lambda text: text[:20],
)
def test_malformed_or_truncated_text_is_refused(text: str) -> None:
    with pytest.raises(ToolArgumentsError, match="not complete, valid JSON") as caught:
        parse_arguments(call(text, {"a": 1}))

    assert (caught.value.tool_name, caught.value.tool_call_id, caught.value.fields) == ("t", "tc1", ())


@pytest.mark.parametrize(
    ("text", "what"),
    [("[1]", "an array"), ("null", "null"), ("3", "a number"), ('"a"', "a string"), ("true", "a bool")],
)
def test_json_that_is_no_object_is_refused(text: str, what: str) -> None:
    with pytest.raises(ToolArgumentsError, match=f"not a JSON object but {what}"):
        parse_arguments(call(text))


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.none() | st.lists(st.booleans())), st.data())
def test_no_proper_beginning_of_an_object_is_accepted(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = data.draw(st.integers(min_value=1, max_value=len(text) - 1))

    assert parse_arguments(call(text)) == value
    with pytest.raises(ToolArgumentsError):
        parse_arguments(call(text[:cut]))


def plan(day: date, count: int, ratio: float = 0.5, *, tags: tuple[str, ...] = ()) -> None: ...


def test_arguments_are_bound_to_the_types_of_the_signature() -> None:
    bound = bind_arguments(
        tool_from_function(plan), call('{"day": "2026-01-02", "count": 1, "ratio": 1, "tags": ["a"]}')
    )

    assert bound == {"day": date(2026, 1, 2), "count": 1, "ratio": 1.0, "tags": ("a",)}


class Tree(BaseModel):
    value: int
    children: list[Tree] = []


@dataclasses.dataclass
class Pair:
    first: int
    second: str = "b"


class Level(IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    ("annotation", "text", "value"),
    [
        (Path, '"a/b"', Path("a/b")),
        (Decimal, '"1.50"', Decimal("1.50")),
        (UUID, '"12345678-1234-5678-1234-567812345678"', UUID(int=0x12345678123456781234567812345678)),
        (timedelta, '"PT1S"', timedelta(seconds=1)),
        (Pair, '{"first": 1}', Pair(1)),
        (Level, "1", Level.LOW),
        (Tree, '{"value": 1, "children": [{"value": 2}]}', Tree(value=1, children=[Tree(value=2)])),
        (frozenset[int], "[1, 1]", frozenset({1})),
        (int | str, '"1"', "1"),
        (Tree | Pair, '{"first": 1}', Pair(1)),
        (Annotated[int, Field(alias="other", gt=0)], "1", 1),
    ],
    ids=str,
)
def test_json_becomes_what_the_annotation_says(annotation: Any, text: str, value: Any) -> None:
    def take(a: Any) -> None: ...

    take.__annotations__["a"] = annotation

    assert bind_arguments(tool_from_function(take), call(f'{{"a": {text}}}')) == {"a": value}


def test_what_is_not_given_is_left_to_the_function() -> None:
    assert set(bind_arguments(tool_from_function(plan), call('{"day": "2026-01-02", "count": 1}'))) == {"day", "count"}


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ('{"day": "2026-01-02", "count": "1"}', ("count",)),
        ('{"day": "2026-01-02", "count": true}', ("count",)),
        ('{"day": "soon", "count": 1.5}', ("day", "count")),
        ('{"count": 1}', ("day",)),
        ('{"day": "2026-01-02", "count": 1, "p0": 1}', ("p0",)),
        ('{"day": "2026-01-02", "count": 1, "tags": ["a", 1]}', ("tags.1",)),
    ],
)
def test_each_field_that_does_not_fit_is_named(text: str, fields: tuple[str, ...]) -> None:
    with pytest.raises(ToolArgumentsError) as caught:
        bind_arguments(tool_from_function(plan), call(text))

    assert caught.value.fields == fields
    assert all(field in str(caught.value) for field in fields)


def test_a_text_that_no_utf8_can_hold_is_refused() -> None:
    def say(text: str) -> None: ...

    with pytest.raises(ToolArgumentsError):
        bind_arguments(tool_from_function(say), call('{"text": "\\ud800"}'))


def test_a_plain_schema_takes_any_object_and_lets_the_tool_change_it() -> None:
    tool = Tool.from_schema("t", {"properties": {"a": {"type": "integer"}}})

    bound: Any = bind_arguments(tool, call('{"a": "x", "b": {"c": []}}'))
    bound["b"]["c"].append(1)

    assert bound == {"a": "x", "b": {"c": [1]}}


def test_a_validator_of_ones_own_refuses_with_a_value_error() -> None:
    def validate(arguments: Any) -> Any:
        raise ValueError("too small")

    with pytest.raises(ToolArgumentsError, match="too small"):
        bind_arguments(Tool(name="t", kind="frontend", validate=validate), call("{}"))
