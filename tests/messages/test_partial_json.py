import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.messages import FrozenDict, parse_partial_object
from partwise.stream import ArgsReader
from tests.strategies import json_objects

TEXTS = st.builds(
    lambda value, ascii_only, indent: json.dumps(value, ensure_ascii=ascii_only, indent=indent),
    json_objects,
    st.booleans(),
    st.sampled_from([None, 1]),
)


@given(TEXTS)
def test_a_whole_object_is_read_as_a_strict_parser_reads_it(text: str) -> None:
    assert repr(parse_partial_object(text)) == repr(json.loads(text))


@given(TEXTS, st.integers(0, 200))
def test_any_beginning_reads_as_the_incremental_reader_reads_it(text: str, end: int) -> None:
    reader = ArgsReader()
    reader.feed(text[:end])

    assert repr(parse_partial_object(text[:end])) == repr(reader.value)


@given(st.text(alphabet='{}[]",:\\u12 tnrue-.e+x', max_size=30))
def test_nonsense_never_raises_and_reads_as_the_incremental_reader_reads_it(text: str) -> None:
    reader = ArgsReader()
    reader.feed("{" + text)

    assert repr(parse_partial_object("{" + text)) == repr(reader.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        (" \n", {}),
        ("[1]", None),
        ("nonsense", None),
        ('"{', None),
        ("{", {}),
        ('{"a', {}),
        ('{"a"', {}),
        ('{"a":', {}),
        ('{"a":"x', {"a": "x"}),
        ('{"a":"x\\', {"a": "x"}),
        ('{"a":"x\\u00e', {"a": "x"}),
        ('{"a":"x\\ud83d', {"a": "x"}),
        ('{"a":"x\\ud83d\\ude42', {"a": "x🙂"}),
        ('{"a":tru', {}),
        ('{"a":true', {}),
        ('{"a":true,', {"a": True}),
        ('{"a":12', {}),
        ('{"a":12}', {"a": 12}),
        ('{"a":[1,{"b":"c', {"a": [1, {"b": "c"}]}),
        ('{"a":1,,"b":2}', {"a": 1}),
        ('{"a":1}{"b":2}', {"a": 1}),
        ('{"a":NaN,"b":1}', {}),
        ('{"a":1,"a":2}', {"a": 2}),
        ('{"__proto__":1}', {"__proto__": 1}),
    ],
)
def test_as_much_is_read_as_is_certain(text: str, value: object) -> None:
    assert parse_partial_object(text) == value


def test_the_value_is_frozen_through_and_through() -> None:
    value = parse_partial_object('{"a":[{"b":1}')

    assert isinstance(value, FrozenDict)
    with pytest.raises(TypeError):
        value["a"][0]["b"] = 2


def test_absurd_depth_is_cut_off_without_harm() -> None:
    assert parse_partial_object('{"a":' * 100_000) is not None
    assert parse_partial_object('{"a":' + "[" * 100_000) is not None
