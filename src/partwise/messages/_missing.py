"""The mark of a value that is not there, as opposed to one that is None."""

from __future__ import annotations

import enum
from typing import Final, Literal, TypeAlias

__all__ = ["MISSING", "Missing", "MissingType"]


class MissingType(enum.Enum):
    """The type of ``MISSING``; an enum, so that type checkers can narrow by identity."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> Literal[False]:
        return False


MISSING: Final = MissingType.MISSING
Missing: TypeAlias = Literal[MissingType.MISSING]
