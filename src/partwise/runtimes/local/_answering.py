"""What people answer, and whether the run goes on."""

from __future__ import annotations

from typing import Any

from partwise.adapters import HistoryItem
from partwise.errors import NotAllowedError
from partwise.messages import AssistantMessage, ModelContent, RequiresActionStatus, RunningStatus, should_continue
from partwise.runtimes._operation import Operation
from partwise.tools import ToolResponse

from ._answers import check_answerable, find_approval, with_decision, with_tool_result
from ._history import HistoryWriter
from ._host import Host
from ._runs import Runs

__all__ = ["Answering"]


class Answering:
    """Writes results and decisions to paused messages; when nothing is missing any more, the run goes on."""

    def __init__(self, host: Host, history: HistoryWriter, runs: Runs) -> None:
        self._host = host
        self._history = history
        self._runs = runs

    def add_tool_result(
        self,
        message_id: str,
        tool_call_id: str,
        result: Any,
        *,
        is_error: bool | None,
        artifact: Any,
        model_content: tuple[ModelContent, ...] | None,
    ) -> Operation:
        """Give a call its result; see ``LocalThread.add_tool_result``."""
        if isinstance(result, ToolResponse):
            is_error, artifact, model_content = result.is_error, result.artifact, result.model_content
            result = result.result
        message = self._assistant(message_id)
        answered, is_new = with_tool_result(
            message,
            tool_call_id,
            result=result,
            is_error=is_error,
            artifact=artifact,
            model_content=model_content,
        )
        if isinstance(message.status, RequiresActionStatus) and not self._is_executing(message_id):
            # The model said that it waits, so what it still sends was said without the result.
            self._runs.disown(message_id)
        self._host.document.replace(answered)
        if is_new:
            return self._continue(answered)
        if answered != message:
            self._keep(answered)
        return Operation.done()

    def _is_executing(self, message_id: str) -> bool:
        """Whether the message's own run is executing tools, as opposed to listening to its model."""
        active = self._runs.active
        return (
            active is not None
            and active.message_id == message_id
            and self._runs.roundtrips.tooling.is_running_tools(active)
        )

    def respond_to_approval(
        self,
        approval_id: str,
        *,
        approved: bool | None,
        option_id: str | None,
        reason: str | None,
        tool_call_id: str | None,
    ) -> Operation:
        """Decide on an approval; see ``LocalThread.respond_to_approval``."""
        state = self._host.document.state
        message, index = find_approval(reversed(state.messages), approval_id, tool_call_id)
        active = self._runs.active
        is_executing = self._is_executing(message.id)
        check_answerable(
            message,
            index,
            is_head=message.id == state.head_id,
            is_busy=active is not None and not active.is_concluded and not is_executing,
            is_executing=is_executing,
        )
        decided = with_decision(message, index, approved=approved, option_id=option_id, reason=reason)
        self._host.document.replace(decided)
        return Operation.done() if is_executing else self._continue(decided)

    def _continue(self, message: AssistantMessage) -> Operation:
        """Go on with a paused message if nothing is missing any more; otherwise keep what there is."""
        if should_continue(message, self._host.options.human_tools):
            self._host.announce()
            place = self._host.document.tree.get(message.id)
            run_config = self._runs.config_of(message.id)
            return self._runs.start(place.parent_id, message=message, run_config=run_config).operation
        self._keep(message)
        return Operation.done()

    def _keep(self, message: AssistantMessage) -> None:
        """Store what was answered, where a message can be stored again."""
        is_known = isinstance(message.status, RequiresActionStatus) or self._history.has(message.id)
        if self._history.can_update and is_known and not isinstance(message.status, RunningStatus):
            place = self._host.document.tree.get(message.id)
            run_config = self._runs.config_of(message.id)
            self._history.write(HistoryItem(parent_id=place.parent_id, message=message, run_config=run_config))

    def _assistant(self, message_id: str) -> AssistantMessage:
        message = self._host.document.tree.get(message_id).message
        if not isinstance(message, AssistantMessage):
            text = f"Message {message_id!r} is the {message.role}'s; only answers hold tool calls."
            raise NotAllowedError(text, code="not-assistant", id=message_id)
        return message
