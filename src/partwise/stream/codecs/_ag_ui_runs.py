"""How a run of AG-UI ends, and what its list of all messages adds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from partwise.messages import Approval, FrozenDict, Interrupt, ReasoningPart, TextPart, ToolCallPart, Usage
from partwise.stream._chunk_json import read_error
from partwise.stream._chunks import Chunk, ErrorChunk, Finish, FinishReason, StepFinish
from partwise.stream._fields import Fields, read_reason
from partwise.stream._json_text import json_text
from partwise.stream._part_chunks import PartArgsFinish, PartStart
from partwise.stream._part_json import read_approval, without_none
from partwise.stream.writing import PartWriter

from ._ag_ui_calls import AgUiCalls, value_of
from ._ag_ui_texts import Texts
from ._ag_ui_types import OURS, ours_of

if TYPE_CHECKING:
    from ag_ui import core

__all__ = ["close_run", "error_of", "settle_messages"]


def close_run(event: core.RunFinishedEvent, parts: PartWriter, calls: AgUiCalls) -> Finish:
    """Ask what the run asks before it goes on, and return how it ended."""
    outcome = event.outcome
    kind = None if outcome is None else outcome.type
    for interrupt in getattr(outcome, "interrupts", ()):
        _ask(interrupt, parts, calls)
    ours = Fields(ours_of(event), "event")
    reason: FinishReason = "tool-calls" if calls.has_open else "stop"
    if kind == "interrupt":
        reason = "interrupt"
    elif kind == "cancelled":
        reason = "cancelled"
    usage = _usage(event.usage)
    if ours.has("finishReason"):
        return Finish(read_reason(ours), total_usage=usage)
    return Finish(reason, usage=usage, total_usage=usage)


def error_of(event: core.RunErrorEvent) -> list[Chunk]:
    """Return what the end of a run by an error says."""
    error = ErrorChunk(read_error({"error": event.message, "code": event.code}))
    usage = _usage(event.usage)
    return [error] if usage is None else [StepFinish(usage, reason="error"), error]


def settle_messages(
    messages: Sequence[core.Message], texts: Texts, calls: AgUiCalls, given: set[str]
) -> list[core.ActivityMessage]:
    """Write what a list of all messages has and the stream had not brought; its activities are returned.

    The answer begins after the last message of the user, and after what the agent was given. Ids of a list
    need not be those of the stream, so texts are also known by what they say.
    """
    users = [at for at, message in enumerate(messages) if message.role == "user"]
    answer = messages[users[-1] + 1 :] if users else messages
    answer = _since_known([message for message in answer if message.id not in given], texts, calls)
    activities: list[core.ActivityMessage] = []
    texts.compare()
    for message in answer:
        match message.role:
            case "assistant":
                if message.content:
                    texts.settle(TextPart, message.id, message.content)
                for call in message.tool_calls or ():
                    calls.settle(call.id, call.function.name, call.function.arguments)
            case "reasoning":
                if message.content:
                    texts.settle(ReasoningPart, message.id, message.content)
            case "tool":
                if not calls.has_result(message.tool_call_id):
                    content = message.content if isinstance(message.content, str) else _texts_of(message.content)
                    calls.respond(message.tool_call_id, value_of(content), is_error=message.error is not None)
            case "activity":
                activities.append(message)
            case _:
                pass
    return activities


def _since_known(messages: Sequence[core.Message], texts: Texts, calls: AgUiCalls) -> Sequence[core.Message]:
    """Leave out what comes before all that this stream has brought: it is of earlier runs."""
    for at, message in enumerate(messages):
        made = message.tool_calls or () if message.role == "assistant" else ()
        if texts.has_said(message.id) or any(calls.knows(call.id) for call in made):
            return messages[at:]
    return messages


def _ask(interrupt: core.Interrupt, parts: PartWriter, calls: AgUiCalls) -> None:
    asked = interrupt.model_dump(by_alias=True)
    metadata = (interrupt.metadata or {}).get(OURS)
    if interrupt.tool_call_id is not None:
        extra = without_none(
            prompt=interrupt.message, requestReason=interrupt.reason, responseSchema=interrupt.response_schema
        )
        approval = read_approval(metadata) if metadata else Approval(id=interrupt.id, extra=extra)
        if calls.ask(interrupt.tool_call_id, approval):
            return
    text = json_text(asked)
    part = ToolCallPart(
        tool_call_id=interrupt.id,
        tool_name="interrupt",
        args=FrozenDict(asked),
        args_text=text,
        interrupt=Interrupt(payload=asked),
    )
    number = parts.count
    parts.take(PartStart(part))
    parts.take(PartArgsFinish((number,)))


def _usage(given: Iterable[core.TokenUsage] | None) -> Usage | None:
    """Add up what the models of a run have cost."""
    listed = list(given or ())

    def total(name: str) -> int | None:
        numbers: list[int] = [value for one in listed if (value := getattr(one, name)) is not None]
        return sum(numbers) if numbers else None

    names = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_input_tokens")
    usage = Usage(**{name: total(name) for name in names})
    return None if usage == Usage() else usage


def _texts_of(content: Sequence[Any]) -> str:
    parts = [part.model_dump(by_alias=True) for part in content]
    texts = [part["text"] for part in parts if part["type"] == "text"]
    return "".join(texts) if len(texts) == len(parts) else json_text(parts)
