"""Between the reference's spelling of messages and the product's."""

from datetime import UTC, datetime
from typing import Any

from partwise.messages import COMPLETE_UNKNOWN, AudioPart, FrozenDict, Message, PartStatus, message_to_json, thaw

Json = Any

WHEN = datetime(2024, 1, 1, tzinfo=UTC)

# The product's name of a field, and the reference's; the loose spelling of the rest is the product's business.
LOOSE = {"unstable_state": "state", "unstable_annotations": "annotations", "unstable_data": "data"}
NAMES = {
    "args_text": "argsText",
    "completed_at": "completedAt",
    "content_type": "contentType",
    "input_tokens": "inputTokens",
    "is_automatic": "isAutomatic",
    "is_error": "isError",
    "is_optimistic": "isOptimistic",
    "message_id": "messageId",
    "model_content": "modelContent",
    "option_id": "optionId",
    "output_tokens": "outputTokens",
    "parent_id": "parentId",
    "provider_metadata": "providerMetadata",
    "source_type": "sourceType",
    "started_at": "startedAt",
    "stream_start_time": "streamStartTime",
    "submitted_feedback": "submittedFeedback",
    "summary": "unstable_summary",
    "tool_call_count": "toolCallCount",
    "tool_call_id": "toolCallId",
    "tool_name": "toolName",
    "total_chunks": "totalChunks",
    "total_stream_time": "totalStreamTime",
}
METADATA_NAMES = {name: spelling for spelling, name in LOOSE.items()}
OPAQUE = {"args", "artifact", "custom", "data", "error", "payload", "provider_metadata", "result", "spec", "state"}


def loose(like: Json) -> Json:
    """A loose message of a vector as a user of the product would write it: without unstable names."""
    if not isinstance(like, dict):
        return like
    out = dict(like)
    if isinstance(like.get("metadata"), dict):
        out["metadata"] = {LOOSE.get(key, key): value for key, value in like["metadata"].items()}
    if isinstance(like.get("content"), list):
        out["content"] = [_loose_part(part) for part in like["content"]]
    return out


def _loose_part(part: Json) -> Json:
    if not isinstance(part, dict):
        return part
    out = {("summary" if key == "unstable_summary" else key): value for key, value in part.items()}
    if isinstance(out.get("messages"), list):
        out["messages"] = [loose(message) for message in out["messages"]]
    return out


def message(value: Message, *, with_time: bool = False) -> Json:
    """A message of the product in the reference's spelling, with the defaults that the reference writes."""
    return _message(message_to_json(value), with_time=with_time)


def _message(plain: Json, *, with_time: bool = False) -> Json:
    out: Json = {"id": plain["id"], "role": plain["role"], "content": [part(item) for item in plain["content"]]}
    if with_time:
        out["createdAt"] = datetime.fromisoformat(plain["created_at"]).isoformat(timespec="milliseconds")
    metadata = plain.get("metadata", {})
    out["metadata"] = {"custom": {}, **{METADATA_NAMES.get(k, NAMES.get(k, k)): v for k, v in _inner(metadata).items()}}
    if plain["role"] == "user":
        attachments = plain.get("attachments", [])
        out["attachments"] = [{**_attachment(item), "status": {"type": "complete"}} for item in attachments]
    if plain["role"] == "assistant":
        out["status"] = plain["status"]
        defaults = {"unstable_state": None, "unstable_annotations": [], "unstable_data": [], "steps": []}
        out["metadata"] = {**defaults, **out["metadata"]}
        timing = out["metadata"].get("timing")
        if timing is not None:
            out["metadata"]["timing"] = {"totalChunks": 0, "toolCallCount": 0, **timing}
    return out


def _inner(metadata: Json) -> Json:
    return {key: value if key in OPAQUE or key == "annotations" else _spelled(value) for key, value in metadata.items()}


def _attachment(plain: Json) -> Json:
    return {**_spelled({**plain, "content": None}), "content": [part(item) for item in plain["content"]]}


def part(plain: Json) -> Json:
    """A part in the product's JSON, in the reference's spelling."""
    if plain["type"] == AudioPart.type:
        return {"type": "audio", "audio": {"data": plain["data"], "format": plain["format"]}}
    out = {}
    for key, value in plain.items():
        if key == "messages":
            out[key] = [_message(item) for item in value]
        elif key == "media_type":
            out["mimeType" if plain["type"] == "file" else "mediaType"] = value
        else:
            out[NAMES.get(key, key)] = value if key in OPAQUE else _spelled(value)
    if plain["type"] == "tool-call":
        out = {"args": {}, "argsText": "", **out}
    return out


def _spelled(value: Json) -> Json:
    if isinstance(value, dict):
        return {NAMES.get(k, k): v if k in OPAQUE else _spelled(v) for k, v in value.items()}
    return [_spelled(item) for item in value] if isinstance(value, list) else value


def status(value: PartStatus) -> Json:
    """A status in the reference's spelling."""
    out = {"type": value.type}
    reason = getattr(value, "reason", None)
    if reason is not None:
        out["reason"] = reason
    error = getattr(value, "error", None)
    if error is not None:
        out["error"] = thaw(error)
    return out


def fallback_status(like: Json) -> Any:
    """The status that a vector gives for messages without one."""
    from partwise.messages import message_from_like

    if like is None:
        return COMPLETE_UNKNOWN
    carrier = message_from_like({"role": "assistant", "content": "", "status": FrozenDict(like)})
    return carrier.status  # type: ignore[union-attr]  # it is an assistant message
