"""Events, listeners that act, suggestions and feedback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from partwise.adapters import SuggestionRequest
from partwise.errors import MessageNotFoundError
from partwise.messages import Feedback, message_text
from partwise.store import Suggestion
from partwise.stream import Finish, TextDelta
from tests.runtimes.scenes import Script, calls, heard, last, reports, settled, shown, statuses, talking


async def test_who_listens_late_still_hears_that_the_thread_began_but_not_inside_of_subscribe() -> None:
    async with talking(Script([TextDelta("x")])) as thread:
        await thread.append("hi")
        kinds = heard(thread)
        assert kinds == []
        await settled()
        assert kinds == ["initialize"]
        await thread.append("ho")
        assert kinds == ["initialize", "run_start", "run_end"]


async def test_who_stopped_listening_meanwhile_hears_nothing() -> None:
    async with talking(Script([TextDelta("x")])) as thread:
        await thread.append("hi")
        kinds: list[str] = []
        thread.events.subscribe(lambda event: kinds.append(event.type)).dispose()
        await settled()
        assert kinds == []


async def test_a_run_has_one_identity_from_start_to_end() -> None:
    model = Script([TextDelta("x")])
    async with talking(model) as thread:
        events: list[Any] = []
        thread.events.subscribe(events.append)
        await thread.append("hi")
        start, end = (event for event in events if event.type.startswith("run"))
        assert start.run_id == end.run_id == model.calls[0].run_id
        assert start.message_id == end.message_id == last(thread).id


async def test_a_listener_may_send_the_next_message_when_a_run_ends() -> None:
    async with talking(Script([TextDelta("x")])) as thread:
        sent: list[Any] = []

        def go_on(event: Any) -> None:
            if event.type == "run_end" and len(sent) < 3:
                sent.append(thread.append(f"m{len(sent)}"))

        thread.events.subscribe(go_on)
        await thread.append("first")
        for operation in sent:
            await operation
        await settled()
        assert [text for text in shown(thread) if text.startswith("u")] == ["u:first", "u:m0", "u:m1", "u:m2"]
        assert statuses(thread) == ["complete/unknown"] * 4
        assert not thread.state.is_running


async def test_a_listener_may_send_when_it_sees_a_change() -> None:
    async with talking(Script([TextDelta("x")])) as thread:
        seen: list[int] = []

        def act(count: int) -> None:
            seen.append(count)
            if count == 2:
                thread.append("note", starts_run=False)

        thread.select(lambda s: len(s.messages)).subscribe(act)
        await thread.append("hi")
        await settled()
        assert seen == [0, 1, 2, 3]
        assert sorted(shown(thread)) == ["a:x", "u:hi", "u:note"]
        assert statuses(thread) == ["complete/unknown"]


async def test_a_listener_may_start_another_run_inside_of_a_start() -> None:
    async with talking(Script([TextDelta("x")])) as thread:
        started: list[Any] = []

        def again(event: Any) -> None:
            if event.type == "run_start" and not started:
                started.append(thread.append("instead"))

        thread.events.subscribe(again)
        await thread.append("hi")
        await started[0]
        assert shown(thread) == ["u:hi", "u:instead", "a:x"]
        assert not thread.state.is_running


async def test_suggestions_stream_in_after_an_answer_and_vanish_with_the_next_run() -> None:
    asked: list[SuggestionRequest] = []
    gate = anyio.Event()

    async def suggest(request: SuggestionRequest) -> AsyncIterator[list[Any]]:
        asked.append(request)
        yield ["more"]
        await gate.wait()
        yield ["more", Suggestion("less", label="Less")]

    async with talking(Script([TextDelta("x")]), suggestions=suggest, thread_id="t") as thread:
        seen: list[tuple[str, ...]] = []
        thread.select(lambda s: tuple(item.prompt for item in s.suggestions)).subscribe(seen.append)
        await thread.append("hi")
        await settled()
        assert thread.state.suggestions == (Suggestion("more"),)
        gate.set()
        await settled()
        assert [message_text(message) for message in asked[0].messages] == ["hi", "x"]
        assert asked[0].thread_id == "t"
        await thread.append("ho")
        assert seen[:4] == [(), ("more",), ("more", "less"), ()]


async def test_an_old_request_for_suggestions_writes_nothing_any_more() -> None:  # T-E3
    closed: list[int] = []

    async def suggest(request: SuggestionRequest) -> AsyncIterator[list[str]]:
        number = len(request.messages)
        try:
            yield [f"s{number}"]
            await anyio.sleep_forever()
        finally:
            closed.append(number)

    async with talking(Script([TextDelta("x")]), suggestions=suggest) as thread:
        await thread.append("one")
        await settled()
        await thread.append("two")
        await settled()
        assert thread.state.suggestions == (Suggestion("s4"),)
        assert closed == [2]
        thread.cancel_run()
        await settled()
        assert closed == [2, 4]
        assert thread.state.suggestions == (Suggestion("s4"),)


@pytest.mark.parametrize("kind", ["at once", "later", "in between", "nothing", "nonsense", "wrong items"])
async def test_suggestions_that_fail_are_reported_and_change_nothing(kind: str) -> None:  # T-E2, T-E4
    async def later(request: SuggestionRequest) -> list[str]:
        raise ValueError("no ideas")

    async def between(request: SuggestionRequest) -> AsyncIterator[list[str]]:
        yield ["one"]
        raise ValueError("no ideas")

    async def nonsense(request: SuggestionRequest) -> AsyncIterator[Any]:
        yield 5
        yield ["never"]

    async def wrong(request: SuggestionRequest) -> list[Any]:
        return [5]

    def at_once(request: SuggestionRequest) -> Any:
        if kind == "at once":
            raise ValueError("no ideas")
        return None

    suggest: Any = {"later": later, "in between": between, "nonsense": nonsense, "wrong items": wrong}.get(
        kind, at_once
    )
    async with talking(Script([TextDelta("x")]), suggestions=suggest) as thread:
        found = reports(thread)
        await thread.append("hi")
        await settled()
        assert len(found) == 1
        assert found[0].startswith("suggestions")
        assert statuses(thread) == ["complete/unknown"]


@pytest.mark.parametrize("ending", ["cancel", "error", "pause", "length"])
async def test_nothing_is_suggested_after_an_answer_that_did_not_complete(ending: str) -> None:
    asked: list[Any] = []

    async def suggest(request: SuggestionRequest) -> list[str]:
        asked.append(request)
        return []

    turn: list[Any] = {
        "cancel": [TextDelta("x"), anyio.Event()],
        "error": [ValueError("x")],
        "pause": calls("human"),
        "length": [Finish("length")],
    }[ending]
    async with talking(Script(turn), suggestions=suggest) as thread:
        operation = thread.append("hi")
        await settled()
        thread.cancel_run()
        try:
            await operation
        except ValueError:
            assert ending == "error"
        await settled()
        assert asked == []


async def test_feedback_is_told_and_shown_also_while_the_answer_streams() -> None:
    told: list[tuple[str, str]] = []
    gate = anyio.Event()

    def feedback(message: Any, kind: str) -> None:
        told.append((message.id, kind))

    async with talking(Script([TextDelta("x"), gate, TextDelta("y")]), feedback=feedback) as thread:
        operation = thread.append("hi")
        await settled()
        thread.submit_feedback(last(thread).id, "positive")
        gate.set()
        await operation
        assert last(thread).metadata.submitted_feedback == Feedback("positive")
        assert (shown(thread)[-1], statuses(thread)) == ("a:xy", ["complete/unknown"])
        assert told == [(last(thread).id, "positive")]
        assert "feedback" in thread.capabilities
        with pytest.raises(MessageNotFoundError):
            thread.submit_feedback("nowhere", "negative")


async def test_capabilities_follow_what_was_given() -> None:
    async with talking(Script([])) as thread:
        assert {"edit", "reload", "cancel", "copy", "switch_to_branch"} <= thread.capabilities
        assert not {"delete", "feedback", "queue"} & thread.capabilities
        seen: list[bool] = []
        thread.select(lambda s: "queue" in s.capabilities).subscribe(seen.append)
        thread.set_options(has_queue=True)
        assert seen == [False, True]


async def test_a_failing_clean_up_of_suggestions_reaches_nobody_but_the_reports() -> None:
    async def child() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise ValueError("clean-up")

    async def suggest(request: SuggestionRequest) -> AsyncIterator[list[str]]:
        async with anyio.create_task_group() as group:
            group.start_soon(child)
            yield ["one"]
            await anyio.sleep_forever()

    async with talking(Script([TextDelta("x")]), suggestions=suggest) as thread:
        found = reports(thread)
        await thread.append("hi")
        await settled()
        await thread.append("ho")
        await settled()
        assert len(found) == 1
        assert shown(thread) == ["u:hi", "a:x", "u:ho", "a:x"]
