"""The tool calls of one roundtrip: their arguments as they grow, and their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import attrs

from partwise.messages import (
    MISSING,
    Approval,
    ArgsReader,
    AssistantPart,
    Timing,
    ToolCallPart,
)

from ._chunks import ToolArgsDelta, ToolArgsFinish, ToolCallStart, ToolResult
from ._longer import GrowingArgs, longer_call, merge_metadata
from ._pace import Pace, with_completion
from ._part_chunks import PartResult, ToolApproval

__all__ = ["Calls", "Content", "Drop", "call_at", "replace_part"]

Content: TypeAlias = tuple[AssistantPart, ...]
Drop: TypeAlias = Callable[[str, str], None]


class _Call:
    """One call that this roundtrip writes: which part it is, and how far its arguments were read."""

    __slots__ = ("at", "finished", "part_id", "reader")

    def __init__(self, part_id: str, at: int, *, finished: bool = False) -> None:
        self.part_id = part_id
        self.at = at
        self.reader = GrowingArgs()
        self.finished = finished


class Calls:
    """Applies the chunks about tool calls to the parts of a message.

    A call is found by the id that its chunks carry, or by its place. Gateways use an id again in a later
    roundtrip of the same message; such a call gets an id of its own, and the chunks that follow find it.

    Args:
        start: The parts before this index belong to earlier roundtrips.
        drop: Told the id, and why, when a chunk cannot be used.
        pace: Measures when calls begin and end.
    """

    __slots__ = ("_by_id", "_by_part", "_drop", "_pace", "_start")

    def __init__(self, start: int, drop: Drop, pace: Pace | None = None) -> None:
        self._start = start
        self._drop = drop
        self._pace = pace
        self._by_id: dict[str, _Call] = {}
        self._by_part: dict[str, _Call] = {}

    def begin(self, content: Content, chunk: ToolCallStart) -> Content:
        """Open a call, or learn the name of one that is there."""
        call = self._by_id.get(chunk.tool_call_id)
        at = None if call is None else self._locate(content, call)
        if at is None:
            part = ToolCallPart(
                tool_call_id=chunk.tool_call_id,
                tool_name=chunk.tool_name,
                parent_id=chunk.parent_id,
                provider_metadata=chunk.provider_metadata,
            )
            return self.open(content, part)
        old = call_at(content, at)
        name = old.tool_name or chunk.tool_name
        metadata = merge_metadata(old.provider_metadata, chunk.provider_metadata)
        parent_id = old.parent_id if chunk.parent_id is None else chunk.parent_id
        if (name, metadata, parent_id) == (old.tool_name, old.provider_metadata, old.parent_id):
            return content
        return replace_part(
            content, at, attrs.evolve(old, tool_name=name, provider_metadata=metadata, parent_id=parent_id)
        )

    def open(self, content: Content, part: ToolCallPart) -> Content:
        """Append a call whose arguments are still to come."""
        part_id = _free_id(content, part.tool_call_id)
        call = self._register(part.tool_call_id, part_id, len(content))
        if part.args_text:
            call.reader.feed(part.args_text)
        timing = Timing(started_at=self._pace.now()) if self._pace is not None and part.timing is None else part.timing
        return (*content, attrs.evolve(part, tool_call_id=part_id, timing=timing))

    def grow(self, content: Content, chunk: ToolArgsDelta) -> Content:
        """Add to the arguments of an open call."""
        if not chunk.text:
            return content
        call = self._by_id.get(chunk.tool_call_id)
        at = None if call is None else self._locate(content, call)
        if call is None or at is None:
            self._drop(chunk.tool_call_id, "arguments for a call that was never started")
            return content
        return self._grown(content, at, call, chunk.text)

    def grow_at(self, content: Content, at: int, text: str) -> Content:
        """Add to the arguments of the call at a place."""
        return self._grown(content, at, self._of(content, at), text) if text else content

    def end(self, content: Content, chunk: ToolArgsFinish) -> Content:
        """Close the arguments of a call; the closing text, if there is one, wins over the deltas."""
        call = self._by_id.get(chunk.tool_call_id)
        at = None if call is None else self._locate(content, call)
        if call is None or at is None:
            self._drop(chunk.tool_call_id, "an end of arguments for a call that was never started")
            return content
        if call.finished:
            self._drop(chunk.tool_call_id, "a second end of the arguments")
            return content
        old = call_at(content, at)
        if chunk.args_text is not None and chunk.args_text != old.args_text:
            if chunk.args_text.startswith(old.args_text):
                call.reader.feed(chunk.args_text[len(old.args_text) :])
            else:
                call.reader.start_again(chunk.args_text)
            args = call.reader.reader.value
            content = replace_part(content, at, attrs.evolve(old, args=args, args_text=chunk.args_text))
        return self._ended(content, at, call)

    def end_at(self, content: Content, at: int) -> Content:
        """Close the arguments of the call at a place; doing so twice is harmless."""
        call = self._of(content, at)
        return content if call.finished else self._ended(content, at, call)

    def settle(self, content: Content, chunk: ToolResult) -> Content:
        """Give a call its result; a call that nobody started gets one with an empty name."""
        at = self._find(content, chunk.tool_call_id)
        if at is None:
            self._register(chunk.tool_call_id, chunk.tool_call_id, len(content), finished=True)
            content = (*content, ToolCallPart(tool_call_id=chunk.tool_call_id, tool_name=""))
            at = len(content) - 1
        return self.settle_at(content, at, chunk)

    def settle_at(self, content: Content, at: int, chunk: ToolResult | PartResult) -> Content:
        """Give the call at a place its result, or say how far its tool has come."""
        old = call_at(content, at)
        if old.has_result:
            late = "a preliminary result after the result" if chunk.is_preliminary else "a second result"
            self._drop(old.tool_call_id, late)
            return content
        return replace_part(content, at, _with_result(old, chunk, self._pace))

    def approve(self, content: Content, chunk: ToolApproval) -> Content:
        """Set the permission that a call needs."""
        at = self._find(content, chunk.tool_call_id)
        if at is None:
            self._drop(chunk.tool_call_id, "an approval for a call that was never started")
            return content
        return self.approve_at(content, at, chunk.approval)

    def approve_at(self, content: Content, at: int, approval: Approval) -> Content:
        """Set the permission that the call at a place needs."""
        old = call_at(content, at)
        return content if old.approval == approval else replace_part(content, at, attrs.evolve(old, approval=approval))

    def adopt(self, content: Content, part: ToolCallPart) -> Content:
        """Take a whole call: a new one, or the final word about one that is there."""
        at = self._find(content, part.tool_call_id)
        if at is not None and at >= self._start:
            self._register(part.tool_call_id, part.tool_call_id, at, finished=True)
            old = call_at(content, at)
            if old.has_result and not part.has_result:
                part = attrs.evolve(part, result=old.result, is_error=old.is_error, artifact=old.artifact)
            return content if part == old else replace_part(content, at, part)
        if at is not None:
            part = attrs.evolve(part, tool_call_id=_free_id(content, part.tool_call_id))
        self._register(part.tool_call_id, part.tool_call_id, len(content), finished=True)
        return (*content, part)

    def reader(self, tool_call_id: str) -> ArgsReader | None:
        """The reader of the arguments of the call that has this id in the message."""
        call = self._by_part.get(tool_call_id)
        return None if call is None else call.reader.reader

    def close_all(self) -> None:
        """Take no more arguments; what has come of them stays, whole or not."""
        for call in self._by_part.values():
            call.finished = True

    def _register(self, wire_id: str, part_id: str, at: int, *, finished: bool = False) -> _Call:
        self._by_id[wire_id] = self._by_part[part_id] = call = _Call(part_id, at, finished=finished)
        return call

    def _grown(self, content: Content, at: int, call: _Call, text: str) -> Content:
        if call.finished:
            self._drop(call.part_id, "arguments after the end of the arguments")
            return content
        old = call_at(content, at)
        return replace_part(content, at, longer_call(old, text, call.reader))

    def _ended(self, content: Content, at: int, call: _Call) -> Content:
        call.finished = True
        return content

    def _of(self, content: Content, at: int) -> _Call:
        part = call_at(content, at)
        call = self._by_part.get(part.tool_call_id)
        if call is None:  # begun by an earlier stream, of which this one is the rest
            call = self._register(part.tool_call_id, part.tool_call_id, at)
            call.reader.feed(part.args_text)
        return call

    def _find(self, content: Content, tool_call_id: str) -> int | None:
        call = self._by_id.get(tool_call_id)
        return _index(content, tool_call_id) if call is None else self._locate(content, call)

    def _locate(self, content: Content, call: _Call) -> int | None:
        at = call.at
        if at < len(content):
            part = content[at]
            if type(part) is ToolCallPart and part.tool_call_id == call.part_id:
                return at
        found = _index(content, call.part_id)
        if found is not None:
            call.at = found
        return found


def replace_part(content: Content, at: int, part: AssistantPart) -> Content:
    """Return the parts with the one at ``at`` replaced."""
    return (*content[:at], part, *content[at + 1 :])


def call_at(content: Content, at: int) -> ToolCallPart:
    """Return the call at an index that a look at the parts has found."""
    part = content[at]
    assert type(part) is ToolCallPart
    return part


def _with_result(part: ToolCallPart, chunk: ToolResult | PartResult, pace: Pace | None) -> ToolCallPart:
    return attrs.evolve(
        part,
        result=MISSING if chunk.is_preliminary else chunk.result,
        preliminary=chunk.result if chunk.is_preliminary else MISSING,
        is_error=chunk.is_error,
        artifact=chunk.artifact,
        model_content=chunk.model_content,
        messages=part.messages if chunk.messages is None else chunk.messages,
        timing=part.timing if chunk.is_preliminary else with_completion(part.timing, pace),
    )


def _index(content: Content, tool_call_id: str) -> int | None:
    for at, part in enumerate(content):
        if type(part) is ToolCallPart and part.tool_call_id == tool_call_id:
            return at
    return None


def _free_id(content: Content, tool_call_id: str) -> str:
    taken = {part.tool_call_id for part in content if type(part) is ToolCallPart}
    free, number = tool_call_id, 1
    while free in taken:
        number += 1
        free = f"{tool_call_id}-{number}"
    return free
