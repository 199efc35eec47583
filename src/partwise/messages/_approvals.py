"""The permission that a tool call asks of a human."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import attrs

from ._frozen import freeze

__all__ = ["Approval", "ApprovalOption", "ApprovalResolution", "Confirm"]

ApprovalResolution: TypeAlias = Literal["cancelled", "expired"]


@attrs.frozen(kw_only=True)
class Confirm:
    """What a UI asks once more before it takes an option."""

    title: str | None = None
    description: str | None = None


@attrs.frozen(kw_only=True)
class ApprovalOption:
    """One of several answers to an approval.

    Attributes:
        kind: ``allow-once``, ``allow-always``, ``reject-once`` and ``reject-always`` decide by
            themselves; any other kind needs an explicit yes or no beside it.
        grants: The patterns that choosing this option would permit for good.
        confirm: True, or what to ask, when the UI should ask once more.
    """

    id: str
    kind: str
    label: str | None = None
    description: str | None = None
    grants: tuple[str, ...] | None = None
    confirm: bool | Confirm | None = None


@attrs.frozen(kw_only=True)
class Approval:
    """The state of a permission.

    Attributes:
        approved: None until somebody decided. The first decision is final.
        reason: Why, in the decider's words.
        is_automatic: Whether a policy decided, not a person.
        option_id: The option that was chosen.
        resolution: Set when the question ended without a decision.
        extra: What else the source says of it, such as a prompt or a signature; carried untouched.
    """

    id: str
    approved: bool | None = None
    reason: str | None = None
    is_automatic: bool | None = None
    options: tuple[ApprovalOption, ...] | None = None
    option_id: str | None = None
    resolution: ApprovalResolution | None = None
    extra: Mapping[str, Any] | None = attrs.field(default=None, converter=freeze)

    @property
    def is_open(self) -> bool:
        """Whether nobody has decided, and the question still stands."""
        return self.approved is None and self.resolution is None
