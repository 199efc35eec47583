"""The typed parts that a message is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import attrs

from ._frozen import FrozenDict, freeze
from ._growing import Deferred, growing
from ._missing import MISSING

if TYPE_CHECKING:
    from ._approvals import Approval
    from ._messages import Message
    from ._statuses import PartStatus

__all__ = [
    "AssistantPart",
    "AudioPart",
    "DataPart",
    "DocumentSourcePart",
    "FileContent",
    "FilePart",
    "GenerativeUIPart",
    "ImagePart",
    "Interrupt",
    "ModelContent",
    "Part",
    "ReasoningPart",
    "SourcePart",
    "TextContent",
    "TextPart",
    "Timing",
    "ToolCallPart",
    "UrlSourcePart",
    "UserPart",
]


@growing("text")
@attrs.frozen
class TextPart(Deferred):
    """Text of a user, an assistant or a system message.

    Attributes:
        text: The text so far.
        status: How far this part's own stream has come, if the source says so.
        provider_metadata: Whatever a provider attached, by provider name; carried untouched.
        parent_id: The part under which this one is grouped.
    """

    type: ClassVar[Literal["text"]] = "text"
    text: str
    status: PartStatus | None = attrs.field(default=None, kw_only=True)
    provider_metadata: Mapping[str, Any] | None = attrs.field(default=None, kw_only=True, converter=freeze)
    parent_id: str | None = attrs.field(default=None, kw_only=True)


@growing("text")
@attrs.frozen
class ReasoningPart(Deferred):
    """What a model thought on its way to the answer.

    Attributes:
        text: The reasoning so far.
        summary: A summary in place of, or beside, the text.
        timing: When it began and ended, if somebody measured.
    """

    type: ClassVar[Literal["reasoning"]] = "reasoning"
    text: str
    summary: str | None = attrs.field(default=None, kw_only=True)
    timing: Timing | None = attrs.field(default=None, kw_only=True)
    status: PartStatus | None = attrs.field(default=None, kw_only=True)
    provider_metadata: Mapping[str, Any] | None = attrs.field(default=None, kw_only=True, converter=freeze)
    parent_id: str | None = attrs.field(default=None, kw_only=True)


@attrs.frozen(kw_only=True)
class UrlSourcePart:
    """A page that the answer rests on."""

    type: ClassVar[Literal["source"]] = "source"
    source_type: ClassVar[Literal["url"]] = "url"
    id: str
    url: str
    title: str | None = None
    provider_metadata: Mapping[str, Any] | None = attrs.field(default=None, converter=freeze)
    parent_id: str | None = None


@attrs.frozen(kw_only=True)
class DocumentSourcePart:
    """A document that the answer rests on."""

    type: ClassVar[Literal["source"]] = "source"
    source_type: ClassVar[Literal["document"]] = "document"
    id: str
    title: str
    media_type: str
    filename: str | None = None
    provider_metadata: Mapping[str, Any] | None = attrs.field(default=None, converter=freeze)
    parent_id: str | None = None


@attrs.frozen(kw_only=True)
class ImagePart:
    """A picture: a URL or a data URL."""

    type: ClassVar[Literal["image"]] = "image"
    image: str
    filename: str | None = None
    provider_metadata: Mapping[str, Any] | None = attrs.field(default=None, converter=freeze)
    parent_id: str | None = None


@attrs.frozen(kw_only=True)
class FilePart:
    """A file.

    Attributes:
        data: Base64 text, a URL or an id, as ``source_type`` says.
        media_type: For example ``"application/pdf"``.
        source_type: ``"url"`` or ``"id"``; None: a URL if it looks like one, base64 otherwise.
    """

    type: ClassVar[Literal["file"]] = "file"
    data: str
    media_type: str
    filename: str | None = None
    source_type: Literal["url", "id"] | None = None
    provider_metadata: Mapping[str, Any] | None = attrs.field(default=None, converter=freeze)
    parent_id: str | None = None


@attrs.frozen(kw_only=True)
class AudioPart:
    """Sound that a user sent, as base64 text; kept for older sources, newer ones use a file part."""

    type: ClassVar[Literal["audio"]] = "audio"
    data: str
    format: Literal["mp3", "wav"]


@attrs.frozen(kw_only=True)
class DataPart:
    """A named value that a UI knows how to show."""

    type: ClassVar[Literal["data"]] = "data"
    name: str
    data: Any = attrs.field(converter=freeze)  # pyright: ignore[reportUnknownVariableType]  # Any through the stubs of attrs
    id: str | None = None
    parent_id: str | None = None


@attrs.frozen(kw_only=True)
class GenerativeUIPart:
    """A tree of components that a model composed.

    Attributes:
        spec: ``{"root": node or list of nodes}``; a node is a string or
            ``{"component": name, "props"?: ..., "children"?: [...], "key"?: ...}``.
    """

    type: ClassVar[Literal["generative-ui"]] = "generative-ui"
    spec: Mapping[str, Any] = attrs.field(converter=freeze)
    id: str | None = None
    parent_id: str | None = None


@attrs.frozen(kw_only=True)
class Timing:
    """When a tool call began and ended, in milliseconds since 1970."""

    started_at: float
    completed_at: float | None = None


@attrs.frozen(kw_only=True)
class Interrupt:
    """A question that a running tool asks a human."""

    type: ClassVar[Literal["human"]] = "human"
    payload: Any = attrs.field(converter=freeze)  # pyright: ignore[reportUnknownVariableType]  # Any through the stubs of attrs


@attrs.frozen
class TextContent:
    """Text that a model reads in place of a tool's result."""

    type: ClassVar[Literal["text"]] = "text"
    text: str


