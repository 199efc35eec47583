"""What a type checker knows about messages, parts and statuses."""

from typing import Literal, assert_never, assert_type

from partwise.messages import (
    AssistantMessage,
    AssistantPart,
    AudioPart,
    DataPart,
    DocumentSourcePart,
    FilePart,
    GenerativeUIPart,
    ImagePart,
    Message,
    MessageStatus,
    Part,
    ReasoningPart,
    SystemMessage,
    TextPart,
    ToolCallPart,
    UrlSourcePart,
    UserMessage,
    part_status,
    with_part,
)


def every_kind_of_part_can_be_told_apart(part: Part) -> str:
    match part:
        case TextPart() | ReasoningPart():
            return part.text
        case UrlSourcePart():
            return part.url
        case DocumentSourcePart():
            return part.media_type
        case ImagePart():
            return part.image
        case FilePart() | AudioPart():
            return part.data
        case DataPart():
            return part.name
        case GenerativeUIPart():
            assert_type(part.type, Literal["generative-ui"])
            return part.type
        case ToolCallPart():
            return part.tool_name
        case _:
            assert_never(part)


def every_role_can_be_told_apart(message: Message) -> MessageStatus | None:
    match message:
        case AssistantMessage():
            assert_type(message.content, tuple[AssistantPart, ...])
            return message.status
        case UserMessage():
            assert_type(message.role, Literal["user"])
            return None
        case SystemMessage():
            assert_type(message.content, tuple[TextPart, ...])
            return None
        case _:
            assert_never(message)


def updates_keep_the_type(message: AssistantMessage) -> None:
    assert_type(with_part(message, 0, TextPart("x")), AssistantMessage)
    assert_type(part_status(message, 0), MessageStatus)
