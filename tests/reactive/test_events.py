"""A stream of events: order, isolation, replay and the end."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from reactivex import operators as ops

from partwise.reactive import ErrorContext, Events


def test_an_event_reaches_everybody_who_listens_then_and_nobody_who_comes_later() -> None:
    events: Events[int] = Events()
    early: list[int] = []
    late: list[int] = []

    events.subscribe(early.append)
    events.emit(1)
    events.subscribe(late.append)
    events.emit(2)

    assert (early, late) == ([1, 2], [2])


def test_an_event_emitted_by_a_listener_is_delivered_after_the_present_one() -> None:
    events: Events[int] = Events()
    heard: list[tuple[str, int]] = []

    def first(event: int) -> None:
        heard.append(("first", event))
        if event < 3:
            events.emit(event + 1)

    events.subscribe(first)
    events.subscribe(lambda event: heard.append(("second", event)))
    events.emit(1)

    assert heard == [("first", 1), ("second", 1), ("first", 2), ("second", 2), ("first", 3), ("second", 3)]


def test_emitting_ten_thousand_events_from_inside_a_listener_does_not_recurse() -> None:
    events: Events[int] = Events()
    heard: list[int] = []

    def more(event: int) -> None:
        heard.append(event)
        if event < 10_000:
            events.emit(event + 1)

    events.subscribe(more)
    events.emit(1)

    assert heard == list(range(1, 10_001))


def test_a_listener_that_raises_is_reported_once_per_event_and_goes_on_listening() -> None:
    reported: list[tuple[str, str]] = []

    def note(error: Exception, context: ErrorContext) -> None:
        reported.append((str(error), context.culprit))

    events: Events[int] = Events(on_error=note)
    heard: list[int] = []

    def broken(event: int) -> None:
        text = f"no {event}"
        raise ValueError(text)

    events.subscribe(broken)
    events.subscribe(heard.append)
    events.emit(1)
    events.emit(2)

    assert heard == [1, 2]
    assert reported == [("no 1", "listener"), ("no 2", "listener")]


def test_a_listener_that_is_removed_by_an_earlier_one_hears_nothing_more() -> None:
    events: Events[int] = Events()
    heard: list[int] = []
    events.subscribe(lambda _: second.dispose())
    second = events.subscribe(heard.append)

    events.emit(1)

    assert heard == []


def test_operators_work_on_events_and_a_raising_mapper_reaches_nobody_else() -> None:
    reported: list[str] = []
    events: Events[int] = Events(on_error=lambda error, _: reported.append(str(error)))
    heard: list[int] = []

    events.pipe(ops.map(lambda event: 1 // (event - 2))).subscribe(lambda _: None, on_error=lambda _: None)
    events.pipe(ops.filter(lambda event: event > 1)).subscribe(heard.append)
    for event in (1, 2, 3):
        events.emit(event)

    assert heard == [2, 3]


def test_closing_completes_and_silences() -> None:
    events: Events[int] = Events()
    heard: list[Any] = []

    events.subscribe(heard.append, on_completed=lambda: heard.append("end"))
    events.close()
    events.emit(1)
    events.subscribe(heard.append, on_completed=lambda: heard.append("late end"))

    assert heard == ["end", "late end"]


@pytest.mark.parametrize("leaves", [False, True])
async def test_a_latched_event_is_replayed_a_turn_later_unless_the_listener_left(leaves: bool) -> None:
    heard: list[str] = []
    async with anyio.create_task_group() as tasks:

        def spawn(function: Callable[..., Any], *args: object) -> None:
            tasks.start_soon(function, *args)

        events: Events[str] = Events(replays=lambda event: event == "latched", spawn=spawn)
        events.emit("latched")
        events.emit("passing")
        subscription = events.subscribe(heard.append)
        assert heard == []
        if leaves:
            subscription.dispose()

    assert heard == ([] if leaves else ["latched"])
