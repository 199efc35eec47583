"""partwise: chat with language models and agents as reactive state.

The rooms, in the order in which data flows through them:

- `messages`: what a conversation is made of: parts, statuses, messages, attachments.
- `stream`: how an answer arrives: chunks, and the fold that turns them into a message.
- `repository`: the branching tree that keeps every message and every branch.
- `reactive`: the store: one snapshot, one queue of commits, slices indexed by what they read.
- `store`: the shape of the state of a thread and a composer, and named slices over it.
- `tools`: typed functions offered to a model, and their execution at most once.
- `adapters`: the protocols to implement: chat model, history, thread list, suggestions, feedback.
- `runtimes`: what turns user actions and model output into commits.
- `primitives`: headless widgets: what each thing on a screen shows and may do.
- `providers`, `persistence`, `bindings`, `testing`: ready-made models, histories, user interfaces and fakes.
- `cli`: the `partwise` command.
- `errors`: every exception, as one tree.

A room imports only from rooms below it. Everyday names are importable from here; each is
loaded when it is first used, so `import partwise` pays for nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from partwise._version import __version__

if TYPE_CHECKING:
    from partwise.adapters import RunContext, RunResult
    from partwise.errors import PartwiseError
    from partwise.messages import (
        MISSING,
        AssistantMessage,
        SystemMessage,
        TextPart,
        ToolCallPart,
        UserMessage,
        message_from_like,
        message_text,
        part_status,
        should_continue,
    )
    from partwise.reactive import KeyedSeq, Slice, Store, keyed_changes, per_frame, text_deltas
    from partwise.runtimes import ExternalStoreRuntime, LocalRuntime, ThreadListRuntime
    from partwise.store import Suggestion, ThreadState
    from partwise.stream import (
        Chunk,
        ErrorChunk,
        Finish,
        PartChunk,
        ReasoningDelta,
        StepFinish,
        TextDelta,
        ToolArgsDelta,
        ToolArgsFinish,
        ToolCallStart,
        ToolResult,
    )
    from partwise.tools import Tool, ToolContext, Toolkit, ToolResponse

__all__ = [
    "MISSING",
    "AssistantMessage",
    "Chunk",
    "ErrorChunk",
    "ExternalStoreRuntime",
    "Finish",
    "KeyedSeq",
    "LocalRuntime",
    "PartChunk",
    "PartwiseError",
    "ReasoningDelta",
    "RunContext",
    "RunResult",
    "Slice",
    "StepFinish",
    "Store",
    "Suggestion",
    "SystemMessage",
    "TextDelta",
    "TextPart",
    "ThreadListRuntime",
    "ThreadState",
    "Tool",
    "ToolArgsDelta",
    "ToolArgsFinish",
    "ToolCallPart",
    "ToolCallStart",
    "ToolContext",
    "ToolResponse",
    "ToolResult",
    "Toolkit",
    "UserMessage",
    "__version__",
    "keyed_changes",
    "message_from_like",
    "message_text",
    "part_status",
    "per_frame",
    "should_continue",
    "text_deltas",
]

_HOMES = {
    "MISSING": "partwise.messages",
    "AssistantMessage": "partwise.messages",
    "Chunk": "partwise.stream",
    "ErrorChunk": "partwise.stream",
    "ExternalStoreRuntime": "partwise.runtimes",
    "Finish": "partwise.stream",
    "KeyedSeq": "partwise.reactive",
    "LocalRuntime": "partwise.runtimes",
    "PartChunk": "partwise.stream",
    "PartwiseError": "partwise.errors",
    "ReasoningDelta": "partwise.stream",
    "RunContext": "partwise.adapters",
    "RunResult": "partwise.adapters",
    "Slice": "partwise.reactive",
    "StepFinish": "partwise.stream",
    "Store": "partwise.reactive",
    "Suggestion": "partwise.store",
    "SystemMessage": "partwise.messages",
    "TextDelta": "partwise.stream",
    "TextPart": "partwise.messages",
    "ThreadListRuntime": "partwise.runtimes",
    "ThreadState": "partwise.store",
    "Tool": "partwise.tools",
    "ToolArgsDelta": "partwise.stream",
    "ToolArgsFinish": "partwise.stream",
    "ToolCallPart": "partwise.messages",
    "ToolCallStart": "partwise.stream",
    "ToolContext": "partwise.tools",
    "ToolResponse": "partwise.tools",
    "ToolResult": "partwise.stream",
    "Toolkit": "partwise.tools",
    "UserMessage": "partwise.messages",
    "keyed_changes": "partwise.reactive",
    "message_from_like": "partwise.messages",
    "message_text": "partwise.messages",
    "part_status": "partwise.messages",
    "per_frame": "partwise.reactive",
    "should_continue": "partwise.messages",
    "text_deltas": "partwise.reactive",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
