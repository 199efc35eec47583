"""The branch picker of a message: which alternative is shown, of how many."""

from __future__ import annotations

import attrs

from partwise.reactive import Slice
from partwise.runtimes import Thread
from partwise.store import ThreadState

from ._disabled import is_next_disabled, is_previous_disabled

__all__ = ["BranchPicker", "BranchPlace"]


@attrs.frozen(kw_only=True)
class BranchPlace:
    """Where a message stands among its alternatives; ``number`` counts from 1."""

    number: int
    count: int


class BranchPicker:
    """Shows and changes which alternative of a message is visible.

    Attributes:
        place: Number and count in one; the whole text of a picker.
        number: Which alternative is shown, from 1.
        count: How many there are; 1 for a message without alternatives.
        can_previous, can_next: Whether there is one on that side that may be shown now.
    """

    def __init__(self, thread: Thread, message_id: str) -> None:
        self._thread = thread
        self.message_id = message_id
        self.place: Slice[BranchPlace] = thread.select(lambda state: _place(state, message_id))
        self.number: Slice[int] = thread.select(lambda state: _place(state, message_id).number)
        self.count: Slice[int] = thread.select(lambda state: _place(state, message_id).count)
        self.can_previous: Slice[bool] = thread.select(lambda state: _can(state, message_id, "previous"))
        self.can_next: Slice[bool] = thread.select(lambda state: _can(state, message_id, "next"))

    def previous(self) -> None:
        """Show the alternative before.

        Raises:
            BranchNotFoundError: There is none.
        """
        self._thread.switch_branch(self.message_id, to="previous")

    def next(self) -> None:
        """Show the alternative after.

        Raises:
            BranchNotFoundError: There is none.
        """
        self._thread.switch_branch(self.message_id, to="next")


def _place(state: ThreadState, message_id: str) -> BranchPlace:
    branches = state.branches.get(message_id, ())
    return BranchPlace(number=branches.index(message_id) + 1 if branches else 1, count=len(branches) or 1)


def _can(state: ThreadState, message_id: str, to: str) -> bool:
    place = _place(state, message_id)
    if place.count == 1 or "switch_to_branch" not in state.capabilities:
        return False
    may_switch = "switch_branch_during_run" in state.capabilities
    # Whether a run is live matters only where it is in the way, and is read only there.
    is_running = not may_switch and state.is_running
    if to == "previous":
        return not is_previous_disabled(number=place.number, is_running=is_running, can_switch_during_run=may_switch)
    return not is_next_disabled(
        number=place.number, count=place.count, is_running=is_running, can_switch_during_run=may_switch
    )
