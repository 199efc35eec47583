"""Where the references of a vector lead: to messages, alternatives, open calls and open approvals."""

from typing import Any

from partwise.messages import AssistantMessage, Message, ToolCallPart
from partwise.runtimes import Thread

Json = Any


def resolve(reference: Json, thread: Thread, saved: dict[str, Json]) -> Json:
    """The id that a reference leads to; one that leads nowhere is ``missing``."""
    if not isinstance(reference, dict):
        return reference
    ((kind, what),) = reference.items()
    match kind:
        case "$msg":
            return _at([item.id for item in thread.state.messages], what)
        case "$parent":
            place = thread.find(resolve(what, thread, saved) or "")
            return None if place is None else place.parent_id
        case "$branch":
            of = resolve(what[0], thread, saved)
            return _at(thread.branches_of(of) if thread.find(of) else (), what[1])
        case "$saved":
            return saved.get(what, "missing")
        case "$call":
            place = thread.find(resolve(what[0], thread, saved))
            calls = [] if place is None else _calls(place.message)
            return _at([part.tool_call_id for part in calls if not part.has_result], what[1])
        case "$approval":
            calls = [part for item in thread.state.messages for part in _calls(item)]
            return _at([part.approval.id for part in calls if part.approval and part.approval.is_open], what)
        case _:
            raise ValueError(f"unknown reference {reference!r}")


def _at(items: Any, index: int) -> Json:
    return items[index] if -len(items) <= index < len(items) else "missing"


def _calls(message: Message) -> list[ToolCallPart]:
    parts = message.content if isinstance(message, AssistantMessage) else ()
    return [part for part in parts if isinstance(part, ToolCallPart)]
