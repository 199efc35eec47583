"""What the chat models of all providers share: reading payloads, streaming an answer, writing a conversation down."""

from ._answer import Decoder, SdkErrors, answer, decoded
from ._endpoint import Connect, endpoint_of, named_endpoint
from ._fields import (
    FreeIds,
    Json,
    Payload,
    Unknown,
    count,
    error_of,
    fields_of,
    mapping,
    mappings,
    merge_usage,
    word,
)
from ._payloads import PayloadReader
from ._sending import (
    FileAddress,
    address_of,
    arguments_text,
    as_json,
    description_of,
    file_note,
    is_provider_executed,
    link_note,
    request_headers,
    said_by,
    settings_of,
    user_parts,
)
from ._sources import Sources, media_type_of

__all__ = [
    "Connect",
    "Decoder",
    "FileAddress",
    "FreeIds",
    "Json",
    "Payload",
    "PayloadReader",
    "SdkErrors",
    "Sources",
    "Unknown",
    "address_of",
    "answer",
    "arguments_text",
    "as_json",
    "count",
    "decoded",
    "description_of",
    "endpoint_of",
    "error_of",
    "fields_of",
    "file_note",
    "is_provider_executed",
    "link_note",
    "mapping",
    "mappings",
    "media_type_of",
    "merge_usage",
    "named_endpoint",
    "request_headers",
    "said_by",
    "settings_of",
    "user_parts",
    "word",
]
