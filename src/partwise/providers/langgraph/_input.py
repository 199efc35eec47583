"""What a graph is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from langchain_core.messages import HumanMessage

from partwise.messages import AudioPart, FilePart, ImagePart, Message, Part, TextPart, UserMessage

__all__ = ["MakeInput", "input_of"]

MakeInput: TypeAlias = Callable[[Message], Any]


def input_of(message: Message) -> Any:
    """Return the input of a run of a user's message: its text, its files, its id."""
    parts: list[Part] = list(message.content)
    if isinstance(message, UserMessage):
        parts += [part for attachment in message.attachments for part in attachment.content]
    blocks = list(_blocks(parts))
    is_text = all(block["type"] == "text" for block in blocks)
    content: Any = "\n\n".join(block["text"] for block in blocks) if is_text else blocks
    return {"messages": [HumanMessage(content, id=message.id)]}


def _blocks(parts: Iterable[Part]) -> Iterator[dict[str, Any]]:
    for part in parts:
        match part:
            case TextPart():
                yield {"type": "text", "text": part.text}
            case ImagePart():
                yield {"type": "image_url", "image_url": {"url": part.image}}
            case FilePart():
                where = "url" if part.source_type == "url" else "file_id" if part.source_type == "id" else "base64"
                yield {"type": "file", where: part.data, "mime_type": part.media_type}
            case AudioPart():
                media_type = "audio/mpeg" if part.format == "mp3" else "audio/wav"
                yield {"type": "audio", "base64": part.data, "mime_type": media_type}
            case _:
                continue
