"""Tools offered to a model: their definition, what a model is told of them, and running them at most once."""

from ._arguments import bind_arguments, parse_arguments
from ._context import Report, ToolContext, log_failure
from ._decisions import (
    CallPlan,
    calls_needing_approval,
    calls_to_run,
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
from ._registry import Instruction, InstructionHandle, ModelContextRegistry, ProviderHandle, ToolHandle
from ._response import NO_RESULT, ToolResponse, error_response
from ._run import run_tool, run_tools
from ._tool import Display, Execute, NeedsApproval, ToModelOutput, Tool, ToolKind, Validate
from ._toolkit import Toolkit, ToolOptions, tool_from_function

__all__ = [
    "NO_RESULT",
    "CallPlan",
    "ContextProvider",
    "Display",
    "Execute",
    "Executions",
    "Instruction",
    "InstructionHandle",
    "ModelContext",
    "ModelContextProvider",
    "ModelContextRegistry",
    "NeedsApproval",
    "ProviderHandle",
    "Report",
    "ToModelOutput",
    "Tool",
    "ToolContext",
    "ToolHandle",
    "ToolKind",
    "ToolOptions",
    "ToolResponse",
    "Toolkit",
    "Validate",
    "bind_arguments",
    "calls_needing_approval",
    "calls_to_run",
    "context_of",
    "error_response",
    "log_failure",
    "merge_contexts",
    "parse_arguments",
    "plan_calls",
    "refusal",
    "run_tool",
    "run_tools",
    "tool_from_function",
    "tools_for_backend",
    "with_approval_request",
    "with_response",
]
