import pytest
from hypothesis import given

from partwise.errors import ApprovalError, OptionNotFoundError
from partwise.messages import (
    Approval,
    ApprovalOption,
    Decision,
    ToolCallPart,
    apply_decision,
    resolve_approval,
)
from tests.strategies import approvals

OPTIONS = (ApprovalOption(id="y", kind="allow-always"), ApprovalOption(id="x", kind="constructor"))
OPEN = Approval(id="a", options=OPTIONS)


def call(approval: Approval | None) -> ToolCallPart:
    return ToolCallPart(tool_call_id="c", tool_name="t", approval=approval, args={"a": 1})


@pytest.mark.parametrize(
    ("approval", "answer", "code"),
    [
        (OPEN, {"option_id": "x"}, "custom-kind"),
        (OPEN, {}, "no-decision"),
        (Approval(id="a", approved=False), {"approved": True}, "approval-decided"),
        (Approval(id="a", resolution="expired"), {"approved": True}, "approval-resolved"),
    ],
)
def test_an_answer_that_cannot_be_taken_says_why(approval: Approval, answer: dict[str, object], code: str) -> None:
    with pytest.raises(ApprovalError) as caught:
        resolve_approval(approval, **answer)  # type: ignore[arg-type]  # any answer

    assert (caught.value.code, caught.value.id) == (code, "a")
    assert "'a'" in str(caught.value)


def test_an_unknown_option_is_named_with_those_offered() -> None:
    with pytest.raises(OptionNotFoundError, match=r"'zz'.*'y', 'x'"):
        resolve_approval(OPEN, option_id="zz")


def test_the_first_answer_is_final() -> None:
    decided = apply_decision(call(OPEN), resolve_approval(OPEN, approved=False))

    with pytest.raises(ApprovalError):
        apply_decision(decided, Decision(approval_id="a", approved=True))


def test_a_denial_is_a_result_that_the_model_sees() -> None:
    denied = apply_decision(call(OPEN), Decision(approval_id="a", approved=False, reason="no"))

    assert (denied.result, denied.is_error) == ({"error": "no"}, True)
    assert denied.approval == Approval(id="a", options=OPTIONS, approved=False, reason="no")


def test_an_empty_reason_is_kept_but_the_model_is_told_something() -> None:
    denied = apply_decision(call(OPEN), Decision(approval_id="a", approved=False, reason=""))

    assert denied.result == {"error": "Tool approval denied"}
    assert denied.approval is not None
    assert denied.approval.reason == ""


def test_a_permission_leaves_the_result_open() -> None:
    allowed = apply_decision(call(OPEN), resolve_approval(OPEN, option_id="y"))

    assert not allowed.has_result
    assert allowed.approval == Approval(id="a", options=OPTIONS, approved=True, option_id="y")


def test_a_decision_about_another_approval_is_refused() -> None:
    for approval in (None, Approval(id="b")):
        with pytest.raises(ApprovalError) as caught:
            apply_decision(call(approval), Decision(approval_id="a", approved=True))
        assert caught.value.code == "approval-not-found"


@given(approvals)
def test_an_explicit_answer_to_an_open_approval_always_decides(approval: Approval) -> None:
    if approval.is_open:
        assert resolve_approval(approval, approved=True).approved
    else:
        with pytest.raises(ApprovalError):
            resolve_approval(approval, approved=True)
