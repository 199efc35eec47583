"""Loading what the history has stored, once."""

from __future__ import annotations

from partwise.adapters import LoadedHistory
from partwise.errors import HistoryError
from partwise.messages import AssistantMessage, IncompleteStatus, Message, RunningStatus, with_status
from partwise.repository import Entry, Export, ids_in_order
from partwise.runtimes._operation import Operation

from ._history import HistoryWriter
from ._host import Host
from ._runs import Runs

__all__ = ["Loader"]


class Loader:
    """Loads the history when asked to; a failed load may be tried again."""

    def __init__(self, host: Host, history: HistoryWriter, runs: Runs) -> None:
        self._host = host
        self._history = history
        self._runs = runs
        self._operation: Operation | None = None
        self._had_history = False

    @property
    def pending(self) -> Operation | None:
        """The load that is under way, if any; messages sent meanwhile wait for it."""
        operation = self._operation
        return operation if operation is not None and self._had_history and not operation.is_done else None

    def load(self) -> Operation:
        """Load; asked again, it is the same load, unless that failed."""
        if self._operation is not None and self._operation.error is None:
            return self._operation
        self._operation = Operation()
        self._had_history = self._host.options.history is not None
        if self._had_history:
            self._host.document.set(is_loading=True)
            self._host.spawn(self._load, self._operation)
        else:
            self._operation.settle()
        return self._operation

    def history_arrived(self) -> None:
        """Load from a history that came after the load was asked for, unless there are messages by now."""
        if self._operation is not None and not self._had_history and not self._host.document.state.messages:
            self._operation = None
            self.load()

    async def _load(self, operation: Operation) -> None:
        error: HistoryError | None = None
        try:
            await self._import()
        except Exception as raised:
            error = HistoryError("load", f"could not be loaded: {raised}")
            error.__cause__ = raised
            self._host.report_history("load", None, raised)
        except BaseException:
            operation.settle(HistoryError("load", "was not loaded: the runtime ended"))
            raise
        finally:
            self._host.document.set(is_loading=False)
        operation.settle(error)

    async def _import(self) -> None:
        history = self._host.options.history
        loaded = None if history is None else await history.load()
        if loaded is None:
            return
        export = self._readable(loaded)
        if export.entries:
            self._host.announce()
        self._host.document.import_(export)
        self._history.take_note([entry.message.id for entry in export.entries])
        self._history.head_loaded()
        resume = getattr(history, "resume", None)
        if loaded.resume and resume is not None:
            self._host.document.set(is_loading=False)
            self._runs.start(self._host.document.tree.head_id, run_config={}, stream=resume, via="history")

    def _readable(self, loaded: LoadedHistory) -> Export[Message]:
        """Leave out what hangs under messages that are not there, and say so."""
        tree = self._host.document.tree
        placed = ids_in_order(loaded.entries)
        if placed is not None and (loaded.head_id is None or loaded.head_id in placed or loaded.head_id in tree):
            return Export(loaded.head_id, tuple([_settled(entry) for entry in loaded.entries]))
        entries = {entry.message.id: _settled(entry) for entry in loaded.entries}
        below: dict[str, list[str]] = {}
        reached: set[str] = set()
        for message_id, entry in entries.items():
            parent_id = entry.parent_id
            if not parent_id or parent_id in reached or parent_id in tree:
                reached.add(message_id)
            else:
                below.setdefault(parent_id, []).append(message_id)
        # Histories give parents before their children, so that hardly anything is left to be found here.
        found = [message_id for message_id in below if message_id in reached]
        for message_id in found:
            found += below.pop(message_id, ())
        for parent_id, lost in below.items():
            for message_id in lost:
                del entries[message_id]
                text = f"holds message {message_id!r} under {parent_id!r}, which cannot be reached; it is not shown"
                self._host.report("history", text)
        head_id = loaded.head_id
        if head_id is not None and head_id not in entries and head_id not in tree:
            self._host.report("history", f"names {head_id!r} as the last message, which it does not hold")
            head_id = None
        return Export(head_id, tuple(entries.values()))


def _settled(entry: Entry[Message]) -> Entry[Message]:
    """End an answer that was still being made when its process died."""
    message = entry.message
    if isinstance(message, AssistantMessage) and isinstance(message.status, RunningStatus):
        return Entry(entry.parent_id, with_status(message, IncompleteStatus("other")))
    return entry
