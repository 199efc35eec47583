"""The composer: where a message is written before it is sent."""

from __future__ import annotations

from partwise.adapters import AttachmentFile
from partwise.messages import Attachment, CompleteAttachment, is_blank
from partwise.reactive import Slice
from partwise.runtimes import Composer, Operation, Thread, can_send
from partwise.store import ComposerState, ThreadState

from ._disabled import is_input_disabled, is_send_disabled

__all__ = ["ComposerView"]

_CLOSED = ComposerState(is_editing=False)


class ComposerView:
    """One draft: that of the next message, or that of an edited one.

    Attributes:
        edited_id: The message that is being edited; None for the next message.
        text: The text of the draft.
        attachments: Its files: waiting, being read or uploaded, or failed.
        is_editing: Whether the draft is open; that of the next message always is.
        is_empty: Whether the draft says nothing and has no attachment.
        can_send: Whether it holds something to send.
        is_send_disabled: Whether it cannot be sent now, also because a run is in the way.
        can_cancel: Whether there is something to cancel: a run, or the editing.
        is_disabled: Whether nothing can be typed.
    """

    def __init__(self, thread: Thread, edited_id: str | None = None) -> None:
        self._thread = thread
        self.edited_id = edited_id
        self.text: Slice[str] = thread.select(lambda state: _draft(state, edited_id).text)
        self.attachments: Slice[tuple[Attachment, ...]] = thread.select(
            lambda state: _draft(state, edited_id).attachments
        )
        self.is_editing: Slice[bool] = thread.select(lambda state: _draft(state, edited_id).is_editing)
        self.is_empty: Slice[bool] = thread.select(lambda state: _is_empty(_draft(state, edited_id)))
        self.can_send: Slice[bool] = thread.select(lambda state: _can_send(state, edited_id))
        self.is_send_disabled: Slice[bool] = thread.select(lambda state: _is_send_disabled(state, edited_id))
        self.can_cancel: Slice[bool] = thread.select(lambda state: _can_cancel(state, edited_id))
        self.is_disabled: Slice[bool] = thread.select(
            lambda state: is_input_disabled(is_thread_disabled=state.is_disabled)
        )

    def set_text(self, text: str) -> None:
        """Replace the text of the draft.

        Raises:
            NotAllowedError: The draft of an edited message is closed.
        """
        self._composer.set_text(text)

    def add_attachment(self, file: AttachmentFile | CompleteAttachment) -> Operation:
        """Add a file to the draft; see ``Composer.add_attachment``."""
        return self._composer.add_attachment(file)

    def remove_attachment(self, attachment_id: str) -> Operation:
        """Take a file out of the draft; see ``Composer.remove_attachment``."""
        return self._composer.remove_attachment(attachment_id)

    def clear_attachments(self) -> Operation:
        """Take all files out of the draft."""
        return self._composer.clear_attachments()

    def send(self) -> Operation:
        """Send the draft; one that cannot be sent now is left as it is."""
        return Operation.done() if self.is_send_disabled.value else self._composer.send()

    def cancel(self) -> None:
        """Take back a draft whose files are being uploaded; else end the run, or the editing."""
        if self.edited_id is None and not self._thread.state.composer.is_sending:
            self._thread.cancel_run()
        else:
            self._composer.cancel()

    @property
    def _composer(self) -> Composer:
        return self._thread.composer if self.edited_id is None else self._thread.edit_composer(self.edited_id)


def _draft(state: ThreadState, edited_id: str | None) -> ComposerState:
    return state.composer if edited_id is None else state.edits.get(edited_id, _CLOSED)


def _is_empty(draft: ComposerState) -> bool:
    return is_blank(draft.text) and not draft.attachments


def _can_send(state: ThreadState, edited_id: str | None) -> bool:
    is_open = edited_id is not None or not state.is_send_disabled
    return is_open and can_send(_draft(state, edited_id))


def _is_send_disabled(state: ThreadState, edited_id: str | None) -> bool:
    if not _can_send(state, edited_id):
        return True
    # An edit opens a branch of its own and supersedes what runs; whether something runs is read only where it counts.
    is_ahead = edited_id is not None or "queue" in state.capabilities
    return is_send_disabled(can_send=True, is_running=not is_ahead and state.is_running, has_queue=is_ahead)


def _can_cancel(state: ThreadState, edited_id: str | None) -> bool:
    if edited_id is not None:
        return edited_id in state.edits
    return state.composer.is_sending or ("cancel" in state.capabilities and state.is_running)
