"""The protocol of a suggestion source: prompts that a user might send next."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from typing import TypeAlias

import attrs

from partwise.messages import Message
from partwise.store import Suggestion

__all__ = ["SuggestionRequest", "Suggestions"]


@attrs.frozen(kw_only=True)
class SuggestionRequest:
    """What a suggestion source is told: the visible messages after an answer completed."""

    messages: tuple[Message, ...]
    thread_id: str | None = None


# A plain function: one list later, or several lists of which each replaces the one before.
Suggestions: TypeAlias = Callable[
    [SuggestionRequest], Awaitable[Sequence[Suggestion | str]] | AsyncIterable[Sequence[Suggestion | str]]
]
