"""The card of a tool call: arguments that grow, the permission it asks for, the result."""

from __future__ import annotations

from time import monotonic
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Button, Input, Static

from partwise.bindings.textual import FRAMES, Follows
from partwise.cli._wording import as_line, decides, decision_of, pretty, second_question, state_of
from partwise.errors import PartwiseError
from partwise.messages import Approval, ApprovalOption, Part, PartStatus, ToolCallPart
from partwise.primitives import PartView

__all__ = ["ApprovalRow", "QuestionRow", "ToolCard"]


class ApprovalRow(Vertical):
    """The buttons that decide on a permission, and what has to be asked once more."""

    DEFAULT_CSS = """
    ApprovalRow { height: auto; margin: 1 0 0 0; }
    ApprovalRow Horizontal { height: auto; }
    ApprovalRow.stacked Horizontal { layout: vertical; }
    ApprovalRow Button { margin: 0 1 0 0; }
    """

    class Decided(Message):
        """Somebody decided: by yes or no, or by an option."""

        def __init__(self, *, approved: bool | None = None, option_id: str | None = None) -> None:
            super().__init__()
            self.approved = approved
            self.option_id = option_id

    def __init__(self, approval: Approval) -> None:
        super().__init__()
        self.subject: object = approval.id
        self._approval = approval
        self._chosen: ApprovalOption | None = None

    def compose(self) -> ComposeResult:
        """Offer the options, or yes and no; of a chosen option, what is still to be asked."""
        options = self._approval.options or ()
        if self._chosen is not None:
            yield Static(second_question(self._chosen) or "Allow or deny?", markup=False, classes="question")
        with Horizontal():
            if self._chosen is not None or not options:
                yield Button(
                    "Allow (y)" if self._chosen is None else "Yes (y)", variant="success", name="yes", compact=True
                )
                yield Button("Deny (n)" if self._chosen is None else "No (n)", variant="error", name="no", compact=True)
                return
            for number, option in enumerate(options, start=1):
                rejects = option.kind.startswith("reject")
                label = Content(f"{option.label or option.id} ({number})")
                yield Button(label, variant="error" if rejects else "success", name=str(number), compact=True)

    def on_resize(self, event: events.Resize) -> None:
        """Put the buttons below each other where they do not fit side by side: none may be hidden."""
        self._stack(event.size.width)

    def _stack(self, width: int) -> None:
        labels = [Content.from_text(button.label, markup=False) for button in self.query(Button)]
        self.set_class(sum(label.cell_length + 5 for label in labels) > width, "stacked")  # 4 inside, 1 between

    @on(Button.Pressed)
    def _press(self, event: Button.Pressed) -> None:
        event.stop()
        name = event.button.name or ""
        if name.isdigit():
            self.choose(int(name))
        else:
            self.answer(name == "yes")

    def choose(self, number: int) -> None:
        """Take the option at a position, counted from 1; there may be something to ask first."""
        options = self._approval.options or ()
        if self._chosen is not None or not 1 <= number <= len(options):
            return
        option = options[number - 1]
        if decides(option) and second_question(option) is None:
            self.post_message(self.Decided(option_id=option.id))
        else:
            self._chosen = option
            self.refresh(recompose=True)

    def answer(self, is_yes: bool) -> None:
        """Say yes or no: to the permission, or to what was asked about the chosen option."""
        option = self._chosen
        if option is None:
            self.post_message(self.Decided(approved=is_yes))
        elif not decides(option):
            self.post_message(self.Decided(approved=is_yes, option_id=option.id))
        elif is_yes:
            self.post_message(self.Decided(option_id=option.id))
        else:
            self._chosen = None
            self.refresh(recompose=True)


class QuestionRow(Vertical):
    """What a running tool asks, and a line for the answer."""

    DEFAULT_CSS = "QuestionRow { height: auto; margin: 1 0 0 0; }"

    def __init__(self, payload: object) -> None:
        super().__init__()
        self.subject = payload

    def compose(self) -> ComposeResult:
        """Show the question and an input."""
        yield Static(as_line(self.subject), markup=False, classes="question")
        yield Input(placeholder="Your answer")


