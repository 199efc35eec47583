"""What an external store shows of the lists and trees that its owner gives."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.errors import FeedError, MessageNotFoundError, ParentNotFoundError, RuntimeClosedError, WrongThreadError
from partwise.messages import AssistantMessage, RunningStatus, TextPart, message_text
from partwise.repository import Entry, Export
from partwise.runtimes import ExternalStoreRuntime, Runtime
from partwise.runtimes.external._conversion import first_difference
from tests.runtimes.scenes import answer, heard, question, reports, shown, statuses

U1, A1, U2 = question("u1"), answer("a1"), question("u2")


SAME = [Export(None, ()) for _ in range(2)]  # equal, and not the same
FEEDS = st.lists(st.sampled_from(SAME), max_size=6).map(tuple)


@given(FEEDS, FEEDS)
def test_a_feed_is_compared_object_by_object_up_to_the_first_that_is_another(before: Any, after: Any) -> None:
    at = first_difference(before, after)

    assert all(one is other for one, other in zip(before[:at], after[:at], strict=True))
    assert at == min(len(before), len(after)) or before[at] is not after[at]


@attrs.frozen
class Note:
    """Somebody's own kind of message."""

    id: str
    text: str
    role: str = "assistant"


class Converter:
    """Counts what it converts; a note that says ``bad`` cannot be."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __call__(self, note: Note) -> dict[str, Any]:
        self.calls.append(note.id)
        if note.text == "bad":
            raise ValueError(note.id)
        return {"id": note.id, "role": note.role, "content": note.text}


def store(messages: object = (), **fields: Any) -> ExternalStoreRuntime:
    runtime: Runtime = ExternalStoreRuntime(messages, **fields)
    assert isinstance(runtime, ExternalStoreRuntime)
    return runtime


def ids(runtime: ExternalStoreRuntime) -> list[str]:
    return [message.id for message in runtime.thread.state.messages]


def test_it_shows_what_it_is_given_and_nothing_else() -> None:
    runtime = store([U1, A1])
    assert ids(runtime) == ["u1", "a1"]

    runtime.update([U1, A1, U2])
    assert ids(runtime) == ["u1", "a1", "u2"]

    runtime.update([U1])
    assert ids(runtime) == ["u1"]
    assert [entry.message.id for entry in runtime.thread.export().entries] == ["u1"]


def test_what_did_not_change_is_the_same_object_and_nobody_hears_of_it() -> None:
    convert = Converter()
    runtime = store([Note("u", "hi", "user"), Note("a", "yo")], convert=convert)
    before = tuple(runtime.thread.state.messages)
    emitted: list[int] = []
    runtime.thread.select(lambda state: len(state.messages)).subscribe(emitted.append)

    runtime.update([Note("u", "hi", "user"), Note("a", "yo")])

    assert all(one is other for one, other in zip(before, runtime.thread.state.messages, strict=True))
    assert convert.calls == ["u", "a"]
    assert emitted == [2]


def test_one_token_makes_one_emission_for_one_message() -> None:
    convert = Converter()
    notes = [Note(f"n{number}", "x") for number in range(50)]
    runtime = store(notes, convert=convert, is_running=True)
    first, last = runtime.thread.message("n0"), runtime.thread.message("n49")
    heard_first: list[str] = []
    heard_last: list[str] = []
    first.select(message_text).subscribe(heard_first.append)
    last.select(message_text).subscribe(heard_last.append)
    convert.calls.clear()

    for text in ("xy", "xyz"):
        runtime.update([*notes[:-1], Note("n49", text)])

    assert heard_first == ["x"]
    assert heard_last == ["x", "xy", "xyz"]
    assert convert.calls == ["n49", "n49"]


def test_messages_and_flags_come_in_one_emission() -> None:
    runtime = store([U1])
    seen: list[tuple[int, bool, str]] = []
    runtime.thread.select(
        lambda state: (len(state.messages), state.is_running, ",".join(item.prompt for item in state.suggestions))
    ).subscribe(seen.append)

    runtime.update([U1, answer("a1", status=RunningStatus())], is_running=True)

    assert seen == [(1, False, ""), (2, True, "")]


def test_a_source_that_runs_is_running_whatever_it_has_sent() -> None:  # B33
    runtime = store([], is_running=True)
    seen: list[tuple[bool, tuple[str, ...]]] = []
    runtime.thread.select(lambda state: (state.is_running, state.messages.keys())).subscribe(
        lambda shown: seen.append((shown[0], tuple(shown[1])))
    )
    runtime.update([U1])
    placeholder = ids(runtime)[-1]
    runtime.update([U1, A1])

    assert seen == [(True, (placeholder,)), (True, ("u1", placeholder)), (True, ("u1", "a1"))]
    assert [entry.message.id for entry in runtime.thread.export().entries] == ["u1", "a1"]


def test_the_placeholder_keeps_its_id_until_the_answer_comes() -> None:
    runtime = store([U1], is_running=True)
    placeholder = ids(runtime)[-1]
    last = runtime.thread.state.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert (last.content, last.metadata.is_optimistic) == ((), True)

    runtime.update([U1, U2])
    assert ids(runtime) == ["u1", "u2", placeholder]
    assert runtime.thread.export().head_id == "u2"

    runtime.update([U1, U2, A1])
    assert ids(runtime) == ["u1", "u2", "a1"]
    assert runtime.thread.state.branches == {}


def test_running_tells_of_its_start_and_its_end_once() -> None:
    runtime = store([U1])
    kinds = heard(runtime.thread)

    runtime.update(is_running=True)
    runtime.update([U1, A1])
    runtime.update(is_running=False)
    runtime.update(is_running=None)

    assert kinds == ["run_start", "run_end"]


def test_automatic_statuses_follow_the_run_and_the_calls() -> None:
    call = {"type": "tool-call", "toolCallId": "c", "toolName": "t", "args": {}}
    items = [
        {"id": "u", "role": "user", "content": "hi"},
        {"id": "a", "role": "assistant", "content": [call]},
        {"id": "b", "role": "assistant", "content": "yo"},
    ]
    runtime = store(items, is_running=True)
    assert statuses(runtime.thread) == ["requires-action/tool-calls", "running"]

    runtime.update(is_running=False)
    assert statuses(runtime.thread) == ["requires-action/tool-calls", "complete/unknown"]

    runtime.update(items[:2])
    assert statuses(runtime.thread) == ["requires-action/tool-calls"]


def test_a_message_that_is_another_one_is_an_alternative() -> None:
    runtime = store([U1, A1])
    runtime.update([U1, answer("a2")])
    assert runtime.thread.state.branches == {"a2": ("a1", "a2")}


def test_a_message_with_its_final_id_takes_the_place_of_the_one_before() -> None:
    runtime = store([U1, answer("tmp")], is_same=lambda old, new: old.id == "tmp")
    seen: list[tuple[str, ...]] = []
    runtime.thread.select(lambda state: state.messages.keys()).subscribe(seen.append)

    runtime.update([U1, answer("srv"), U2])

    assert seen == [("u1", "tmp"), ("u1", "srv", "u2")]
    assert runtime.thread.state.branches == {}
    assert runtime.thread.find("tmp") is None


def test_an_optimistic_message_makes_room_for_the_real_one() -> None:
    tmp = {"id": "tmp", "role": "assistant", "content": "x", "metadata": {"is_optimistic": True}}
    runtime = store([U1, tmp])
    runtime.update([U1, answer("srv")])
    assert (ids(runtime), dict(runtime.thread.state.branches)) == (["u1", "srv"], {})


def test_duplicates_are_shown_once_and_told_once() -> None:
    runtime = store([U1])
    told = reports(runtime.thread)
    twice = [U1, answer("a1", TextPart("old")), U2, answer("a1", TextPart("new"))]

    runtime.update(twice)
    runtime.update([*twice])

    assert shown(runtime.thread) == ["u:u1", "u:u2", "a:new"]
    assert told == ["feed: Message 'a1' is in the feed more than once; only the last of them is shown."]


def test_an_unknown_part_is_left_out_and_told_once() -> None:
    item = {"id": "a", "role": "assistant", "content": [{"type": "hologram"}, {"type": "text", "text": "yo"}]}
    runtime = store([U1])
    told = reports(runtime.thread)

    runtime.update([U1, item])
    runtime.update([U1, dict(item)])

    assert shown(runtime.thread) == ["u:u1", "a:yo"]
    assert len(told) == 1
    assert "hologram" in told[0]


def test_what_is_no_message_at_all_is_left_out() -> None:
    runtime = store([U1])
    told = reports(runtime.thread)
    runtime.update([U1, 7, {"role": "wizard", "content": "x", "id": "w"}])
    assert shown(runtime.thread) == ["u:u1"]
    assert len(told) == 2


def test_a_strict_store_raises_and_changes_nothing() -> None:
    runtime = store([U1], is_strict=True)
    with pytest.raises(FeedError, match="'u1' is in the feed more than once"):
        runtime.update([U1, question("u1", "again")])
    assert shown(runtime.thread) == ["u:u1"]


def test_a_list_after_single_items_is_compared_with_what_is_shown() -> None:
    runtime = store([U1])
    runtime.remove("u1")
    runtime.update([question("u1", "again")])
    assert shown(runtime.thread) == ["u:again"]

    runtime = store([])
    runtime.put(U1)
    runtime.update([])
    assert shown(runtime.thread) == []


def test_items_without_ids_get_one_of_their_place() -> None:
    items: list[Any] = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    runtime = store(items)
    runtime.update([{"role": "user", "content": "zero"}, *items])

    assert shown(runtime.thread) == ["u:zero", "u:one", "a:two"]
    assert len(set(ids(runtime))) == 3
    streaming = ids(runtime)[-1]
    for text in ("two!", "two!!"):
        runtime.update([{"role": "user", "content": "zero"}, items[0], {"role": "assistant", "content": text}])
        assert ids(runtime)[-1] == streaming
    assert runtime.thread.state.branches == {}


def test_a_made_up_id_is_never_the_id_of_another() -> None:
    runtime = store([{"role": "user", "content": "one"}])
    made_up = ids(runtime)[0]
    runtime.update([question(made_up, "mine"), {"role": "user", "content": "other"}])
    runtime.update([{"role": "user", "content": "first"}, question(made_up, "mine")])
    assert shown(runtime.thread) == ["u:first", "u:mine"]


def test_a_converter_that_raises_changes_nothing_and_is_asked_again() -> None:
    runtime = store([Note("u", "hi", "user")], convert=Converter())
    bad = [Note("u", "hi", "user"), Note("a", "bad")]

    for _ in range(2):
        with pytest.raises(ValueError, match="a"):
            runtime.update(bad, is_running=True)
        assert (shown(runtime.thread), runtime.thread.state.is_running) == (["u:hi"], False)

    runtime.update([bad[0], Note("a", "good")])
    assert shown(runtime.thread) == ["u:hi", "a:good"]


def test_another_converter_converts_everything_again() -> None:
    first, second = Converter(), Converter()
    notes = [Note("u", "hi", "user"), Note("a", "yo")]
    runtime = store(notes, convert=first)
    runtime.update(convert=second)
    assert (first.calls, second.calls) == (["u", "a"], ["u", "a"])


def test_the_last_item_may_be_changed_in_place_and_all_after_a_refresh() -> None:
    items = [{"id": "u", "role": "user", "content": "hi"}, {"id": "a", "role": "assistant", "content": "y"}]
    runtime = store(items)
    items[1]["content"] = "yo"
    runtime.update(items)
    assert shown(runtime.thread) == ["u:hi", "a:yo"]

    items.append({"id": "u2", "role": "user", "content": "more"})
    items[0]["content"] = "hello"
    runtime.refresh()
    runtime.update(items)
    assert shown(runtime.thread) == ["u:hello", "a:yo", "u:more"]


def test_a_message_that_vanished_between_others_is_gone_and_nothing_is_a_phantom() -> None:
    runtime = store([U1, A1, U2])
    runtime.update([U1, U2])
    assert runtime.thread.find("a1") is None
    runtime.update([U2])
    assert runtime.thread.find("u1") is None
    assert runtime.thread.state.branches == {}


def test_a_tree_is_shown_with_its_branches_and_its_head() -> None:
    tree = Export("a1", (Entry(None, U1), Entry("u1", A1), Entry("u1", answer("a2")), Entry("a1", U2)))
    runtime = store(tree)
    assert ids(runtime) == ["u1", "a1"]
    assert runtime.thread.state.branches == {"a1": ("a1", "a2")}
    assert runtime.thread.find("u2") is not None

    runtime.update(Export("u2", (Entry(None, U1), Entry("u1", A1), Entry("a1", U2))))
    assert (ids(runtime), dict(runtime.thread.state.branches)) == (["u1", "a1", "u2"], {})

    with pytest.raises(ParentNotFoundError):
        runtime.update(Export(None, (Entry("ghost", U1),)))
    assert ids(runtime) == ["u1", "a1", "u2"]


def test_what_is_no_feed_is_refused_and_changes_nothing() -> None:
    runtime = store([U1])
    for nothing in (None, "text", 7):
        with pytest.raises(FeedError):
            runtime.update(nothing)
    assert ids(runtime) == ["u1"]


async def test_a_thread_is_asked_only_while_its_runtime_is_open() -> None:
    runtime = store([U1], on_new=lambda request: None)
    with pytest.raises(RuntimeClosedError):
        runtime.thread.append("x")


def test_another_thread_of_execution_is_refused_or_posts() -> None:
    import threading

    runtime = store([U1])
    raised: list[Exception] = []

    def feed() -> None:
        try:
            runtime.update([U1, A1])
        except WrongThreadError as error:
            raised.append(error)
        runtime.post([U1, A1])

    worker = threading.Thread(target=feed)
    worker.start()
    worker.join()
    assert len(raised) == 1
    runtime.update(is_loading=True)
    assert ids(runtime) == ["u1", "a1"]


def test_a_feed_in_pieces_shows_the_same_as_one_in_lists() -> None:
    runtime = store([U1], is_running=True)
    placeholder = ids(runtime)[-1]
    runtime.put({"id": "a", "role": "assistant", "content": "y"})
    assert (shown(runtime.thread), statuses(runtime.thread)) == (["u:u1", "a:y"], ["running"])
    assert runtime.thread.find(placeholder) is None

    runtime.put({"id": "a", "role": "assistant", "content": "yo"})
    runtime.put({"id": "b", "role": "assistant", "content": "more"})
    assert (shown(runtime.thread), statuses(runtime.thread)) == (
        ["u:u1", "a:yo", "a:more"],
        ["complete/unknown", "running"],
    )

    runtime.update(is_running=False)
    assert statuses(runtime.thread) == ["complete/unknown", "complete/unknown"]
    runtime.remove("a")
    assert (shown(runtime.thread), dict(runtime.thread.state.branches)) == (["u:u1", "a:more"], {})
    with pytest.raises(MessageNotFoundError, match="'a' in the feed"):
        runtime.remove("a")

    runtime.update([U1, A1])
    assert shown(runtime.thread) == ["u:u1", "a:a1"]
