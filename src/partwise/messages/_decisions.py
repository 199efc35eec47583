"""Answers to approvals."""

from __future__ import annotations

from typing import Final

import attrs

from partwise.errors import ApprovalError, OptionNotFoundError

from ._approvals import Approval
from ._frozen import FrozenDict
from ._parts import ToolCallPart

__all__ = ["Decision", "apply_decision", "resolve_approval"]

_KINDS: Final = {"allow-once": True, "allow-always": True, "reject-once": False, "reject-always": False}
_DENIED: Final = "Tool approval denied"


@attrs.frozen(kw_only=True)
class Decision:
    """The answer to an approval, ready to be applied.

    Attributes:
        option_id: The option that was chosen, if one was.
        reason: Why, in the decider's words; an empty text is kept.
    """

    approval_id: str
    approved: bool
    option_id: str | None = None
    reason: str | None = None


def resolve_approval(
    approval: Approval, *, approved: bool | None = None, option_id: str | None = None, reason: str | None = None
) -> Decision:
    """Turn what a user chose into a decision.

    Args:
        approval: The open approval.
        approved: Yes or no. Beside an option it wins over what the option's kind says.
        option_id: The option that was chosen.
        reason: Why.

    Raises:
        OptionNotFoundError: The approval does not offer that option.
        ApprovalError: It was decided already (code ``approval-decided``) or has ended
            (``approval-resolved``); the option's kind decides nothing by itself and no yes or no was
            given (``custom-kind``); or neither option nor yes or no was given (``no-decision``).
    """
    check_open(approval)
    if option_id is not None:
        kind = _kind(approval, option_id)
        if approved is None:
            approved = _KINDS.get(kind)
        if approved is None:
            text = (
                f"Option {option_id!r} of approval {approval.id!r} is of the kind {kind!r}, "
                "which neither allows nor rejects. Give approved=True or approved=False beside it."
            )
            raise ApprovalError(text, code="custom-kind", id=approval.id)
    if approved is None:
        text = f"The answer to approval {approval.id!r} is empty. Give approved or option_id."
        raise ApprovalError(text, code="no-decision", id=approval.id)
    return Decision(approval_id=approval.id, approved=approved, option_id=option_id, reason=reason)


def check_open(approval: Approval) -> None:
    """Raise ApprovalError if an approval can take no answer any more; see ``resolve_approval``."""
    if approval.resolution is not None:
        text = f"Approval {approval.id!r} is {approval.resolution}; it takes no answer any more."
        raise ApprovalError(text, code="approval-resolved", id=approval.id)
    if approval.approved is not None:
        answer = "approved" if approval.approved else "denied"
        text = f"Approval {approval.id!r} was {answer} already; the first answer is final."
        raise ApprovalError(text, code="approval-decided", id=approval.id)


def _kind(approval: Approval, option_id: str) -> str:
    options = approval.options or ()
    for option in options:
        if option.id == option_id:
            return option.kind
    offered = ", ".join(repr(option.id) for option in options) or "none"
    raise OptionNotFoundError(option_id, where=f"approval {approval.id!r}", advice=f"Offered: {offered}.")


def apply_decision(part: ToolCallPart, decision: Decision) -> ToolCallPart:
    """Write a decision down on the tool call that asked for it.

    A denial is also the call's result, so that the model learns of it; a permission leaves the
    result open for whoever executes the call.

    Raises:
        ApprovalError: The call asks for no such approval (code ``approval-not-found``), or its
            approval was decided already or has ended.
    """
    approval = part.approval
    if approval is None or approval.id != decision.approval_id:
        text = f"Tool call {part.tool_call_id!r} does not ask for approval {decision.approval_id!r}."
        raise ApprovalError(text, code="approval-not-found", id=decision.approval_id)
    check_open(approval)
    decided = attrs.evolve(
        approval,
        approved=decision.approved,
        option_id=approval.option_id if decision.option_id is None else decision.option_id,
        reason=approval.reason if decision.reason is None else decision.reason,
    )
    if decision.approved:
        return attrs.evolve(part, approval=decided)
    denial = FrozenDict(error=decision.reason or _DENIED)
    return attrs.evolve(part, approval=decided, result=denial, is_error=True)
