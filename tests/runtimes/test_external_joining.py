"""Several outputs of an agent that become one answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.errors import FeedError
from partwise.messages import COMPLETE_STOP, MISSING, AssistantMessage, ReasoningPart, TextPart, ToolCallPart
from partwise.repository import Entry, Export
from partwise.runtimes import ExternalStoreRuntime
from tests.runtimes.scenes import answer, question, reports, shown, statuses

Json = Any


def user(id: str) -> Json:
    return {"role": "user", "id": id, "content": id}


def says(text: str, id: str | None = None, **fields: Json) -> Json:
    return {"role": "assistant", "content": text, **({} if id is None else {"id": id}), **fields}


def calls(*ids: str, id: str | None = None, **fields: Json) -> Json:
    parts = [{"type": "tool-call", "toolCallId": call_id, "toolName": "look", **fields} for call_id in ids]
    return {"role": "assistant", "content": parts, **({} if id is None else {"id": id})}


def result(call_id: str, value: Json = "done", **fields: Json) -> Json:
    return {"role": "tool", "toolCallId": call_id, "result": value, **fields}


def unnamed(name: str, id: str | None = None) -> Json:
    part = {"type": "tool-call", "toolName": name}
    return {"role": "assistant", "content": [part], **({} if id is None else {"id": id})}


class Calls:
    """The identity, counting what it is asked."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, item: Json) -> Json:
        self.count += 1
        return item


def store(items: list[Json], convert: Callable[[Json], Json] | None = None, **fields: Json) -> ExternalStoreRuntime:
    return ExternalStoreRuntime(items, joins=True, convert=convert, **fields)


def said(message: Json) -> list[Json]:
    """What an answer says, part by part."""
    told: list[Json] = []
    for part in message.content:
        match part:
            case ToolCallPart():
                told.append((part.tool_call_id, part.args_text, None if part.result is MISSING else part.result))
            case TextPart() | ReasoningPart():
                told.append(part.text)
            case _:
                told.append(part)
    return told


def last(runtime: ExternalStoreRuntime) -> AssistantMessage:
    message = runtime.thread.state.messages[-1]
    assert isinstance(message, AssistantMessage)
    return message


def test_answers_and_results_that_follow_each_other_are_one_answer() -> None:
    runtime = store(
        [user("u1"), says("Let me see.", "a1"), calls("c1", "c2"), result("c2", 2), result("c1"), says("So.")]
    )

    assert [message.id for message in runtime.thread.state.messages] == ["u1", "a1"]
    assert said(last(runtime)) == ["Let me see.", ("c1", "", "done"), ("c2", "", 2), "So."]
    assert statuses(runtime.thread) == ["complete/unknown"]


def test_a_users_message_comes_between_two_answers() -> None:
    runtime = store([says("Hi."), user("u1"), says("a"), says("b"), user("u2"), user("u3")])
    assert shown(runtime.thread) == ["a:Hi.", "u:u1", "a:a\n\nb", "u:u2", "u:u3"]


def test_the_id_stays_the_first_that_was_given() -> None:  # T-G18
    runtime = store([user("u1"), says("a", "a1")])
    runtime.update([user("u1"), says("a", "a1"), says("b", "a2")])
    assert [message.id for message in runtime.thread.state.messages] == ["u1", "a1"]
    assert runtime.thread.state.branches == {}


def test_a_call_that_comes_in_two_outputs_is_one_part() -> None:  # T-G16
    runtime = store([calls("c1", argsText='{"at":'), calls("c1", argsText='{"at":"sea"}', args={"at": "sea"})])
    assert said(last(runtime)) == [("c1", '{"at":"sea"}', None)]
    runtime = store([calls("c1", argsText='{"at":"sea"}', args={"at": "sea"}), calls("c1", result=5)])
    assert said(last(runtime)) == [("c1", '{"at":"sea"}', 5)]


@pytest.mark.parametrize("is_strict", [False, True])
def test_a_result_without_its_call_hides_nothing_and_finds_it_later(is_strict: bool) -> None:  # B36, T-G17
    runtime = store([user("u1")], is_strict=is_strict)
    found = reports(runtime.thread)
    for _ in range(2):
        items = [user("u1"), result("c9")]
        if is_strict:
            with pytest.raises(FeedError, match="'c9' has no call") as caught:
                runtime.update(items)
            assert caught.value.code == "orphan-result"
        else:
            runtime.update(items)
        assert shown(runtime.thread) == ["u:u1"]
    assert found == ([] if is_strict else ["feed: The result of tool call 'c9' has no call beside it; it is left out."])

    runtime.update([user("u1"), calls("c9"), result("c9")])
    assert said(last(runtime)) == [("c9", "", "done")]


