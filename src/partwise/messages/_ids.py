"""Ids of things that nobody named."""

from __future__ import annotations

import secrets
import string

__all__ = ["new_id"]

_ALPHABET = string.digits + string.ascii_letters
_LENGTH = 7


def new_id() -> str:
    """Return a fresh id: seven characters out of digits and letters."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
