"""Deleting a message: from the history first, then from the thread."""

from __future__ import annotations

from typing import Any

from partwise.adapters import HistoryItem
from partwise.errors import HistoryError, MessageNotFoundError, UnsupportedError
from partwise.runtimes._operation import Operation

from ._host import Host
from ._runs import Runs

__all__ = ["delete_message"]


def delete_message(host: Host, runs: Runs, message_id: str) -> Operation:
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
    operation = Operation()
    host.spawn(_delete, host, runs, delete, item, operation)
    return operation


async def _delete(host: Host, runs: Runs, delete: Any, item: HistoryItem, operation: Operation) -> None:
    message_id = item.message.id
    failure: HistoryError | None = None
    try:
        await delete((item,))
        if message_id in host.document.tree:
            host.document.delete(message_id)
            runs.end_strays()
    except Exception as error:
        failure = HistoryError("delete", f"could not delete message {message_id!r}: {error}", message_id=message_id)
        failure.__cause__ = error
        host.report_history("delete", message_id, error)
    except BaseException as error:
        operation.settle(error)
        raise
    operation.settle(failure)
