"""What is being said at the moment, before the graph remembers it."""

from __future__ import annotations

from collections.abc import Container, Mapping
from datetime import UTC, datetime
from typing import Any

import attrs
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from partwise.messages import AssistantMessage, AssistantPart, Message, ToolCallPart, message_text
from partwise.stream import Fold

from ._blocks import chunks_of, result_fields
from ._reading import AUTOMATIC

__all__ = ["Live"]


@attrs.define(eq=False)
class _Piece:
    """One message of a model, as far as it has come."""

    node: str
    message: AssistantMessage
    calls: dict[object, str]
    fold: Fold = attrs.field(factory=Fold)


class Live:
    """Folds what comes, piece by piece, at the cost of the piece."""

    def __init__(self) -> None:
        self._pieces: dict[str, _Piece] = {}
        self._results: dict[str, ToolMessage] = {}

    @property
    def said(self) -> list[tuple[str, str, str]]:
        """For each message with a text: the node that says it, its id and the text."""
        texts = [(piece.node, id, message_text(piece.message)) for id, piece in self._pieces.items()]
        return [one for one in texts if one[2]]

    @property
    def first_id(self) -> str | None:
        """The id of the message that came first."""
        return next(iter(self._pieces), None)

    def take(self, message: BaseMessage, told: Mapping[str, Any]) -> bool:
        """Take in a piece, or a message that comes as a whole; returns whether it shows anything."""
        if isinstance(message, ToolMessage):
            self._results[message.tool_call_id] = message
            return True
        if not isinstance(message, AIMessage):
            return False
        piece = self._pieces.get(str(message.id))
        calls = dict[object, str]() if piece is None else piece.calls
        chunks = list(chunks_of(message, calls))
        if not chunks:
            return False
        if piece is None:
            # A step of a graph within the graph belongs to the node that the outer graph runs.
            node = str(told.get("langgraph_checkpoint_ns") or told.get("langgraph_node", "")).split("|")[0]
            said = AssistantMessage(id=str(message.id), created_at=datetime.now(UTC), status=AUTOMATIC)
            piece = self._pieces[said.id] = _Piece(node.split(":")[0], said, calls)
        for chunk in chunks:
            piece.message = piece.fold.apply(piece.message, chunk)
        return True

    def forget(self, ids: Container[str], settled: Container[str]) -> None:
        """Let go of messages and of results of calls that the graph remembers now."""
        self._pieces = {id: piece for id, piece in self._pieces.items() if id not in ids}
        self._results = {id: result for id, result in self._results.items() if id not in settled}

    def laid_on(self, last: Message | None, name: str | None) -> AssistantMessage | None:
        """Show it as one answer.

        Args:
            last: The last message; if it is an answer, what comes belongs to it.
            name: The id of an answer that begins here.

        Returns:
            The answer, or None if there is nothing to show.
        """
        pieces = list(self._pieces.values())
        begun = last if isinstance(last, AssistantMessage) else None
        if begun is None and (not pieces or name is None):
            return None
        parts: list[AssistantPart] = list(begun.content if begun else ())
        for piece in pieces:
            parts += piece.message.content
        if self._results:
            parts = [self._settled(part) for part in parts]
        if begun is None:
            return AssistantMessage(
                id=name or "", created_at=pieces[0].message.created_at, content=tuple(parts), status=AUTOMATIC
            )
        return AssistantMessage(
            id=begun.id,
            created_at=begun.created_at,
            content=tuple(parts),
            status=begun.status,
            metadata=begun.metadata,
        )

    def _settled(self, part: AssistantPart) -> AssistantPart:
        if not isinstance(part, ToolCallPart) or part.has_result or part.tool_call_id not in self._results:
            return part
        return attrs.evolve(part, **result_fields(self._results[part.tool_call_id]))
