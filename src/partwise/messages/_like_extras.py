"""Reading what comes with message-like content: metadata and attachments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import attrs

from ._attachments import CompleteAttachment
from ._frozen import FrozenDict
from ._like_parts import attachment_parts
from ._like_place import Place
from ._messages import AssistantMetadata, Metadata
from ._spellings import respell

__all__ = ["read_assistant_metadata", "read_attachments", "read_metadata"]

_METADATA: Final = frozenset(field.name for field in attrs.fields(Metadata))
_ASSISTANT_METADATA: Final = frozenset(field.name for field in attrs.fields(AssistantMetadata))
_ATTACHMENT_FIELDS: Final = frozenset(field.name for field in attrs.fields(CompleteAttachment)) | {"status"}


def read_metadata(given: object, place: Place) -> Metadata:
    """Read the metadata of a user or system message; that of assistants is left out and reported."""
    if isinstance(given, Metadata):
        return given
    metadata: Metadata = place.read("metadata", _fields(given, place, _METADATA), "metadata")
    return metadata


def read_assistant_metadata(given: object, place: Place) -> AssistantMetadata:
    """Read the metadata of an assistant message."""
    if isinstance(given, AssistantMetadata):
        return given
    fields = _fields(given, place, _ASSISTANT_METADATA)
    metadata: AssistantMetadata = place.read("assistant metadata", fields, "metadata")
    return metadata


def _fields(given: object, place: Place, allowed: frozenset[str]) -> dict[str, Any]:
    """The fields of metadata; those that nobody knows are kept among the custom ones."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        place.fail("metadata", f"metadata is {type(given).__name__}; give a mapping.")
    kept: dict[str, Any] = {}
    custom: dict[str, Any] = {}
    for name, value in respell(cast("Mapping[str, Any]", given)).items():
        if name in allowed:
            kept[name] = value
        elif name in _ASSISTANT_METADATA:
            place.tell("metadata-role", f"the metadata {name!r} of an assistant message is left out.")
        else:
            custom[name] = value
    if custom and isinstance(kept.get("custom", {}), Mapping):
        kept["custom"] = {**custom, **kept.get("custom", {})}
    return kept


def read_attachments(given: object, place: Place) -> tuple[CompleteAttachment, ...]:
    """Read the attachments of a user message."""
    if not given:
        return ()
    if not isinstance(given, (list, tuple)):
        place.fail("attachment", f"attachments is {type(given).__name__}; give a list.")
    return tuple(_attachment(item, index, place) for index, item in enumerate(cast("list[object]", given)))


def _attachment(item: object, index: int, place: Place) -> CompleteAttachment:
    if isinstance(item, CompleteAttachment):
        return item
    if not isinstance(item, Mapping):
        text = f"attachment {index} is {type(item).__name__}; give a complete attachment, or a mapping."
        place.fail("attachment", text)
    fields = respell(cast("Mapping[str, Any]", item))
    status = fields.pop("status", None)
    if isinstance(status, Mapping) and cast("Mapping[str, object]", status).get("type") != "complete":
        place.fail("attachment", f"attachment {index} is not complete; send it first.")
    file = fields.pop("file", None)
    fields.setdefault("id", f"attachment-{place.message_id}-{index}")
    fields.setdefault("type", "document")
    fields["content"] = attachment_parts(fields.get("content"), place)
    unknown = {name: fields.pop(name) for name in fields.keys() - _ATTACHMENT_FIELDS}
    if unknown:
        fields["extra"] = FrozenDict({**unknown, **(fields.get("extra") or {})})
    attachment: CompleteAttachment = place.read("attachment", fields, "attachment")
    return attachment if file is None else attrs.evolve(attachment, file=file)
