"""An answer after each of its chunks."""

from datetime import UTC, datetime

from partwise.messages import RUNNING, AssistantMessage, fill
from partwise.stream import Chunk, Fold

# A text from here on is not copied with each delta any more.
LONG = "x" * 4096


def message() -> AssistantMessage:
    return AssistantMessage(id="m", created_at=datetime(2026, 1, 1, tzinfo=UTC), status=RUNNING)


def versions(*chunks: Chunk, are_read: bool = False) -> list[AssistantMessage]:
    """Return the message after each chunk; with ``are_read``, every part is read before the next chunk comes."""
    fold, current, made = Fold(), message(), []
    for chunk in chunks:
        current = fold.apply(current, chunk)
        made.append(current)
        if are_read:
            for part in current.content:
                fill(part)
    return made
