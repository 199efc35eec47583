"""What a clause may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import attrs

__all__ = ["Call", "Intent", "Say", "Topic"]

Topic: TypeAlias = Literal["greeting", "farewell", "thanks", "help", "time", "which-file", "what-text", "unknown"]


@attrs.frozen
class Say:
    """Something to be said without a tool.

    Attributes:
        topic: What about.
        about: The words of the user that it answers, where they matter.
    """

    topic: Topic
    about: str = ""


@attrs.frozen
class Call:
    """A tool to be called."""

    tool: str
    args: Mapping[str, object]


Intent: TypeAlias = Say | Call