def test_a_result_may_come_before_its_call() -> None:
    runtime = store([result("c1", 1), calls("c1")])
    assert said(last(runtime)) == [("c1", "", 1)]


def test_a_result_of_another_tool_is_reported_once_and_set() -> None:
    runtime = store([])
    found = reports(runtime.thread)
    for _ in range(2):
        runtime.update([calls("c1"), result("c1", toolName="other", isError=True, artifact=[1])])
    part = last(runtime).content[0]
    assert isinstance(part, ToolCallPart)
    assert (part.tool_name, part.is_error, part.artifact) == ("look", True, [1])
    assert len(found) == 1
    assert "is one of 'other', but the call is one of 'look'" in found[0]


def test_reasoning_with_the_same_parent_goes_on() -> None:
    def thought(text: str, parent: str | None) -> Json:
        return {"role": "assistant", "content": [{"type": "reasoning", "text": text, "parentId": parent}]}

    runtime = store([thought("one", "p"), thought("two", "p"), thought("three", None), thought("four", None)])
    assert said(last(runtime)) == ["one\n\ntwo", "three", "four"]


def test_what_stands_beside_the_parts_is_put_together() -> None:
    first = says(
        "a",
        "a1",
        metadata={"custom": {"a": 1, "b": 1}, "annotations": [1], "steps": [{"messageId": "s"}]},
        createdAt="2020-01-01T00:00:00Z",
    )
    second = says(
        "b",
        metadata={"custom": {"b": 2}, "annotations": [2], "state": {"s": 1}},
        status={"type": "complete", "reason": "stop"},
        createdAt="2021-01-01T00:00:00Z",
    )
    message = last(store([first, second]))
    assert (message.metadata.custom, message.metadata.annotations) == ({"a": 1, "b": 2}, (1, 2))
    assert (message.metadata.state, len(message.metadata.steps)) == ({"s": 1}, 1)
    assert message.status == COMPLETE_STOP
    assert message.created_at.year == 2020


def test_an_answer_that_joins_nothing_takes_only_results() -> None:
    first = {**calls("c1", id="a1"), "joinStrategy": "none"}
    runtime = store([first, result("c1"), says("b", "a2"), says("c")])
    assert [(message.id, said(message)) for message in runtime.thread.state.messages] == [
        ("a1", [("c1", "", "done")]),
        ("a2", ["b", "c"]),
    ]


def test_an_item_may_become_several_outputs_or_none() -> None:
    def convert(item: Json) -> Json:
        match item:
            case {"turn": number}:
                return [user(f"u{number}"), says(f"answer {number}", f"a{number}")]
            case _:
                return []

    runtime = store([{"turn": 1}, {"noise": 1}, {"turn": 2}], convert)
    assert shown(runtime.thread) == ["u:u1", "a:answer 1", "u:u2", "a:answer 2"]
    runtime.update([{"turn": 1}, {"noise": 1}])
    assert shown(runtime.thread) == ["u:u1", "a:answer 1"]


@pytest.mark.parametrize("bad", [None, 5, "x", {"role": "robot", "content": ""}, {"role": "user"}, {"role": "tool"}])
def test_something_else_than_an_output_is_refused_and_nothing_changes(bad: Json) -> None:
    runtime = store([user("u1")], lambda item: bad if item == "bad" * 100 else item)
    with pytest.raises(FeedError, match=r"Give a message, .*empty list") as caught:
        runtime.update([user("u1"), says("x"), "bad" * 100], is_running=True)
    assert caught.value.code == "output"
    assert len(str(caught.value)) < 600
    assert (shown(runtime.thread), runtime.thread.state.is_running) == (["u:u1"], False)
    runtime.update([user("u1"), says("x")])
    assert shown(runtime.thread) == ["u:u1", "a:x"]


def test_single_items_and_trees_are_refused() -> None:
    runtime = store([user("u1")])
    for attempt in (
        lambda: runtime.put(says("x")),
        lambda: runtime.remove("u1"),
        lambda: runtime.update(Export("u1", (Entry(None, user("u1")),))),
    ):
        with pytest.raises(FeedError, match="joins its items") as caught:
            attempt()
        assert caught.value.code == "joins"
    assert shown(runtime.thread) == ["u:u1"]


def test_only_new_items_are_converted_and_only_their_message_is_new() -> None:
    convert = Calls()
    items = [item for number in range(200) for item in (user(f"u{number}"), calls(f"c{number}"), result(f"c{number}"))]
    runtime = store(items, convert)
    before = runtime.thread.state.messages
    convert.count = 0
    items = [*items, says("more")]
    runtime.update(items)
    messages = runtime.thread.state.messages
    assert convert.count <= 2  # the new one, and the one that was last and may have changed in place
    assert all(one is other for one, other in zip(before[:-1], messages[:-1], strict=True))
    assert said(messages[-1]) == [("c199", "", "done"), "more"]


