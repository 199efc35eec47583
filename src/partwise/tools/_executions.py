"""The ledger of what was started, so that nothing is started twice."""

from __future__ import annotations

__all__ = ["Executions"]


class Executions:
    """Remembers which tool calls were started in which run.

    A call is claimed before its tool runs; whoever gets no claim does not run it. Loading history
    claims nothing and runs nothing.
    """

    def __init__(self) -> None:
        self._started: dict[str, set[str]] = {}

    def claim(self, run_id: str, tool_call_id: str) -> bool:
        """Mark a call as started. Returns whether the caller may run it: true once per run and call."""
        started = self._started.setdefault(run_id, set())
        if tool_call_id in started:
            return False
        started.add(tool_call_id)
        return True

    def has_started(self, run_id: str, tool_call_id: str) -> bool:
        """Tell whether the call was claimed in that run."""
        return tool_call_id in self._started.get(run_id, ())

    def forget(self, run_id: str) -> None:
        """Drop what is remembered of a run that has settled and can claim nothing any more."""
        self._started.pop(run_id, None)
