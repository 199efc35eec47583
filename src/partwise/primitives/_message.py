"""One message of a thread."""

from __future__ import annotations

from partwise.messages import CompleteAttachment, MessageStatus, Role, UserMessage
from partwise.reactive import Slice
from partwise.runtimes import Thread
from partwise.store import MessageSlice

from ._action_bar import ActionBar
from ._branch_picker import BranchPicker
from ._composer import ComposerView
from ._part import PartKey, PartView, part_keys

__all__ = ["MessageView"]


class MessageView:
    """Shows one message, by its id; its slices complete when the message leaves the visible branch.

    Attributes:
        message: The whole message; wakes at every change of it.
        parts: The keys of its parts; wakes when a part appears, not when one grows.
        attachments: The files that were sent with it.
        status: How far it has come; what a user or the system says is complete.
        role: Who speaks.
        is_last: Whether it is the last visible message.
        branch_picker: Its alternatives.
        action_bar: What may be done with it.
        composer: The draft of its edited version.
    """

    def __init__(self, thread: Thread, message_id: str) -> None:
        self._thread = thread
        self.id = message_id
        self.message: MessageSlice = thread.message(message_id)
        self.parts: Slice[tuple[PartKey, ...]] = self.message.select(part_keys)
        self.attachments: Slice[tuple[CompleteAttachment, ...]] = self.message.select(
            lambda message: message.attachments if isinstance(message, UserMessage) else ()
        )
        self.status: Slice[MessageStatus] = self.message.select(lambda message: message.status)
        self.role: Slice[Role] = self.message.select(lambda message: message.role)
        self.is_last: Slice[bool] = thread.select(lambda state: state.head_id == message_id)
        self.branch_picker = BranchPicker(thread, message_id)
        self.action_bar = ActionBar(thread, message_id)
        self.composer = ComposerView(thread, message_id)

    def part(self, position: int) -> PartView:
        """Return the view of one part."""
        return PartView(self._thread, self.id, position)