class Reads(dict[str, Any]):
    """A mapping that counts how often anything of any of them is read."""

    count = 0

    def get(self, *args: Any) -> Any:
        Reads.count += 1
        return super().get(*args)

    def items(self) -> Any:
        Reads.count += 1
        return super().items()

    def __getitem__(self, key: str) -> Any:
        Reads.count += 1
        return super().__getitem__(key)


def counted(count: int) -> list[Json]:
    """Calls and their results, each of which is counted when it is read, in itself or in its parts."""
    pairs = [(calls(f"c{number}"), Reads(result(f"c{number}"))) for number in range(count)]
    return [one for call, done in pairs for one in (Reads(call, content=[Reads(call["content"][0])]), done)]


def test_joining_is_linear_in_the_number_of_calls() -> None:  # B38
    def work(count: int) -> int:
        Reads.count = 0
        assert len(last(store(counted(count))).content) == count
        return Reads.count

    assert 0 < work(400) == 2 * work(200)


def test_an_output_that_joins_a_long_answer_reads_no_earlier_one_again() -> None:  # B38
    def work(count: int) -> int:
        items = counted(count)
        runtime = store(items)
        before = last(runtime)
        Reads.count = 0
        runtime.update([*items, says("more")])
        assert all(one is other for one, other in zip(before.content, last(runtime).content, strict=False))
        assert said(last(runtime))[-1] == "more"
        return Reads.count

    assert 0 < work(400) == work(20)  # the one that was last may have changed in place


@pytest.mark.parametrize(
    "beside",
    [
        {"messages": 5},
        {"messages": [5]},
        {"messages": [{"role": "robot", "content": ""}]},
        {"modelContent": "x"},
        {"modelContent": [5]},
        {"isError": "maybe"},
        {"toolName": 5},
    ],
)
def test_what_stands_beside_a_result_and_cannot_be_read_hides_nothing(beside: Json) -> None:
    runtime = store([user("u1"), calls("c1")])
    found = reports(runtime.thread)
    for _ in range(2):
        runtime.update([user("u1"), calls("c1"), result("c1", 7, artifact="a", **beside)])
    assert shown(runtime.thread)[0] == "u:u1"
    assert said(last(runtime)) == [("c1", "", 7)]
    assert statuses(runtime.thread) == ["complete/unknown"]
    assert len(found) == 1
    assert found[0].startswith("feed: The result of tool call 'c1' is shown without what stands beside it: ")

    strict = store([user("u1"), calls("c1")], is_strict=True)
    with pytest.raises(FeedError, match="'c1' is shown without") as caught:
        strict.update([user("u1"), calls("c1"), result("c1", 7, **beside)])
    assert (caught.value.code, statuses(strict.thread)) == ("result", ["requires-action/tool-calls"])


def test_what_stands_beside_a_result_is_read_like_that_of_a_call() -> None:
    beside = {"modelContent": [{"type": "text", "text": "seen"}], "messages": [says("inner")], "isError": False}
    joined = last(store([calls("c1"), result("c1", 7, **beside)])).content[0]
    whole = last(store([calls("c1", result=7, **beside)])).content[0]
    assert isinstance(joined, ToolCallPart)
    assert isinstance(whole, ToolCallPart)
    assert joined.model_content == whole.model_content
    assert joined.model_content is not None
    assert (joined.is_error, said((joined.messages or ())[0])) == (False, ["inner"])


def test_calls_without_ids_are_calls_of_their_own() -> None:
    def told(runtime: ExternalStoreRuntime) -> list[tuple[str, str]]:
        parts = [part for message in runtime.thread.state.messages for part in message.content]
        return [(part.tool_call_id, part.tool_name) for part in parts if isinstance(part, ToolCallPart)]

    items = [unnamed("a"), unnamed("b"), user("u1"), unnamed("c"), says("so", "a1"), unnamed("d")]
    runtime = store([])
    for end in range(len(items) + 1):
        runtime.update(items[:end])
    at_once = told(store(items))
    assert [name for _, name in at_once] == ["a", "b", "c", "d"]
    assert len({call_id for call_id, _ in at_once}) == 4
    assert told(runtime) == at_once


def test_a_bad_part_of_each_output_without_an_id_is_reported_once() -> None:
    bad = [{"role": "assistant", "content": [{"type": f"odd{number}"}]} for number in range(3)]
    runtime = store([])
    found = reports(runtime.thread)
    for _ in range(2):
        runtime.update([*bad, user("u1"), says("a")])
    assert [f"odd{number}" in text for number, text in enumerate(found)] == [True] * 3
    assert shown(runtime.thread)[1:] == ["u:u1", "a:a"]


