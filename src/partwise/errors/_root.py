"""The root of the tree, and the error about partwise itself."""

from __future__ import annotations


class PartwiseError(Exception):
    """Root of all errors that partwise raises on purpose."""

    code: str = "partwise"


class InternalError(PartwiseError):
    """An invariant of partwise is broken. Please report it with the traceback."""

    code = "internal"
