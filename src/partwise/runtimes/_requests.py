"""What a caller hands over with a message, and with a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from partwise.messages import FrozenDict, Message, freeze

__all__ = ["AppendRequest"]


@attrs.frozen(kw_only=True)
class AppendRequest:
    """A message on its way into a thread.

    Attributes:
        message: The message, with the id that it will have.
        parent_id: The message above it; None for the root. Looked at only if ``is_at_tail`` is false.
        is_at_tail: Whether it goes to the end of the visible branch, wherever that is when it gets in.
        source_id: The message that it is an edited version of.
        run_config: Handed to the model.
        starts_run: Whether it is answered; None: if it is a user's.
        steers: Whether it goes before other waiting messages; None: as the thread sees fit.
        thread_id: The thread, where it has an id; an owner of several may have moved on when it hears of this.
    """

    message: Message
    parent_id: str | None = None
    is_at_tail: bool = True
    source_id: str | None = None
    run_config: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=freeze)
    starts_run: bool | None = None
    steers: bool | None = None
    thread_id: str | None = None

    @property
    def will_run(self) -> bool:
        """Whether it is to be answered."""
        return self.message.role == "user" if self.starts_run is None else self.starts_run
