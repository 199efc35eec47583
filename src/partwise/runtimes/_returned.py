"""Drafts that come back because they were not sent."""

from __future__ import annotations

import attrs

from partwise.messages import is_blank
from partwise.store import ComposerState

__all__ = ["Returned", "has_something", "merged"]


def has_something(draft: ComposerState) -> bool:
    """Tell whether a draft holds anything."""
    return not is_blank(draft.text) or draft.quote is not None or bool(draft.attachments)


def merged(draft: ComposerState, now: ComposerState) -> ComposerState:
    """Put a draft that was not sent before what was written meanwhile."""
    text = "\n".join(part for part in (draft.text, now.text) if not is_blank(part)) or now.text
    return attrs.evolve(
        now,
        text=text,
        quote=now.quote or draft.quote,
        attachments=(*draft.attachments, *now.attachments),
        is_sending=False,
    )


@attrs.define(eq=False)
class Returned:
    """Puts drafts back in the order in which they were sent, before what was written meanwhile."""

    _drafts: dict[int, ComposerState] = attrs.field(factory=dict)
    _written: ComposerState | None = None
    _shown: ComposerState | None = None

    def add(self, number: int, draft: ComposerState, now: ComposerState | None) -> ComposerState:
        """Return the draft to be shown.

        Args:
            number: The place of the draft among those that were sent.
            draft: The draft that was not sent.
            now: What is written now; None if nothing can be.
        """
        if now is None or self._shown is None or now != self._shown:
            self._drafts, self._written = {}, now
        self._drafts[number] = draft
        shown = self._written
        for later in sorted(self._drafts, reverse=True):
            shown = self._drafts[later] if shown is None else merged(self._drafts[later], shown)
        self._shown = shown
        return draft if shown is None else shown
