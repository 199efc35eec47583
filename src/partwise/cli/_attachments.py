"""Files that are sent with a message of the chat: which are taken, how they are read, and how they are shown."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import attrs

from partwise.adapters import AttachmentFile, LocalFile, is_accepted
from partwise.errors import NotAllowedError
from partwise.messages import (
    Attachment,
    CompleteAttachment,
    FailedStatus,
    PendingAttachment,
    UploadingStatus,
    WaitingStatus,
    new_id,
)
from partwise.runtimes import CompositeAttachments, ImageAttachments, TextAttachments

__all__ = ["ChatAttachments", "as_label", "file_at", "path_of", "refusal"]

_TEXT_LIMIT = 1_000_000
_IMAGE_LIMIT = 20_000_000
_TEXT_ENDINGS = ".txt,.md,.rst,.csv,.tsv,.log,.json,.jsonl,.yaml,.yml,.toml,.ini,.cfg,.xml,.html,.css,.sql,.sse,.patch"
_CODE_ENDINGS = ".py,.pyi,.js,.jsx,.ts,.tsx,.sh,.c,.h,.cpp,.hpp,.rs,.go,.java,.rb,.php,.lua,.swift,.kt"
_TEXTS = f"text/*,application/json,{_TEXT_ENDINGS},{_CODE_ENDINGS}"
_PIECE = 250_000


class ChatAttachments:
    """Takes texts and images; each is read when it is added, and shows how far that has come."""

    def __init__(self) -> None:
        texts, images = TextAttachments(_TEXTS, limit=_TEXT_LIMIT), ImageAttachments(limit=_IMAGE_LIMIT)
        self._kinds = CompositeAttachments([images, texts])

    @property
    def accept(self) -> str:
        """Which files are taken."""
        return self._kinds.accept

    async def add(self, file: AttachmentFile, /) -> AsyncGenerator[PendingAttachment, None]:
        """Read a file in pieces.

        Raises:
            NotAllowedError: It is too large, or nothing that can be read (code ``"not-accepted"``).
        """
        local = file if isinstance(file, LocalFile) else LocalFile(name=file.name, content_type=file.content_type)
        if local.path is not None and (why := refusal(local.path)) is not None:
            raise NotAllowedError(why, code="not-accepted")
        kind = "image" if (local.content_type or "").startswith("image/") else "document"
        pending = PendingAttachment(
            id=new_id(), type=kind, name=local.name, content_type=local.content_type, file=local
        )
        if local.data is None and local.path is not None:
            pieces: list[bytes] = []
            async with await anyio.open_file(local.path, "rb") as opened:
                size = local.path.stat().st_size
                while piece := await opened.read(max(_PIECE, size // 8)):
                    pieces.append(piece)
                    done = sum(len(one) for one in pieces)
                    if done < size:
                        yield attrs.evolve(pending, status=UploadingStatus(progress=done / size))
            local = attrs.evolve(local, data=b"".join(pieces))
        yield attrs.evolve(pending, file=local, status=WaitingStatus())

    async def send(self, attachment: PendingAttachment, /) -> CompleteAttachment:
        """Make what the model reads of a file."""
        sent = await self._kinds.send(attachment)
        # The bytes are in the content now; the size is what is left to show.
        return attrs.evolve(sent, file=None, extra={"size": _size(attachment)})

    def remove(self, attachment: Attachment, /) -> None:
        """Nothing was kept of it."""


def path_of(text: str) -> Path:
    """Read a path as people type or drag it into a terminal: perhaps quoted, perhaps from their home."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    return Path(text).expanduser()


def file_at(path: Path) -> LocalFile:
    """Describe a file; one whose ending says that it is a text counts as such, whatever its media type."""
    file = LocalFile.at(path)
    return attrs.evolve(file, content_type="text/plain") if file.content_type is None else file


def refusal(path: Path) -> str | None:
    """Say why a file cannot be attached, and what to do about it; None when it can."""
    name = f"cannot attach {str(path)!r}"
    try:
        size = path.stat().st_size
        if path.is_dir():
            return f"{name}: it is a folder; attach the files in it one by one"
        with path.open("rb"):
            pass
    except FileNotFoundError:
        return f"{name}: there is no such file; check the path, which begins at the folder that the chat was started in"
    except (OSError, ValueError) as error:
        return f"{name}: {getattr(error, 'strerror', None) or error}; check who may read it"
    content_type = LocalFile.at(path).content_type
    is_image = (content_type or "").startswith("image/")
    if not is_image and not is_accepted(_TEXTS, path.name, content_type):
        return f"{name}: {content_type or 'a file of an unknown type'} is not taken; attach a text or an image"
    limit = _IMAGE_LIMIT if is_image else _TEXT_LIMIT
    if size > limit:
        return f"{name}: it has {size:,} bytes, and at most {limit:,} can be sent; attach a part of it"
    return None


def as_label(attachment: Attachment) -> str:
    """Return the name of a file with its size, and how far it has come."""
    size = _size(attachment)
    text = attachment.name if size is None else f"{attachment.name} ({_in_words(size)})"
    if isinstance(attachment, PendingAttachment):
        match attachment.status:
            case UploadingStatus(progress=progress):
                return f"{text} {progress:.0%}"
            case FailedStatus(message=message):
                return f"{text} ✗ {message or 'could not be read'}"
            case WaitingStatus():
                return text
    return text


def _size(attachment: Attachment) -> int | None:
    extra = attachment.extra if isinstance(attachment, CompleteAttachment) else None
    if extra is not None and isinstance(extra.get("size"), int):
        return int(extra["size"])
    file = attachment.file
    if not isinstance(file, LocalFile):
        return None
    if file.data is not None:
        return len(file.data)
    try:
        return None if file.path is None else file.path.stat().st_size
    except OSError:
        return None


def _in_words(size: int) -> str:
    if size < 1_000:
        return f"{size} bytes"
    return f"{size / 1_000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
