"""The action bar of a message: what may be done with it."""

from __future__ import annotations

from typing import Literal

from partwise.messages import message_text
from partwise.reactive import Slice
from partwise.runtimes import Composer, Operation, Thread
from partwise.store import ThreadState

from ._disabled import is_copy_disabled, is_edit_disabled, is_reload_disabled

__all__ = ["ActionBar"]


class ActionBar:
    """Copy, edit, reload and what else can be done with one message; nothing once it has left the visible branch.

    Attributes:
        can_copy: Whether it says something and has stopped growing.
        can_edit: Whether it is not being edited already.
        can_reload: Whether it is an answer and no run is in the way.
        can_speak, can_give_feedback, can_delete: Whether the thread can do that.
    """

    def __init__(self, thread: Thread, message_id: str) -> None:
        self._thread = thread
        self.message_id = message_id
        self.can_copy: Slice[bool] = thread.select(lambda state: _can_copy(state, message_id))
        self.can_edit: Slice[bool] = thread.select(lambda state: _can_edit(state, message_id))
        self.can_reload: Slice[bool] = thread.select(lambda state: _can_reload(state, message_id))
        self.can_speak: Slice[bool] = thread.select(lambda state: "speech" in state.capabilities)
        self.can_give_feedback: Slice[bool] = thread.select(lambda state: "feedback" in state.capabilities)
        self.can_delete: Slice[bool] = thread.select(lambda state: "delete" in state.capabilities)

    def copy_text(self) -> str:
        """Return what copying gives: the message's text parts."""
        return message_text(self._thread.message(self.message_id).value)

    def edit(self) -> Composer:
        """Open a draft of an edited version.

        Raises:
            NotAllowedError: It is being edited already.
        """
        return self._thread.begin_edit(self.message_id)

    def reload(self) -> Operation:
        """Make the answer again, on a branch of its own.

        Raises:
            NotAllowedError: It is no answer.
        """
        return self._thread.reload(self.message_id)

    def give_feedback(self, type: Literal["positive", "negative"]) -> None:
        """Say what the user thinks of the answer."""
        self._thread.submit_feedback(self.message_id, type)

    def delete(self) -> Operation:
        """Delete the message.

        Raises:
            UnsupportedError: The thread cannot do that.
        """
        return self._thread.delete_message(self.message_id)


def _can_copy(state: ThreadState, message_id: str) -> bool:
    message = state.messages.get(message_id)
    return message is not None and not is_copy_disabled(message)


def _can_edit(state: ThreadState, message_id: str) -> bool:
    is_there = message_id in state.messages
    return is_there and "edit" in state.capabilities and not is_edit_disabled(is_editing=message_id in state.edits)


def _can_reload(state: ThreadState, message_id: str) -> bool:
    message = state.messages.get(message_id)
    if message is None or "reload" not in state.capabilities:
        return False
    role = message.role
    return role == "assistant" and not is_reload_disabled(
        role=role, is_running=state.is_running, is_thread_disabled=state.is_disabled
    )
