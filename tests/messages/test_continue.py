import pytest

from partwise.messages import (
    REQUIRES_INTERRUPT,
    REQUIRES_TOOL_CALLS,
    Approval,
    TextPart,
    ToolCallPart,
    UserMessage,
    should_continue,
)

from ._answers import WHEN, answer


def goes_on(*calls: ToolCallPart, human: object = None) -> bool:
    return should_continue(answer(TextPart("x"), *calls, status=REQUIRES_TOOL_CALLS), human)  # type: ignore[arg-type]  # a collection


def call(**more: object) -> ToolCallPart:
    return ToolCallPart(tool_call_id="c", tool_name="ask", **more)  # type: ignore[arg-type]  # any fields


@pytest.mark.parametrize(
    ("part", "answers"),
    [
        (call(result=None), (True, True, True)),
        (call(), (False, False, True)),
        (call(approval=Approval(id="a")), (False, False, False)),
        (call(approval=Approval(id="a", approved=True)), (True, True, True)),
        (call(approval=Approval(id="a", approved=False)), (True, True, True)),
        (call(approval=Approval(id="a", resolution="expired")), (True, True, True)),
        (call(approval=Approval(id="a"), result=0), (True, True, True)),
    ],
)
def test_one_call_decides(part: ToolCallPart, answers: tuple[bool, bool, bool]) -> None:
    assert tuple(goes_on(part, human=human) for human in (None, ["ask"], ["other"])) == answers


def test_all_calls_have_to_be_settled() -> None:
    assert goes_on(call(result=1), call(result=2))
    assert not goes_on(call(result=1), call(approval=Approval(id="a")))


def test_an_interrupt_and_a_finished_answer_never_go_on() -> None:
    assert not should_continue(answer(call(result=1), status=REQUIRES_INTERRUPT))
    assert not should_continue(answer(call(result=1)))
    assert not should_continue(UserMessage(id="u", created_at=WHEN))
