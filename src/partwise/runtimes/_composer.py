"""Drafts: of the next message, and of the edited version of an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol, assert_never, cast

import attrs

from partwise.errors import NotAllowedError
from partwise.messages import (
    AssistantMessage,
    AssistantMetadata,
    AudioPart,
    CompleteAttachment,
    DataPart,
    FilePart,
    ImagePart,
    Message,
    Metadata,
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

from ._operation import Operation

__all__ = ["Composer", "ComposerHost", "can_send", "composed", "edited"]


class ComposerHost(Protocol):
    """What a composer needs of its thread: somebody who commits its state and takes its messages."""

    def show_draft(self, edited_id: str | None, draft: ComposerState | None) -> None:
        """Commit a draft; None closes the draft of an edited message."""
        ...

    def read_draft(self, edited_id: str | None) -> ComposerState | None:
        """Return a draft as it is committed, or None when it is closed."""
        ...

    def send_draft(
        self, draft: ComposerState, edited_id: str | None, *, starts_run: bool | None, steers: bool | None
    ) -> Operation:
        """Append the message that a draft makes."""
        ...

    def spawn(self, function: Callable[..., Any], *args: Any) -> None:
        """Start a task of the runtime."""
        ...


class Composer:
    """One draft: setters that commit, and ``send``.

    Args:
        host: The thread.
        edited_id: The message that is being edited; None for the draft of the next message.
    """

    def __init__(self, host: ComposerHost, edited_id: str | None = None) -> None:
        self._host = host
        self.edited_id = edited_id
        self._generation = 0

    @property
    def state(self) -> ComposerState:
        """The draft as it is now; of a closed edit, an empty one that cannot be typed into."""
        return self._host.read_draft(self.edited_id) or ComposerState(is_editing=False)

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

    def reset(self) -> None:
        """Empty the draft, and let a send that is under way not give it back."""
        self._generation += 1
        if self.state.is_editing:
            self._host.show_draft(self.edited_id, ComposerState())

    def cancel(self) -> None:
        """Close the draft of an edited message; the draft of the next message stays."""
        if self.edited_id is not None:
            self._host.show_draft(self.edited_id, None)

    def send(self, *, starts_run: bool | None = None, steers: bool | None = None) -> Operation:
        """Send the draft and empty it; a draft that cannot be sent is left as it is.

        If the message turns out not to have reached anybody, the draft comes back, unless something
        else was typed meanwhile.
        """
        draft = self.state
        if not can_send(draft):
            return Operation.done()
        self._generation += 1
        emptied = None if self.edited_id is not None else attrs.evolve(draft, text="", quote=None, attachments=())
        self._host.show_draft(self.edited_id, emptied)
        try:
            operation = self._host.send_draft(draft, self.edited_id, starts_run=starts_run, steers=steers)
        except Exception:
            self._give_back(draft, self._generation)
            raise
        self._host.spawn(self._watch, operation, draft, self._generation)
        return operation

    def restore(self, draft: ComposerState) -> bool:
        """Put a draft back, if nothing else was written meanwhile.

        Returns:
            Whether it was put back; if not, nothing has changed.
        """
        if not _is_free(self.state):
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

    async def _watch(self, operation: Operation, draft: ComposerState, generation: int) -> None:
        try:
            await operation
        except Exception as error:
            if is_not_sent(error):
                self._give_back(draft, generation)

    def _give_back(self, draft: ComposerState, generation: int) -> None:
        now = self._host.read_draft(self.edited_id)
        if generation == self._generation and (now is None or _is_free(now)):
            self._host.show_draft(self.edited_id, draft)

    def _change(self, **fields: Any) -> None:
        draft = self.state
        if not draft.is_editing:
            text = f"The draft of message {self.edited_id!r} is closed. Open it with begin_edit first."
            raise NotAllowedError(text, code="composer-unavailable", id=self.edited_id)
        changed = attrs.evolve(draft, **fields)
        if changed != draft:
            self._host.show_draft(self.edited_id, changed)


def can_send(draft: ComposerState) -> bool:
    """Tell whether a draft holds something to send and is not being sent; a quote alone is nothing."""
    return draft.is_editing and not draft.is_sending and not (is_blank(draft.text) and not draft.attachments)


def _is_free(draft: ComposerState) -> bool:
    return is_blank(draft.text) and draft.quote is None and not draft.attachments


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
            kind, name = "audio", None
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
