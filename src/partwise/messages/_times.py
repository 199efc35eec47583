"""Points in time, as text and as values."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["read_time", "write_time"]


def read_time(value: object) -> datetime:
    """Read a time; one without a zone is taken as UTC.

    Raises:
        ValueError: It is neither a time nor ISO 8601 text.
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError as error:
            text = "is no time; write it like 2024-05-06T07:08:09+00:00"
            raise ValueError(text) from error
    if not isinstance(value, datetime):
        text = "is no time; write it as ISO 8601 text"
        raise ValueError(text)  # noqa: TRY004 - pydantic turns a ValueError, and no TypeError, into its own error
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


def write_time(value: datetime) -> str:
    """Write a time as ISO 8601 text in UTC; one without a zone is taken as UTC already."""
    aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat()
