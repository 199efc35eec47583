"""What every protocol needs to write a conversation down for a provider."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

import attrs

from partwise.adapters import RunContext
from partwise.messages import (
    DataPart,
    FileContent,
    FilePart,
    ToolCallPart,
    UserMessage,
    UserPart,
    thaw,
)

from ._fields import Json, mapping

__all__ = [
    "FileAddress",
    "address_of",
    "arguments_text",
    "as_json",
    "description_of",
    "file_note",
    "is_provider_executed",
    "link_note",
    "request_headers",
    "said_by",
    "settings_of",
    "user_parts",
]


@attrs.frozen
class FileAddress:
    """Where the bytes of a file are: one of the three is set.

    Attributes:
        id: An id at the provider.
        url: An address on the web.
        base64: The bytes themselves.
    """

    media_type: str
    id: str = ""
    url: str = ""
    base64: str = ""

    @property
    def data_url(self) -> str:
        """The bytes as a data URL, or the address."""
        return self.url or f"data:{self.media_type};base64,{self.base64}"


def address_of(data: str, media_type: str, source_type: str | None = None) -> FileAddress:
    """Tell what the text that stands for a file is: an id, an address, a data URL (in base64 or not) or base64."""
    if source_type == "id":
        return FileAddress(media_type, id=data)
    if data.startswith("data:"):
        head, _, body = data.partition(",")
        said = head.removeprefix("data:").partition(";")[0] or media_type
        if head.endswith(";base64"):
            return FileAddress(said, base64=body)
        return FileAddress(said, base64=base64.b64encode(unquote_to_bytes(body)).decode())
    if source_type == "url" or data.lower().startswith(("http://", "https://")):
        return FileAddress(media_type, url=data)
    return FileAddress(media_type, base64=data)


def user_parts(message: UserMessage) -> list[UserPart]:
    """Return what a provider is told of a user's message: its parts and those of its attachments, without data."""
    parts = (*message.content, *(part for attachment in message.attachments for part in attachment.content))
    return [part for part in parts if not isinstance(part, DataPart)]


def said_by(provider: str, metadata: Mapping[str, Any] | None) -> Json:
    """Return what a provider attached to a part."""
    return mapping((metadata or {}).get(provider))


def is_provider_executed(part: ToolCallPart) -> bool:
    """Tell whether a provider, whichever it was, ran the call itself."""
    return any(bool(mapping(said).get("provider_executed")) for said in (part.provider_metadata or {}).values())


def arguments_text(call: ToolCallPart) -> str:
    """Return the arguments as they came if they are JSON, because many servers refuse a turn with broken ones."""
    try:
        if isinstance(json.loads(call.args_text), dict):
            return call.args_text
    except (ValueError, RecursionError):
        pass
    return as_json(call.args)


def as_json(value: object) -> str:
    """Return a value as JSON text; what JSON cannot hold is written as its text."""
    return json.dumps(thaw(value), ensure_ascii=False, default=str)


def file_note(file: FileContent | FilePart) -> str:
    """Return what stands for a file where a provider takes none."""
    return f"[file {file.filename or ''} ({file.media_type})]"


def link_note(file: FileContent | FilePart, url: str) -> str:
    """Return what stands for a file on the web where a provider reads none from there."""
    return f"[{file.filename or file.media_type}]({url})"


def settings_of(run: RunContext, names: Sequence[str]) -> dict[str, Any]:
    """Return the call settings of a run's context that have these names."""
    settings = run.context.call_settings
    return {name: thaw(settings[name]) for name in names if name in settings}


def description_of(tool: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameter that describes a tool; without a description there is none."""
    return {"description": tool["description"]} if tool.get("description") else {}


def request_headers(run: RunContext, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameter for the headers that the context of a run adds to those of the defaults."""
    headers = run.context.call_settings.get("headers")
    return {"extra_headers": {**(defaults.get("extra_headers") or {}), **thaw(headers)}} if headers else {}
