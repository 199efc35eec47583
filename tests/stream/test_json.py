from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.messages import FrozenDict, FrozenList
from partwise.stream import ArgsReader

TEXTS = st.text(max_size=8) | st.sampled_from(["\U0001f642", "\ud83d", "\ude42", '"\\/', "__proto__", "\u2028", ""])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4))
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=5)
TEXTUAL = st.builds(
    lambda value, ascii_only, indent: json.dumps(value, ensure_ascii=ascii_only, indent=indent),
    OBJECTS,
    st.booleans(),
    st.sampled_from([None, 1]),
)


def read(*pieces: str) -> ArgsReader:
    reader = ArgsReader()
    for piece in pieces:
        reader.feed(piece)
    return reader


def cut(text: str, places: list[int]) -> list[str]:
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@given(TEXTUAL, st.lists(st.integers(0, 10_000), max_size=6))
def test_any_object_cut_anywhere_is_read_as_a_strict_parser_reads_it(text: str, places: list[int]) -> None:
    reader = ArgsReader()
    for piece in cut(text, places):
        reader.feed(piece)
        assert type(reader.value) is FrozenDict

    assert reader.is_complete
    assert reader.error is None
    assert repr(reader.value) == repr(json.loads(text))
    assert reader.complete()


def assert_grown(before: object, after: object) -> None:
    """`after` shows everything that `before` showed: same leaves, longer texts, more items."""
    if isinstance(before, dict):
        assert isinstance(after, dict)
        for key, value in before.items():
            assert_grown(value, after[key])
    elif isinstance(before, list):
        assert isinstance(after, list)
        assert len(after) >= len(before)
        for old, new in zip(before, after, strict=False):
            assert_grown(old, new)
    elif isinstance(before, str):
        assert isinstance(after, str)
        assert after.startswith(before)
    else:
        assert type(after) is type(before)
        assert after == before


@given(TEXTUAL)
def test_no_prefix_loses_what_an_earlier_prefix_showed(text: str) -> None:
    reader = ArgsReader()
    shown: object = FrozenDict()
    for character in text:
        reader.feed(character)
        assert_grown(shown, reader.value)
        shown = reader.value
    assert reader.is_complete


@settings(max_examples=40)
@given(st.builds(json.dumps, st.dictionaries(TEXTS, VALUES, max_size=2)))
def test_a_complete_field_never_changes_again(text: str) -> None:
    reader = ArgsReader()
    settled: dict[tuple[str | int, ...], object] = {}
    for character in text:
        reader.feed(character)
        for path, value in settled.items():
            assert reader.complete(path)
            assert repr(at(reader.value, path)) == repr(value)
        for path in paths(reader.value):
            if path not in settled and reader.complete(path):
                settled[path] = at(reader.value, path)


def at(value: object, path: tuple[str | int, ...]) -> object:
    for key in path:
        value = value[key]  # type: ignore[index]  # the paths come from the value
    return value


def paths(value: object) -> list[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, item in items for path in [(key,), *((key, *rest) for rest in paths(item))]]


def test_a_half_typed_number_literal_or_escape_is_not_a_value_yet() -> None:
    assert read('{"a": 1').value == {}
    assert read('{"a": 1,').value == {"a": 1}
    assert read('{"a": tru').value == {}
    assert read('{"a": true}').value == {"a": True}
    assert read('{"a": "x\\').value == {"a": "x"}
    assert read('{"a": "x\\u00').value == {"a": "x"}
    assert read('{"a": "\\ud83d').value == {"a": ""}
    assert read('{"a": "\\ud83d', '\\ude42"}').value == {"a": "\U0001f642"}
    assert read('{"a": "\\ud83d', '!"}').value == {"a": "\ud83d!"}
    assert read('{"ke').value == {}
    assert read('{"key"').value == {}


def test_an_open_text_object_or_list_is_shown_at_once() -> None:
    assert read('{"a": "').value == {"a": ""}
    assert read('{"a": {').value == {"a": {}}
    assert read('{"a": [').value == {"a": []}
    assert read('{"a": [{"b": "c').value == {"a": [{"b": "c"}]}


def test_it_tells_which_fields_are_complete() -> None:
    reader = read('{"path": "a.txt", "lines": [1, {"n": "tw')

    assert reader.complete(("path",))
    assert reader.complete(("lines", 0))
    assert not reader.complete(("lines", 1))
    assert not reader.complete(("lines", 1, "n"))
    assert not reader.complete(("lines",))
    assert not reader.complete()
    assert not reader.complete(("nowhere",))
    assert not reader.complete(("lines", "0"))
    assert reader.complete(("path", "deeper"))

    reader.feed('o"}]}')
    assert reader.complete(("lines", 1, "n"))
    assert reader.complete()


