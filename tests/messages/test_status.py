import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.errors import PartNotFoundError
from partwise.messages import (
    COMPLETE,
    REQUIRES_TOOL_CALLS,
    RUNNING,
    AssistantMessage,
    CompleteStatus,
    IncompleteStatus,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UserMessage,
    auto_status,
    group_status,
    part_status,
)
from tests.strategies import assistant_messages, user_messages

from ._answers import answer

CALL = ToolCallPart(tool_call_id="c", tool_name="t")


@pytest.mark.parametrize("result", [None, False, 0, "", [], {}])
def test_a_falsy_result_settles_a_call(result: object) -> None:
    settled = ToolCallPart(tool_call_id="c", tool_name="t", result=result)

    assert part_status(answer(settled, status=RUNNING), 0) is COMPLETE


def test_an_open_call_shares_the_status_of_its_message() -> None:
    status = IncompleteStatus("error", {"code": "x"})

    assert part_status(answer(CALL, TextPart("x"), status=status), 0) is status


def test_what_a_source_says_of_a_part_counts_only_while_the_message_runs() -> None:
    part = ReasoningPart("x", status=RUNNING)

    assert part_status(answer(part, TextPart("y"), status=RUNNING), 0) is RUNNING
    assert part_status(answer(part, TextPart("y")), 0) is COMPLETE


def test_a_stream_status_drops_what_a_part_cannot_have() -> None:
    ended = TextPart("x", status=CompleteStatus("stop"))
    waiting = TextPart("x", status=REQUIRES_TOOL_CALLS)
    limited = TextPart("x", status=IncompleteStatus("tool-calls"))
    message = answer(ended, waiting, limited, TextPart("y"), status=RUNNING)

    assert [part_status(message, index) for index in range(4)] == [
        COMPLETE,
        COMPLETE,
        IncompleteStatus("other"),
        RUNNING,
    ]


def test_a_missing_part_is_named() -> None:
    for index in (1, -2):
        with pytest.raises(PartNotFoundError, match="a1"):
            part_status(answer(TextPart("x")), index)
    with pytest.raises(PartNotFoundError):
        part_status(answer(), 0)


@given(user_messages)
def test_whatever_a_user_says_is_complete(message: UserMessage) -> None:
    assert all(part_status(message, index) is COMPLETE for index in range(len(message.content)))


@given(assistant_messages())
def test_a_group_runs_while_one_of_its_parts_does(message: AssistantMessage) -> None:
    statuses = [part_status(message, index) for index in range(len(message.content))]
    group = group_status(message)

    assert (group == RUNNING) == (RUNNING in statuses)
    if RUNNING not in statuses:
        assert group == (statuses[-1] if statuses else COMPLETE)


def test_a_group_of_some_parts_looks_at_those_only() -> None:
    message = answer(CALL, TextPart("x"), ToolCallPart(tool_call_id="d", tool_name="t", result=1), status=RUNNING)

    assert group_status(message) is RUNNING
    assert group_status(message, [2]) is COMPLETE
    assert group_status(message, []) is COMPLETE


@given(st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_automatic_statuses_are_shared_and_marked(last: bool, running: bool, interrupted: bool, pending: bool) -> None:
    made = [
        auto_status(is_last=last, is_running=running, has_interrupted=interrupted, has_pending=pending)
        for _ in range(2)
    ]

    assert made[0] is made[1]
    assert made[0].is_automatic
    assert not RUNNING.is_automatic
