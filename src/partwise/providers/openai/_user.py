"""What a user says, as both of OpenAI's protocols write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, assert_never

from partwise.messages import AudioPart, DataPart, FileContent, FilePart, ImagePart, TextPart, UserMessage, UserPart
from partwise.providers.wire import address_of, said_by, user_parts

__all__ = ["detail_of", "user_content"]

_Item = dict[str, Any]


class _WriteFile(Protocol):
    def __call__(self, file: FilePart, /) -> _Item: ...


def user_content(message: UserMessage, text: Callable[[str], _Item], file: _WriteFile) -> str | list[_Item]:
    """Return the content of a user's message: a text if there is nothing else in it.

    Args:
        message: What was said and attached.
        text: Writes a text down.
        file: Writes a file down, or a picture.
    """
    items = [item for part in user_parts(message) for item in _items(part, text, file)]
    if all("text" in item for item in items):
        return "\n\n".join(item["text"] for item in items)
    return items


def detail_of(file: FilePart | FileContent) -> dict[str, Any]:
    """Return the parameter that says how closely a picture is looked at, if its provider metadata does."""
    detail = said_by("openai", getattr(file, "provider_metadata", None)).get("detail")
    return {"detail": detail} if detail else {}


def _items(part: UserPart, text: Callable[[str], _Item], file: _WriteFile) -> Iterator[_Item]:
    match part:
        case TextPart():
            yield text(part.text)
        case ImagePart():
            media_type = address_of(part.image, "image/png").media_type
            yield file(
                FilePart(
                    data=part.image,
                    media_type=media_type,
                    filename=part.filename,
                    provider_metadata=part.provider_metadata,
                )
            )
        case FilePart():
            yield file(part)
        case AudioPart():
            yield {"type": "input_audio", "input_audio": {"data": part.data, "format": part.format}}
        case DataPart():
            return
        case _:
            assert_never(part)
