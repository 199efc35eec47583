"""What a graph waits for, as calls that wait for a person; and the answers, until all of them are there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import attrs

from partwise.errors import ApprovalError, NotAllowedError
from partwise.messages import Approval, AssistantPart, Interrupt, ToolCallPart, freeze

from ._blocks import mapping_of

__all__ = ["Asking", "IsApproval", "interrupt_id"]

IsApproval: TypeAlias = Callable[[Any], bool]


@attrs.frozen
class _Ask:
    """One thing that a person decides.

    Attributes:
        id: Of the approval, or of the call that asks a human.
        interrupt_id: The interrupt that it belongs to.
        action: The call that is to be allowed, where the graph names it; None: the interrupt as a whole.
    """

    id: str
    interrupt_id: str
    is_approval: bool
    payload: Any = attrs.field(converter=freeze)  # pyright: ignore[reportUnknownVariableType]  # a foreign value
    action: Mapping[str, Any] | None = attrs.field(default=None, converter=freeze)


@attrs.frozen
class Asking:
    """What is asked, and what has been answered of it. A run goes on once, with all the answers.

    Attributes:
        asks: In the order in which they came.
        answers: By the id of what is asked.
    """

    asks: tuple[_Ask, ...] = ()
    answers: Mapping[str, Any] = attrs.field(factory=dict[str, Any])

    @classmethod
    def of(cls, interrupts: Iterable[Any], is_approval: IsApproval) -> Asking:
        """Read the interrupts of a graph; of those that come more than once, the last one counts."""
        found = {interrupt_id(one): _value(one) for one in interrupts}
        return cls(tuple(ask for id, value in found.items() for ask in _asks(id, value, is_approval)))

    @property
    def is_answered(self) -> bool:
        """Whether nothing is open any more."""
        return len(self.answers) == len(self.asks)

    def answered(self, ask_id: str, answer: Any) -> Asking:
        """Take in an answer.

        Raises:
            NotAllowedError: Nobody asks (code ``"not-waiting"``).
            ApprovalError: It was answered already; the first answer stays (code ``"approval-decided"``).
        """
        if ask_id not in {ask.id for ask in self.asks}:
            text = f"The graph does not wait for an answer to {ask_id!r}."
            raise NotAllowedError(text, code="not-waiting", id=ask_id)
        if ask_id in self.answers:
            text = f"{ask_id!r} was answered already; the graph goes on once the other questions are answered."
            raise ApprovalError(text, code="approval-decided", id=ask_id)
        return attrs.evolve(self, answers={**self.answers, ask_id: answer})

    @property
    def resume(self) -> dict[str, Any]:
        """What each interrupt is answered with."""
        answers: dict[str, Any] = {}
        for ask in self.asks:
            if ask.action is None:
                answers[ask.interrupt_id] = self.answers[ask.id]
            else:
                decisions = answers.setdefault(ask.interrupt_id, {"decisions": []})["decisions"]
                decisions.append(_decision(self.answers[ask.id]))
        return answers

    def laid_on(self, parts: Sequence[AssistantPart]) -> tuple[AssistantPart, ...]:
        """Show what is asked, behind the parts of an answer or on its calls."""
        shown = list(parts)
        for ask in self.asks:
            at = None if ask.action is None else _place(shown, ask.action)
            call = shown[at] if at is not None else _call(ask)
            assert isinstance(call, ToolCallPart)  # by _place and _call
            call = self._marked(call, ask)
            if at is None:
                shown.append(call)
            else:
                shown[at] = call
        return tuple(shown)

    def _marked(self, call: ToolCallPart, ask: _Ask) -> ToolCallPart:
        is_answered, answer = ask.id in self.answers, self.answers.get(ask.id)
        if not ask.is_approval:
            return attrs.evolve(call, result=answer) if is_answered else call
        more = {"payload": ask.payload} if ask.action is not None else None
        approval = Approval(id=ask.id, extra=more)
        if is_answered:
            given = cast("Mapping[str, Any]", answer)
            approval = attrs.evolve(
                approval, approved=given["approved"], reason=given["reason"], option_id=given["option_id"]
            )
        return attrs.evolve(call, approval=approval)


def interrupt_id(interrupt: Any) -> str:
    """Return the id of an interrupt."""
    given = mapping_of(interrupt)
    return str(interrupt.id if given is None else given["id"])


def _value(interrupt: Any) -> Any:
    given = mapping_of(interrupt)
    return interrupt.value if given is None else given["value"]


def _asks(id: str, value: Any, is_approval: IsApproval) -> Iterable[_Ask]:
    actions = _actions(value)
    if not actions:
        return [_Ask(id, id, is_approval(value), value)]
    return [_Ask(f"{id}/{index}", id, True, value, action) for index, action in enumerate(actions)]


def _actions(value: Any) -> list[Mapping[str, Any]]:
    """The calls that LangChain's middleware asks about, in the spellings of both its languages."""
    given = mapping_of(value) or {}
    found: Any = given.get("action_requests") or given.get("actionRequests") or []
    actions: list[Any] = cast("list[Any]", found) if isinstance(found, (list, tuple)) else []
    return actions if all(isinstance(one, Mapping) and "name" in one for one in actions) else []


def _decision(answer: Mapping[str, Any]) -> dict[str, Any]:
    if answer["approved"]:
        return {"type": "approve"}
    return {"type": "reject"} if answer["reason"] is None else {"type": "reject", "message": answer["reason"]}


def _place(parts: Sequence[AssistantPart], action: Mapping[str, Any]) -> int | None:
    """Find the call that an action is; it has no id, so the first one with that name and those arguments is it."""
    args = action.get("args", action.get("arguments", {}))
    for index, part in enumerate(parts):
        if not isinstance(part, ToolCallPart) or part.has_result or part.approval is not None:
            continue
        if part.tool_name == action["name"] and part.args == args:
            return index
    return None


def _call(ask: _Ask) -> ToolCallPart:
    payload = ask.payload if ask.action is None else ask.action
    args = mapping_of(payload)
    interrupt = None if ask.is_approval else Interrupt(payload=payload)
    return ToolCallPart(
        tool_call_id=ask.id,
        tool_name="interrupt",
        args={"value": payload} if args is None else args,
        interrupt=interrupt,
    )
