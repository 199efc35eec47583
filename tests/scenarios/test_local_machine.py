"""Programs of user, model, tool and history actions in any order: nothing is lost, doubled or left running."""

from __future__ import annotations

from contextlib import AsyncExitStack
from itertools import chain

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.adapters import HistoryItem
from partwise.messages import REQUIRES_TOOL_CALLS, Approval
from partwise.runtimes import LocalRuntime
from tests.runtimes.scenes import Slow, answer, called, question
from tests.scenarios.machine import Action, Machine, Model, Tools

numbers = st.integers(0, 5)
some = st.sampled_from([None, True, False])
endings = st.sampled_from(["end", "pause", "pause", "stop", "error"])
things = st.sampled_from(["text", "auto", "slow", "gated", "gated", "human", "asks", "pausing"])
anything = st.one_of(endings, things, st.just("nonsense"))
pauses = st.one_of(st.just(("settle",)), st.tuples(st.just("turns"), st.integers(1, 12)))
append = st.tuples(st.just("append"), some, some)
answers = st.tuples(st.sampled_from(["approve", "approve", "deny", "result", "answer"]), numbers)
changes = st.tuples(st.sampled_from(["edit", "reload", "start", "switch", "delete"]), numbers)
queueing = st.tuples(st.sampled_from(["unqueue", "hurry"]), numbers)
plain = st.tuples(st.sampled_from(["cancel", "cancel", "draft", "reimport", "detach", "load"]))
user = st.one_of(append, answers, changes, queueing, plain)
world = st.one_of(
    st.tuples(st.just("model"), numbers, st.lists(anything, min_size=1, max_size=3)),
    st.tuples(
        st.just("manners"),
        st.sampled_from(["returns", "raises", "yields more", "ignores", "is stubborn", "raises late"]),
    ),
    st.tuples(st.just("release"), numbers),
    st.tuples(st.just("slow disk"), st.booleans()),
    st.tuples(st.just("bad disk"), st.integers(1, 3)),
    pauses,
)
reactions = st.tuples(st.just("when"), st.sampled_from(["run_start", "run_end"]), user)


def turn(asked: Action, said: list[str], ending: str, pause: Action) -> list[Action]:
    """A whole turn of a conversation, up to its end or somewhere in it."""
    return [asked, ("settle",), ("model", 0, [*said, ending]), pause]


turns = st.builds(turn, append, st.lists(things, max_size=3), endings, pauses)
programs = st.lists(
    st.one_of(turns, st.tuples(answers, pauses), st.tuples(user), st.tuples(world), st.tuples(reactions)),
    min_size=2,
    max_size=16,
).map(lambda parts: list(chain.from_iterable(parts)))


def long_ago() -> tuple[HistoryItem, ...]:
    """A conversation that somebody left while two calls were open."""
    asked = called("old", "gated", approval=Approval(id="old"))
    paused = answer("a0", called("older", "auto"), asked, status=REQUIRES_TOOL_CALLS)
    return (
        HistoryItem(parent_id=None, message=question("u0")),
        HistoryItem(parent_id="u0", message=answer("a1")),
        HistoryItem(parent_id="u0", message=paused),
    )


async def play(program: list[Action], *, has_queue: bool) -> None:
    model, tools = Model(), Tools()
    history = Slow(long_ago() if ("load",) in program else ())
    errors: list[Exception] = []
    runtime = LocalRuntime(
        model,
        tools=tools.kit,
        history=history,
        max_steps=6,
        has_queue=has_queue,
        clears_queue_on_cancel=False,
        clears_queue_on_rewind=False,
        cancel_timeout=0,
        on_error=lambda error, context: errors.append(error),
    )
    async with runtime, AsyncExitStack() as at_last:
        machine = Machine(runtime.thread, model, tools, history)
        # A check that fails must not wait for a model that cannot be stopped.
        at_last.callback(machine.let_go)
        if history.items:
            machine.operations.append(runtime.thread.load())
        for action in program:
            await machine.step(action)
        await machine.finish()
    assert errors == []


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("has_queue", [False, True])
@given(program=programs)
@settings(max_examples=25)
def test_whatever_happens_in_whatever_order(backend: str, has_queue: bool, program: list[Action]) -> None:
    anyio.run(lambda: play(program, has_queue=has_queue), backend=backend)
