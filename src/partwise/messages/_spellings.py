"""The spellings of fields that message-like input may use, and which parts of it are ours to respell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

__all__ = ["respell", "spelled"]

# JavaScript's spelling of each field; MIME and media type are one thing.
_SPELLINGS: Final[Mapping[str, str]] = {
    "argsText": "args_text",
    "cachedInputTokens": "cached_input_tokens",
    "completedAt": "completed_at",
    "contentType": "content_type",
    "createdAt": "created_at",
    "firstTokenTime": "first_token_time",
    "inputTokens": "input_tokens",
    "isAutomatic": "is_automatic",
    "isError": "is_error",
    "isOptimistic": "is_optimistic",
    "mediaType": "media_type",
    "messageId": "message_id",
    "mimeType": "media_type",
    "mime_type": "media_type",
    "modelContent": "model_content",
    "optionId": "option_id",
    "outputTokens": "output_tokens",
    "parentId": "parent_id",
    "providerMetadata": "provider_metadata",
    "reasoningTokens": "reasoning_tokens",
    "sourceType": "source_type",
    "startedAt": "started_at",
    "streamStartTime": "stream_start_time",
    "submittedFeedback": "submitted_feedback",
    "tokenCount": "token_count",
    "tokensPerSecond": "tokens_per_second",
    "toolCallCount": "tool_call_count",
    "toolCallId": "tool_call_id",
    "toolName": "tool_name",
    "totalChunks": "total_chunks",
    "totalStreamTime": "total_stream_time",
}
# Fields that hold a structure of ours; below any other field the keys belong to somebody else.
_STRUCTURED: Final = frozenset(
    {
        "approval",
        "confirm",
        "interrupt",
        "model_content",
        "options",
        "status",
        "steps",
        "submitted_feedback",
        "timing",
        "usage",
    }
)
# Fields whose None means something; everywhere else it is the same as an absent field.
_NONE_COUNTS: Final = frozenset({"artifact", "data", "error", "payload", "preliminary", "result", "state"})


def spelled(name: str) -> str:
    """Return the name of a field in our spelling."""
    return _SPELLINGS.get(name, name)


def respell(like: Mapping[Any, Any]) -> dict[str, Any]:
    """Copy a mapping with its fields, and those of the structures in it, in our spelling and without empty ones."""
    named: dict[str, Any] = {}
    for key, value in like.items():
        name = spelled(key) if isinstance(key, str) else str(key)
        if (value is None and name not in _NONE_COUNTS) or (name != key and name in like):
            continue
        named[name] = _respell_inside(value) if name in _STRUCTURED else value
    return named


def _respell_inside(value: object) -> object:
    if isinstance(value, Mapping):
        return respell(value)  # pyright: ignore[reportUnknownArgumentType]  # JSON of unknown shape
    if isinstance(value, (list, tuple)):
        return [_respell_inside(item) for item in cast("list[object]", value)]
    return value
