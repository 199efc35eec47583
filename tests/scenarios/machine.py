"""A user, a model, tools and a history that do anything at any moment, and what must hold all the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, Literal

import anyio
import anyio.lowlevel
import attrs

import partwise as pw
from partwise.adapters import RunContext, RunResult
from partwise.errors import AbortedError, PartwiseError
from partwise.messages import REQUIRES_TOOL_CALLS, AssistantMessage, Message, ToolCallPart, message_text
from partwise.runtimes import LocalThread, Operation
from partwise.stream import Finish, TextDelta
from partwise.tools import ToolContext
from tests.runtimes.scenes import Slow, call

Action = tuple[Any, ...]
Manners = Literal["returns", "raises", "yields more", "ignores", "is stubborn", "raises late"]
ORDERS: dict[str, list[Any]] = {
    "end": ["end"],
    "stop": [Finish("stop"), "end"],
    "pause": [Finish("tool-calls"), "end"],
    "error": [OSError("down")],
    "pausing": [RunResult(status=REQUIRES_TOOL_CALLS)],
    "nonsense": [object()],
}
TOOLS = ("auto", "slow", "gated", "human", "asks")


class ModelCall:
    """One call of the model: does what it is told, one thing after the other."""

    def __init__(self, run: RunContext, manners: Manners) -> None:
        self.run = run
        self.manners = manners
        self.inbox: list[Any] = []
        self.has_mail = anyio.Event()
        self.is_over = False
        self.has_paused = False

    def tell(self, *orders: Any) -> None:
        self.inbox += orders
        self.has_mail.set()

    async def order(self) -> Any:
        """Wait for the next order; None when the run was told to end and this call minds that."""
        while not self.inbox:
            self.has_mail = anyio.Event()
            if self.manners == "ignores":
                await self.has_mail.wait()
            elif self.manners == "is stubborn":
                with anyio.CancelScope(shield=True):
                    await self.has_mail.wait()
            else:
                await self._mail_or_signal()
                if self.run.signal.is_set:
                    return None
        return self.inbox.pop(0)

    async def _mail_or_signal(self) -> None:
        async with anyio.create_task_group() as group:

            async def first(wait: Callable[[], Awaitable[None]]) -> None:
                await wait()
                group.cancel_scope.cancel()

            group.start_soon(first, self.has_mail.wait)
            group.start_soon(first, self.run.signal.wait)


class Model:
    """A chat model whose every call waits for orders."""

    def __init__(self) -> None:
        self.calls: list[ModelCall] = []
        self.manners: Manners = "returns"

    @property
    def live(self) -> list[ModelCall]:
        return [model_call for model_call in self.calls if not model_call.is_over]

    async def run(self, run: RunContext) -> AsyncIterator[Any]:
        mine = ModelCall(run, self.manners)
        self.calls.append(mine)
        try:
            while (order := await mine.order()) is not None:
                mine.has_paused = mine.has_paused or isinstance(order, RunResult)
                if isinstance(order, BaseException):
                    raise order
                if order == "end":
                    return
                yield order
            if mine.manners == "yields more":
                yield TextDelta("late")
            if mine.manners == "raises":
                text = "stopped"
                raise AbortedError(text)
            if mine.manners == "raises late":
                text = "clean-up"
                raise OSError(text)
        finally:
            mine.is_over = True


class Tools:
    """Tools of every kind; each counts its runs by message and call."""

    def __init__(self) -> None:
        self.kit = pw.Toolkit()
        self.ran: Counter[tuple[str, str]] = Counter()
        self.gates: list[anyio.Event] = []

        @self.kit.frontend
        async def auto(context: ToolContext) -> str:
            self._count(context)
            return "auto"

        @self.kit.frontend
        async def slow(context: ToolContext) -> str:
            self._count(context)
            gate = anyio.Event()
            self.gates.append(gate)
            await gate.wait()
            return "slow"

        @self.kit.frontend(needs_approval=True)
        async def gated(context: ToolContext) -> str:
            self._count(context)
            return "gated"

        @self.kit.frontend
        async def asks(context: ToolContext) -> str:
            self._count(context)
            return await context.human("well?")

    def release(self, number: int) -> None:
        """Let a slow tool come to its end."""
        if self.gates:
            self.gates[number % len(self.gates)].set()

    def _count(self, context: ToolContext) -> None:
        self.ran[context.message_id, context.tool_call_id] += 1


@attrs.define
class Trace:
    """What was seen from outside."""

    starts: list[str] = attrs.field(factory=list)
    ends: list[str] = attrs.field(factory=list)
    frozen: dict[str, Message] = attrs.field(factory=dict)
    views: dict[str, object] = attrs.field(factory=dict)


class Machine:
    """Does to a thread what it is told, and looks whether everything still holds."""

    def __init__(self, thread: LocalThread, model: Model, tools: Tools, history: Slow) -> None:
        self.thread = thread
        self.model = model
        self.tools = tools
        self.history = history
        self.trace = Trace()
        self.operations: list[Operation] = []
        self.sent: set[str] = set()
        self.reaction: tuple[str, Callable[[], None]] | None = None
        self.count = 0
        self.said_in: dict[str, str] = {}
        thread.events.subscribe(self._hear)
        for name, selector in VIEWS.items():
            thread.select(selector).subscribe(lambda value, name=name: self.trace.views.update({name: value}))

    # What is seen

    def _hear(self, event: Any) -> None:
        if event.type == "run_start":
            self.trace.starts.append(event.run_id)
            self.trace.frozen.pop(event.message_id, None)
        elif event.type == "run_end":
            assert event.run_id in self.trace.starts
            assert event.run_id not in self.trace.ends, "a run ended twice"
            self.trace.ends.append(event.run_id)
            place = self.thread.find(event.message_id)
            if place is not None and is_terminal(place.message):
                self.trace.frozen[event.message_id] = place.message
        if self.reaction is not None and self.reaction[0] == event.type:
            act, self.reaction = self.reaction[1], None
            self.try_to(act)

    # What is done

    def try_to(self, act: Callable[[], Operation | None]) -> None:
        """Do something; what is refused changes nothing."""
        before = self.thread.state
        try:
            operation = act()
        except PartwiseError:
            assert self.thread.state is before, "what was refused changed something"
            return
        if isinstance(operation, Operation):
            self.operations.append(operation)

    def text(self) -> str:
        self.count += 1
        text = f"m{self.count}"
        self.sent.add(text)
        return text

    def any_message(self, number: int) -> Message | None:
        messages = [entry.message for entry in self.thread.export().entries]
        return messages[number % len(messages)] if messages else None

    def tool_calls(self) -> list[tuple[AssistantMessage, ToolCallPart]]:
        return [
            (entry.message, part)
            for entry in self.thread.export().entries
            if isinstance(entry.message, AssistantMessage)
            for part in entry.message.content
            if isinstance(part, ToolCallPart)
        ]

    def order(self, number: int, kinds: Iterable[str]) -> None:
        """Tell a live call of the model what to do next, one thing after the other."""
        live = self.model.live
        for kind in kinds if live else ():
            self.count += 1
            what = call(f"c{self.count}", kind) if kind in TOOLS else ORDERS.get(kind, [TextDelta(f"t{self.count} ")])
            model_call = live[number % len(live)]
            model_call.tell(*what)
            self.said_in[f"t{self.count}"] = model_call.run.assistant_message_id

    async def step(self, action: Action) -> None:
        """Do one action of a program."""
        match action:
            case ("settle",):
                await quiet()
                self.check()
            case ("turns", turns):
                await quiet(turns)
            case ("model", number, kinds):
                self.order(number, kinds)
            case ("manners", manners):
                self.model.manners = manners
            case ("release", number):
                self.tools.release(number)
            case ("slow disk", is_slow):
                self.history.be_slow() if is_slow else self.history.open()
            case ("bad disk", failures):
                self.history.failures = failures
            case ("when", event, user_action):
                self.reaction = (event, lambda: self.act(*user_action))
            case _:
                self.try_to(lambda: self.act(*action))

    def act(self, name: str, *arguments: Any) -> Operation | None:
        """Do one action of the user."""
        match name:
            case "append":
                starts_run, steers = arguments
                return self.thread.append(self.text(), starts_run=starts_run, steers=steers)
            case "draft":
                self.thread.composer.set_text(self.text())
                return self.thread.composer.send()
            case "cancel":
                return self.thread.cancel_run()
            case "detach":
                state = self.thread.state
                self.sent -= {item.prompt for item in (*state.steer_queue, *state.queue)}
                return self.thread.detach()
            case "load":
                return self.thread.load()
            case "reimport":
                return self.thread.import_(self.thread.export())
            case "unqueue" | "hurry":
                return self._queue(name, *arguments)
            case "approve" | "deny" | "result" | "answer":
                return self._answer(name, *arguments)
            case _:
                return self._to_message(name, *arguments)

    def _queue(self, name: str, number: int) -> None:
        state = self.thread.state
        waiting = (*state.steer_queue, *state.queue)
        if not waiting:
            return
        item = waiting[number % len(waiting)]
        if name == "unqueue":
            self.sent.discard(item.prompt)
            self.thread.queue.remove(item.id)
        else:
            self.thread.queue.move(item.id, lane="steer")

    def _answer(self, name: str, number: int) -> Operation | None:
        calls = self.tool_calls()
        if name in {"approve", "deny"}:
            calls = [(message, part) for message, part in calls if part.approval is not None] or calls
        if name == "answer":
            calls = [(message, part) for message, part in calls if part.interrupt is not None] or calls
        if not calls:
            return None
        message, part = calls[number % len(calls)]
        if name == "answer":
            return self.thread.resume_tool_call(part.tool_call_id, "well")
        if name == "result":
            self.trace.frozen.pop(message.id, None)
            return self.thread.add_tool_result(message.id, part.tool_call_id, "by hand")
        approval_id = "nowhere" if part.approval is None else part.approval.id
        return self.thread.respond_to_approval(approval_id, approved=name == "approve")

    def _to_message(self, name: str, number: int) -> Operation | None:
        message = self.any_message(number)
        if message is None:
            return None
        match name:
            case "edit":
                if message.id in self.thread.state.edits:
                    return None
                composer = self.thread.begin_edit(message.id)
                composer.set_text(self.text())
                return composer.send()
            case "reload":
                return self.thread.reload(message.id)
            case "start":
                return self.thread.start_run(message.id)
            case "switch":
                return self.thread.switch_to_branch(message.id)
            case "delete":
                self.sent.discard(message_text(message))
                return self.thread.delete_message(message.id)
            case _:
                raise AssertionError(name)

    # What must hold

    def check(self) -> None:
        """What must hold whenever nothing is about to happen by itself."""
        thread, state = self.thread, self.thread.state
        for message in state.messages:
            place = thread.find(message.id)
            assert place is not None
            assert place.message is message
            assert place.visible
        assert state.head_id == (state.messages[-1].id if state.messages else None)
        for name, selector in VIEWS.items():
            assert self.trace.views[name] == selector(state), f"{name} went silent"
        for message_id, message in list(self.trace.frozen.items()):
            place = thread.find(message_id)
            # Going on below an answer closes what it still asked.
            assert place is None or said(place.message) == said(message), "a settled answer changed"
        assert set(self.tools.ran.values()) <= {1}, "a tool ran twice"
        texts = Counter(
            message_text(entry.message) for entry in thread.export().entries if entry.message.role == "user"
        )
        assert all(times == 1 for times in texts.values()), "a message was doubled"
        is_live = len(self.trace.starts) > len(self.trace.ends)
        assert is_live or not state.is_running, "running without a run"
        wanted = {m.id: ids for m in state.messages if len(ids := thread.branches_of(m.id)) > 1}
        assert dict(state.branches) == wanted, "the alternatives are others"
        self._check_runs()

    def _check_runs(self) -> None:
        """One run at a time, whose message is there and is its own; what a call says is in its message, once."""
        current = [model_call for model_call in self.model.live if not model_call.run.signal.is_set]
        assert len(current) <= 1, "two runs at a time"
        for model_call in current:
            place = self.thread.find(model_call.run.assistant_message_id)
            assert place is not None, "a run without a message"
            assert model_call.has_paused or is_running(place.message), "a run whose message is over"
        entries = self.thread.export().entries
        words = Counter(word for entry in entries for word in said_words(entry.message))
        assert not words or max(words.values()) == 1, "words were doubled"
        for entry in entries:
            for word in said_words(entry.message):
                assert self.said_in.get(word, entry.message.id) == entry.message.id, "words went elsewhere"
        if current:
            above = self.thread.find(current[0].run.assistant_message_id)
            assert above is not None
            path = [] if above.parent_id is None else self._path(above.parent_id)
            assert not [m for m in path if asks(m)], "a question was left open above a new answer"

    def _path(self, message_id: str | None) -> list[Message]:
        found: list[Message] = []
        while message_id is not None:
            place = self.thread.find(message_id)
            assert place is not None
            found.append(place.message)
            message_id = place.parent_id
        return found

    def let_go(self) -> None:
        """Let everything end that waits for an order."""
        for model_call in self.model.live:
            model_call.tell("end")
        for gate in self.tools.gates:
            gate.set()
        self.history.open()

    async def finish(self) -> None:
        """Let everything that is under way come to its end, then look at the whole."""
        self.reaction = None
        self.history.open()
        self.history.failures = 0
        for _ in range(30):
            await quiet()
            self.check()
            self.thread.cancel_run()
            self.let_go()
            await quiet()
            if not self.model.live and not self.thread.state.is_running:
                break
        # What could not be stored is stored before the next message.
        self.operations.append(self.thread.append(self.text(), starts_run=False))
        await quiet()
        self.check()
        assert sorted(self.trace.ends) == sorted(self.trace.starts), "a run never ended"
        assert not self.thread.state.is_running
        for operation in self.operations:
            assert operation.is_done, "an operation never settled"
        self._check_messages()
        await self.check_stored()

    def _check_messages(self) -> None:
        entries = self.thread.export().entries
        assert not [entry for entry in entries if getattr(entry.message, "status", None) and is_running(entry.message)]
        kept = {message_text(entry.message) for entry in entries}
        # A stop pauses the queue until the next send; what waits in it is not lost.
        kept |= {item.prompt for item in (*self.thread.state.queue, *self.thread.state.steer_queue)}
        assert self.sent <= kept, "a message was lost"

    async def check_stored(self) -> None:
        """What is stored is what is in the tree."""
        loaded = await self.history.load()
        stored = {} if loaded is None else {entry.message.id: entry for entry in loaded.entries}
        tree = {entry.message.id: entry for entry in self.thread.export().entries}
        assert {id: entry.parent_id for id, entry in stored.items()} == {
            id: entry.parent_id for id, entry in tree.items()
        }
        for message_id, entry in tree.items():
            assert stored[message_id].message == entry.message, "the history has another version"
        assert (None if loaded is None else loaded.head_id) == self.thread.state.head_id


VIEWS: dict[str, Callable[[Any], object]] = {
    "ids": lambda s: tuple(message.id for message in s.messages),
    "running": lambda s: s.is_running,
    "statuses": lambda s: tuple(getattr(message, "status", None) for message in s.messages),
    "last": lambda s: s.messages[-1] if s.messages else None,
    "text": lambda s: "".join(getattr(part, "text", "") for part in s.messages[-1].content) if s.messages else "",
    "branches": lambda s: dict(s.branches),
    "queue": lambda s: tuple(item.prompt for item in (*s.steer_queue, *s.queue)),
}


async def quiet(turns: int = 50) -> None:
    """Give everybody so many turns; the default is more than anything here needs to come to rest."""
    for _ in range(turns):
        await anyio.lowlevel.checkpoint()


def said(message: Message) -> Message:
    """A message without what it asked of people."""
    content = tuple(attrs.evolve(p, approval=None) if isinstance(p, ToolCallPart) else p for p in message.content)
    return attrs.evolve(message, content=content)


def said_words(message: Message) -> list[str]:
    return message_text(message).split() if isinstance(message, AssistantMessage) else []


def asks(message: Message) -> bool:
    """Whether a message still asks for a permission."""
    return any(isinstance(p, ToolCallPart) and p.approval is not None and p.approval.is_open for p in message.content)


def is_terminal(message: Message) -> bool:
    return isinstance(message, AssistantMessage) and message.status.type in {"complete", "incomplete"}


def is_running(message: Message) -> bool:
    return isinstance(message, AssistantMessage) and message.status.type == "running"
