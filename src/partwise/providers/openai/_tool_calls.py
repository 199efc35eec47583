"""Fragments of tool calls, put together however a server numbers and names them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from partwise.providers.wire import FreeIds, Json, mapping, mappings, word
from partwise.stream import Chunk, ToolArgsDelta, ToolArgsFinish, ToolCallStart, ToolResult

__all__ = ["ToolCallFragments"]

PROVIDER_EXECUTED = {"openai": {"provider_executed": True}}


class _Call:
    """A call whose fragments are still coming."""

    __slots__ = ("id", "name", "wire_id")

    def __init__(self, call_id: str, wire_id: str, name: str) -> None:
        self.id = call_id
        self.wire_id = wire_id
        self.name = name


class ToolCallFragments:
    """Turns the tool call fragments of one answer into chunks.

    A fragment belongs to the call with its index; without an index to the call with its id; with a
    name it opens a new one; otherwise it belongs to the last one. Ids may be missing, repeated,
    blanked or null after the first fragment, and used again by a later completion of the stream.
    """

    __slots__ = ("_by_index", "_executed", "_ids", "_last", "count")

    def __init__(self) -> None:
        self._by_index: dict[int, _Call] = {}
        self._executed: dict[object, tuple[str, bool]] = {}
        self._last: _Call | None = None
        self._ids = FreeIds()
        self.count = 0
        """How many calls were opened that somebody else than the provider has to run."""

    def decode(self, delta: Json, completion_id: str) -> Iterator[Chunk]:
        """Give the chunks for the calls in a delta."""
        fragments = mappings(delta.get("tool_calls"))
        legacy = delta.get("function_call")
        if legacy and not fragments:
            fragments = [{"index": 0, "function": legacy}]
        for fragment in fragments:
            yield from self._fragment(fragment, completion_id)
        for tool in mappings(delta.get("executed_tools")):
            yield from self._executed_tool(tool, completion_id)

    def close(self) -> Iterator[Chunk]:
        """Give the ends of the arguments of all open calls; what follows belongs to another completion."""
        calls = {call.id: call for call in self._by_index.values()}
        if self._last is not None:
            calls.setdefault(self._last.id, self._last)
        yield from (ToolArgsFinish(call_id) for call_id in calls)
        self._by_index, self._last = {}, None
        self._executed = {}

    def abandon(self) -> None:
        """Forget the open calls without ending their arguments: the answer broke off in the middle of them."""
        self._by_index, self._last = {}, None

    def _fragment(self, fragment: Json, completion_id: str) -> Iterator[Chunk]:
        function = mapping(fragment.get("function"))
        name = word(function.get("name"))
        wire_id = word(fragment.get("id"))
        index = fragment.get("index")
        known = self._known(index, wire_id, name)
        if known is None:
            known = _Call(self._free_id(wire_id, completion_id), wire_id, name)
            self.count += 1
            if known is not self._last and not isinstance(index, int) and self._last is not None:
                yield ToolArgsFinish(self._last.id)
            yield ToolCallStart(known.id, name)
        elif name and not known.name:
            known.name = name
            yield ToolCallStart(known.id, name)
        self._last = known
        if isinstance(index, int):
            replaced = self._by_index.get(index)
            if replaced is not None and replaced is not known:
                yield ToolArgsFinish(replaced.id)
            self._by_index[index] = known
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else _as_text(arguments)
        if text:
            yield ToolArgsDelta(known.id, text)

    def _known(self, index: object, wire_id: str, name: str) -> _Call | None:
        if isinstance(index, int):
            call = self._by_index.get(index)
            if call is None and not name:
                return self._with_id(wire_id)
            reused = call is not None and bool(name and wire_id and call.wire_id) and wire_id != call.wire_id
            return None if reused else call
        call = self._with_id(wire_id)
        return call if call is not None or name else self._last

    def _with_id(self, wire_id: str) -> _Call | None:
        calls = [*self._by_index.values(), *([self._last] if self._last else [])]
        return next((call for call in calls if wire_id and call.wire_id == wire_id), None)

    def _executed_tool(self, tool: Json, completion_id: str) -> Iterator[Chunk]:
        index = tool.get("index")
        call_id, has_result = self._executed.get(index, ("", False))
        if not call_id:
            call_id = self._free_id(word(tool.get("id")), completion_id)
            name = word(tool.get("name")) or word(tool.get("type"))
            yield ToolCallStart(call_id, name, provider_metadata=PROVIDER_EXECUTED)
            yield ToolArgsFinish(call_id, word(tool.get("arguments")))
        results = mapping(tool.get("search_results"))
        is_answered = tool.get("output") is not None or bool(results.get("results"))
        if is_answered and not has_result:
            details = {key: value for key, value in tool.items() if key not in ("index", "id", "type", "arguments")}
            yield ToolResult(call_id, details)
        self._executed[index] = call_id, has_result or is_answered

    def _free_id(self, wire_id: str, completion_id: str) -> str:
        return self._ids.take(wire_id or f"{completion_id or 'call'}-{len(self._ids)}")


def _as_text(arguments: object) -> str:
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
