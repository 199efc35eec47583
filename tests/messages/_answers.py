from datetime import UTC, datetime

from partwise.messages import AssistantMessage

WHEN = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


def answer(*content: object, **more: object) -> AssistantMessage:
    """An assistant message ``a1`` of these parts."""
    return AssistantMessage(id="a1", created_at=WHEN, content=content, **more)  # type: ignore[arg-type]  # any part