def test_the_last_item_may_be_changed_in_place() -> None:
    growing = says("a")
    runtime = store([user("u1"), growing])
    growing["content"] = "ab"
    runtime.update(is_running=True)
    assert shown(runtime.thread)[-1] == "a:ab"
    growing["content"] = "abc"
    runtime.update([user("u1"), growing, result("none")])
    assert shown(runtime.thread)[-1] == "a:abc"


def test_messages_inside_of_a_call_stay_the_same_without_a_time() -> None:
    nested = [{"role": "user", "content": "deep"}]
    items = [user("u1"), calls("c1", id="a1", messages=nested), result("c1", messages=nested)]
    runtime = store(items)
    before = runtime.thread.state.messages[-1]
    for _ in range(2):
        runtime.update(list(items))
        assert runtime.thread.state.messages[-1] is before


def test_after_changes_in_place_elsewhere_everything_is_read_again() -> None:
    first = says("a")
    items = [first, user("u1"), says("b")]
    runtime = store(items)
    first["content"] = "other"
    runtime.refresh()
    runtime.update(list(items))
    assert shown(runtime.thread) == ["a:other", "u:u1", "a:b"]


async def test_the_owner_gets_its_own_items_back() -> None:
    given: list[list[Json]] = []
    items = [user("u1"), says("a", "a1"), calls("c1"), result("c1"), user("u2")]
    async with store(items, set_messages=given.append) as runtime:
        await runtime.thread.delete_message("u2")
        assert given == [items[:4]]
        assert all(one is other for one, other in zip(given[0], items, strict=False))


def test_messages_may_be_items() -> None:
    runtime = store([question("u1"), answer("a1", TextPart("a")), answer("a2", TextPart("b"))])
    assert [(message.id, len(message.content)) for message in runtime.thread.state.messages] == [("u1", 1), ("a1", 2)]


def test_the_answer_that_is_made_runs_and_an_open_call_waits() -> None:
    runtime = store([user("u1"), says("a", "a1"), calls("c1")], is_running=True)
    assert statuses(runtime.thread) == ["running"]
    runtime.update(is_running=False)
    assert statuses(runtime.thread) == ["requires-action/tool-calls"]
    runtime.update(joins=False, messages=[user("u1"), says("a", "a1")])
    assert statuses(runtime.thread) == ["complete/unknown"]


def test_an_answer_whose_id_is_there_twice_stays_the_same_object() -> None:
    items: list[Json] = [[{**says("a", "a1"), "joinStrategy": "none"}], [result("c1"), says("b", "a1")]]
    runtime = store(items, list)
    before = last(runtime)
    runtime.update(list(items))
    assert last(runtime) is before
    assert shown(runtime.thread) == ["a:b"]


OUTPUTS = st.one_of(
    st.builds(user, st.sampled_from(["u1", "u2", "u3"])),
    st.builds(says, st.text("ab", max_size=2), st.none() | st.sampled_from(["a1", "a2"])),
    st.builds(calls, st.sampled_from(["c1", "c2"])),
    st.builds(result, st.sampled_from(["c1", "c2", "c3"]), st.integers(0, 3)),
    st.builds(lambda text: {**says(text), "joinStrategy": "none"}, st.text("ab", max_size=2)),
    st.builds(unnamed, st.sampled_from(["look", "find"]), st.none() | st.sampled_from(["a1", "a2"])),
)
ITEMS = st.lists(st.lists(OUTPUTS, max_size=3), max_size=8)


@given(ITEMS, st.data())
def test_a_feed_that_grows_and_shrinks_is_the_one_that_is_given_at_once(
    items: list[list[Json]], data: st.DataObject
) -> None:
    runtime = store([], list, on_error=lambda *_: None)
    found = reports(runtime.thread)
    for end in data.draw(st.lists(st.integers(0, len(items)), max_size=5)):
        runtime.update(items[:end])
    before = {message.id: message for message in runtime.thread.state.messages}
    runtime.update(list(items))
    at_once = store(items, list, on_error=lambda *_: None)

    def told(one: ExternalStoreRuntime) -> list[Json]:
        return [(message.id, message.role, said(message), message.status) for message in one.thread.state.messages]

    assert told(runtime) == told(at_once)
    if any("more than once" in text for text in found):
        return  # of several with one id, which version was shown before is nobody's promise
    for message in runtime.thread.state.messages:
        old = before.get(message.id)
        assert old is None or old is message or old != message
