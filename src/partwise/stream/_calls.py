"""The tool calls of one roundtrip: their arguments as they grow, and their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from partwise.messages import AssistantPart, FrozenDict, ToolCallPart

from ._chunks import ToolArgsDelta, ToolArgsFinish, ToolCallStart, ToolResult
from ._json import ArgsReader

__all__ = ["Calls", "Content", "merge_metadata", "replace_part"]

Content = tuple[AssistantPart, ...]


class _Call:
    """One call that this roundtrip writes: which part it is, and how far its arguments were read."""

    __slots__ = ("at", "finished", "part_id", "reader")

    def __init__(self, part_id: str, at: int) -> None:
        self.part_id = part_id
        self.at = at
        self.reader = ArgsReader()
        self.finished = False


class Calls:
    """Applies the chunks about tool calls to the parts of a message.

    A call is found by the id that its chunks carry. Gateways use an id again in a later roundtrip of
    the same message; such a call gets an id of its own, and the chunks that follow find it.

    Args:
        start: The parts before this index belong to earlier roundtrips.
        drop: Told the id and the reason when a chunk cannot be used.
    """

    __slots__ = ("_by_id", "_drop", "_start")

    def __init__(self, start: int, drop: Callable[[str, str], None]) -> None:
        self._start = start
        self._drop = drop
        self._by_id: dict[str, _Call] = {}

    def begin(self, content: Content, chunk: ToolCallStart) -> Content:
        """Open a call, or learn the name of one that is there."""
        call = self._by_id.get(chunk.tool_call_id)
        at = None if call is None else self._locate(content, call)
        if at is None:
            return self._open(content, chunk)
        old = _call_at(content, at)
        name = old.tool_name or chunk.tool_name
        metadata = merge_metadata(old.provider_metadata, chunk.provider_metadata)
        parent_id = old.parent_id if chunk.parent_id is None else chunk.parent_id
        if (name, metadata, parent_id) == (old.tool_name, old.provider_metadata, old.parent_id):
            return content
        return replace_part(
            content, at, attrs.evolve(old, tool_name=name, provider_metadata=metadata, parent_id=parent_id)
        )

    def grow(self, content: Content, chunk: ToolArgsDelta) -> Content:
        """Add to the arguments of an open call."""
        if not chunk.text:
            return content
        call = self._by_id.get(chunk.tool_call_id)
        at = None if call is None else self._locate(content, call)
        if call is None or at is None:
            self._drop(chunk.tool_call_id, "arguments for a call that was never started")
            return content
        if call.finished:
            self._drop(chunk.tool_call_id, "arguments after the end of the arguments")
            return content
        old = _call_at(content, at)
        call.reader.feed(chunk.text)
        return replace_part(content, at, _with_args(old, call.reader.value, old.args_text + chunk.text))

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
        old = _call_at(content, at)
        if chunk.args_text is not None and chunk.args_text != old.args_text:
            if chunk.args_text.startswith(old.args_text):
                call.reader.feed(chunk.args_text[len(old.args_text) :])
            else:
                call.reader = ArgsReader()
                call.reader.feed(chunk.args_text)
            old = _with_args(old, call.reader.value, chunk.args_text)
        call.finished = True
        if call.reader.is_blank:  # many models write nothing at all for a tool without parameters
            old = _with_args(old, FrozenDict(), "{}")
        return content if old is content[at] else replace_part(content, at, old)

    def settle(self, content: Content, chunk: ToolResult) -> Content:
        """Give a call its result; a call that nobody started gets one with an empty name."""
        at = self._find(content, chunk.tool_call_id)
        if at is None:
            self._by_id[chunk.tool_call_id] = call = _Call(chunk.tool_call_id, len(content))
            call.finished = True
            return (*content, _with_result(ToolCallPart(tool_call_id=chunk.tool_call_id, tool_name=""), chunk))
        old = _call_at(content, at)
        if old.has_result:
            self._drop(chunk.tool_call_id, "a second result")
            return content
        return replace_part(content, at, _with_result(old, chunk))

    def adopt(self, content: Content, part: ToolCallPart) -> Content:
        """Take a whole call: a new one, or the final word about one that is there."""
        at = self._find(content, part.tool_call_id)
        if at is not None and at >= self._start:
            self._by_id[part.tool_call_id] = call = _Call(part.tool_call_id, at)
            call.finished = True
            old = _call_at(content, at)
            if old.has_result and not part.has_result:
                part = attrs.evolve(part, result=old.result, is_error=old.is_error, artifact=old.artifact)
            return content if part == old else replace_part(content, at, part)
        if at is not None:
            part = attrs.evolve(part, tool_call_id=_free_id(content, part.tool_call_id))
        self._by_id[part.tool_call_id] = call = _Call(part.tool_call_id, len(content))
        call.finished = True
        return (*content, part)

    def close_all(self) -> None:
        """Take no more arguments; what has come of them stays, whole or not."""
        for call in self._by_id.values():
            call.finished = True

    def _open(self, content: Content, chunk: ToolCallStart) -> Content:
        part_id = _free_id(content, chunk.tool_call_id)
        self._by_id[chunk.tool_call_id] = _Call(part_id, len(content))
        part = ToolCallPart(
            tool_call_id=part_id,
            tool_name=chunk.tool_name,
            parent_id=chunk.parent_id,
            provider_metadata=chunk.provider_metadata,
        )
        return (*content, part)

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


def merge_metadata(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Lay what a provider says later over what it said before, provider by provider."""
    if not new or old == new:
        return old
    if not old:
        return new
    merged = dict(old)
    for provider, value in new.items():
        before = merged.get(provider)
        if isinstance(before, FrozenDict) and isinstance(value, FrozenDict):
            merged[provider] = FrozenDict({**before, **value})
        else:
            merged[provider] = value
    return FrozenDict(merged)


def _call_at(content: Content, at: int) -> ToolCallPart:
    part = content[at]
    assert type(part) is ToolCallPart  # every index here comes from a look at the parts
    return part


def _with_args(part: ToolCallPart, args: Mapping[str, Any], args_text: str) -> ToolCallPart:
    # Spelled out, because it runs for every delta and attrs.evolve takes several times as long.
    return ToolCallPart(
        tool_call_id=part.tool_call_id,
        tool_name=part.tool_name,
        args=args,
        args_text=args_text,
        result=part.result,
        is_error=part.is_error,
        artifact=part.artifact,
        model_content=part.model_content,
        timing=part.timing,
        mcp=part.mcp,
        interrupt=part.interrupt,
        approval=part.approval,
        parent_id=part.parent_id,
        messages=part.messages,
        provider_metadata=part.provider_metadata,
    )


def _with_result(part: ToolCallPart, chunk: ToolResult) -> ToolCallPart:
    return attrs.evolve(
        part,
        result=chunk.result,
        is_error=chunk.is_error,
        artifact=chunk.artifact,
        model_content=chunk.model_content,
        messages=part.messages if chunk.messages is None else chunk.messages,
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