@attrs.frozen(kw_only=True)
class FileContent:
    """A file that a model reads in place of a tool's result."""

    type: ClassVar[Literal["file"]] = "file"
    data: str
    media_type: str
    filename: str | None = None


ModelContent: TypeAlias = TextContent | FileContent


@growing("args_text", "args")
@attrs.frozen(kw_only=True)
class ToolCallPart(Deferred):
    """A call of a tool, from its first argument to its result.

    Attributes:
        tool_call_id: The id by which result, approval and interrupt find it.
        args: The arguments as far as they can be read; complete once the stream of arguments ended.
        args_text: The arguments as they came, kept also when they are no valid JSON.
        result: ``MISSING`` until there is one. ``None`` is a result.
        is_error: Whether the result tells of a failure; None if nobody said.
        artifact: A payload for the UI beside the result, never sent to the model.
        model_content: What the model reads instead of the result.
        preliminary: What the running tool has told so far, ``MISSING`` if nothing; it is no result.
        interrupt: Set while the running tool waits for a human.
        approval: Set when the call needs, or had, a human's permission.
        messages: The conversation of a sub-agent that ran inside the call.
        mcp: ``{"app": {"resourceUri": "ui://...", ...}}`` for calls that bring their own UI.
    """

    type: ClassVar[Literal["tool-call"]] = "tool-call"
    tool_call_id: str
    tool_name: str
    args: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=freeze)
    args_text: str = ""
    result: Any = attrs.field(default=MISSING, converter=freeze)
    is_error: bool | None = None
    artifact: Any = attrs.field(default=MISSING, converter=freeze)
    model_content: tuple[ModelContent, ...] | None = None
    timing: Timing | None = None
    preliminary: Any = attrs.field(default=MISSING, converter=freeze)
    mcp: Mapping[str, Any] | None = attrs.field(default=None, converter=freeze)
    interrupt: Interrupt | None = None
    approval: Approval | None = None
    parent_id: str | None = None
    messages: tuple[Message, ...] | None = None
    provider_metadata: Mapping[str, Any] | None = attrs.field(default=None, converter=freeze)

    @property
    def has_result(self) -> bool:
        """Whether there is a result; ``False``, ``0``, ``""`` and ``None`` are results."""
        return self.result is not MISSING


SourcePart: TypeAlias = UrlSourcePart | DocumentSourcePart
UserPart: TypeAlias = TextPart | ImagePart | FilePart | AudioPart | DataPart
AssistantPart: TypeAlias = (
    TextPart
    | ReasoningPart
    | UrlSourcePart
    | DocumentSourcePart
    | ImagePart
    | FilePart
    | DataPart
    | GenerativeUIPart
    | ToolCallPart
)
Part: TypeAlias = AssistantPart | AudioPart
