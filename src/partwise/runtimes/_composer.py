"""Drafts: of the next message, and of the edited version of an earlier one."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol, assert_never, cast

import anyio
import attrs

from partwise.adapters import AttachmentFile
from partwise.errors import NotAllowedError, UnsupportedError
from partwise.messages import (
    AssistantMessage,
    AssistantMetadata,
    Attachment,
    AudioPart,
    CompleteAttachment,
    DataPart,
    FilePart,
    ImagePart,
    Message,
    Metadata,
    PendingAttachment,
    Role,
    SystemMessage,
    TextPart,
    UserMessage,
    is_blank,
    is_not_sent,
    message_text,
    new_id,
)
from partwise.store import ComposerState, Quote

from ._attaching import Attaching, DraftHost, with_failure
from ._operation import Operation
from ._returned import Returned, has_something, merged

__all__ = ["Composer", "ComposerHost", "can_send", "composed", "edited"]


class ComposerHost(DraftHost, Protocol):
    """What a composer needs of its thread: somebody who commits its state and takes its messages."""

    def send_draft(
        self, draft: ComposerState, edited_id: str | None, *, starts_run: bool | None, steers: bool | None
    ) -> Operation:
        """Append the message that a draft makes."""
        ...


@attrs.define(eq=False, kw_only=True)
class _Upload:
    """A draft whose files are being uploaded before it is sent."""

    draft: ComposerState
    starts_run: bool | None
    steers: bool | None
    operation: Operation = attrs.field(factory=Operation)
    removed: set[str] = attrs.field(factory=set)
    failures: dict[str, BaseException] = attrs.field(factory=dict)


class Composer:
    """One draft: setters that commit, files, and ``send``.

    Args:
        host: The thread.
        edited_id: The message that is being edited; None for the draft of the next message.
    """

    def __init__(self, host: ComposerHost, edited_id: str | None = None) -> None:
        self._host = host
        self.edited_id = edited_id
        self._generation = 0
        self._sends = 0
        self._returned = Returned()
        self._attaching = Attaching(host, edited_id)
        self._upload: _Upload | None = None
        self._uploaded: dict[str, tuple[PendingAttachment, CompleteAttachment]] = {}

    @property
    def state(self) -> ComposerState:
        """The draft as it is now; of a closed edit, an empty one that cannot be typed into."""
        return self._host.read_draft(self.edited_id) or ComposerState(is_editing=False)

    @property
    def accept(self) -> str:
        """Which files are taken: ``*``, or a list such as ``image/*,.pdf``."""
        adapter = self._host.attachment_adapter
        return "*" if adapter is None else adapter.accept

    def set_text(self, text: str) -> None:
        """Replace the text of the draft."""
        self._change(text=text)

    def set_role(self, role: Role) -> None:
        """Say who the message is from."""
        self._change(role=role)

    def set_run_config(self, run_config: Mapping[str, Any]) -> None:
        """Set what the model is handed with the message."""
        self._change(run_config=run_config)

    def set_quote(self, quote: Quote | None) -> None:
        """Set the piece of another message that this one answers."""
        self._change(quote=quote)

    def add_attachment(self, file: AttachmentFile | CompleteAttachment) -> Operation:
        """Add a file; it is uploaded when the draft is sent, or before if its adapter does that.

        Args:
            file: A file, for example a ``LocalFile``; or an attachment that needs no upload.

        Returns:
            An operation that settles when the file is part of the draft. It raises ``UnsupportedError``
            without an adapter, ``NotAllowedError`` (code ``"not-accepted"``) for a file of another type, and
            what the adapter raised. Each is an event as well.
        """
        return self._attaching.add(file)

    def remove_attachment(self, attachment_id: str) -> Operation:
        """Remove a file, also one that is being uploaded or added.

        Returns:
            An operation that settles when the adapter has let it go. It raises ``AttachmentNotFoundError``, and
            what the adapter raised; then the file stays, marked as failed.
        """
        held = () if self._upload is None else self._upload.draft.attachments
        if self._upload is not None and any(item.id == attachment_id for item in held):
            self._upload.removed.add(attachment_id)
        return self._attaching.remove(attachment_id, held)

    def clear_attachments(self) -> Operation:
        """Remove all files, those of a send that is under way included."""
        self._attaching.stop()
        held = () if self._upload is None else self._upload.draft.attachments
        if self._upload is not None:
            self._upload.removed |= {item.id for item in held}
        dropped = (*held, *self.state.attachments)
        if self.state.is_editing:
            self._change(attachments=())
        return self._attaching.release(dropped)

    def reset(self) -> Operation:
        """Empty the draft, and let a send that is under way not give it back."""
        self._generation += 1
        self._attaching.stop()
        upload, self._upload = self._upload, None
        dropped = (*(() if upload is None else upload.draft.attachments), *self.state.attachments)
        if self.state.is_editing:
            self._host.show_draft(self.edited_id, ComposerState())
        return self._attaching.release(dropped)

    def cancel(self) -> None:
        """Take a draft back whose files are being uploaded; otherwise, close the draft of an edited message."""
        upload, self._upload = self._upload, None
        if upload is not None:
            self._generation += 1
            self._host.show_draft(self.edited_id, merged(upload.draft, self.state))
        elif self.edited_id is not None:
            self._generation += 1
            self._host.show_draft(self.edited_id, None)

    def send(self, *, starts_run: bool | None = None, steers: bool | None = None) -> Operation:
        """Send the draft and empty it; a draft that cannot be sent is left as it is.

        Files are uploaded first. If one cannot be, or if the message turns out not to have reached anybody,
        the draft comes back, before what was typed meanwhile.
        """
        draft = self.state
        if not can_send(draft):
            return Operation.done()
        pending = [item for item in draft.attachments if isinstance(item, PendingAttachment)]
        if pending:
            return self._send_after_upload(draft, pending, starts_run=starts_run, steers=steers)
        emptied = None if self.edited_id is not None else attrs.evolve(draft, text="", quote=None, attachments=())
        self._host.show_draft(self.edited_id, emptied)
        return self._dispatch(draft, starts_run=starts_run, steers=steers)

    def _dispatch(self, draft: ComposerState, *, starts_run: bool | None, steers: bool | None) -> Operation:
        number = self._sends = self._sends + 1
        try:
            operation = self._host.send_draft(draft, self.edited_id, starts_run=starts_run, steers=steers)
        except Exception:
            self._give_back(draft, number, self._generation)
            raise
        self._host.spawn(self._watch, operation, draft, number, self._generation)
        return operation

    def _send_after_upload(
        self, draft: ComposerState, pending: list[PendingAttachment], *, starts_run: bool | None, steers: bool | None
    ) -> Operation:
        upload = self._upload = _Upload(draft=draft, starts_run=starts_run, steers=steers)
        emptied = attrs.evolve(draft, text="", quote=None, attachments=(), is_sending=True)
        self._host.show_draft(self.edited_id, emptied)
        coming: list[tuple[PendingAttachment, Awaitable[CompleteAttachment]]] = []
        adapter = self._host.attachment_adapter
        for item in pending:
            known = self._uploaded.get(item.id)
            if known is not None and known[0] is item:
                continue
            if adapter is None:
                msg = "attachments"
                upload.failures[item.id] = UnsupportedError(msg, "Give the runtime an attachment adapter.")
                continue
            try:
                coming.append((item, adapter.send(item)))
            except Exception as error:
                upload.failures[item.id] = error
        self._host.spawn(self._wait_for, upload, coming, self._generation)
        return upload.operation

    async def _wait_for(
        self,
        upload: _Upload,
        coming: list[tuple[PendingAttachment, Awaitable[CompleteAttachment]]],
        generation: int,
    ) -> None:
        try:
            async with anyio.create_task_group() as group:
                for item, answer in coming:
                    group.start_soon(self._upload_one, upload, item, answer)
        except BaseException as error:
            upload.operation.settle(error)
            raise
        if self._generation != generation or self._upload is not upload:
            upload.operation.settle()
            return
        self._upload = None
        failures = [error for key, error in upload.failures.items() if key not in upload.removed]
        if failures:
            self._take_back(upload)
            self._host.report("attachments", f"could not upload a file: {failures[0]}", failures[0])
            upload.operation.settle(failures[0])
            return
        self._send_uploaded(upload)

    async def _upload_one(
        self, upload: _Upload, item: PendingAttachment, answer: Awaitable[CompleteAttachment]
    ) -> None:
        try:
            self._uploaded[item.id] = (item, await answer)
        except Exception as error:
            upload.failures[item.id] = error

    def _take_back(self, upload: _Upload) -> None:
        kept = [item for item in upload.draft.attachments if item.id not in upload.removed]
        for key, error in upload.failures.items():
            kept = [with_failure(item, key, error) for item in kept]
        draft = attrs.evolve(upload.draft, attachments=tuple(kept))
        self._host.show_draft(self.edited_id, merged(draft, self.state))

    def _send_uploaded(self, upload: _Upload) -> None:
        ready: list[Attachment] = []
        for item in upload.draft.attachments:
            if item.id not in upload.removed:
                known = self._uploaded.pop(item.id, None)
                ready.append(item if isinstance(item, CompleteAttachment) or known is None else known[1])
        draft = attrs.evolve(upload.draft, attachments=tuple(ready))
        now = attrs.evolve(self.state, is_sending=False)
        if is_blank(draft.text) and not ready:
            # Everything that there was to send was removed meanwhile.
            self._host.show_draft(self.edited_id, now)
            upload.operation.settle()
            return
        self._host.show_draft(self.edited_id, now if self.edited_id is None else None)
        try:
            operation = self._dispatch(draft, starts_run=upload.starts_run, steers=upload.steers)
        except Exception as error:
            upload.operation.settle(error)
            return
        self._host.spawn(_pass_on, operation, upload.operation)

    def put_back(self, draft: ComposerState) -> None:
        """Put a draft that was not sent before what was written meanwhile."""
        self._host.show_draft(self.edited_id, merged(draft, self.state))

    def take_out(self) -> ComposerState:
        """Close the draft of a thread that is left, and return what was in it."""
        draft = self.state
        self._host.show_draft(self.edited_id, ComposerState(is_editing=False))
        return draft

    def restore(self, draft: ComposerState) -> bool:
        """Put a draft back, if nothing else was written meanwhile.

        Returns:
            Whether it was put back; if not, nothing has changed.
        """
        if has_something(self.state):
            return False
        self._host.show_draft(self.edited_id, draft)
        return True

    def retract(self, draft: ComposerState) -> bool:
        """Take a draft out again that was put back, if nobody has changed it.

        Returns:
            Whether it was taken out.
        """
        if self.state != draft:
            return False
        self._host.show_draft(self.edited_id, attrs.evolve(draft, text="", quote=None, attachments=()))
        return True

    async def _watch(self, operation: Operation, draft: ComposerState, number: int, generation: int) -> None:
        try:
            await operation
        except Exception as error:
            if is_not_sent(error):
                self._give_back(draft, number, generation)

    def _give_back(self, draft: ComposerState, number: int, generation: int) -> None:
        if generation == self._generation:
            now = self._host.read_draft(self.edited_id)
            self._host.show_draft(self.edited_id, self._returned.add(number, draft, now))

    def _change(self, **fields: Any) -> None:
        draft = self.state
        if not draft.is_editing:
            text = f"The draft of message {self.edited_id!r} is closed. Open it with begin_edit first."
            if self.edited_id is None:
                text = "The thread of this draft was left; type in that of the thread that is in view."
            raise NotAllowedError(text, code="composer-unavailable", id=self.edited_id)
        changed = attrs.evolve(draft, **fields)
        if changed != draft:
            self._host.show_draft(self.edited_id, changed)


async def _pass_on(operation: Operation, outer: Operation) -> None:
    try:
        await operation
    except BaseException as error:
        outer.settle(error)
        if not isinstance(error, Exception):
            raise
    outer.settle()


def can_send(draft: ComposerState) -> bool:
    """Tell whether a draft holds something to send and is not being sent; a quote alone is nothing."""
    return draft.is_editing and not draft.is_sending and not (is_blank(draft.text) and not draft.attachments)


def composed(draft: ComposerState, passed_on: tuple[Any, ...] = ()) -> Message:
    """Make the message that a draft describes; its text is taken as it is.

    Args:
        draft: The draft.
        passed_on: Parts that follow the text, as the non-text parts of an edited answer do.
    """
    content = (*((TextPart(draft.text),) if draft.text else ()), *passed_on)
    quote = draft.quote
    custom = {} if quote is None else {"quote": {"text": quote.text, "message_id": quote.message_id}}
    now = datetime.now(UTC)
    match draft.role:
        case "user":
            attachments = tuple(item for item in draft.attachments if isinstance(item, CompleteAttachment))
            return UserMessage(
                id=new_id(), created_at=now, content=content, attachments=attachments, metadata=Metadata(custom=custom)
            )
        case "assistant":
            return AssistantMessage(
                id=new_id(), created_at=now, content=content, metadata=AssistantMetadata(custom=custom)
            )
        case "system":
            return SystemMessage(id=new_id(), created_at=now, content=content, metadata=Metadata(custom=custom))


def _attachments_of(message: UserMessage) -> tuple[CompleteAttachment, ...]:
    """What an edited message carries beside its text; a draft has only text and attachments."""
    own = (_as_attachment(part) for part in message.content if not isinstance(part, TextPart))
    return (*message.attachments, *own)


def _as_attachment(part: ImagePart | FilePart | AudioPart | DataPart) -> CompleteAttachment:
    content_type: str | None = None
    match part:
        case ImagePart():
            kind, name = "image", part.filename
        case FilePart():
            kind, name, content_type = "document", part.filename, part.media_type
        case AudioPart():
            kind, name, content_type = "audio", f"audio.{part.format}", f"audio/{part.format}"
        case DataPart():
            kind, name = "data", part.name
        case _:
            assert_never(part)
    return CompleteAttachment(id=new_id(), type=kind, name=name or kind, content_type=content_type, content=(part,))


def edited(message: Message, run_config: Mapping[str, Any]) -> ComposerState:
    """Return the draft with which the editing of a message begins."""
    return ComposerState(
        text=message_text(message),
        role=message.role,
        run_config=run_config,
        attachments=_attachments_of(message) if isinstance(message, UserMessage) else (),
        quote=_quote_of(message),
    )


def _quote_of(message: Message) -> Quote | None:
    """The quote of a message, in whichever spelling whoever made the message has written it."""
    quote = message.metadata.custom.get("quote")
    if not isinstance(quote, Mapping):
        return None
    given = cast("Mapping[str, Any]", quote)
    text, message_id = given.get("text"), given.get("message_id", given.get("messageId"))
    if not isinstance(text, str) or not isinstance(message_id, str):
        return None
    return Quote(text=text, message_id=message_id)
