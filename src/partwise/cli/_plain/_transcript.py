"""A thread as lines."""

from __future__ import annotations

from partwise.cli._attachments import as_label
from partwise.cli._wording import speaker_of
from partwise.messages import Message, UserMessage
from partwise.store import ThreadState

from ._printed import Printed, advance, conclude

__all__ = ["transcript"]


def transcript(state: ThreadState) -> str:
    """Return the visible branch: each message with its number, and which branch of how many it is."""
    return "".join(_entry(number, message, state) for number, message in enumerate(state.messages, start=1))


def _entry(number: int, message: Message, state: ThreadState) -> str:
    branches = state.branches.get(message.id, ())
    place = f" ({branches.index(message.id) + 1}/{len(branches)})" if len(branches) > 1 else ""
    printed, text = advance(Printed(), message)
    _, end = conclude(printed, message)
    attachments = message.attachments if isinstance(message, UserMessage) else ()
    files = "".join(f"[attachment] {as_label(attachment)}\n" for attachment in attachments)
    gap = "\n" if files and not text else ""
    return f"{number} {speaker_of(message.role)}{place}: {text}{end}{gap}{files}"
