"""The protocol of a feedback sink."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from partwise.messages import Message

__all__ = ["FeedbackFunction", "FeedbackType"]

FeedbackType: TypeAlias = Literal["positive", "negative"]
# A plain function that is told the message and the verdict; it is called at once and must not wait.
FeedbackFunction: TypeAlias = Callable[[Message, FeedbackType], None]
