"""Tools offered to a model: their definition, what a model is told of them, and running them at most once."""

from ._arguments import bind_arguments, parse_arguments
from ._call_reader import CallReader, FieldPath
from ._context import Report, ToolContext, log_failure
from ._decisions import (
    CallPlan,
    calls_needing_approval,
    calls_to_run,
    needs_approval,
    plan_calls,
    refusal,
    with_approval_request,
    with_response,
)
from ._executions import Executions
from ._model_context import (
    ContextProvider,
    ModelContext,
    ModelContextProvider,
    context_of,
    merge_contexts,
    tools_for_backend,
)
from ._open_calls import run_open_calls
from ._registry import Instruction, InstructionHandle, ModelContextRegistry, ProviderHandle, ToolHandle
from ._response import NO_RESULT, ToolResponse, error_response
from ._run import run_tool, run_tools
from ._tool import Display, Execute, NeedsApproval, StreamCall, ToModelOutput, Tool, ToolKind, Validate
from ._tool_stream import AskHuman, ToolStream, tool_stream
from ._toolkit import Toolkit, ToolOptions, tool_from_function
from ._tracker import ToolState, ToolTracker, TrackedResult

__all__ = [
    "NO_RESULT",
    "AskHuman",
    "CallPlan",
    "CallReader",
    "ContextProvider",
    "Display",
    "Execute",
    "Executions",
    "FieldPath",
    "Instruction",
    "InstructionHandle",
    "ModelContext",
    "ModelContextProvider",
    "ModelContextRegistry",
    "NeedsApproval",
    "ProviderHandle",
    "Report",
    "StreamCall",
    "ToModelOutput",
    "Tool",
    "ToolContext",
    "ToolHandle",
    "ToolKind",
    "ToolOptions",
    "ToolResponse",
    "ToolState",
    "ToolStream",
    "ToolTracker",
    "Toolkit",
    "TrackedResult",
    "Validate",
    "bind_arguments",
    "calls_needing_approval",
    "calls_to_run",
    "context_of",
    "error_response",
    "log_failure",
    "merge_contexts",
    "needs_approval",
    "parse_arguments",
    "plan_calls",
    "refusal",
    "run_open_calls",
    "run_tool",
    "run_tools",
    "tool_from_function",
    "tool_stream",
    "tools_for_backend",
    "with_approval_request",
    "with_response",
]
