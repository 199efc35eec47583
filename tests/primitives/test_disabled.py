"""The rules of what must not be used, each as a table of all cases."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from partwise.messages import (
    COMPLETE_STOP,
    RUNNING,
    AssistantMessage,
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    UserMessage,
)
from partwise.primitives import (
    is_cancel_disabled,
    is_copy_disabled,
    is_edit_disabled,
    is_input_disabled,
    is_next_disabled,
    is_previous_disabled,
    is_reload_disabled,
    is_send_disabled,
    is_suggestion_disabled,
)

WHEN = datetime(2026, 1, 1, tzinfo=UTC)
YES, NO = True, False


@pytest.mark.parametrize(
    ("can_send", "is_running", "has_queue", "disabled"),
    [
        (NO, NO, NO, YES),
        (NO, NO, YES, YES),
        (NO, YES, NO, YES),
        (NO, YES, YES, YES),
        (YES, NO, NO, NO),
        (YES, NO, YES, NO),
        (YES, YES, NO, YES),
        (YES, YES, YES, NO),
    ],
)
def test_send(can_send: bool, is_running: bool, has_queue: bool, disabled: bool) -> None:
    assert is_send_disabled(can_send=can_send, is_running=is_running, has_queue=has_queue) is disabled


@pytest.mark.parametrize(("can_cancel", "disabled"), [(YES, NO), (NO, YES)])
def test_cancel(can_cancel: bool, disabled: bool) -> None:
    assert is_cancel_disabled(can_cancel=can_cancel) is disabled


@pytest.mark.parametrize(
    ("thread", "dictating", "disabled"), [(NO, NO, NO), (NO, YES, YES), (YES, NO, YES), (YES, YES, YES)]
)
def test_input(thread: bool, dictating: bool, disabled: bool) -> None:
    assert is_input_disabled(is_thread_disabled=thread, is_dictating=dictating) is disabled


@pytest.mark.parametrize(("is_editing", "disabled"), [(YES, YES), (NO, NO)])
def test_edit(is_editing: bool, disabled: bool) -> None:
    assert is_edit_disabled(is_editing=is_editing) is disabled


@pytest.mark.parametrize("role", ["user", "system", "assistant"])
@pytest.mark.parametrize(
    ("is_running", "is_thread_disabled", "disabled"), [(NO, NO, NO), (NO, YES, YES), (YES, NO, YES), (YES, YES, YES)]
)
def test_reload(role: str, is_running: bool, is_thread_disabled: bool, disabled: bool) -> None:
    found = is_reload_disabled(role=role, is_running=is_running, is_thread_disabled=is_thread_disabled)  # type: ignore[arg-type]  # a role

    assert found is (disabled or role != "assistant")


TEXT, BLANK, NONE = (TextPart("a"),), (TextPart(" \n\ufeff"), TextPart("")), ()
OTHER = (ImagePart(image="x"),)


@pytest.mark.parametrize(
    ("message", "disabled"),
    [
        (UserMessage(id="u", created_at=WHEN, content=TEXT), NO),
        (UserMessage(id="u", created_at=WHEN, content=BLANK), YES),
        (UserMessage(id="u", created_at=WHEN, content=NONE), YES),
        (UserMessage(id="u", created_at=WHEN, content=OTHER), YES),
        (UserMessage(id="u", created_at=WHEN, content=OTHER + TEXT), NO),
        (AssistantMessage(id="a", created_at=WHEN, content=TEXT, status=COMPLETE_STOP), NO),
        (AssistantMessage(id="a", created_at=WHEN, content=TEXT, status=RUNNING), YES),
        (AssistantMessage(id="a", created_at=WHEN, content=BLANK, status=COMPLETE_STOP), YES),
        (AssistantMessage(id="a", created_at=WHEN, content=(ReasoningPart("a"),), status=COMPLETE_STOP), YES),
    ],
)
def test_copy(message: Message, disabled: bool) -> None:
    assert is_copy_disabled(message) is disabled


RUNS = [(NO, NO, NO), (NO, YES, NO), (YES, NO, YES), (YES, YES, NO)]


@pytest.mark.parametrize(("is_running", "may", "is_in_the_way"), RUNS)
@pytest.mark.parametrize(("number", "is_at_the_end"), [(0, YES), (1, YES), (2, NO), (3, NO)])
def test_previous_branch(number: int, is_at_the_end: bool, is_running: bool, may: bool, is_in_the_way: bool) -> None:
    found = is_previous_disabled(number=number, is_running=is_running, can_switch_during_run=may)

    assert found is (is_at_the_end or is_in_the_way)


@pytest.mark.parametrize(("is_running", "may", "is_in_the_way"), RUNS)
@pytest.mark.parametrize(("number", "is_at_the_end"), [(1, NO), (2, NO), (3, YES), (4, YES)])
def test_next_branch(number: int, is_at_the_end: bool, is_running: bool, may: bool, is_in_the_way: bool) -> None:
    found = is_next_disabled(number=number, count=3, is_running=is_running, can_switch_during_run=may)

    assert found is (is_at_the_end or is_in_the_way)


@pytest.mark.parametrize("sends", [YES, NO])
@pytest.mark.parametrize(
    ("is_running", "has_queue", "is_in_the_way"), [(NO, NO, NO), (NO, YES, NO), (YES, NO, YES), (YES, YES, NO)]
)
@pytest.mark.parametrize("is_thread_disabled", [YES, NO])
def test_suggestion(
    sends: bool, is_running: bool, has_queue: bool, is_in_the_way: bool, is_thread_disabled: bool
) -> None:
    found = is_suggestion_disabled(
        sends=sends, is_running=is_running, has_queue=has_queue, is_thread_disabled=is_thread_disabled
    )

    assert found is (is_thread_disabled or (sends and is_in_the_way))
