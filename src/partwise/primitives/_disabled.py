"""When a control must not be used. Values in, yes or no out; every user interface shares these rules."""

from __future__ import annotations

from partwise.messages import AssistantMessage, Message, Role, RunningStatus, TextPart, is_blank

__all__ = [
    "is_cancel_disabled",
    "is_copy_disabled",
    "is_edit_disabled",
    "is_input_disabled",
    "is_next_disabled",
    "is_previous_disabled",
    "is_reload_disabled",
    "is_send_disabled",
    "is_suggestion_disabled",
]


def is_send_disabled(*, can_send: bool, is_running: bool, has_queue: bool) -> bool:
    """Whether a draft cannot be sent: there is nothing to send, or a run is in the way and nothing queues."""
    return not can_send or (is_running and not has_queue)


def is_cancel_disabled(*, can_cancel: bool) -> bool:
    """Whether there is nothing to cancel."""
    return not can_cancel


def is_input_disabled(*, is_thread_disabled: bool, is_dictating: bool = False) -> bool:
    """Whether nothing can be typed; ``is_dictating`` is a dictation that locks the input."""
    return is_thread_disabled or is_dictating


def is_edit_disabled(*, is_editing: bool) -> bool:
    """Whether a message cannot be edited: it is being edited already."""
    return is_editing


def is_reload_disabled(*, role: Role, is_running: bool, is_thread_disabled: bool) -> bool:
    """Whether a message cannot be answered again: only answers can, and one run at a time."""
    return is_running or is_thread_disabled or role != "assistant"


def is_copy_disabled(message: Message) -> bool:
    """Whether a message cannot be copied: it is still growing, or says nothing."""
    if isinstance(message, AssistantMessage) and isinstance(message.status, RunningStatus):
        return True
    return not any(isinstance(part, TextPart) and not is_blank(part.text) for part in message.content)


def is_previous_disabled(*, number: int, is_running: bool, can_switch_during_run: bool) -> bool:
    """Whether the branch before, of a message that is number ``number`` from 1, cannot be shown."""
    return number <= 1 or (is_running and not can_switch_during_run)


def is_next_disabled(*, number: int, count: int, is_running: bool, can_switch_during_run: bool) -> bool:
    """Whether the branch after, of a message that is number ``number`` of ``count``, cannot be shown."""
    return number >= count or (is_running and not can_switch_during_run)


def is_suggestion_disabled(*, sends: bool, is_running: bool, has_queue: bool, is_thread_disabled: bool) -> bool:
    """Whether a suggestion cannot be taken; ``sends``: it goes out at once instead of into the draft."""
    return is_thread_disabled or (sends and is_running and not has_queue)
