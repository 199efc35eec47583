"""Files of a draft: taking them in, and letting go of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from typing import Any, Protocol

import attrs

from partwise.adapters import AttachmentAdapter, AttachmentFile, is_accepted
from partwise.errors import AttachmentNotFoundError, NotAllowedError, UnsupportedError
from partwise.messages import Attachment, CompleteAttachment, FailedStatus, PendingAttachment
from partwise.store import AttachmentAdded, AttachmentRefused, ComposerState, ThreadEvent

from ._attempt import close
from ._operation import Operation

__all__ = ["Attaching", "DraftHost", "with_failure"]


class DraftHost(Protocol):
    """What keeps a draft, and has an adapter for its files."""

    @property
    def attachment_adapter(self) -> AttachmentAdapter | None:
        """What takes files in, if there is one now."""
        ...

    def show_draft(self, edited_id: str | None, draft: ComposerState | None) -> None:
        """Commit a draft; None closes the draft of an edited message."""
        ...

    def read_draft(self, edited_id: str | None) -> ComposerState | None:
        """Return a draft as it is committed, or None when it is closed."""
        ...

    def emit(self, event: ThreadEvent) -> None:
        """Tell those who listen to the thread."""
        ...

    def report(self, where: str, text: str, error: BaseException | None = None) -> None:
        """Tell of something that nobody can be told by raising."""
        ...

    def spawn(self, function: Any, *args: Any) -> None:
        """Start a task of the runtime."""
        ...


@attrs.define(eq=False)
class _Adding:
    """A file on its way into the draft."""

    file: AttachmentFile
    operation: Operation = attrs.field(factory=Operation)
    attachment_id: str | None = None
    is_over: bool = False


class Attaching:
    """Adds files to one draft and removes them, however slow their adapter is."""

    def __init__(self, host: DraftHost, edited_id: str | None) -> None:
        self._host = host
        self._edited_id = edited_id
        self._adding: list[_Adding] = []

    def add(self, file: AttachmentFile | CompleteAttachment) -> Operation:
        """Add a file; see ``Composer.add_attachment``."""
        adapter = self._host.attachment_adapter
        if isinstance(file, CompleteAttachment):
            if adapter is not None and not is_accepted(adapter.accept, file.name, file.content_type):
                return self._not_accepted(file.name, file.content_type, adapter.accept)
            self._put(file)
            self._tell_added(file)
            return Operation.done()
        if adapter is None:
            error = UnsupportedError("attachments", "Give the runtime an attachment adapter.")
            return self._refuse("no-adapter", error, file.content_type)
        if not is_accepted(adapter.accept, file.name, file.content_type):
            return self._not_accepted(file.name, file.content_type, adapter.accept)
        adding = _Adding(file)
        self._adding.append(adding)
        try:
            coming = adapter.add(file)
        except Exception as error:
            self._fail(adding, error)
            return adding.operation
        self._host.spawn(self._take, adding, coming)
        return adding.operation

    def stop(self) -> None:
        """Take in nothing of what is on its way."""
        for adding in self._adding:
            adding.is_over = True

    def remove(self, attachment_id: str, held: tuple[Attachment, ...]) -> Operation:
        """Let go of a file of the draft or of a send under way; see ``Composer.remove_attachment``."""
        draft = self._draft()
        found = [item for item in (*draft.attachments, *held) if item.id == attachment_id]
        if not found:
            return Operation.done(AttachmentNotFoundError(attachment_id, where="the draft"))
        for adding in self._adding:
            adding.is_over = adding.is_over or adding.attachment_id == attachment_id
        if isinstance(found[0], CompleteAttachment):
            self._drop(attachment_id)
            return Operation.done()
        adapter = self._host.attachment_adapter
        if adapter is None:
            return Operation.done(UnsupportedError("attachments", "Give the runtime an attachment adapter."))
        operation = Operation()
        try:
            leaving = adapter.remove(found[0])
        except Exception as error:
            self._mark(attachment_id, error)
            operation.settle(error)
            return operation
        if leaving is None:
            self._drop(attachment_id)
            operation.settle()
        else:
            self._host.spawn(self._leave, attachment_id, leaving, operation)
        return operation

    def release(self, attachments: tuple[Attachment, ...]) -> Operation:
        """Tell the adapter of files that are dropped together; what it fails at is reported."""
        adapter = self._host.attachment_adapter
        pending = [item for item in attachments if isinstance(item, PendingAttachment)]
        if adapter is None or not pending:
            return Operation.done()
        operation = Operation()
        leaving: list[Awaitable[object]] = []
        for item in pending:
            try:
                answer = adapter.remove(item)
            except Exception as error:
                self._host.report("attachments", f"could not remove {item.name!r}: {error}", error)
            else:
                leaving += [] if answer is None else [answer]
        self._host.spawn(self._release, leaving, operation)
        return operation

    async def _release(self, leaving: list[Awaitable[object]], operation: Operation) -> None:
        for answer in leaving:
            try:
                await answer
            except Exception as error:
                self._host.report("attachments", f"could not remove a file: {error}", error)
            except BaseException as error:
                operation.settle(error)
                raise
        operation.settle()

    async def _leave(self, attachment_id: str, leaving: Awaitable[object], operation: Operation) -> None:
        try:
            await leaving
        except BaseException as error:
            self._mark(attachment_id, error)
            operation.settle(error)
            if not isinstance(error, Exception):
                raise
            return
        self._drop(attachment_id)
        operation.settle()

    async def _take(
        self, adding: _Adding, coming: Awaitable[PendingAttachment] | AsyncIterator[PendingAttachment]
    ) -> None:
        try:
            if isinstance(coming, AsyncIterator):
                await self._follow(adding, coming)
            else:
                self._arrived(adding, await coming)
        except BaseException as error:
            if isinstance(error, Exception):
                self._fail(adding, error)
                return
            adding.operation.settle(error)
            raise
        self._finish(adding)

    async def _follow(self, adding: _Adding, coming: AsyncIterator[PendingAttachment]) -> None:
        try:
            async for item in coming:
                if adding.is_over:
                    return
                self._arrived(adding, item)
        finally:
            await close(coming, lambda error: self._host.report("attachments", f"failed: {error}", error))

    def _arrived(self, adding: _Adding, item: PendingAttachment) -> None:
        if not adding.is_over:
            adding.attachment_id = item.id
            self._put(item)

    def _finish(self, adding: _Adding) -> None:
        self._adding.remove(adding)
        if not adding.is_over:
            item = self._find(adding.attachment_id)
            if isinstance(item, PendingAttachment) and isinstance(item.status, FailedStatus):
                text = item.status.message or f"{adding.file.name!r} could not be added."
                self._tell_refused("adapter-error", text, adding.file.content_type, item.id)
            elif item is not None:
                self._tell_added(item)
        adding.operation.settle()

    def _fail(self, adding: _Adding, error: Exception) -> None:
        self._adding.remove(adding)
        if adding.is_over:
            adding.operation.settle()
            return
        if adding.attachment_id is not None:
            self._mark(adding.attachment_id, error)
        self._tell_refused("adapter-error", str(error), adding.file.content_type, adding.attachment_id)
        adding.operation.settle(error)

    def _not_accepted(self, name: str, content_type: str | None, accept: str) -> Operation:
        text = f"{name!r} ({content_type or 'of an unknown type'}) is not taken here; what is: {accept}"
        return self._refuse("not-accepted", NotAllowedError(text, code="not-accepted"), content_type)

    def _refuse(self, reason: Any, error: Exception, content_type: str | None) -> Operation:
        self._tell_refused(reason, str(error), content_type, None)
        return Operation.done(error)

    def _tell_refused(self, reason: Any, text: str, content_type: str | None, attachment_id: str | None) -> None:
        event = AttachmentRefused(
            message_id=self._edited_id,
            reason=reason,
            text=text,
            content_type=content_type,
            attachment_id=attachment_id,
        )
        self._host.emit(event)

    def _tell_added(self, item: Attachment) -> None:
        event = AttachmentAdded(message_id=self._edited_id, attachment_id=item.id, content_type=item.content_type)
        self._host.emit(event)

    def _draft(self) -> ComposerState:
        return self._host.read_draft(self._edited_id) or ComposerState(is_editing=False)

    def _show(self, attachments: tuple[Attachment, ...]) -> None:
        draft = self._host.read_draft(self._edited_id)
        if draft is not None and attachments != draft.attachments:
            self._host.show_draft(self._edited_id, attrs.evolve(draft, attachments=attachments))

    def _find(self, attachment_id: str | None) -> Attachment | None:
        return next((item for item in self._draft().attachments if item.id == attachment_id), None)

    def _put(self, item: Attachment) -> None:
        """Show a file, in the place of one that has its id."""
        before = self._draft().attachments
        if any(other.id == item.id for other in before):
            self._show(tuple(item if other.id == item.id else other for other in before))
        else:
            self._show((*before, item))

    def _drop(self, attachment_id: str) -> None:
        self._show(tuple(item for item in self._draft().attachments if item.id != attachment_id))

    def _mark(self, attachment_id: str, error: BaseException) -> None:
        self._show(tuple(with_failure(item, attachment_id, error) for item in self._draft().attachments))


def with_failure(item: Attachment, attachment_id: str, error: BaseException) -> Attachment:
    """Return an attachment, marked as failed if it is the one with this id and not complete."""
    if item.id != attachment_id or not isinstance(item, PendingAttachment):
        return item
    return attrs.evolve(item, status=FailedStatus("error", str(error)))
