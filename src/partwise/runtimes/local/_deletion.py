"""Deleting a message: from the history first, then from the thread."""

from __future__ import annotations

from partwise.adapters import HistoryItem
from partwise.errors import MessageNotFoundError, UnsupportedError
from partwise.runtimes._operation import Operation

from ._history import HistoryWriter
from ._host import Host
from ._runs import Runs

__all__ = ["delete_message"]


def delete_message(host: Host, history: HistoryWriter, runs: Runs, message_id: str) -> Operation:
    """Delete a visible message; see ``LocalThread.delete_message``."""
    delete = getattr(host.options.history, "delete", None)
    if delete is None:
        msg = "delete"
        raise UnsupportedError(msg, "It needs a history that can delete.")
    messages = host.document.state.messages
    if message_id not in messages:
        raise MessageNotFoundError(message_id, where="the visible branch")
    index = messages.index_of(message_id)
    item = HistoryItem(parent_id=messages[index - 1].id if index else None, message=messages[index])

    def take_out() -> None:
        if message_id in host.document.tree:
            host.document.delete(message_id)
            runs.end_strays()

    return history.delete(item, delete, take_out)
