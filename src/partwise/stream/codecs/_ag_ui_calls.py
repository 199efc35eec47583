"""The tool calls of an AG-UI stream, and their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from partwise.errors import WireError
from partwise.messages import (
    MISSING,
    Approval,
    AssistantMessage,
    FileContent,
    ModelContent,
    TextContent,
    ToolCallPart,
)
from partwise.stream._chunks import Chunk, ToolResult
from partwise.stream._fields import Fields
from partwise.stream._json_text import read_json
from partwise.stream._part_chunks import PartFinish, ToolApproval
from partwise.stream._part_json import read_messages, read_model_content
from partwise.stream._report import Report
from partwise.stream.writing import CallWriter, PartWriter

if TYPE_CHECKING:
    from ag_ui.core import ToolCallResultEvent

__all__ = ["AgUiCalls", "result_of"]


class AgUiCalls:
    """Applies the events about tool calls.

    A call has one id for as long as its thread lives: one that begins again is told again, and is no second one.

    Args:
        parts: The parts of the answer.
        emit: Given a chunk about a call of an earlier stream.
        report: Told about what is dropped.
        message: The message that the stream goes on with.
    """

    __slots__ = ("_before", "_calls", "_emit", "_parts", "_report", "_told_again")

    def __init__(
        self, parts: PartWriter, emit: Callable[[Chunk], object], report: Report, message: AssistantMessage | None
    ) -> None:
        content = message.content if message is not None else ()
        self._before = {part.tool_call_id: part for part in content if isinstance(part, ToolCallPart)}
        self._calls: dict[str, CallWriter] = {}
        self._told_again: set[str] = set()
        self._parts = parts
        self._emit = emit
        self._report = report

    def knows(self, call_id: str) -> bool:
        """Whether this stream has begun the call."""
        return call_id in self._calls

    @property
    def has_open(self) -> bool:
        """Whether a call waits for its result."""
        before = any(not part.has_result for part in self._before.values())
        return before or any(not call.is_closed for call in self._calls.values())

    def begin(self, part: ToolCallPart) -> None:
        """Begin a call."""
        call_id, known = part.tool_call_id, self._calls.get(part.tool_call_id)
        if known is not None and not (known.has_args or known.has_ended_args):
            return
        if known is not None or call_id in self._before:
            self._told_again.add(call_id)
            self._drop(call_id, "what is told again of it")
            return
        self._calls[call_id] = self._parts.begin_call(part)

    def grow(self, call_id: str, text: str) -> None:
        """Add to the arguments of a call.

        Raises:
            WireError: There is no such call.
        """
        if text and call_id not in self._told_again:
            self._known(call_id).append_args(text)

    def end(self, call_id: str) -> None:
        """Say that the arguments of a call are whole.

        Raises:
            WireError: There is no such call.
        """
        if call_id in self._told_again:
            self._told_again.discard(call_id)
        else:
            self._known(call_id).end_args()

    def settle(self, call_id: str, name: str, args_text: str) -> None:
        """Write what is missing of a call that the source gives as a whole."""
        if call_id in self._before:
            return
        if call_id not in self._calls:
            self.begin(ToolCallPart(tool_call_id=call_id, tool_name=name))
        call = self._calls[call_id]
        if not call.has_ended_args:
            if args_text.startswith(call.args_text):
                self.grow(call_id, args_text[len(call.args_text) :])
            call.end_args()

    def respond(self, call_id: str, result: Any, **beside: Any) -> None:
        """Give a call its result, which may be one of an earlier stream, or one that nobody has begun."""
        before = self._before.get(call_id)
        if self.has_result(call_id):
            self._drop(call_id, "a second result")
        elif before is not None:
            self._before[call_id] = attrs.evolve(before, result=result)
            self._emit(ToolResult(call_id, result, **beside))
        else:
            call = self._calls.get(call_id)
            if call is None:
                part = ToolCallPart(tool_call_id=call_id, tool_name="")
                self._calls[call_id] = call = self._parts.begin_call(part)
            call.respond(result, **beside)

    def has_result(self, call_id: str) -> bool:
        """Whether the call has its result."""
        call, before = self._calls.get(call_id), self._before.get(call_id)
        return (call is not None and call.is_closed) or (before is not None and before.has_result)

    def ask(self, call_id: str, approval: Approval) -> bool:
        """Say that a call waits for a permission; False if there is no such call."""
        if call_id in self._calls:
            self._calls[call_id].approve(approval)
        elif call_id in self._before:
            self._emit(ToolApproval(call_id, approval))
        else:
            return False
        return True

    def keep(self, call_id: str, metadata: Mapping[str, Any]) -> None:
        """Keep what only the provider can read.

        Raises:
            WireError: There is no such call.
        """
        self._emit(PartFinish((self._known(call_id).number,), provider_metadata=metadata))

    def end_args(self) -> None:
        """Take no more arguments."""
        for call in self._calls.values():
            call.end_args()
        self._told_again.clear()

    def _known(self, call_id: str) -> CallWriter:
        call = self._calls.get(call_id)
        if call is None:
            message = f"Tool call {call_id!r} was never started; what is said of it was dropped."
            raise WireError(message, where=call_id, code="unknown-tool-call")
        return call

    def _drop(self, call_id: str, what: str) -> None:
        self._report(WireError(f"Dropped {what} (tool call {call_id!r}).", where=call_id, code="misplaced"))


def result_of(event: ToolCallResultEvent, ours: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Return the fields of a result: JSON if its text is JSON, and what an encoder of ours has put beside it."""
    fields = Fields(ours, "result")
    if isinstance(event.content, str):
        content = read_model_content(fields)
        result: Any = value_of(event.content)
    else:
        parts = [part.model_dump(by_alias=True) for part in event.content]
        content = _model_content(parts)
        texts = [part["text"] for part in parts if part["type"] == "text"]
        result = "".join(texts) if len(texts) == len(parts) else parts
    return {
        "result": result,
        "is_error": bool(fields.flag("isError")),
        "artifact": ours.get("artifact", MISSING),
        "model_content": content,
        "messages": read_messages(fields, report),
    }


def value_of(text: str) -> Any:
    """Return the JSON value of a text, or the text itself."""
    try:
        return read_json(text)
    except WireError:
        return text


def _model_content(parts: Sequence[Mapping[str, Any]]) -> tuple[ModelContent, ...]:
    content: list[ModelContent] = []
    for part in parts:
        if part["type"] == "text":
            content.append(TextContent(part["text"]))
            continue
        source = part["source"]
        content.append(FileContent(data=source["value"], media_type=source.get("mimeType") or f"{part['type']}/*"))
    return tuple(content)
