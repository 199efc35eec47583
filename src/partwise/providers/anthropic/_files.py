"""Texts, pictures and files as blocks that the model reads."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from partwise.messages import FileContent, FilePart, ImagePart
from partwise.providers.wire import address_of, file_note, link_note

__all__ = ["file_block", "image_block", "text_block"]

_Block = dict[str, Any]
_PDF: Final = "application/pdf"
# The pictures that the API takes; it refuses the whole request for one of another kind.
_PICTURES: Final = ("image/gif", "image/jpeg", "image/png", "image/webp")


def text_block(text: str) -> _Block:
    """Return text that the model reads."""
    return {"type": "text", "text": text}


def image_block(image: ImagePart) -> _Block:
    """Return a picture that the model sees."""
    media_type = address_of(image.image, "image/png").media_type
    return file_block(FilePart(data=image.image, media_type=media_type, filename=image.filename))


def file_block(file: FilePart | FileContent) -> _Block:
    """Return a file that the model reads; one that the API takes in no form is only named."""
    address = address_of(file.data, file.media_type, getattr(file, "source_type", None))
    media_type = "image/jpeg" if address.media_type == "image/jpg" else address.media_type
    is_image = media_type.startswith("image/")
    kind = "image" if is_image else "document"
    title = {"title": file.filename} if file.filename and not is_image else {}
    if address.id:
        return {"type": kind, "source": {"type": "file", "file_id": address.id}, **title}
    if address.url:
        if is_image or media_type == _PDF:
            return {"type": kind, "source": {"type": "url", "url": address.url}, **title}
        return text_block(link_note(file, address.url))
    if media_type in (*_PICTURES, _PDF):
        source = {"type": "base64", "media_type": media_type, "data": address.base64}
        return {"type": kind, "source": source, **title}
    text = _decoded(address.base64) if media_type.startswith("text/") else None
    if text is None:
        return text_block(file_note(file))
    return {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text}, **title}


def _decoded(data: str) -> str | None:
    try:
        return base64.b64decode(data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
