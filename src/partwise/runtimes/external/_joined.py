"""Several outputs of an agent as one answer: values in, one message-like value out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

import attrs

from partwise.errors import FeedError
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

from ._reading import FALLBACK_PREFIX, own_id, read_like
from ._remarks import Remarks

__all__ = ["Output", "joined", "output_of"]

Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
_MESSAGES = (UserMessage, AssistantMessage, SystemMessage)
_LONGEST_QUOTE = 200


@attrs.frozen(eq=False)
class Output:
    """One thing that a converter gave: message-like, or the result of a tool.

    Attributes:
        like: A message, or the fields in our spelling.
        joins: Whether the next answer may become one with it; results of its tools always do.
    """

    role: Role
    like: Message | Mapping[str, Any]
    joins: bool = True


def output_of(given: object, item: object) -> Output:
    """Read what a converter gave.

    Raises:
        FeedError: It is no output (code ``"output"``).
    """
    if isinstance(given, _MESSAGES):
        return Output(given.role, given)
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
    return Output(cast("Role", role), fields, joins=strategy != "none")


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
    answers = [(output, message) for output in outputs if (message := _answer(output, remarks)) is not None]
    content = _content([message for _, message in answers])
    content = _with_results(content, [output for output in outputs if output.role == "tool"], remarks)
    if not answers:
        return None
    likes = [output.like for output, _ in answers]
    first: dict[str, Any] = {"created_at": _first(likes, "created_at"), "id": _first(map(own_id, likes))}
    status = _first(reversed(likes), "status")
    named = {**first, "status": status}
    known = {key: value for key, value in named.items() if value is not None}
    return {"role": "assistant", "content": content, "metadata": _metadata([m for _, m in answers], likes), **known}


def _answer(output: Output, remarks: Remarks) -> AssistantMessage | None:
    if output.role != "assistant":
        return None
    message = read_like(
        output.like,
        fallback_id=FALLBACK_PREFIX,
        fallback_time=None,
        is_last=False,
        is_running=False,
        remarks=remarks,
    )
    return cast("AssistantMessage | None", message)


def _first(likes: Iterable[Any], name: str | None = None) -> Any:
    """The first value that is given, of some or of a field of some."""
    given = likes if name is None else (_given(like, name) for like in likes)
    return next((value for value in given if value is not None), None)


def _given(like: Message | Mapping[str, Any], name: str) -> Any:
    return like.get(name) if isinstance(like, Mapping) else getattr(like, name, None)


def _content(messages: Iterable[AssistantMessage]) -> list[AssistantPart]:
    content: list[AssistantPart] = []
    calls: dict[str, int] = {}
    thoughts: dict[str, int] = {}
    for message in messages:
        for part in message.content:
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
    bare = ToolCallPart(tool_call_id=new.tool_call_id, tool_name=new.tool_name)
    names = [field.alias or field.name for field in attrs.fields(ToolCallPart)]
    told = {name: getattr(new, name) for name in names if getattr(new, name) != getattr(bare, name)}
    if "args" in told or "args_text" in told:
        told |= {"args": new.args, "args_text": new.args_text}
    return attrs.evolve(old, tool_name=new.tool_name, **told)


def _with_results(content: list[AssistantPart], outputs: Iterable[Output], remarks: Remarks) -> list[AssistantPart]:
    places = {part.tool_call_id: at for at, part in enumerate(content) if isinstance(part, ToolCallPart)}
    for output in outputs:
        fields = cast("Mapping[str, Any]", output.like)
        call_id: str = fields["tool_call_id"]
        at = places.get(call_id)
        if at is None:
            text = f"The result of tool call {call_id!r} has no call beside it; it is left out."
            remarks.tell("orphan-result", call_id, text)
            continue
        call = cast("ToolCallPart", content[at])
        name = fields.get("tool_name")
        if name is not None and name != call.tool_name:
            text = f"The result of tool call {call_id!r} is one of {name!r}, but the call is one of {call.tool_name!r}."
            remarks.tell("tool-name", call_id, text)
        content[at] = attrs.evolve(call, **_result(call_id, fields))
    return content


def _result(call_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: fields[name] for name in ("artifact", "model_content") if fields.get(name) is not None}
    if fields.get("messages") is not None:
        given["messages"] = tuple(
            message_from_like(like, fallback_id=f"{call_id}-{number}") for number, like in enumerate(fields["messages"])
        )
    return {"result": fields.get("result"), "is_error": fields.get("is_error"), **given}


def _metadata(messages: Sequence[AssistantMessage], likes: Sequence[Any]) -> AssistantMetadata:
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
