"""Random owners that do everything at once: threads that change, tools that run, drafts that are sent and refused."""

from __future__ import annotations

from collections import Counter
from typing import Any

import anyio
import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.errors import NotSentError, PartwiseError
from partwise.messages import message_text
from partwise.runtimes import AppendRequest, ExternalStoreRuntime, ExternalThreads, ToolOutput
from partwise.tools import ToolContext, Toolkit
from tests.runtimes.scenes import settled

THREADS = ("t1", "t2", "t3")


def outputs(number: int) -> list[dict[str, Any]]:
    """One turn of a conversation: a question, a call, and sometimes its result."""
    call = {"type": "tool-call", "toolCallId": f"c{number}", "toolName": ("look", "ask")[number % 2], "argsText": "{}"}
    turn: list[dict[str, Any]] = [
        {"role": "user", "id": f"u{number}", "content": f"q{number}"},
        {"role": "assistant", "id": f"a{number}", "content": [call]},
    ]
    if number % 3 == 0:
        turn.append({"role": "tool", "toolCallId": f"c{number}", "result": number})
    return turn


@attrs.define(eq=False)
class Owner:
    """Several conversations, one in view; what was typed and sent is written down with its thread."""

    turns: dict[str, list[int]] = attrs.field(factory=lambda: {id: [] for id in THREADS})
    current: str = "t1"
    refuses: bool = False
    sent: list[tuple[str, str]] = attrs.field(factory=list)
    typed: Counter[str] = attrs.field(factory=Counter)
    ran: Counter[tuple[int, str]] = attrs.field(factory=Counter)
    epoch: int = 0
    history: set[str] = attrs.field(factory=set)
    answers: dict[str, Any] = attrs.field(factory=dict)
    runtime: ExternalStoreRuntime | None = None

    def items(self) -> list[dict[str, Any]]:
        given = [output for turn in self.turns[self.current] for output in outputs(turn)]
        for call_id, result in self.answers.items():
            if any(f"c{turn}" == call_id for turn in self.turns[self.current]):
                given.append({"role": "tool", "toolCallId": call_id, "result": result})
        return given

    def threads(self) -> ExternalThreads:
        return ExternalThreads(current_id=self.current)

    def show(self) -> None:
        assert self.runtime is not None
        self.runtime.update(self.items(), threads=self.threads())

    def begin_anew(self) -> None:
        self.epoch += 1
        self.history = {f"c{turn}" for turn in self.turns[self.current]}

    async def take(self, request: AppendRequest) -> None:
        await anyio.lowlevel.checkpoint()
        if self.refuses:
            raise NotSentError("offline")
        assert request.thread_id is not None
        self.sent.append((request.thread_id, message_text(request.message)))

    def answer(self, output: ToolOutput) -> None:
        self.answers[output.tool_call_id] = output.result
        self.show()

    def tools(self) -> Toolkit:
        kit = Toolkit()

        @kit.frontend
        async def look(context: ToolContext) -> str:
            """Look."""
            self.ran[self.epoch, context.tool_call_id] += 1
            return "seen"

        @kit.frontend
        async def ask(context: ToolContext) -> Any:
            """Ask."""
            self.ran[self.epoch, context.tool_call_id] += 1
            return await context.human("?")

        return kit


OTHERS = ["refuse", "cancel", "answer", "reset", "settle", "again"]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), st.integers(0, 5)),
        st.tuples(st.just("cut"), st.integers(0, 3)),
        st.tuples(st.just("switch"), st.sampled_from(THREADS)),
        st.tuples(st.sampled_from(["type", "send"]), st.just(0)),
        st.tuples(st.sampled_from(OTHERS), st.just(0)),
    ),
    max_size=25,
)


@settings(max_examples=150, deadline=None)
@given(STEPS, st.sampled_from(["asyncio", "trio"]))
def test_whatever_an_owner_does_tools_run_once_and_drafts_stay_in_their_thread(
    steps: list[tuple[str, Any]], backend: str
) -> None:
    anyio.run(_play, steps, backend=backend)


async def _play(steps: list[tuple[str, Any]]) -> None:
    owner = Owner()
    failures: list[Exception] = []
    runtime = owner.runtime = ExternalStoreRuntime(
        owner.items(),
        joins=True,
        threads=owner.threads(),
        tools=[owner.tools()],
        runs_tools=True,
        on_new=owner.take,
        on_cancel=lambda: None,
        on_tool_result=owner.answer,
        on_error=lambda error, context: failures.append(error),
    )
    async with runtime:
        for step, value in steps:
            await _do(owner, runtime, step, value)
            state = runtime.thread.state
            assert runtime.threads.state.main_id == owner.current
            assert len(state.messages) == len(set(state.messages.keys()))
        await settled()
        for thread_id in THREADS:
            owner.current = thread_id
            owner.begin_anew()
            owner.show()
            for line in runtime.thread.composer.state.text.splitlines():
                owner.typed[line] -= 1
                assert line.startswith(thread_id)
        for thread_id, text in owner.sent:
            for line in text.splitlines():
                owner.typed[line] -= 1
                assert line.startswith(thread_id)
        assert set(owner.typed.values()) <= {0}  # nothing that was typed is lost, and nothing is there twice
    assert max(owner.ran.values(), default=1) == 1
    assert failures == []


async def _do(owner: Owner, runtime: ExternalStoreRuntime, step: str, value: Any) -> None:  # noqa: C901  # a list of steps
    composer = runtime.thread.composer
    match step:
        case "turn":
            if value not in owner.turns[owner.current]:
                owner.turns[owner.current].append(value)
            owner.show()
        case "cut":
            del owner.turns[owner.current][value:]
            owner.show()
        case "switch":
            if value != owner.current:
                owner.current = value
                owner.begin_anew()
            owner.show()
        case "type":
            line = f"{owner.current} line {sum(owner.typed.values())}"
            owner.typed[line] += 1
            composer.set_text("\n".join(filter(None, [composer.state.text, line])))
        case "send":
            owner.refuses = False
            composer.send()
        case "refuse":
            owner.refuses = True
            composer.send()
            await settled()
        case "cancel":
            runtime.thread.cancel_run()
        case "answer":
            for call_id in [f"c{turn}" for turn in owner.turns[owner.current]]:
                try:
                    runtime.thread.resume_tool_call(call_id, "yes")
                except PartwiseError:
                    continue
        case "reset":
            owner.begin_anew()
            runtime.thread.notify_session_reset()
            owner.show()
        case "again":
            owner.show()
        case _:
            await settled()
