"""Ready-made attachment adapters: text, images, and several in one."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Awaitable, Sequence
from html import escape
from typing import Protocol, runtime_checkable

from partwise.adapters import AttachmentAdapter, AttachmentFile, is_accepted
from partwise.errors import InvalidInputError, NotAllowedError
from partwise.messages import (
    Attachment,
    CompleteAttachment,
    ImagePart,
    PendingAttachment,
    TextPart,
    UserPart,
    new_id,
)

__all__ = ["CompositeAttachments", "ImageAttachments", "TextAttachments"]

_TEXT_TYPES = "text/plain,text/html,text/markdown,text/csv,text/xml,text/css,text/json,application/json,.md,.py,.toml"


@runtime_checkable
class _Readable(Protocol):
    async def read(self) -> bytes: ...


async def _bytes(attachment: PendingAttachment) -> bytes:
    file = attachment.file
    if not isinstance(file, _Readable):
        text = f"Attachment {attachment.name!r} cannot be read: its file has no read(). Hand over a LocalFile."
        raise InvalidInputError(text)
    return await file.read()


def _waiting(file: AttachmentFile, kind: str) -> PendingAttachment:
    return PendingAttachment(id=new_id(), type=kind, name=file.name, content_type=file.content_type, file=file)


def _complete(attachment: PendingAttachment, part: UserPart) -> CompleteAttachment:
    return CompleteAttachment(
        id=attachment.id,
        type=attachment.type,
        name=attachment.name,
        content_type=attachment.content_type,
        content=(part,),
        file=attachment.file,
    )


class TextAttachments:
    """Takes text files; the model reads them between tags that say their names.

    Args:
        accept: Which files count as text.
        limit: How many bytes a file may have.
    """

    def __init__(self, accept: str = _TEXT_TYPES, *, limit: int = 1_000_000) -> None:
        self.accept = accept
        self._limit = limit

    async def add(self, file: AttachmentFile, /) -> PendingAttachment:
        """Take a file; it is read when it is sent."""
        return _waiting(file, "document")

    async def send(self, attachment: PendingAttachment, /) -> CompleteAttachment:
        """Read the file as UTF-8; what is no UTF-8 is replaced.

        Raises:
            OSError: It cannot be read.
            NotAllowedError: It is too large (code ``"too-large"``).
        """
        data = await _bytes(attachment)
        _check_size(attachment, data, self._limit)
        text = data.decode("utf-8", "replace")
        return _complete(attachment, TextPart(f'<attachment name="{escape(attachment.name)}">\n{text}\n</attachment>'))

    async def remove(self, attachment: Attachment, /) -> None:
        """Nothing was kept of it."""


class ImageAttachments:
    """Takes images, which go out as data URLs.

    Args:
        limit: How many bytes an image may have.
    """

    accept = "image/*"

    def __init__(self, *, limit: int = 20_000_000) -> None:
        self._limit = limit

    async def add(self, file: AttachmentFile, /) -> PendingAttachment:
        """Take an image; it is read when it is sent."""
        return _waiting(file, "image")

    async def send(self, attachment: PendingAttachment, /) -> CompleteAttachment:
        """Read the image.

        Raises:
            OSError: It cannot be read.
            NotAllowedError: It is too large (code ``"too-large"``).
        """
        data = await _bytes(attachment)
        _check_size(attachment, data, self._limit)
        kind = attachment.content_type or "image/png"
        url = f"data:{kind};base64,{base64.b64encode(data).decode()}"
        return _complete(attachment, ImagePart(image=url, filename=attachment.name))

    async def remove(self, attachment: Attachment, /) -> None:
        """Nothing was kept of it."""


class CompositeAttachments:
    """Several adapters as one: the first that takes a file has it.

    Args:
        adapters: In the order in which they are asked; one that takes everything comes last.

    Raises:
        InvalidInputError: One that takes everything hides those after it.
    """

    def __init__(self, adapters: Sequence[AttachmentAdapter]) -> None:
        self._adapters = tuple(adapters)
        hiding = [index for index, adapter in enumerate(self._adapters) if adapter.accept in {"*", "*/*"}]
        if hiding and hiding[0] != len(self._adapters) - 1:
            text = f"Adapter {hiding[0]} takes every file, so those after it would never be asked. Put it last."
            raise InvalidInputError(text)

    @property
    def accept(self) -> str:
        """What any of them takes."""
        accepted = [adapter.accept for adapter in self._adapters]
        return "*" if "*" in accepted or "*/*" in accepted else ",".join(accepted)

    def add(self, file: AttachmentFile, /) -> Awaitable[PendingAttachment] | AsyncIterator[PendingAttachment]:
        """Take a file.

        Raises:
            NotAllowedError: None of them takes it (code ``"not-accepted"``).
        """
        return self._for(file.name, file.content_type).add(file)

    def send(self, attachment: PendingAttachment, /) -> Awaitable[CompleteAttachment]:
        """Make what goes out.

        Raises:
            NotAllowedError: None of them takes it (code ``"not-accepted"``).
        """
        return self._for(attachment.name, attachment.content_type).send(attachment)

    def remove(self, attachment: Attachment, /) -> Awaitable[object] | None:
        """Let a file go.

        Raises:
            NotAllowedError: None of them takes it (code ``"not-accepted"``).
        """
        return self._for(attachment.name, attachment.content_type).remove(attachment)

    def _for(self, name: str, content_type: str | None) -> AttachmentAdapter:
        for adapter in self._adapters:
            if is_accepted(adapter.accept, name, content_type):
                return adapter
        text = f"{name!r} ({content_type or 'of an unknown type'}) is not taken here; what is: {self.accept}"
        raise NotAllowedError(text, code="not-accepted")


def _check_size(attachment: PendingAttachment, data: bytes, limit: int) -> None:
    if len(data) > limit:
        text = f"{attachment.name!r} has {len(data):,} bytes; at most {limit:,} can be sent."
        raise NotAllowedError(text, code="too-large", id=attachment.id)
