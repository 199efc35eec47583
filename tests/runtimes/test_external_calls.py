"""Calls of a feed whose arguments do not only grow, and that are listed more than once."""

from __future__ import annotations

from typing import Any

import pytest

from partwise.messages import ToolCallPart
from partwise.reactive import text_deltas
from partwise.repository import Entry, Export
from partwise.runtimes import ExternalStoreRuntime
from partwise.testing import settled, status_of
from tests.runtimes.scenes import reports


def call(text: str | None = None, **fields: Any) -> dict[str, Any]:
    given = {} if text is None else {"args_text": text}
    return {"type": "tool-call", "tool_call_id": "tc1", "tool_name": "look", **given, **fields}


def feed(*calls: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"id": "u1", "role": "user", "content": "go"}, {"id": "a1", "role": "assistant", "content": list(calls)}]


def shown_calls(runtime: ExternalStoreRuntime) -> list[ToolCallPart]:
    return [part for part in runtime.thread.state.messages[-1].content if isinstance(part, ToolCallPart)]


def shown_text(state: Any) -> str:
    return str(state.messages[-1].content[0].args_text)


@pytest.mark.parametrize("way", ["list", "put"])
def test_missing_arguments_leave_the_earlier_ones_and_others_replace_them(way: str) -> None:  # B109
    runtime = ExternalStoreRuntime(feed(call('{"a":1')), is_running=True)
    texts: list[str] = []
    deltas: list[str] = []
    runtime.thread.select(shown_text).subscribe(texts.append)
    runtime.thread.message("a1").part(0).select(lambda part: part.args_text).pipe(text_deltas()).subscribe(
        lambda delta: deltas.append(type(delta).__name__)
    )

    for one in (call(), call('{"a":1,"b":2}'), call(), call('{"b":2,"a":1}'), call(result="ok")):
        if way == "list":
            runtime.update(feed(one))
        else:
            runtime.put(feed(one)[-1])

    (last,) = shown_calls(runtime)
    assert texts == ['{"a":1', '{"a":1,"b":2}', '{"b":2,"a":1}']
    assert deltas == ["TextAppended", "TextAppended", "TextReset"]
    assert (last.args, last.result) == ({"a": 1, "b": 2}, "ok")


def test_arguments_that_are_given_as_none_are_the_arguments() -> None:
    runtime = ExternalStoreRuntime(feed(call('{"a":1}')), is_running=True)
    runtime.update(feed(call(args={})))

    assert shown_calls(runtime)[0].args == {}


async def test_a_call_that_is_listed_twice_is_shown_once_as_it_is_last_and_told_once() -> None:  # B109
    twice = [call('{"a":1}'), {"type": "text", "text": "between"}, call('{"a":2}', result="ok")]
    async with ExternalStoreRuntime(is_running=False) as runtime:
        told = reports(runtime.thread)
        for _ in range(2):
            runtime.update(feed(*[{**part} for part in twice]))
        await settled()
        (shown,) = shown_calls(runtime)

        assert (shown.args, shown.result) == ({"a": 2}, "ok")
        assert [part.type for part in runtime.thread.state.messages[-1].content] == ["tool-call", "text"]
        assert status_of(runtime.thread.state.messages[-1]) == "complete/unknown"
        assert len([text for text in told if "'tc1'" in text]) == 1


@pytest.mark.parametrize("way", ["list", "tree", "put"])
def test_a_message_keeps_its_time_and_its_object_however_often_it_is_said(way: str) -> None:
    runtime = ExternalStoreRuntime()
    seen: list[tuple[Any, ...]] = []
    for turn in range(3):
        items = [
            {"id": "u1", "role": "user", "content": "go"},
            {"id": "a1", "role": "assistant", "content": "x" * turn},
        ]
        if way == "tree":
            runtime.update(Export("a1", (Entry(None, items[0]), Entry("u1", items[1]))))
        elif way == "list":
            runtime.update(items)
        else:
            for item in items:
                runtime.put(item)
        seen.append(tuple(runtime.thread.state.messages))

    assert all(messages[0] is seen[0][0] for messages in seen)
    assert {messages[1].created_at for messages in seen} == {seen[0][1].created_at}
