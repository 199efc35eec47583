"""Headless widgets: for each thing on a screen, what it shows (slices) and what it may do (commands).

They know no user interface. A widget subscribes to the slices that it renders, and nothing else wakes it.
"""

from ._action_bar import ActionBar
from ._branch_picker import BranchPicker, BranchPlace
from ._composer import ComposerView
from ._disabled import (
    is_cancel_disabled,
    is_copy_disabled,
    is_edit_disabled,
    is_input_disabled,
    is_next_disabled,
    is_previous_disabled,
    is_reload_disabled,
    is_send_disabled,
    is_suggestion_disabled,
)
from ._message import MessageView
from ._part import PartKey, PartView, part_keys
from ._thread import ThreadView
from ._thread_list import ThreadListItemView, ThreadListView

__all__ = [
    "ActionBar",
    "BranchPicker",
    "BranchPlace",
    "ComposerView",
    "MessageView",
    "PartKey",
    "PartView",
    "ThreadListItemView",
    "ThreadListView",
    "ThreadView",
    "is_cancel_disabled",
    "is_copy_disabled",
    "is_edit_disabled",
    "is_input_disabled",
    "is_next_disabled",
    "is_previous_disabled",
    "is_reload_disabled",
    "is_send_disabled",
    "is_suggestion_disabled",
    "part_keys",
]
