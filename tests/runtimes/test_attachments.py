"""Files in drafts: taken in, shown while they come, uploaded with the send, and given back when that fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from partwise.adapters import LocalFile, is_accepted
from partwise.errors import AttachmentNotFoundError, InvalidInputError, NotAllowedError, UnsupportedError
from partwise.messages import (
    CompleteAttachment,
    FailedStatus,
    ImagePart,
    PendingAttachment,
    TextPart,
    UploadingStatus,
    UserMessage,
    message_text,
)
from partwise.runtimes import CompositeAttachments, ImageAttachments, TextAttachments
from partwise.stream import TextDelta
from tests.runtimes.scenes import Script, heard, settled, talking

NOTE = LocalFile(name="note.md", content_type="text/markdown", data=b"# hi")
OTHER = LocalFile(name="other.md", content_type="text/markdown", data=b"# other")


class Slow:
    """An adapter whose uploads wait for a gate, and fail if told to; adding shows progress."""

    accept = ".md"

    def __init__(self) -> None:
        self.gate = anyio.Event()
        self.fails = False
        self.sent: list[str] = []
        self.removed: list[str] = []

    async def add(self, file: LocalFile, /) -> AsyncIterator[PendingAttachment]:
        for status in (UploadingStatus(0.5), None):
            fields: dict[str, Any] = {} if status is None else {"status": status}
            yield PendingAttachment(id=f"id-{file.name}", type="document", name=file.name, file=file, **fields)

    async def send(self, attachment: PendingAttachment, /) -> CompleteAttachment:
        self.sent.append(attachment.name)
        await self.gate.wait()
        if self.fails:
            raise OSError("offline")
        content = (TextPart(f"<{attachment.name}>"),)
        return CompleteAttachment(id=attachment.id, type="document", name=attachment.name, content=content)

    async def remove(self, attachment: Any, /) -> None:
        self.removed.append(attachment.name)


def script() -> Script:
    return Script([TextDelta("ok")])


async def test_a_file_is_read_when_it_is_sent_and_goes_out_with_the_message(tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    path.write_text("draft")
    adapter = CompositeAttachments([ImageAttachments(), TextAttachments()])
    async with talking(script(), attachments=adapter) as thread:
        assert "attachments" in thread.capabilities
        await thread.composer.add_attachment(LocalFile.at(path))
        await thread.composer.add_attachment(LocalFile(name="p.png", content_type="image/png", data=b"png"))
        path.write_text("final")
        await thread.composer.send()

        sent = thread.state.messages[0]
        assert isinstance(sent, UserMessage)
        text, image = (attachment.content[0] for attachment in sent.attachments)
        assert text == TextPart('<attachment name="note.md">\nfinal\n</attachment>')
        assert image == ImagePart(image="data:image/png;base64,cG5n", filename="p.png")
        assert thread.state.composer.attachments == ()


async def test_progress_is_shown_and_the_draft_is_locked_only_while_it_is_sent() -> None:
    adapter = Slow()
    async with talking(script(), attachments=adapter) as thread:
        progress: list[object] = []
        thread.select(lambda state: state.composer.attachments).subscribe(
            lambda items: progress.extend(item.status.type for item in items if isinstance(item, PendingAttachment))
        )
        await thread.composer.add_attachment(NOTE)
        assert progress == ["running", "requires-action"]

        thread.composer.set_text("see")
        operation = thread.composer.send()
        thread.composer.set_text("next")
        await settled()
        assert (thread.state.composer.is_sending, len(thread.state.messages)) == (True, 0)
        assert thread.composer.send().is_done

        adapter.gate.set()
        await operation
        assert [message_text(message) for message in thread.state.messages] == ["see", "ok"]
        assert (thread.state.composer.text, thread.state.composer.is_sending) == ("next", False)


async def test_a_failed_upload_gives_the_draft_back_before_what_was_typed_and_uploads_nothing_twice() -> None:
    adapter = Slow()
    async with talking(script(), attachments=adapter) as thread:
        await thread.composer.add_attachment(NOTE)
        thread.composer.set_text("see")
        adapter.fails = True
        operation = thread.composer.send()
        thread.composer.set_text("next")
        adapter.gate.set()
        with pytest.raises(OSError, match="offline"):
            await operation
        draft = thread.state.composer
        failed = draft.attachments[0]
        assert isinstance(failed, PendingAttachment)
        assert (draft.text, draft.is_sending, failed.status) == ("see\nnext", False, FailedStatus("error", "offline"))

        adapter.fails = False
        await thread.composer.send()
        assert adapter.sent == ["note.md", "note.md"]
        assert len(thread.state.messages) == 2


async def test_what_is_removed_during_its_upload_is_not_sent_and_nothing_alone_is_nothing() -> None:
    adapter = Slow()
    async with talking(script(), attachments=adapter) as thread:
        await thread.composer.add_attachment(NOTE)
        operation = thread.composer.send()
        await thread.composer.remove_attachment("id-note.md")
        adapter.gate.set()
        await operation
        assert (len(thread.state.messages), adapter.removed) == (0, ["note.md"])

        await thread.composer.add_attachment(OTHER)
        thread.composer.set_text("see")
        adapter.gate = anyio.Event()
        operation = thread.composer.send()
        await thread.composer.clear_attachments()
        adapter.gate.set()
        await operation
        sent = thread.state.messages[0]
        assert isinstance(sent, UserMessage)
        assert (message_text(sent), sent.attachments) == ("see", ())


async def test_a_send_can_be_taken_back_or_forgotten_while_files_are_uploaded() -> None:
    adapter = Slow()
    async with talking(script(), attachments=adapter) as thread:
        await thread.composer.add_attachment(NOTE)
        thread.composer.set_text("see")
        taken_back = thread.composer.send()
        thread.composer.cancel()
        assert (thread.state.composer.text, len(thread.state.composer.attachments)) == ("see", 1)

        forgotten = thread.composer.send()
        await thread.composer.reset()
        adapter.gate.set()
        await taken_back
        await forgotten
        assert (len(thread.state.messages), thread.state.composer.text) == (0, "")


async def test_what_is_not_taken_is_refused_by_name_and_told() -> None:
    async with talking(script()) as thread:
        kinds = heard(thread)
        with pytest.raises(UnsupportedError, match="attachments"):
            await thread.composer.add_attachment(NOTE)
        ready = CompleteAttachment(id="r", type="document", name="r.txt", content=())
        await thread.composer.add_attachment(ready)
        assert kinds == ["attachment_refused", "attachment_added"]
        with pytest.raises(AttachmentNotFoundError, match="ghost"):
            await thread.composer.remove_attachment("ghost")

    async with talking(script(), attachments=ImageAttachments()) as thread:
        with pytest.raises(NotAllowedError, match=r"'note.md' \(text/markdown\) is not taken here") as caught:
            await thread.composer.add_attachment(NOTE)
        assert caught.value.code == "not-accepted"
        assert thread.state.composer.attachments == ()


async def test_a_file_that_is_too_large_is_refused_when_it_is_sent() -> None:
    async with talking(script(), attachments=TextAttachments(limit=3)) as thread:
        await thread.composer.add_attachment(NOTE)
        with pytest.raises(NotAllowedError, match="4 bytes; at most 3") as caught:
            await thread.composer.send()
        assert caught.value.code == "too-large"
        assert len(thread.state.composer.attachments) == 1


def test_an_adapter_for_everything_comes_last() -> None:
    everything = TextAttachments("*")
    with pytest.raises(InvalidInputError, match="Put it last"):
        CompositeAttachments([everything, ImageAttachments()])
    assert CompositeAttachments([ImageAttachments(), everything]).accept == "*"
    with pytest.raises(NotAllowedError, match="not taken here"):
        CompositeAttachments([ImageAttachments()]).add(NOTE)


@pytest.mark.parametrize(
    ("accept", "name", "kind", "is_taken"),
    [
        ("*", "a", None, True),
        ("image/*", "a.png", "image/png", True),
        ("image/*", "a.png", None, False),
        (" .PDF , text/plain", "A.pdf", None, True),
        ("text/plain", "a", "Text/Plain; charset=utf-8", True),
        ("pdf", "pdf", None, False),
        (".pdf", "pdf", None, True),
        ("", "a", "text/plain", False),
    ],
)
def test_what_is_taken_is_told_by_ending_type_or_group(
    accept: str, name: str, kind: str | None, is_taken: bool
) -> None:
    assert is_accepted(accept, name, kind) is is_taken
