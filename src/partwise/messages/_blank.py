"""What counts as blank text."""

from __future__ import annotations

__all__ = ["is_blank"]

# A byte-order mark is invisible and reaches chat text by copy and paste; str.strip() keeps it.
_BYTE_ORDER_MARK = "\ufeff"


def is_blank(text: str | None) -> bool:
    """Tell whether there is nothing to see in ``text``: None, empty, white space, byte-order marks."""
    return text is None or not text.replace(_BYTE_ORDER_MARK, " ").strip()
