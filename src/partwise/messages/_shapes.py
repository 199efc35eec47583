"""The shape of parts and messages as JSON, in pydantic's words, and how each becomes a value.

The names of fields are those of the values; only the defaults live there, so that a field which is
absent and one which is null stay two different things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeAlias

import attrs
import pydantic
from pydantic import BaseModel, BeforeValidator, Discriminator, StrictBool, StrictFloat, StrictInt, StrictStr, Tag

from ._approvals import Approval, ApprovalOption, ApprovalResolution, Confirm
from ._attachments import CompleteAttachment
from ._messages import (
    AssistantMessage,
    AssistantMetadata,
    Feedback,
    MessageTiming,
    Metadata,
    Step,
    SystemMessage,
    Usage,
    UserMessage,
)
from ._parts import (
    AudioPart,
    DataPart,
    DocumentSourcePart,
    FileContent,
    FilePart,
    GenerativeUIPart,
    ImagePart,
    Interrupt,
    ReasoningPart,
    TextContent,
    TextPart,
    Timing,
    ToolCallPart,
    UrlSourcePart,
)
from ._statuses import (
    CompleteReason,
    CompleteStatus,
    IncompleteReason,
    IncompleteStatus,
    RequiresActionReason,
    RequiresActionStatus,
    RunningStatus,
)
from ._times import read_time

__all__ = ["UNKNOWN_KIND", "adapter_of"]

UNKNOWN_KIND = "unknown-kind"

# The default of a field that has its real one in the class of the value; nobody ever sees it.
_ABSENT: Any = None

_Number: TypeAlias = StrictInt | StrictFloat
_Object: TypeAlias = Annotated[Mapping[str, Any], pydantic.Strict()]


class _Shape(BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", defer_build=True, protected_namespaces=())


def _into(value_class: type, **always: object) -> Any:
    """Turn what was validated into a value of ``value_class``; such a value itself comes back as it is."""
    names = {field.name for field in attrs.fields(value_class)}

    def build(value: object, handler: Callable[[object], BaseModel]) -> object:
        if isinstance(value, value_class):
            return value
        shape = handler(value)
        given = {name: getattr(shape, name) for name in shape.model_fields_set & names}
        return value_class(**{**always, **given})

    return pydantic.WrapValidator(build)


def _kind(value: object) -> str:
    """The tag of a value in a union; the brackets tell it from the names of fields in the path of an error."""
    if isinstance(value, Mapping):
        kind, source = value.get("type", value.get("role")), value.get("source_type")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # a foreign value
    else:
        kind, source = getattr(value, "type", getattr(value, "role", None)), getattr(value, "source_type", None)
    return f"<{kind}-{source}>" if kind == "source" else f"<{kind}>"


def _one_of() -> Discriminator:
    return Discriminator(_kind, custom_error_type=UNKNOWN_KIND, custom_error_message="is of no kind that fits here")


_Time: TypeAlias = Annotated[datetime, BeforeValidator(read_time)]


# ---------------------------------------------------------------- statuses


class _Running(_Shape):
    type: Literal["running"]


class _RequiresAction(_Shape):
    type: Literal["requires-action"]
    reason: RequiresActionReason


class _Complete(_Shape):
    type: Literal["complete"]
    reason: CompleteReason | None = None


class _Incomplete(_Shape):
    type: Literal["incomplete"]
    reason: IncompleteReason
    error: Any = _ABSENT


_Status: TypeAlias = Annotated[
    Annotated[_Running, _into(RunningStatus), Tag("<running>")]
    | Annotated[_RequiresAction, _into(RequiresActionStatus), Tag("<requires-action>")]
    | Annotated[_Complete, _into(CompleteStatus, reason=None), Tag("<complete>")]
    | Annotated[_Incomplete, _into(IncompleteStatus), Tag("<incomplete>")],
    _one_of(),
]

# ---------------------------------------------------------------- parts


class _Timing(_Shape):
    started_at: _Number
    completed_at: _Number | None = None


class _Words(_Shape):
    text: StrictStr
    status: _Status | None = None
    provider_metadata: _Object | None = None
    parent_id: StrictStr | None = None


class _Text(_Words):
    type: Literal["text"]


class _Reasoning(_Words):
    type: Literal["reasoning"]
    summary: StrictStr | None = None
    timing: Annotated[_Timing, _into(Timing)] | None = None


class _UrlSource(_Shape):
    type: Literal["source"]
    source_type: Literal["url"]
    id: StrictStr
    url: StrictStr
    title: StrictStr | None = None
    provider_metadata: _Object | None = None
    parent_id: StrictStr | None = None


class _DocumentSource(_Shape):
    type: Literal["source"]
    source_type: Literal["document"]
    id: StrictStr
    title: StrictStr
    media_type: StrictStr
    filename: StrictStr | None = None
    provider_metadata: _Object | None = None
    parent_id: StrictStr | None = None


class _Image(_Shape):
    type: Literal["image"]
    image: StrictStr
    filename: StrictStr | None = None
    provider_metadata: _Object | None = None
    parent_id: StrictStr | None = None


class _File(_Shape):
    type: Literal["file"]
    data: StrictStr
    media_type: StrictStr
    filename: StrictStr | None = None
    source_type: Literal["url", "id"] | None = None
    provider_metadata: _Object | None = None
    parent_id: StrictStr | None = None


class _Audio(_Shape):
    type: Literal["audio"]
    data: StrictStr
    format: Literal["mp3", "wav"]


class _Data(_Shape):
    type: Literal["data"]
    name: StrictStr
    data: Any
    id: StrictStr | None = None
    parent_id: StrictStr | None = None


class _GenerativeUI(_Shape):
    type: Literal["generative-ui"]
    spec: _Object
    id: StrictStr | None = None
    parent_id: StrictStr | None = None


class _Interrupt(_Shape):
    type: Literal["human"]
    payload: Any


class _TextContent(_Shape):
    type: Literal["text"]
    text: StrictStr


class _FileContent(_Shape):
    type: Literal["file"]
    data: StrictStr
    media_type: StrictStr
    filename: StrictStr | None = None


_ModelContent: TypeAlias = Annotated[
    Annotated[_TextContent, _into(TextContent), Tag("<text>")]
    | Annotated[_FileContent, _into(FileContent), Tag("<file>")],
    _one_of(),
]


class _Confirm(_Shape):
    title: StrictStr | None = None
    description: StrictStr | None = None


class _Option(_Shape):
    id: StrictStr
    kind: StrictStr
    label: StrictStr | None = None
    description: StrictStr | None = None
    grants: tuple[StrictStr, ...] | None = None
    confirm: StrictBool | Annotated[_Confirm, _into(Confirm)] | None = None


class _Approval(_Shape):
    id: StrictStr
    approved: StrictBool | None = None
    reason: StrictStr | None = None
    is_automatic: StrictBool | None = None
    options: tuple[Annotated[_Option, _into(ApprovalOption)], ...] | None = None
    option_id: StrictStr | None = None
    resolution: ApprovalResolution | None = None
    extra: _Object | None = None


class _ToolCall(_Shape):
    type: Literal["tool-call"]
    tool_call_id: StrictStr
    tool_name: StrictStr
    args: _Object = _ABSENT
    args_text: StrictStr = ""
    result: Any = _ABSENT
    is_error: StrictBool | None = None
    artifact: Any = _ABSENT
    model_content: tuple[_ModelContent, ...] | None = None
    timing: Annotated[_Timing, _into(Timing)] | None = None
    preliminary: Any = _ABSENT
    mcp: _Object | None = None
    interrupt: Annotated[_Interrupt, _into(Interrupt)] | None = None
    approval: Annotated[_Approval, _into(Approval)] | None = None
    parent_id: StrictStr | None = None
    messages: tuple[_Message, ...] | None = None
    provider_metadata: _Object | None = None


_TextPart: TypeAlias = Annotated[_Text, _into(TextPart), Tag("<text>")]
_ImagePart: TypeAlias = Annotated[_Image, _into(ImagePart), Tag("<image>")]
_FilePart: TypeAlias = Annotated[_File, _into(FilePart), Tag("<file>")]
_DataPart: TypeAlias = Annotated[_Data, _into(DataPart), Tag("<data>")]
_AudioPart: TypeAlias = Annotated[_Audio, _into(AudioPart), Tag("<audio>")]
_UserPart: TypeAlias = Annotated[_TextPart | _ImagePart | _FilePart | _AudioPart | _DataPart, _one_of()]
_AssistantPart: TypeAlias = Annotated[
    _TextPart
    | Annotated[_Reasoning, _into(ReasoningPart), Tag("<reasoning>")]
    | Annotated[_UrlSource, _into(UrlSourcePart), Tag("<source-url>")]
    | Annotated[_DocumentSource, _into(DocumentSourcePart), Tag("<source-document>")]
    | _ImagePart
    | _FilePart
    | _DataPart
    | Annotated[_GenerativeUI, _into(GenerativeUIPart), Tag("<generative-ui>")]
    | Annotated[_ToolCall, _into(ToolCallPart), Tag("<tool-call>")],
    _one_of(),
]

# ---------------------------------------------------------------- messages


class _Attachment(_Shape):
    id: StrictStr
    type: StrictStr
    name: StrictStr
    content: tuple[_UserPart, ...]
    content_type: StrictStr | None = None
    extra: _Object | None = None


class _Usage(_Shape):
    input_tokens: StrictInt | None = None
    output_tokens: StrictInt | None = None
    reasoning_tokens: StrictInt | None = None
    cached_input_tokens: StrictInt | None = None


class _Step(_Shape):
    message_id: StrictStr | None = None
    usage: Annotated[_Usage, _into(Usage)] | None = None


class _MessageTiming(_Shape):
    stream_start_time: _Number
    first_token_time: _Number | None = None
    total_stream_time: _Number | None = None
    token_count: StrictInt | None = None
    tokens_per_second: _Number | None = None
    total_chunks: StrictInt = 0
    tool_call_count: StrictInt = 0


class _Feedback(_Shape):
    type: Literal["positive", "negative"]


class _Metadata(_Shape):
    custom: _Object = _ABSENT
    is_optimistic: StrictBool = False


class _AssistantMetadata(_Metadata):
    state: Any = _ABSENT
    annotations: tuple[Any, ...] = ()
    data: tuple[Any, ...] = ()
    steps: tuple[Annotated[_Step, _into(Step)], ...] = ()
    timing: Annotated[_MessageTiming, _into(MessageTiming)] | None = None
    submitted_feedback: Annotated[_Feedback, _into(Feedback)] | None = None


class _Head(_Shape):
    id: StrictStr
    created_at: _Time


class _User(_Head):
    role: Literal["user"]
    content: tuple[_UserPart, ...]
    attachments: tuple[Annotated[_Attachment, _into(CompleteAttachment)], ...] = ()
    metadata: Annotated[_Metadata, _into(Metadata)] = _ABSENT


class _System(_Head):
    role: Literal["system"]
    content: Annotated[tuple[_TextPart, ...], pydantic.Field(min_length=1, max_length=1)]
    metadata: Annotated[_Metadata, _into(Metadata)] = _ABSENT


class _Assistant(_Head):
    role: Literal["assistant"]
    content: tuple[_AssistantPart, ...]
    status: _Status
    metadata: Annotated[_AssistantMetadata, _into(AssistantMetadata)] = _ABSENT


_Message: TypeAlias = Annotated[
    Annotated[_User, _into(UserMessage), Tag("<user>")]
    | Annotated[_System, _into(SystemMessage), Tag("<system>")]
    | Annotated[_Assistant, _into(AssistantMessage), Tag("<assistant>")],
    _one_of(),
]

_ADAPTED: Final[Mapping[str, Any]] = {
    "assistant": _AssistantPart,
    "attachment": Annotated[_Attachment, _into(CompleteAttachment)],
    "message": _Message,
    "metadata": Annotated[_Metadata, _into(Metadata)],
    "assistant metadata": Annotated[_AssistantMetadata, _into(AssistantMetadata)],
    "status": _Status,
    "user": _UserPart,
}


@cache
def adapter_of(what: str) -> pydantic.TypeAdapter[Any]:
    """Return the validator of messages, of the parts of a role, and so on; made when it is first needed."""
    return pydantic.TypeAdapter(_ADAPTED[what])