def test_the_last_of_two_equal_keys_wins_and_the_first_stays_until_then() -> None:
    reader = read('{"a": 1, "a": ')
    assert reader.value == {"a": 1}
    assert not reader.complete(("a",))

    reader.feed('"x"}')
    assert reader.value == {"a": "x"}


def test_hostile_keys_are_keys_like_any_other() -> None:
    assert read('{"__proto__": {"__class__": 1}, "constructor": [], "": 0}').value == {
        "__proto__": {"__class__": 1},
        "constructor": [],
        "": 0,
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"a": 1} x', {"a": 1}),
        ('{"a": 1}{}', {"a": 1}),
        ('{"a": 1,,}', {"a": 1}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1,]}', {"a": [1]}),
        ('{"a": 1 "b"', {"a": 1}),
        ('{"a" 1', {}),
        ("{a: 1}", {}),
        ('{"a": trux}', {}),
        ('{"a": True}', {}),
        ('{"a": NaN}', {}),
        ('{"a": 01}', {}),
        ('{"a": +1}', {}),
        ('{"a": 1.}', {}),
        ('{"a": -}', {}),
        ('{"a": "x\\q', {"a": "x"}),
        ('{"a": "x\\u00zz', {"a": "x"}),
        ('{"a": "x\ny"}', {"a": "x"}),
        ('{"a": }', {}),
        ('{"a": [1}', {"a": [1]}),
        ('{"a": ' + "9" * 5000 + "}", {}),
        ("[1]", {}),
        ('"text"', {}),
        ("null", {}),
    ],
)
def test_what_is_no_json_is_told_and_what_was_read_before_stays(text: str, shown: object) -> None:
    whole = read(text)
    assert whole.error is not None
    assert not whole.is_complete
    assert not whole.complete()
    assert whole.value == shown

    by_character = read(*text)
    assert (by_character.error, by_character.value) == (whole.error, whole.value)

    by_character.feed('"b": 2}')
    assert by_character.value == shown


def test_the_error_names_the_place() -> None:
    assert read('{"a": 1', ",,}").error == "expected a key, found ',' at character 8"


def test_nesting_is_bounded_and_needs_no_recursion() -> None:
    assert read('{"a": ' + "[" * 199).error is None
    assert read('{"a": ' + "[" * 100_000).error == "nested deeper than 200 levels at character 205"


def test_nothing_and_blanks_are_told_apart_from_an_object() -> None:
    assert read().is_blank
    assert read(" ", "\n").is_blank
    assert not read(" {").is_blank
    assert not read("x").is_blank
    assert not read("").is_complete


def test_values_are_frozen_and_what_did_not_change_is_not_copied() -> None:
    reader = read('{"done": [1, {"a": 2}], "open": ["x')
    before = reader.value
    reader.feed("y")
    after = reader.value

    assert type(after["done"]) is FrozenList
    assert type(after["done"][1]) is FrozenDict
    assert after["done"] is before["done"]
    assert before["open"] == ["x"]
    assert after["open"] == ["xy"]
    assert reader.value is after


def test_a_large_text_full_of_escapes_is_read() -> None:
    text = json.dumps({"content": "a line of a file\n" * 50_000})

    assert read(text).is_complete


def test_it_tells_where_it_is() -> None:
    reader = ArgsReader()
    seen = []
    for piece in ['{"l', '": ', "[", '"a', '", {"k": "v', '"}', ", 1", "2", "]", ', "s": "', "x", '"', "}"]:
        reader.feed(piece)
        seen.append(reader.partial_path)

    assert seen == [
        (),
        (),
        ("l",),
        ("l", 0),
        ("l", 1, "k"),
        ("l",),
        ("l",),
        ("l",),
        (),
        ("s",),
        ("s",),
        (),
        (),
    ]


def test_a_path_to_nowhere_is_known_once_nothing_can_come_there() -> None:
    reader = read('{"a": {"b": 1}, "c": {')

    assert reader.complete(("a", "nowhere"))
    assert not reader.complete(("c", "nowhere"))
    assert not reader.complete(("nowhere",))
    reader.feed("}}")
    assert reader.complete(("nowhere", "deeper"))


def test_halves_of_a_character_in_two_pieces_are_one_character() -> None:
    reader = read('{"a": "x\ud83d')

    assert reader.value == {"a": "x"}
    reader.feed('\ude42"}')
    assert reader.value == {"a": "x\U0001f642"}
