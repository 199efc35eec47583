"""Telling which protocol a recording speaks, by its payloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

__all__ = ["PROTOCOLS", "Protocol", "protocol_of"]

Protocol: TypeAlias = Literal["openai-chat", "openai-responses", "anthropic-messages"]
PROTOCOLS: Final[dict[Protocol, str]] = {
    "openai-chat": "Chat Completions",
    "openai-responses": "Responses",
    "anthropic-messages": "Anthropic Messages",
}
"""The protocols that can be replayed, and how they are called in a sentence."""

_MESSAGES_EVENTS: Final = ("message_start", "message_delta", "message_stop", "ping")


def protocol_of(payload: Mapping[str, Any]) -> Protocol | Literal["any"] | None:
    """Return the protocol that a payload belongs to, ``any`` if it could be of each, None if it is of none."""
    if "choices" in payload:
        return "openai-chat"
    kind = payload.get("type")
    if isinstance(kind, str):
        if kind.startswith("response."):
            return "openai-responses"
        if kind in _MESSAGES_EVENTS or kind.startswith("content_block_"):
            return "anthropic-messages"
    return "any" if kind == "error" or payload.keys() & {"error", "usage"} else None