class ToolCard(Follows, Vertical, can_focus=True):
    """One call of a tool."""

    DEFAULT_CSS = """
    ToolCard {
        height: auto;
        margin: 0 0 1 0;
        padding: 0 1;
        border: round $secondary;
    }
    ToolCard:focus, ToolCard:focus-within { border: round $accent; }
    ToolCard.failed { border: round $error; }
    ToolCard.asking { border: heavy $warning; }
    ToolCard .arguments { color: $text-muted; }
    ToolCard .decision { text-style: italic; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Allow"),
        Binding("n", "answer(False)", "Deny"),
        *(Binding(str(number), f"option({number})", f"Option {number}", show=False) for number in range(1, 10)),
    ]

    class Asks(Message):
        """A call waits for a human."""

        def __init__(self, card: ToolCard) -> None:
            super().__init__()
            self.card = card

    class Answered(Message):
        """Somebody decided or answered here."""

    # Keys that arrive right after the focus came here by itself were meant for something else.
    grace: ClassVar[float] = 0.4

    def __init__(self, view: PartView) -> None:
        super().__init__()
        self._view = view
        self._listens_from = 0.0
        self._title = Static(markup=False, classes="title")
        self._arguments = Static(markup=False, classes="arguments")
        self._result = Static(markup=False, classes="result")
        self._decision = Static(markup=False, classes="decision")
        self._part: ToolCallPart | None = None
        self._status: PartStatus | None = None

    def compose(self) -> ComposeResult:
        """Title, arguments, decision and result; what asks is mounted when it does."""
        yield self._title
        yield self._arguments
        yield self._decision
        yield self._result

    def on_mount(self) -> None:
        """Follow the call and how far it has come."""
        for line in (self._decision, self._result):
            line.display = False
        self.follow(self._view.part, self._show, hz=FRAMES)
        self.follow(self._view.status, self._mark)

    async def _show(self, part: Part) -> None:
        if not isinstance(part, ToolCallPart):
            return
        before, self._part = self._part, part
        if before is None or part.args_text != before.args_text or part.args is not before.args:
            self._arguments.update(pretty(part.args_text or part.args, lines=12))
        if part.has_result and (before is None or part.result is not before.result):
            self._result.update(pretty(part.result, lines=12))
            self._result.display = True
        decision = decision_of(part)
        self._decision.update(decision)
        self._decision.display = bool(decision)
        await self._refresh_state()

    async def _mark(self, status: PartStatus) -> None:
        self._status = status
        await self._refresh_state()

    async def _refresh_state(self) -> None:
        """Bring title, colours and questions to what call and status say together."""
        part, status = self._part, self._status
        if part is None or status is None:
            return
        is_waiting = not part.has_result and status.type in {"requires-action", "running"}
        approval = part.approval if is_waiting and part.approval is not None and part.approval.is_open else None
        interrupt = part.interrupt if is_waiting else None
        self._title.update(state_of(part, status))
        self.set_class(bool(part.is_error) or status.type == "incomplete", "failed")
        self.set_class(approval is not None or interrupt is not None, "asking")
        await self._offer(ApprovalRow, None if approval is None else ApprovalRow(approval))
        await self._offer(QuestionRow, None if interrupt is None else QuestionRow(interrupt.payload))
        self.refresh_bindings()

    async def _offer(self, kind: type[ApprovalRow | QuestionRow], row: ApprovalRow | QuestionRow | None) -> None:
        there = self.query(kind)
        if row is None:
            if there:
                had_focus = self.has_focus_within
                await there.remove()
                if had_focus:
                    self.focus()
        elif not any(one.subject == row.subject for one in there):
            await there.remove()  # a tool may ask its next question before the first one was seen to go
            await self.mount(row)
            self.post_message(self.Asks(self))

    @property
    def is_asking(self) -> bool:
        """Whether somebody is to decide or to answer here."""
        return self.has_class("asking")

    def take_focus(self) -> None:
        """Go to where the answer is given; a permission is asked on the card, where Enter does nothing."""
        self._listens_from = monotonic() + self.grace
        inputs = self.query(Input)
        (inputs.first() if inputs else self).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer yes and no only while they are asked for."""
        if action in {"answer", "option"}:
            return bool(self.query(ApprovalRow))
        return super().check_action(action, parameters)

    def action_answer(self, approved: bool) -> None:
        """Allow or deny."""
        if monotonic() >= self._listens_from:
            for row in self.query(ApprovalRow):
                row.answer(approved)

    def action_option(self, number: int) -> None:
        """Take an option."""
        if monotonic() < self._listens_from:
            return
        for row in self.query(ApprovalRow):
            row.choose(number)

    @on(ApprovalRow.Decided)
    def _take_decision(self, event: ApprovalRow.Decided) -> None:
        event.stop()
        self._decide(approved=event.approved, option_id=event.option_id)

    @on(Input.Submitted)
    def _take_answer(self, event: Input.Submitted) -> None:
        event.stop()
        try:
            self._view.resume(event.value)
        except PartwiseError as error:
            self.notify(str(error), severity="error", markup=False)
        self.post_message(self.Answered())

    def _decide(self, *, approved: bool | None = None, option_id: str | None = None) -> None:
        try:
            self._view.respond(approved=approved, option_id=option_id)
        except PartwiseError as error:
            self.notify(str(error), severity="error", markup=False)
        self.post_message(self.Answered())
