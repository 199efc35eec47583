"""Family ``approval_response``: what a user chose, turned into a decision."""

from typing import Any

from partwise.errors import ApprovalError, OptionNotFoundError
from partwise.messages import Approval, ApprovalOption, resolve_approval

from ._outcome import Outcome, first_difference, passed

Json = Any


def run(vector: Json) -> Outcome:
    """Run one vector; see `_outcome`."""
    return first_difference(vector["expected"], _resolve(**vector["input"])) or passed()


def _resolve(approval: Json, response: Json) -> Json:
    options = [ApprovalOption(**option) for option in approval.get("options", [])]
    try:
        decision = resolve_approval(
            Approval(id=approval["id"], options=tuple(options) or None),
            approved=response.get("approved"),
            option_id=response.get("optionId"),
            reason=response.get("reason"),
        )
    except (ApprovalError, OptionNotFoundError) as error:
        return {"error": error.code}
    value = {
        "approvalId": decision.approval_id,
        "approved": decision.approved,
        "optionId": decision.option_id,
        "reason": decision.reason,
    }
    return {"value": {key: item for key, item in value.items() if item is not None}}
