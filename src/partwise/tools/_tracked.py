"""What follows from a list of messages that somebody else writes: which calls begin, grow, are answered, are to run.

Values in, values out. The rules are those of the reference's tracker of tool invocations.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import attrs

from partwise.messages import AssistantMessage, Message, ToolCallPart, is_blank, thaw

from ._tool import Tool

__all__ = ["Begin", "Command", "Diverge", "End", "Entry", "Grow", "Respond", "Run", "calls_in", "follow"]


@attrs.frozen(kw_only=True)
class Entry:
    """What is known of one call.

    Attributes:
        part: The call as it was seen last.
        message_id: The visible message that holds it.
        text: The arguments that were accepted.
        is_live: Whether it is driven; a call of the history is only remembered.
        has_ended: Whether its arguments are complete.
        is_claimed: Whether its tool was started, or never may be.
        needs_permission: Whether its tool waits for a permission that the message has to hold.
    """

    part: ToolCallPart
    message_id: str
    text: str = ""
    has_result: bool = False
    is_live: bool = True
    has_ended: bool = False
    is_claimed: bool = False
    needs_permission: bool = False


@attrs.frozen
class Begin:
    """A call has begun."""

    part: ToolCallPart
    message_id: str


@attrs.frozen
class Grow:
    """More of the text of the arguments has come."""

    tool_call_id: str
    text: str


@attrs.frozen
class Respond:
    """Somebody else answered the call."""

    part: ToolCallPart


@attrs.frozen
class End:
    """The arguments are complete."""

    tool_call_id: str


@attrs.frozen
class Run:
    """The tool is to be run: the call with the arguments that were accepted."""

    part: ToolCallPart
    message_id: str


@attrs.frozen
class Diverge:
    """The arguments became others than they had begun to be; the first ones count."""

    part: ToolCallPart


Command: TypeAlias = Begin | Grow | Respond | End | Run | Diverge


def calls_in(messages: Iterable[Message]) -> Iterator[tuple[ToolCallPart, str]]:
    """Give every call, those of sub-agents too, each with the id of the visible message that it is in."""
    for message in messages:
        pending: list[Message] = [message]
        while pending:
            inside = pending.pop()
            if not isinstance(inside, AssistantMessage):
                continue
            for part in inside.content:
                if isinstance(part, ToolCallPart):
                    yield part, message.id
                    pending += reversed(part.messages or ())


def follow(
    entries: Mapping[str, Entry],
    calls: Iterable[tuple[ToolCallPart, str]],
    tools: Mapping[str, Tool],
    *,
    is_history: bool,
    is_running: bool,
) -> tuple[dict[str, Entry], list[Command]]:
    """Return what is known after a snapshot, and what is to be done.

    A call of the history is remembered and not driven; it is driven once it changes. Of a call that is
    driven, arguments only grow; it is answered once, and its tool is started once.

    Args:
        entries: What was known.
        calls: The calls of the snapshot, in order; one id is one call, wherever it stands.
        tools: The tools as they are now.
        is_history: Whether the snapshot was loaded.
        is_running: Whether an answer is being made.
    """
    known = dict(entries)
    commands: list[Command] = []
    for part, message_id in calls:
        text = _text_of(part, is_running=is_running)
        entry = known.get(part.tool_call_id)
        if is_history:
            if entry is None or not entry.is_live:
                known[part.tool_call_id] = _remembered(part, message_id, text)
            continue
        if entry is not None and not entry.is_live:
            if (entry.text, entry.has_result) == (text, part.has_result):
                continue
            entry = None
        if entry is None:
            entry = Entry(part=part, message_id=message_id)
            commands.append(Begin(part, message_id))
        known[part.tool_call_id] = _advanced(
            attrs.evolve(entry, part=part), text, tools.get(part.tool_name), commands.append, is_running=is_running
        )
    return known, commands


def _remembered(part: ToolCallPart, message_id: str, text: str) -> Entry:
    return Entry(part=part, message_id=message_id, text=text, has_result=part.has_result, is_live=False)


def _advanced(entry: Entry, text: str, tool: Tool | None, say: Callable[[Command], None], *, is_running: bool) -> Entry:
    entry = _with_text(entry, text, say)
    if entry.part.has_result and not entry.has_result:
        # First the answer, then the end of the arguments: what was cut off in them is no error any more.
        say(Respond(entry.part))
        entry = attrs.evolve(entry, has_result=True, is_claimed=True)
    if not entry.has_ended and _ends(entry, tool, is_running=is_running):
        say(End(entry.part.tool_call_id))
        entry = attrs.evolve(entry, has_ended=True)
    if entry.has_ended and not entry.is_claimed and tool is not None and tool.runs_here and _is_permitted(entry):
        say(Run(attrs.evolve(entry.part, args_text=entry.text), entry.message_id))
        entry = attrs.evolve(entry, is_claimed=True)
    return entry


def _with_text(entry: Entry, text: str, say: Callable[[Command], None]) -> Entry:
    if text == entry.text:
        return entry
    if not entry.has_ended and text.startswith(entry.text):
        say(Grow(entry.part.tool_call_id, text[len(entry.text) :]))
        return attrs.evolve(entry, text=text)
    if _is_same_value(entry.text, text):
        return attrs.evolve(entry, text=text)
    say(Diverge(entry.part))
    return entry


def _ends(entry: Entry, tool: Tool | None, *, is_running: bool) -> bool:
    """Tell whether the arguments that were accepted are complete."""
    if entry.has_result:
        return True
    is_driven_here = tool is not None and not tool.disabled and (tool.runs_here or tool.stream_call is not None)
    return (is_driven_here or not is_running) and _value(entry.text) is not _UNREADABLE


def _is_permitted(entry: Entry) -> bool:
    approval = entry.part.approval
    return not entry.needs_permission if approval is None else approval.approved is True


def _text_of(part: ToolCallPart, *, is_running: bool) -> str:
    """The text of the arguments; a source that gives none has said all of them once nothing runs any more."""
    if not is_blank(part.args_text):
        return part.args_text
    return "" if is_running and not part.has_result else json.dumps(thaw(part.args))


_UNREADABLE = object()


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _UNREADABLE


def _is_same_value(one: str, other: str) -> bool:
    first, second = _value(one), _value(other)
    return first is not _UNREADABLE and second is not _UNREADABLE and first == second
