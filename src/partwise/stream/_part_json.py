"""Parts, approvals and what stands beside a result, as the JSON of the wires."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, cast

from partwise.errors import MessageLikeError, WireError
from partwise.messages import (
    Approval,
    ApprovalOption,
    AssistantPart,
    Confirm,
    DataPart,
    DocumentSourcePart,
    FileContent,
    FilePart,
    GenerativeUIPart,
    ImagePart,
    Message,
    ModelContent,
    ReasoningPart,
    TextContent,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
    message_from_like,
    message_to_json,
    parse_partial_object,
)

from ._fields import Fields
from ._report import Report

__all__ = [
    "part_or_data",
    "read_approval",
    "read_messages",
    "read_model_content",
    "read_part",
    "without_none",
    "write_approval",
    "write_messages",
    "write_model_content",
    "write_part",
]

_UNKNOWN_TIME: Final = datetime.fromtimestamp(0, UTC)
_APPROVAL_FIELDS: Final = frozenset({"id", "approved", "reason", "isAutomatic", "options", "optionId", "resolution"})
# The fields of messages that the wires spell in another way.
_SPELLINGS: Final[Mapping[str, str]] = {
    "args_text": "argsText",
    "cached_input_tokens": "cachedInputTokens",
    "completed_at": "completedAt",
    "content_type": "contentType",
    "created_at": "createdAt",
    "input_tokens": "inputTokens",
    "is_automatic": "isAutomatic",
    "is_error": "isError",
    "media_type": "mimeType",
    "message_id": "messageId",
    "model_content": "modelContent",
    "option_id": "optionId",
    "output_tokens": "outputTokens",
    "parent_id": "parentId",
    "provider_metadata": "providerMetadata",
    "reasoning_tokens": "reasoningTokens",
    "source_type": "sourceType",
    "started_at": "startedAt",
    "tool_call_id": "toolCallId",
    "tool_name": "toolName",
}
_STRUCTURED: Final = frozenset(
    {"approval", "attachments", "content", "messages", "metadata", "model_content", "options", "status", "steps"}
    | {"timing", "usage"}
)


def without_none(**fields: object) -> dict[str, Any]:
    """Return the fields that are there."""
    return {name: value for name, value in fields.items() if value is not None}


def read_part(fields: Fields) -> AssistantPart:
    """Read a part. One of a kind that nobody knows becomes data, named after its kind.

    Raises:
        WireError: A field is missing or wrong.
    """
    raw, parent_id = fields.raw, fields.name("parentId")
    metadata = fields.object("providerMetadata")
    match raw.get("type"):
        case "text":
            return TextPart(fields.maybe_text("text") or "", provider_metadata=metadata, parent_id=parent_id)
        case "reasoning":
            summary = fields.maybe_text("unstable_summary")
            text = fields.maybe_text("text") or ""
            return ReasoningPart(text, summary=summary, provider_metadata=metadata, parent_id=parent_id)
        case "tool-call":
            return _read_call(fields, parent_id, metadata)
        case "source" if raw.get("sourceType") in ("url", "document"):
            return _read_source(fields, parent_id, metadata)
        case "file":
            return FilePart(
                data=fields.text("data"),
                media_type=fields.text("mimeType" if "mimeType" in raw else "mediaType"),
                filename=fields.name("filename"),
                provider_metadata=metadata,
                parent_id=parent_id,
            )
        case "image":
            image, filename = fields.text("image"), fields.name("filename")
            return ImagePart(image=image, filename=filename, provider_metadata=metadata, parent_id=parent_id)
        case "data":
            name, data = fields.text("name"), fields.any("data")
            return DataPart(name=name, data=data, id=fields.name("id"), parent_id=parent_id)
        case "generative-ui" if isinstance(raw.get("spec"), Mapping):
            return GenerativeUIPart(spec=raw["spec"], id=fields.name("id"), parent_id=parent_id)
        case kind:
            rest = {name: value for name, value in raw.items() if name not in ("type", "parentId")}
            return DataPart(name=kind if isinstance(kind, str) else "unknown", data=rest, parent_id=parent_id)


def part_or_data(fields: Fields, report: Report) -> AssistantPart:
    """Read a part; one that cannot be read becomes data, so that the parts after it keep their numbers."""
    try:
        return read_part(fields)
    except WireError as problem:
        report(problem)
        rest = {name: value for name, value in fields.raw.items() if name != "type"}
        return DataPart(name=str(fields.raw.get("type")), data=rest)


def _read_call(fields: Fields, parent_id: str | None, metadata: Mapping[str, Any] | None) -> ToolCallPart:
    args_text = fields.maybe_text("argsText") or ""
    return ToolCallPart(
        tool_call_id=fields.text("toolCallId"),
        tool_name=fields.text("toolName"),
        args=parse_partial_object(args_text) or {},
        args_text=args_text,
        provider_metadata=metadata,
        parent_id=parent_id,
    )


def _read_source(
    fields: Fields, parent_id: str | None, metadata: Mapping[str, Any] | None
) -> UrlSourcePart | DocumentSourcePart:
    if fields.raw["sourceType"] == "url":
        return UrlSourcePart(
            id=fields.text("id"),
            url=fields.text("url"),
            title=fields.name("title"),
            provider_metadata=metadata,
            parent_id=parent_id,
        )
    return DocumentSourcePart(
        id=fields.text("id"),
        title=fields.text("title"),
        media_type=fields.name("mediaType") or "application/octet-stream",
        filename=fields.name("filename"),
        provider_metadata=metadata,
        parent_id=parent_id,
    )


def write_part(part: AssistantPart) -> dict[str, Any]:
    """Return the wire form of a part that begins; text and arguments follow in chunks of their own."""
    named = without_none(type=part.type, parentId=part.parent_id)
    match part:
        case TextPart():
            return {**named, **without_none(providerMetadata=part.provider_metadata)}
        case ReasoningPart():
            fields = without_none(unstable_summary=part.summary, providerMetadata=part.provider_metadata)
            return {**named, **fields}
        case ToolCallPart():
            fields = without_none(providerMetadata=part.provider_metadata)
            return {**named, "toolCallId": part.tool_call_id, "toolName": part.tool_name, **fields}
        case UrlSourcePart() | DocumentSourcePart():
            return {**named, **_write_source(part)}
        case FilePart():
            fields = without_none(filename=part.filename, providerMetadata=part.provider_metadata)
            return {**named, "data": part.data, "mimeType": part.media_type, **fields}
        case ImagePart():
            fields = without_none(filename=part.filename, providerMetadata=part.provider_metadata)
            return {**named, "image": part.image, **fields}
        case DataPart():
            return {**named, "name": part.name, "data": part.data, **without_none(id=part.id)}
        case GenerativeUIPart():
            return {**named, "spec": part.spec, **without_none(id=part.id)}


def _write_source(part: UrlSourcePart | DocumentSourcePart) -> dict[str, Any]:
    common = without_none(title=part.title, providerMetadata=part.provider_metadata)
    if isinstance(part, UrlSourcePart):
        return {"sourceType": "url", "id": part.id, "url": part.url, **common}
    named = without_none(mediaType=part.media_type, filename=part.filename)
    return {"sourceType": "document", "id": part.id, **common, **named}


def read_approval(value: object) -> Approval:
    """Read the state of a permission; what it says beside our fields is kept as ``extra``.

    Raises:
        WireError: A field is missing or wrong.
    """
    fields = Fields(value, "approval")
    if "approved" in fields.raw and not isinstance(fields.raw["approved"], bool):
        fields.refuse("is neither true nor false", "approved")
    resolution = fields.raw.get("resolution")
    extra = {name: item for name, item in fields.raw.items() if name not in _APPROVAL_FIELDS}
    return Approval(
        id=fields.text("id"),
        approved=fields.flag("approved"),
        reason=fields.maybe_text("reason"),
        is_automatic=fields.flag("isAutomatic"),
        options=tuple(map(_read_option, fields.items("options"))) if fields.has("options") else None,
        option_id=fields.maybe_text("optionId"),
        resolution=resolution if resolution in ("cancelled", "expired") else None,
        extra=extra or None,
    )


def _read_option(value: object) -> ApprovalOption:
    fields = Fields(value, "approval.options")
    confirm: object = fields.raw.get("confirm")
    if isinstance(confirm, Mapping):
        inner = Fields(cast("object", confirm), "approval.options.confirm")
        confirm = Confirm(title=inner.maybe_text("title"), description=inner.maybe_text("description"))
    return ApprovalOption(
        id=fields.text("id"),
        kind=fields.text("kind"),
        label=fields.maybe_text("label"),
        description=fields.maybe_text("description"),
        grants=tuple(map(str, fields.items("grants"))) if fields.has("grants") else None,
        confirm=confirm if isinstance(confirm, (bool, Confirm)) else None,
    )


def write_approval(approval: Approval) -> dict[str, Any]:
    """Return the wire form of the state of a permission."""
    return {
        **(approval.extra or {}),
        **without_none(
            id=approval.id,
            approved=approval.approved,
            reason=approval.reason,
            isAutomatic=approval.is_automatic,
            options=None if approval.options is None else [_write_option(option) for option in approval.options],
            optionId=approval.option_id,
            resolution=approval.resolution,
        ),
    }


def _write_option(option: ApprovalOption) -> dict[str, Any]:
    confirm = option.confirm
    if isinstance(confirm, Confirm):
        asked: object = without_none(title=confirm.title, description=confirm.description)
    else:
        asked = confirm
    return without_none(
        id=option.id,
        kind=option.kind,
        label=option.label,
        description=option.description,
        grants=None if option.grants is None else list(option.grants),
        confirm=asked,
    )


def read_model_content(fields: Fields) -> tuple[ModelContent, ...] | None:
    """Read what a model is to read in place of a result.

    Raises:
        WireError: It is no list of texts and files.
    """
    if not fields.has("modelContent"):
        return None
    return tuple(_read_content(Fields(item, "modelContent")) for item in fields.items("modelContent"))


def _read_content(fields: Fields) -> ModelContent:
    if fields.raw.get("type") == "text":
        return TextContent(fields.text("text"))
    if fields.raw.get("type") != "file":
        fields.refuse("is of no kind that a model reads")
    data, media_type = fields.text("data"), fields.text("mediaType")
    return FileContent(data=data, media_type=media_type, filename=fields.name("filename"))


def write_model_content(content: Sequence[ModelContent] | None) -> list[dict[str, Any]] | None:
    """Return the wire form of what a model is to read in place of a result."""
    if content is None:
        return None
    return [
        {"type": "text", "text": item.text}
        if isinstance(item, TextContent)
        else without_none(type="file", data=item.data, mediaType=item.media_type, filename=item.filename)
        for item in content
    ]


def read_messages(fields: Fields, report: Report) -> tuple[Message, ...] | None:
    """Read the conversation of a sub-agent; what is no message is left out and reported.

    A message that says neither its id nor its time gets those of its place: the same bytes, read again, are the
    same messages, so that nobody who looks at them is woken by a result that is told once more.

    Raises:
        WireError: It is no list.
    """
    if not fields.has("messages"):
        return None
    messages: list[Message] = []
    for number, item in enumerate(fields.items("messages")):
        try:
            messages.append(message_from_like(item, fallback_id=f"nested-{number}", fallback_time=_UNKNOWN_TIME))
        except MessageLikeError as error:
            report(WireError(f"Dropped a nested message: {error}", where="messages", code="invalid-value"))
    return tuple(messages)


def write_messages(messages: Sequence[Message] | None) -> list[Any] | None:
    """Return the wire form of the conversation of a sub-agent.

    Raises:
        WireError: Something in it is no JSON.
    """
    return None if messages is None else [_respelled(message_to_json(message)) for message in messages]


def _respelled(value: Any) -> Any:
    if isinstance(value, list):
        items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
        return [_respelled(item) for item in items]
    if not isinstance(value, dict):
        return value
    fields: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
    return {
        _SPELLINGS.get(name, name): _respelled(item) if name in _STRUCTURED else item for name, item in fields.items()
    }
