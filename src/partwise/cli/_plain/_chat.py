"""The conversation over lines: one prompt, one answer, and what has to be asked in between."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

import anyio
import attrs
from reactivex import operators as ops

from partwise.cli._attachments import as_label, file_at, path_of, refusal
from partwise.cli._wording import arguments_of, as_line, decides, open_approvals, open_questions, second_question
from partwise.errors import PartwiseError
from partwise.messages import (
    Approval,
    ApprovalOption,
    Attachment,
    IncompleteStatus,
    Message,
    PendingAttachment,
    ToolCallPart,
    UploadingStatus,
)
from partwise.runtimes import LocalThread, Operation

from ._commands import HELP, Attach, Branch, Command, Edit, Plain, Problem, Prompt, Reload, read_command
from ._lines import LineSource
from ._output import Output
from ._printed import Printed, advance, conclude
from ._transcript import transcript

__all__ = ["PlainChat"]

_NO_ANSWER = "Nobody answered: the input had ended."


class PlainChat:
    """Answers each line of input, until there are no more.

    Args:
        thread: The conversation.
        lines: Prompts, commands, and the answers to questions.
        output: Where answers go.
        prompt: Written before each prompt is awaited; for terminals.
        echoes: Whether answers to questions are written, too; terminals do that by themselves.
        first: Sent by itself if the input holds no line at all.
    """

    def __init__(
        self,
        thread: LocalThread,
        lines: LineSource,
        output: Output,
        *,
        prompt: str = "",
        echoes: bool = True,
        first: str | None = None,
    ) -> None:
        self._thread = thread
        self._lines = lines
        self._output = output
        self._prompt = prompt
        self._echoes = echoes
        self._first = first
        self._printed: dict[str, Printed] = {}
        self._is_cancelled = False
        self._asks = anyio.Event()
        self._asked: set[str] = set()

    @property
    def has_failed(self) -> bool:
        """Whether the last answer ended in an error, or just stopped."""
        last = self._last
        status = last.status if last is not None and last.role == "assistant" else None
        return isinstance(status, IncompleteStatus) and status.reason in ("error", "other")

    async def resume(self) -> None:
        """Ask again what the thread was left waiting for; without an answer it goes on waiting."""
        if open_approvals(self._last):
            await self._follow(Operation.done())

    async def run(self) -> None:
        """Read and answer lines; returns at the end of the input or when told to quit."""
        is_first = True
        while True:
            line = await self._next(self._prompt)
            if line is None:
                if is_first and self._first is not None:
                    await self._perform(Prompt(self._first))
                return
            is_first = False
            command = read_command(line)
            if command == Plain("quit"):
                return
            await self._perform(command)

    def show_history(self) -> None:
        """Print the thread as it stands."""
        self._output.write(transcript(self._thread.state))

    async def attach(self, path: Path) -> None:
        """Read a file, and let it go with the next message; or say why that cannot be."""
        if (why := refusal(path)) is not None:
            self._output.line(f"[{why}]")
            return
        attachments = self._thread.select(lambda state: state.composer.attachments)
        subscription = attachments.pipe(ops.skip(1)).subscribe(self._tell_attached)
        try:
            await self._thread.composer.add_attachment(file_at(path))
        except Exception as error:
            self._output.line(f"[cannot attach {str(path)!r}: {error}]")
        finally:
            subscription.dispose()

    def _tell_attached(self, attachments: tuple[Attachment, ...]) -> None:
        last = attachments[-1]
        is_reading = isinstance(last, PendingAttachment) and isinstance(last.status, UploadingStatus)
        self._output.line(f"[{'attaching' if is_reading else 'attached'}] {as_label(last)}")

    async def _say(self, text: str) -> None:
        composer = self._thread.composer
        if not composer.state.attachments:
            await self._follow(self._thread.append(text))
            return
        composer.set_text(text)
        await self._follow(composer.send())

    def interrupt(self) -> bool:
        """Cancel the answer in progress; returns False if there is none that was not cancelled yet."""
        if not self._thread.state.is_running or self._is_cancelled:
            return False
        self._is_cancelled = True
        self._thread.cancel_run()
        return True

    @property
    def _last(self) -> Message | None:
        messages = self._thread.state.messages
        return messages[-1] if messages else None

    async def _next(self, prompt: str) -> str | None:
        self._output.write(prompt)
        return await self._lines.next()

    async def _ask(self, question: str) -> str | None:
        """Put a question that the next line of input answers."""
        answer = await self._next(question)
        if self._echoes:
            self._output.line("" if answer is None else answer.strip())
        return answer

    async def _perform(self, command: Command) -> None:
        try:
            await self._do(command)
        except PartwiseError as error:
            self._output.line(f"[refused: {error}]")

    async def _do(self, command: Command) -> None:
        match command:
            case Prompt():
                await self._say(command.text)
            case Attach():
                await self.attach(path_of(command.path))
            case Edit():
                await self._edit(command)
            case Reload():
                await self._reload()
            case Branch():
                self._switch(command)
            case Problem():
                self._output.line(f"[{command.text}]")
            case Plain():
                await self._do_plainly(command.name)
            case _:
                assert_never(command)

    async def _do_plainly(self, name: str) -> None:
        if name == "help":
            self._output.line(HELP)
        elif name == "history":
            self.show_history()
        elif name == "detach":
            await self._thread.composer.clear_attachments()

    async def _edit(self, command: Edit) -> None:
        messages = self._thread.state.messages
        if not 1 <= command.number <= len(messages) or messages[command.number - 1].role != "user":
            self._output.line(f"[message {command.number} is not one of yours; /history shows the numbers]")
            return
        composer = self._thread.begin_edit(messages[command.number - 1].id)
        composer.set_text(command.text)
        await self._follow(composer.send())

    async def _reload(self) -> None:
        last = self._last
        if last is None or last.role == "system":
            self._output.line("[there is nothing to be answered]")
        elif last.role == "user":  # an earlier chat was killed before it could answer
            await self._follow(self._thread.start_run(last.id))
        else:
            await self._follow(self._thread.reload(last.id))

    def _switch(self, command: Branch) -> None:
        state = self._thread.state
        fork = next((message.id for message in reversed(state.messages) if message.id in state.branches), None)
        if fork is None:
            self._output.line("[there is only one branch]")
            return
        self._thread.switch_branch(fork, command.to)
        self.show_history()

    # Following a run

    async def _follow(self, operation: Operation) -> None:
        """Print what a run says, and ask what it needs to know, until nothing moves any more."""
        self._is_cancelled = False
        head = self._thread.select(lambda state: state.messages[-1] if state.messages else None)
        subscription = head.subscribe(self._show)
        try:
            while True:
                await self._wait(operation)
                if not operation.is_done:
                    await self._ask_questions()
                    continue
                asking = open_approvals(self._last)
                if not asking:
                    break
                operation = await self._ask_approval(asking[0])
        finally:
            subscription.dispose()
        self._end(self._last)

    def _show(self, message: Message | None) -> None:
        if message is None or message.role != "assistant":
            return
        self._printed[message.id], text = advance(self._printed.get(message.id, Printed()), message)
        self._output.write(text)
        if self._open_questions():
            self._asks.set()

    def _end(self, message: Message | None) -> None:
        if message is not None and message.role == "assistant":
            self._printed[message.id], text = conclude(self._printed.get(message.id, Printed()), message)
            self._output.write(text)

    async def _wait(self, operation: Operation) -> None:
        """Wait until the operation has settled or a tool has asked something."""
        self._asks = anyio.Event()
        if self._open_questions():
            return

        async def settled() -> None:
            try:
                await operation
            except Exception:  # it is the status of the answer, or was reported as an event
                return
            finally:
                self._asks.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(settled)
            await self._asks.wait()
            tasks.cancel_scope.cancel()

    def _open_questions(self) -> tuple[ToolCallPart, ...]:
        return tuple(part for part in open_questions(self._last) if part.tool_call_id not in self._asked)

    async def _ask_questions(self) -> None:
        for part in self._open_questions():
            self._asked.add(part.tool_call_id)
            self._end_line()
            payload = part.interrupt.payload if part.interrupt is not None else None
            answer = await self._ask(f"[question] {part.tool_name} asks: {as_line(payload)} ")
            if answer is None:
                self._thread.cancel_run()
                return
            if part.tool_call_id in {still.tool_call_id for still in open_questions(self._last)}:
                self._thread.resume_tool_call(part.tool_call_id, answer)
                self._asked.discard(part.tool_call_id)

    async def _ask_approval(self, part: ToolCallPart) -> Operation:
        assert part.approval is not None
        self._end(self._last)
        approval = part.approval
        names = "".join(
            f" {number}) {option.label or option.id}" for number, option in enumerate(approval.options or (), 1)
        )
        answer = await self._ask(f"[approval] {part.tool_name} {arguments_of(part) or '{}'} allow?{names} [y/N] ")
        if answer is None:
            return self._respond(part, approval, approved=False, reason=_NO_ANSWER)
        word = answer.strip().lower()
        options = {str(number): option for number, option in enumerate(approval.options or (), 1)}
        if word in options:
            return await self._take_option(part, approval, options[word])
        return self._respond(part, approval, approved=word in {"y", "yes"})

    async def _take_option(self, part: ToolCallPart, approval: Approval, option: ApprovalOption) -> Operation:
        question = second_question(option)
        if not decides(option):
            question = f"{question or option.label or option.id}: allow?"
            approved = await self._is_yes(f"[approval] {question} [y/N] ")
            return self._respond(part, approval, approved=approved, option_id=option.id)
        if question is not None and not await self._is_yes(f"[approval] {question} [y/N] "):
            return Operation.done()  # and the permission is asked again
        return self._respond(part, approval, option_id=option.id)

    async def _is_yes(self, question: str) -> bool:
        return (await self._ask(question) or "").strip().lower() in {"y", "yes"}

    def _respond(
        self,
        part: ToolCallPart,
        approval: Approval,
        *,
        approved: bool | None = None,
        option_id: str | None = None,
        reason: str | None = None,
    ) -> Operation:
        return self._thread.respond_to_approval(
            approval.id, approved=approved, option_id=option_id, reason=reason, tool_call_id=part.tool_call_id
        )

    def _end_line(self) -> None:
        last = self._last
        if last is not None and (printed := self._printed.get(last.id)) is not None and printed.at is not None:
            self._output.line()
            self._printed[last.id] = attrs.evolve(printed, at=None)
