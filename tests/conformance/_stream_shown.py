"""Messages of a stream between the reference's spelling and the product's."""

import re
from datetime import UTC, datetime
from typing import Any

from partwise.messages import (
    COMPLETE,
    MISSING,
    RUNNING,
    AssistantMessage,
    AssistantMetadata,
    AssistantPart,
    ReasoningPart,
    TextPart,
    Timing,
    ToolCallPart,
    Usage,
    thaw,
)
from partwise.stream import read_chunk, write_chunk
from partwise.stream._chunk_json import write_usage
from partwise.stream._part_json import write_approval, write_model_content

from ._spelling import status as written_status

Json = Any

GENERATED = re.compile(r"(@id|step-)[0-9]+")
T0 = 1_700_000_000_000.0


def initial_message(given: Json) -> AssistantMessage:
    """The message that a stream begins with."""
    like = given.get("initialMessage", {"status": {"type": "running"}, "parts": [], "metadata": {}})
    metadata = like["metadata"]
    state = given.get("initialState", metadata.get("unstable_state"))
    return AssistantMessage(
        id="m",
        created_at=datetime(2024, 1, 1, tzinfo=UTC),
        content=tuple(_initial_part(part) for part in like["parts"]),
        status=_status(like["status"]),
        metadata=AssistantMetadata(state=state, custom=metadata.get("custom", {})),
    )


def _initial_part(part: Json) -> AssistantPart:
    chunk: Any = read_chunk({"type": "part-start", "path": [], "part": part})
    made: AssistantPart = chunk.part
    if isinstance(made, (TextPart, ReasoningPart)):
        return type(made)(made.text, status=RUNNING if part["status"]["type"] == "running" else COMPLETE)
    return made


def _status(status: Json) -> Any:
    from ._spelling import fallback_status

    return RUNNING if status["type"] == "running" else fallback_status(status)


def shown(message: AssistantMessage, ignored: set[str] = frozenset()) -> Json:  # type: ignore[assignment]  # never changed
    """A message as the reference writes it, without what it derives."""
    metadata = message.metadata
    out: Json = {
        "role": "assistant",
        "status": written_status(message.status),
        "parts": [_part(part, ignored) for part in message.content],
        "metadata": {
            "unstable_state": thaw(metadata.state),
            "unstable_data": thaw(metadata.data),
            "unstable_annotations": thaw(metadata.annotations),
            "steps": shown_steps(
                [{"messageId": step.message_id, "usage": write_usage(step.usage)} for step in metadata.steps]
            ),
            "custom": thaw(metadata.custom),
        },
    }
    if metadata.timing is not None and "timing" not in ignored:
        out["metadata"]["timing"] = _timing(metadata.timing, ignored)
    return out


def shown_steps(steps: Json) -> Json:
    """Steps as the product keeps them, with generated ids by the order of their appearance."""
    made = [step.get("messageId") for step in steps if GENERATED.fullmatch(step.get("messageId") or "")]
    return [
        {
            "messageId": f"@id{made.index(name) + 1}" if (name := step.get("messageId")) in made else name,
            "usage": usage_of(step.get("usage") or {}),
        }
        for step in steps
    ]


def usage_of(raw: Json) -> Json:
    """Usage as the product shows it."""
    known = Usage(input_tokens=raw.get("inputTokens"), output_tokens=raw.get("outputTokens"))
    return None if known == Usage() else write_usage(known)


def _timing(timing: Any, ignored: set[str]) -> Json:
    named = {
        "streamStartTime": _when(timing.stream_start_time),
        "firstTokenTime": timing.first_token_time,
        "totalStreamTime": timing.total_stream_time,
        "tokenCount": timing.token_count,
        "tokensPerSecond": timing.tokens_per_second and round(timing.tokens_per_second, 6),
        "totalChunks": timing.total_chunks,
        "toolCallCount": timing.tool_call_count,
    }
    return {key: value for key, value in named.items() if value is not None and key not in ignored}


def _when(time: float) -> str:
    return "@t0" if time == T0 else f"@t0+{int(time - T0)}"


def _part_timing(timing: Timing | None) -> Json:
    if timing is None:
        return {}
    ended = {} if timing.completed_at is None else {"completedAt": _when(timing.completed_at)}
    return {"timing": {"startedAt": _when(timing.started_at), **ended}}


def _part(part: AssistantPart, ignored: set[str]) -> Json:
    (chunk,) = write_chunk(read_start(part))
    out = thaw(chunk["part"])
    match part:
        case TextPart() | ReasoningPart():
            out["text"] = part.text
            if part.status is not None:
                out["status"] = (
                    {"type": "running"} if part.status == RUNNING else {"type": "complete", "reason": "unknown"}
                )
            if isinstance(part, ReasoningPart):
                out |= _part_timing(part.timing)
        case ToolCallPart():
            out |= {"argsText": part.args_text, "args": thaw(part.args), **_part_timing(part.timing), **_result(part)}
            if part.approval is not None:
                out["approval"] = thaw(write_approval(part.approval))
        case _:
            pass
    return {key: value for key, value in out.items() if key not in ignored}


def read_start(part: AssistantPart) -> Any:
    """The chunk that begins a part."""
    from partwise.stream import PartStart

    return PartStart(part)


def _result(part: ToolCallPart) -> Json:
    out: Json = {}
    if part.has_result or part.preliminary is not MISSING:
        out["result"] = thaw(part.result if part.has_result else part.preliminary)
        out["isError"] = bool(part.is_error)
    if part.preliminary is not MISSING:
        out["isPreliminary"] = True
    if part.artifact is not MISSING:
        out["artifact"] = thaw(part.artifact)
    if part.model_content is not None:
        out["modelContent"] = write_model_content(part.model_content)
    if part.messages is not None:
        out["messages"] = len(part.messages)
    return out
