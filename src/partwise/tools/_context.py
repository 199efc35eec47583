"""What a running tool knows about its call, and whom it may ask."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import attrs

from partwise.errors import UnsupportedError
from partwise.messages import FrozenDict, freeze

__all__ = ["Report", "ToolContext", "log_failure"]

Report: TypeAlias = Callable[[Exception], None]

_logger = logging.getLogger("partwise.tools")


def log_failure(failure: Exception) -> None:
    """Log a failure that must not change the outcome; the way of reporting unless another is given."""
    _logger.error("A failure beside a tool's result: %s", failure, exc_info=failure)


async def _nobody(payload: Any) -> Any:
    action = "human input"
    raise UnsupportedError(action, "Run the tool in a runtime, which knows how to ask.")


def _drop(value: Any) -> None:
    return None


@attrs.frozen(kw_only=True)
class ToolContext:
    """Handed to a tool whose function has a parameter annotated ``ToolContext``.

    There is no signal to look at: cancelling a run cancels the tool's awaits.

    Attributes:
        tool_call_id: The call that is being served.
        tool_name: The tool's name.
        message_id: The message that holds the call.
        thread_id: The thread of that message, if it has an id.
        run_config: What the caller of append or start_run handed over.
        ask_human: How a human is asked; given by the runtime.
        on_progress: Who gets preliminary results; given by the runtime.
        on_report: Who gets failures that do not change the outcome.
    """

    tool_call_id: str
    tool_name: str = ""
    message_id: str = ""
    thread_id: str | None = None
    run_config: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=freeze)
    ask_human: Callable[[Any], Awaitable[Any]] = attrs.field(default=_nobody, repr=False)
    on_progress: Callable[[Any], None] = attrs.field(default=_drop, repr=False)
    on_report: Report = attrs.field(default=log_failure, repr=False)

    async def human(self, payload: Any) -> Any:
        """Ask a human and wait for the answer.

        Args:
            payload: JSON that tells the UI what to ask.

        Returns:
            Whatever the UI answered.

        Raises:
            UnsupportedError: Nobody can be asked here.
        """
        return await self.ask_human(payload)

    def progress(self, value: Any) -> None:
        """Show a preliminary result while the tool goes on."""
        self.on_progress(value)

    def report(self, failure: Exception) -> None:
        """Report a failure that does not change the result."""
        self.on_report(failure)
