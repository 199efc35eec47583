"""Several outputs of an agent as one answer: values in, one message-like value out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, cast

import attrs

from partwise.errors import FeedError, MessageLikeError
from partwise.messages import (
    AssistantMessage,
    AssistantMetadata,
    AssistantPart,
    Message,
    ReasoningPart,
    SystemMessage,
    ToolCallPart,
    UserMessage,
    message_from_like,
    spelled,
)

from ._reading import own_id, read_like
from ._remarks import Remarks

__all__ = ["Output", "joined", "output_of"]

Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
Content: TypeAlias = AssistantPart | Mapping[str, Any]
_MESSAGES = (UserMessage, AssistantMessage, SystemMessage)
_LONGEST_QUOTE = 200
# Of a message inside of a call that does not say its time: read again, it is the same message.
_UNKNOWN_TIME = datetime.fromtimestamp(0, UTC)
_BESIDE_A_RESULT = ("tool_name", "is_error", "artifact", "model_content", "messages")


@attrs.frozen(eq=False)
class Output:
    """One thing that a converter gave, read: message-like, or the result of a tool.

    Attributes:
        like: A message, or the fields in our spelling.
        joins: Whether the next answer may become one with it; results of its tools always do.
        answer: What an assistant's output says; None if nothing of it can be shown.
        content: Its parts. A call without an id stays a mapping until its place in the whole answer names it.
        result: The result of a tool, as the call that has it.
    """

    role: Role
    like: Message | Mapping[str, Any]
    joins: bool = True
    answer: AssistantMessage | None = None
    content: tuple[Content, ...] = ()
    result: ToolCallPart | None = None


def output_of(given: object, item: object, *, name: str, remarks: Remarks) -> Output:
    """Read what a converter gave.

    Args:
        given: What it gave.
        item: What it was given.
        name: What the output is called in reports if it has no id.
        remarks: Told what cannot be shown.

    Raises:
        FeedError: It is no output (code ``"output"``); or the feed is to be strict, and something cannot be shown.
    """
    if isinstance(given, _MESSAGES):
        return _read(given.role, given, name=name, remarks=remarks, joins=True)
    fields: dict[str, Any] = {}
    if isinstance(given, Mapping):
        fields = {spelled(str(key)): value for key, value in cast("Mapping[object, Any]", given).items()}
    role = fields.get("role")
    is_sound = role in ("user", "assistant", "system") and isinstance(fields.get("content"), (str, list, tuple))
    if not is_sound and not (role == "tool" and isinstance(fields.get("tool_call_id"), str)):
        quoted = _quoted(cast("object", given))  # type: ignore[redundant-cast]  # redundant for mypy only
        text = (
            f"The converter gave {quoted} for {_quoted(item)}. Give a message, a mapping with role and content, "
            "the result of a tool (role 'tool' and tool_call_id), a list of these, or an empty list for nothing."
        )
        raise FeedError(text, code="output")
    strategy = fields.pop("joinStrategy", None) or fields.pop("join_strategy", None)
    return _read(cast("Role", role), fields, name=name, remarks=remarks, joins=strategy != "none")


def _read(role: Role, like: Message | Mapping[str, Any], *, name: str, remarks: Remarks, joins: bool) -> Output:
    if role == "tool":
        return Output(role, like, joins, result=_result(cast("Mapping[str, Any]", like), remarks))
    if role != "assistant":
        return Output(role, like, joins)
    message = read_like(
        like, fallback_id=name, fallback_time=_UNKNOWN_TIME, is_last=False, is_running=False, remarks=remarks
    )
    if message is None:
        return Output(role, like, joins)
    answer = cast("AssistantMessage", message)
    made_up = f"tool-{name}-"
    is_named = own_id(like) is not None
    content = tuple(
        _unnamed(part)
        if isinstance(part, ToolCallPart) and not is_named and part.tool_call_id.startswith(made_up)
        else part
        for part in answer.content
    )
    return Output(role, like, joins, answer, content)


def _unnamed(part: ToolCallPart) -> Mapping[str, Any]:
    """A call as a mapping without the id that was made up for it."""
    return {"type": part.type, **_told(part), "tool_name": part.tool_name}


def _result(fields: Mapping[str, Any], remarks: Remarks) -> ToolCallPart:
    """Read the result of a tool; what stands beside it and cannot be read is told and left out."""
    call_id: str = fields["tool_call_id"]
    bare: dict[str, Any] = {"tool_call_id": call_id, "tool_name": "", "result": fields.get("result")}
    beside = {name: fields[name] for name in _BESIDE_A_RESULT if fields.get(name) is not None}
    try:
        if isinstance(beside.get("messages"), (list, tuple)):
            beside["messages"] = tuple(
                message_from_like(like, fallback_id=f"{call_id}-{number}", fallback_time=_UNKNOWN_TIME)
                for number, like in enumerate(beside["messages"])
            )
        like = {"role": "assistant", "content": [{"type": "tool-call", **bare, **beside}]}
        return cast(
            "ToolCallPart", message_from_like(like, fallback_id=call_id, fallback_time=_UNKNOWN_TIME).content[0]
        )
    except MessageLikeError as error:
        text = f"The result of tool call {call_id!r} is shown without what stands beside it: {error}"
        remarks.tell("result", call_id, text)
        return ToolCallPart(**bare)


def _quoted(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}..."


def joined(outputs: Sequence[Output], remarks: Remarks) -> Any:
    """Return what outputs become together: a message-like value, or None if there is nothing to show.

    The first id and time that are given count, and of status, state, timing and feedback the last ones;
    annotations, data and steps follow each other. A call that is told again is the same call, and what is told
    later of it counts. Reasoning with the parent of an earlier one continues it. A result is set on its call,
    also when it comes first; one without a call is told and left out, and so is the other name of a tool.

    Args:
        outputs: A user's or a system message alone, or answers and results of tools.
        remarks: Told what cannot be shown.

    Raises:
        FeedError: The feed is to be strict, and something cannot be shown.
    """
    if outputs[0].role in ("user", "system"):
        return outputs[0].like
    answers = [output for output in outputs if output.answer is not None]
    results = [output.result for output in outputs if output.result is not None]
    content = _with_results(_content(answers), results, remarks)
    if not answers:
        return None
    likes = [output.like for output in answers]
    first: dict[str, Any] = {"created_at": _first(likes, "created_at"), "id": _first(map(own_id, likes))}
    status = _first(reversed(likes), "status")
    named = {**first, "status": status}
    known = {key: value for key, value in named.items() if value is not None}
    metadata = _metadata([cast("AssistantMessage", output.answer) for output in answers])
    return {"role": "assistant", "content": content, "metadata": metadata, **known}


def _first(likes: Iterable[Any], name: str | None = None) -> Any:
    """The first value that is given, of some or of a field of some."""
    given = likes if name is None else (_given(like, name) for like in likes)
    return next((value for value in given if value is not None), None)


def _given(like: Message | Mapping[str, Any], name: str) -> Any:
    return like.get(name) if isinstance(like, Mapping) else getattr(like, name, None)


def _content(answers: Iterable[Output]) -> list[Content]:
    content: list[Content] = []
    calls: dict[str, int] = {}
    thoughts: dict[str, int] = {}
    for answer in answers:
        for part in answer.content:
            if isinstance(part, ToolCallPart) and part.tool_call_id in calls:
                at = calls[part.tool_call_id]
                content[at] = _merged(cast("ToolCallPart", content[at]), part)
            elif isinstance(part, ReasoningPart) and part.parent_id and part.parent_id in thoughts:
                at = thoughts[part.parent_id]
                earlier = cast("ReasoningPart", content[at])
                content[at] = attrs.evolve(earlier, text=f"{earlier.text}\n\n{part.text}")
            else:
                if isinstance(part, ToolCallPart):
                    calls[part.tool_call_id] = len(content)
                elif isinstance(part, ReasoningPart) and part.parent_id:
                    thoughts[part.parent_id] = len(content)
                content.append(part)
    return content


def _merged(old: ToolCallPart, new: ToolCallPart) -> ToolCallPart:
    """A call with what a later version tells of it laid over."""
    told = _told(new)
    if "args" in told or "args_text" in told:
        told |= {"args": new.args, "args_text": new.args_text}
    return attrs.evolve(old, tool_name=new.tool_name, **told)


def _told(part: ToolCallPart) -> dict[str, Any]:
    """What a call says beside its id and the name of its tool."""
    bare = ToolCallPart(tool_call_id=part.tool_call_id, tool_name=part.tool_name)
    names = [field.alias or field.name for field in attrs.fields(ToolCallPart)]
    return {name: getattr(part, name) for name in names if getattr(part, name) != getattr(bare, name)}


def _with_results(content: list[Content], results: Iterable[ToolCallPart], remarks: Remarks) -> list[Content]:
    places = {part.tool_call_id: at for at, part in enumerate(content) if isinstance(part, ToolCallPart)}
    for result in results:
        call_id = result.tool_call_id
        at = places.get(call_id)
        if at is None:
            text = f"The result of tool call {call_id!r} has no call beside it; it is left out."
            remarks.tell("orphan-result", call_id, text)
            continue
        call = cast("ToolCallPart", content[at])
        name = result.tool_name
        if name and name != call.tool_name:
            text = f"The result of tool call {call_id!r} is one of {name!r}, but the call is one of {call.tool_name!r}."
            remarks.tell("tool-name", call_id, text)
        told = _told(result)
        content[at] = attrs.evolve(call, **{**told, "result": result.result, "is_error": result.is_error})
    return content


def _metadata(messages: Sequence[AssistantMessage]) -> AssistantMetadata:
    given = [message.metadata for message in messages]
    custom: dict[str, Any] = {}
    for metadata in given:
        custom |= metadata.custom
    return AssistantMetadata(
        state=_first(reversed([metadata.state for metadata in given])),
        annotations=tuple(item for metadata in given for item in metadata.annotations),
        data=tuple(item for metadata in given for item in metadata.data),
        steps=tuple(step for metadata in given for step in metadata.steps),
        custom=custom,
        timing=_first(reversed([metadata.timing for metadata in given])),
        submitted_feedback=_first(reversed([metadata.submitted_feedback for metadata in given])),
        is_optimistic=any(metadata.is_optimistic for metadata in given),
    )
