"""One run of a graph, as it is followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage, ToolMessage

from partwise.messages import Message

from ._asking import Asking, IsApproval, interrupt_id
from ._blocks import fields_of
from ._checkpoints import Checkpoint, Checkpoints
from ._live import Live
from ._reading import Group, as_message, groups_of, id_of
from ._view import View, news

__all__ = ["IsShown", "Run"]

IsShown: TypeAlias = Callable[[Mapping[str, Any]], bool]


class Run:
    """Takes in what a graph tells while it runs, and says what of that is to be shown.

    Args:
        base: Where it runs from.
        groups: What the graph remembers of that.
        path: What is shown at first.
        show: Shows a whole path.
        put: Shows one message that is new, or newer.
    """

    def __init__(
        self,
        checkpoints: Checkpoints,
        view: View,
        base: Checkpoint | None,
        groups: Sequence[tuple[str, Group]],
        path: Sequence[Message],
        *,
        show: Callable[[Sequence[Message]], None],
        put: Callable[[Message], None],
        is_approval: IsApproval,
        is_shown: IsShown,
    ) -> None:
        self.base = base
        self.live = Live()
        self._checkpoints, self._view = checkpoints, view
        self._groups = groups
        self._settled = list(path)
        self._shown = list(path)
        self._show, self._put = show, put
        self._is_approval, self._is_shown = is_approval, is_shown
        self._interrupts: dict[str, Any] = {}
        self._name: str | None = None

    def take(self, place: Sequence[str], mode: str, payload: Any) -> None:
        """Take in one event.

        Args:
            place: The graph within the graph that tells it; empty for the graph itself.
            mode: ``"messages"`` or ``"values"``.
            payload: A piece and what is told of it, or the state.
        """
        if mode == "messages":
            self._take_piece(*payload)
        elif not place:
            self._take_values(payload)

    def _take_piece(self, piece: Any, told: Mapping[str, Any]) -> None:
        message = as_message(piece)
        if message is None or not self._is_shown(told) or not self.live.take(message, told):
            return
        answer = self._answer()
        if answer is None:
            return
        self._view.converted.saw(answer)
        if self._shown and self._shown[-1].id == answer.id:
            self._shown[-1] = answer
        else:
            self._shown.append(answer)
        self._put(answer)

    def _answer(self) -> Message | None:
        last = self._settled[-1] if self._settled else None
        if self._name is None and self.live.first_id is not None:
            (named,) = self._checkpoints.named([(BaseMessage("", id=self.live.first_id, type="ai"),)], self.base)
            self._name = named[0]
        return self.live.laid_on(last, self._name)

    def _take_values(self, values: Any) -> None:
        given = fields_of(values)
        for interrupt in given.get("__interrupt__") or ():
            self._interrupts[interrupt_id(interrupt)] = interrupt
        groups = groups_of(given["messages"] or ()) if "messages" in given else None
        if groups is not None:
            messages = [message for group in groups for message in group]
            settled = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
            self.live.forget(set(map(id_of, messages)), settled)
            self._groups = self._checkpoints.named(groups, self.base)
        asking = Asking.of(self._interrupts.values(), self._is_approval)
        self._settled = self._view.messages(self._groups, asking)
        self._name = None
        path, answer = list(self._settled), self._answer()
        if answer is not None:
            path = [*path[:-1], answer] if path and path[-1].id == answer.id else [*path, answer]
        self._tell(path)

    def _tell(self, path: list[Message]) -> None:
        new = news(self._shown, path)
        self._shown = path
        if new is None:
            self._show(path)
        else:
            for message in new:
                self._put(message)
