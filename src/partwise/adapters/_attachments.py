"""The protocol of an attachment adapter: what becomes of files that a user adds to a draft."""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Protocol

import anyio
import attrs

from partwise.messages import Attachment, CompleteAttachment, PendingAttachment

__all__ = ["AttachmentAdapter", "AttachmentFile", "LocalFile", "is_accepted"]


class AttachmentFile(Protocol):
    """A file as a user interface hands it over; what else it can do is between that and the adapter."""

    @property
    def name(self) -> str:
        """The name, with its ending."""
        ...

    @property
    def content_type(self) -> str | None:
        """The media type, if it is known."""
        ...


@attrs.frozen(kw_only=True)
class LocalFile:
    """A file of this machine, or one whose bytes are in memory.

    Attributes:
        path: Where it is; not looked at if there are ``data``.
    """

    name: str
    content_type: str | None = None
    path: Path | None = None
    data: bytes | None = attrs.field(default=None, repr=False)

    @classmethod
    def at(cls, path: Path | str) -> LocalFile:
        """Describe the file at a path; its media type is guessed from its ending, and it is read when it is sent."""
        path = Path(path)
        return cls(name=path.name, content_type=mimetypes.guess_type(path.name)[0], path=path)

    async def read(self) -> bytes:
        """Return what is in it.

        Raises:
            OSError: It cannot be read.
        """
        if self.data is not None:
            return self.data
        return b"" if self.path is None else await anyio.Path(self.path).read_bytes()


class AttachmentAdapter(Protocol):
    """Takes files in when they are added, and makes what a model can read of them when the draft is sent."""

    @property
    def accept(self) -> str:
        """What it takes: ``*``, or a list like ``image/*,.pdf,text/plain``."""
        ...

    def add(self, file: AttachmentFile, /) -> Awaitable[PendingAttachment] | AsyncIterator[PendingAttachment]:
        """Make an attachment of a file: once, or again and again as an upload goes on."""
        ...

    def send(self, attachment: PendingAttachment, /) -> Awaitable[CompleteAttachment]:
        """Make what goes out with the message; the first failure gives the draft back to the user."""
        ...

    def remove(self, attachment: Attachment, /) -> Awaitable[object] | None:
        """Take note that an attachment will not be sent."""
        ...


def is_accepted(accept: str, name: str, content_type: str | None) -> bool:
    """Tell whether a list of accepted files names a file.

    Args:
        accept: ``*``, or endings (``.pdf``), media types and groups of them (``image/*``), separated by commas.
        name: The name of the file.
        content_type: Its media type; parameters of it are not looked at.
    """
    kind = (content_type or "").split(";")[0].strip().lower()
    ending = "." + name.rpartition(".")[2].lower()
    for entry in (part.strip().lower() for part in accept.split(",")):
        if entry in {"*", "*/*"}:
            return True
        if entry.startswith("."):
            if entry == ending:
                return True
        elif entry.endswith("/*"):
            if kind.startswith(entry[:-1]):
                return True
        elif entry and entry == kind:
            return True
    return False
