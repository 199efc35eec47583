"""Asking the owner for other messages: another branch, or the same without some."""

from __future__ import annotations

from collections.abc import Iterable

from partwise.errors import MessageNotFoundError
from partwise.messages import Message
from partwise.runtimes._operation import Operation

from ._conversion import Conversion
from ._host import Host, asked, require, told
from ._mirror import Mirror
from ._options import BranchChange

__all__ = ["Branching"]


class Branching:
    """Hands messages back to their owner. A branch is shown once the owner shows it."""

    def __init__(self, host: Host, mirror: Mirror, conversion: Conversion) -> None:
        self._host = host
        self._mirror = mirror
        self._conversion = conversion

    def hand_back(self, messages: Iterable[Message]) -> None:
        """Give the owner the items of messages to be shown in the place of all others.

        Raises:
            UnsupportedError: The owner takes no messages back.
        """
        set_messages = require(self._host.options.set_messages, "switch_to_branch", "set_messages")
        told(self._host, "set_messages", set_messages, self._conversion.sources(messages))

    def keep_answers(self, parent_id: str | None) -> None:
        """Keep the answers below a message as alternatives, since another one is asked for."""
        if parent_id is None or parent_id in self._host.document.tree:
            for message_id in self._host.document.tree.children_of(parent_id):
                self._mirror.keep(message_id)

    def switch(self, message_id: str) -> None:
        """Ask for the branch of a message; see ``ExternalThread.switch_to_branch``."""
        host, document = self._host, self._host.document
        options = host.options
        set_messages = require(options.set_messages, "switch_to_branch", "set_messages")
        if options.is_running:
            return
        before = document.tree.canonical_head_id
        document.turn(message_id)
        self._mirror.loosen()
        path, head_id = document.tree.messages, document.tree.canonical_head_id
        told(host, "set_messages", set_messages, self._conversion.sources(path))
        if options.on_branch_change is not None and head_id != before:
            change = BranchChange(head_id=head_id, visible_ids=tuple(message.id for message in path))
            told(host, "on_branch_change", options.on_branch_change, change)

    def delete(self, message_id: str) -> Operation:
        """Ask for the deletion of a message; see ``ExternalThread.delete_message``."""
        options = self._host.options
        self._mirror.kept_ids.discard(message_id)
        if options.on_delete is not None:
            return asked(self._host, options.on_delete, message_id)
        set_messages = require(options.set_messages, "delete", "on_delete or set_messages")
        messages = self._host.document.state.messages
        if message_id not in messages:
            raise MessageNotFoundError(message_id, where="the visible branch")
        rest = self._conversion.sources(message for message in messages if message.id != message_id)
        operation = asked(self._host, set_messages, rest)
        if message_id in self._host.document.tree:
            self._mirror.loosen()
            self._host.document.delete(message_id)
        return operation
