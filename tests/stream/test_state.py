"""Operations on a value that is streamed beside a message."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.errors import StateOperationError, WireError
from partwise.messages import Pieces, freeze, thaw
from partwise.stream import (
    AppendText,
    ObjectDecoder,
    ObjectEncoder,
    ObjectSnapshot,
    SetValue,
    StateChanges,
    StateOperation,
    _state,
    apply_operations,
    fold_state,
    read_operation,
    write_operation,
)
from partwise.stream._growing_state import GrowingState
from partwise.stream._state import apply_operation

KEYS = st.sampled_from(["a", "b", "0", "1", "x y"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
OPERATIONS = st.one_of(
    st.builds(SetValue, st.lists(KEYS, max_size=3), VALUES),
    st.builds(AppendText, st.lists(KEYS, max_size=3), st.text(max_size=3)),
)


def test_what_an_operation_does_not_touch_keeps_its_identity() -> None:
    before = apply_operations(None, [SetValue((), {"a": {"x": [1]}, "b": {"y": "t"}})])
    after = apply_operations(before, [AppendText(("b", "y"), "u")])

    assert after == {"a": {"x": [1]}, "b": {"y": "tu"}}
    assert after["a"] is before["a"]
    assert before["b"]["y"] == "t"


def test_a_failing_batch_says_where_and_changes_nothing() -> None:
    state = apply_operations(None, [SetValue(("n",), 1)])

    with pytest.raises(StateOperationError, match="text can only be appended to text") as caught:
        apply_operations(state, [SetValue(("m",), 2), AppendText(("n",), "x")])

    assert (caught.value.code, caught.value.path) == ("not-a-string", ("n",))
    assert state == {"n": 1}


@pytest.mark.parametrize(
    "value",
    [
        7,
        {},
        {"type": "set", "path": "a", "value": 1},
        {"type": "set", "path": [True], "value": 1},
        {"type": "x", "path": []},
    ],
)
def test_what_is_no_operation_is_refused(value: object) -> None:
    with pytest.raises(StateOperationError) as caught:
        read_operation(value)
    assert caught.value.code == "invalid-operation"


@given(st.lists(OPERATIONS, max_size=6))
def test_the_lenient_fold_does_what_the_strict_one_does_and_goes_on(operations: list[StateOperation]) -> None:
    problems: list[WireError] = []
    state = fold_state(None, operations, report=problems.append)

    try:
        strict = apply_operations(None, operations)
    except StateOperationError as error:
        refused = error.code
        assert problems or refused == "index-out-of-bounds"
    else:
        assert (strict, problems) == (state, [])


@given(st.lists(OPERATIONS, max_size=6))
def test_operations_survive_their_wire_form(operations: list[StateOperation]) -> None:
    assert [read_operation(write_operation(operation)) for operation in operations] == operations


@given(st.lists(st.lists(OPERATIONS, max_size=3), max_size=4), st.integers(1, 40))
def test_an_object_stream_cut_anywhere_gives_every_snapshot(batches: list[list[StateOperation]], size: int) -> None:
    encoder, decoder = ObjectEncoder(), ObjectDecoder()
    wire, wanted = b"", []
    for batch in batches:
        try:
            wire += encoder.encode(batch)
        except StateOperationError:
            continue
        wanted.append(encoder.value)

    got = [item.value for at in range(0, len(wire), size) for item in decoder.feed(wire[at : at + size])]

    assert got == wanted


def test_every_real_change_is_told() -> None:
    before = {"l": [1, 2, 3], "s": "t"}
    operations = [SetValue(("l",), [1]), AppendText(("s",), "u")]
    changes = StateChanges(before, apply_operations(before, operations), operations)

    assert changes.changed_keys() == ("l", "s")
    assert set(changes.changed_keys(["l"])) == {"0", "1", "2"}
    assert changes.has_changed(["l", 2])
    assert not changes.has_changed(["other"])


def test_halves_of_a_character_become_one_where_they_meet() -> None:
    state = apply_operations(None, [SetValue(("t",), "\ud83d"), AppendText(("t",), "\ude42!")])

    assert thaw(state) == {"t": "\U0001f642!"}


PIECES = st.sampled_from(["", "x", "yz", "\ud83d", "\ude42", "\ud83d\ude42"])
APPENDED = st.builds(AppendText, st.sampled_from([("a",), ("b", "0"), ("none",)]), PIECES)


@given(st.lists(st.one_of(APPENDED, st.builds(SetValue, st.just(("b",)), st.just(["u"]))), max_size=12), st.data())
def test_a_text_that_grows_is_in_every_version_what_it_is_one_operation_at_a_time(operations, data) -> None:
    value: Any = freeze({"a": "A", "b": ["B"]})
    version = GrowingState(value)
    versions = [(version, value)]
    for operation in operations:
        version, value = versions[data.draw(st.integers(0, len(versions) - 1))]
        try:
            value = apply_operation(value, operation, is_strict=True)
        except StateOperationError as refused:
            with pytest.raises(StateOperationError, match=re.escape(str(refused))):
                version.plus(operation)
            continue
        versions.append((version.plus(operation), value))
        if data.draw(st.booleans()):
            assert versions[-1][0].value == value

    assert [version.value for version, _ in versions] == [value for _, value in versions]


@pytest.mark.parametrize("in_batches_of", [1, 50])
def test_a_text_that_grows_is_copied_only_for_those_who_read_it(in_batches_of: int) -> None:
    count = 1_000
    appended = [AppendText(("t",), f"piece {number} ") for number in range(count)]
    batches = [appended[at : at + in_batches_of] for at in range(0, count, in_batches_of)]
    encoder, decoder = ObjectEncoder({"t": ""}), ObjectDecoder({"t": ""})
    copied = 0

    def whole(pieces: Pieces) -> str:
        nonlocal copied
        copied += len(pieces)
        return read_pieces(pieces)

    def joined(old: str, new: str) -> str:
        nonlocal copied
        copied += len(old)
        return join_text(old, new)

    read_pieces, join_text = Pieces.text, _state.join_text
    with mock.patch.object(Pieces, "text", whole), mock.patch.object(_state, "join_text", joined):
        snapshots = [snapshot for batch in batches for snapshot in decoder.feed(encoder.encode(batch))]
        assert copied < 1_000  # the first frame tells the whole value

        text = "".join(operation.text for operation in appended)
        assert snapshots[-1].value == encoder.value == {"t": text}
        assert copied < 2 * len(text) + 1_000
    told = "".join(operation.text for operation in appended[: 11 * in_batches_of])
    assert snapshots[10] == ObjectSnapshot({"t": told}, tuple(batches[10]))


def test_a_batch_joins_its_text_once() -> None:
    with mock.patch.object(_state, "join_text", side_effect=_state.join_text) as joined:
        state = apply_operations({"t": ""}, [AppendText(("t",), "piece ")] * 1_000)

    assert state == {"t": "piece " * 1_000}
    assert joined.call_count == 1


@given(st.lists(st.integers(0, 400), max_size=6))
def test_what_came_before_a_bad_frame_is_there_however_the_bytes_were_cut(cuts: list[int]) -> None:
    frames = [
        [{"type": "set", "path": ["a"], "value": {"b": "c"}}],
        [{"type": "append-text", "path": ["a", "b"], "value": "d"}],
        [{"type": "append-text", "path": ["a"], "value": "no text"}],
        [{"type": "set", "path": [], "value": "too late"}],
    ]
    data = b"".join(b"data: " + json.dumps(frame).encode() + b"\n\n" for frame in frames)
    decoder, values = ObjectDecoder(), []
    places = [0, *sorted(cuts), len(data)]

    def read() -> None:
        for start, end in pairwise(places):
            values.extend(snapshot.value for snapshot in decoder.feed(data[start:end]))
        decoder.close()

    with pytest.raises(StateOperationError, match="a") as caught:
        read()
    assert values == [{"a": {"b": "c"}}, {"a": {"b": "cd"}}]
    with pytest.raises(StateOperationError) as again:
        decoder.feed(b"")
    assert again.value is caught.value
