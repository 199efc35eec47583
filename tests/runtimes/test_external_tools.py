"""Tools of this program that are called in messages of somebody else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from partwise.errors import InvalidInputError, NotAllowedError, NotSentError
from partwise.messages import MISSING, AssistantMessage, ToolCallPart
from partwise.repository import Entry, Export
from partwise.runtimes import (
    AppendRequest,
    ExternalStoreRuntime,
    ExternalThread,
    ExternalThreads,
    MessageQueue,
    ToolOutput,
)
from partwise.tools import ToolContext, Toolkit
from tests.runtimes.scenes import LONG_AGO, question, reports, settled, status_of

U1, U2 = question("u1"), question("u2")


def note(*calls: str, id: str = "a1", **results: Any) -> dict[str, Any]:
    """An answer of the owner's that calls these tools, each by a call of its own name."""
    parts = [
        {
            "type": "tool-call",
            "tool_call_id": call,
            "tool_name": call.partition("-")[0],
            "args_text": "{}",
            **({"result": results[call]} if call in results else {}),
        }
        for call in calls
    ]
    return {"id": id, "role": "assistant", "content": parts}


class Owner:
    """Somebody who has messages, and writes down what it is told."""

    def __init__(self) -> None:
        self.outputs: list[ToolOutput] = []
        self.sent: list[AppendRequest] = []
        self.cancels = 0
        self.states: list[set[str]] = []
        self.ran: list[str] = []
        self.gate = anyio.Event()
        self.tools = Toolkit()

        @self.tools.frontend
        async def look(context: ToolContext) -> str:
            """Look."""
            self.ran.append(context.tool_call_id)
            return "seen"

        @self.tools.frontend
        async def slow(context: ToolContext) -> str:
            """Take time."""
            self.ran.append(context.tool_call_id)
            context.progress("half")
            await self.gate.wait()
            return "slowly"

        @self.tools.frontend
        async def ask(context: ToolContext) -> Any:
            """Ask."""
            return await context.human({"which": 1})

    def cancel(self) -> None:
        self.cancels += 1

    @property
    def told(self) -> list[tuple[str, str, Any, bool | None]]:
        return [(output.message_id, output.tool_call_id, output.result, output.is_error) for output in self.outputs]


@asynccontextmanager
async def open_store(owner: Owner, messages: Any = (U1,), **fields: Any) -> AsyncIterator[ExternalStoreRuntime]:
    given = {
        "tools": [owner.tools],
        "runs_tools": True,
        "on_tool_result": owner.outputs.append,
        "on_tool_states": lambda states: owner.states.append(set(states)),
        "on_new": owner.sent.append,
        "on_cancel": owner.cancel,
        **fields,
    }
    async with ExternalStoreRuntime(messages, **given) as runtime:
        yield runtime
        await settled()


def part_of(thread: ExternalThread, call: str) -> ToolCallPart:
    for message in thread.state.messages:
        for part in message.content:
            if isinstance(part, ToolCallPart) and part.tool_call_id == call:
                return part
    raise AssertionError(call)


async def test_a_call_in_a_new_message_is_run_and_its_result_goes_to_the_owner() -> None:
    owner = Owner()
    async with open_store(owner, [U1, note("look-0", id="a0")]) as runtime:
        runtime.update([U1, note("look-0", id="a0"), U2, note("look-1", "other-1")])
        await settled()
        runtime.update([U1, note("look-0", id="a0"), U2, note("look-1", "other-1", **{"look-1": "seen"})])
        await settled()
        assert owner.told == [("a1", "look-1", "seen", False)]
        assert owner.outputs[0].tool_name == "look"
        assert (owner.ran, owner.states) == (["look-1"], [{"look-1"}, set()])


@pytest.mark.parametrize("way", ["put", "tree"])
async def test_pieces_and_trees_are_followed_too(way: str) -> None:
    owner = Owner()
    hidden = Entry("u1", note("look-0", id="a0"))
    first = Export("u2", (Entry(None, U1), hidden, Entry("u1", U2))) if way == "tree" else [U1]
    async with open_store(owner, first) as runtime:
        if way == "put":
            runtime.put(note("look-1"))
            runtime.put(note("look-1", "look-2"))
        else:
            runtime.update(Export("a0", first.entries))  # type: ignore[union-attr]  # an export
            await settled()
            assert owner.ran == []  # it was there before it came into view
            runtime.update(Export("a1", (*first.entries, Entry("u2", note("look-1", "look-2")))))  # type: ignore[union-attr]  # an export
        await settled()
        assert sorted(owner.ran) == ["look-1", "look-2"]


async def test_nothing_runs_unless_the_owner_wants_it() -> None:
    owner = Owner()
    async with open_store(owner, runs_tools=False) as runtime:
        runtime.update([U1, note("look-1")])
        await settled()
        assert owner.ran == []
        runtime.update(runs_tools=True)
        runtime.update([U1, note("look-1", "look-2")])
        await settled()
        assert owner.ran == ["look-2"]  # the first was history by then
        runtime.update([U1, note("look-1", "look-2", "slow-3")])
        await settled()
        runtime.update(runs_tools=False)
        owner.gate.set()
        await settled()
        assert owner.told == [("a1", "look-2", "seen", False)]
        assert owner.states[-1] == set()


def test_tools_that_nobody_takes_the_results_of_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="on_tool_result"):
        ExternalStoreRuntime([U1], runs_tools=True)
    runtime = ExternalStoreRuntime([U1])
    with pytest.raises(InvalidInputError, match="on_tool_result"):
        runtime.update([U1, U2], runs_tools=True)
    assert len(runtime.thread.state.messages) == 1


async def test_a_question_of_a_tool_is_shown_until_it_is_answered() -> None:
    owner = Owner()
    async with open_store(owner) as runtime:
        thread = runtime.thread
        answer = note("ask-1")
        runtime.update([U1, answer])
        seen: list[Any] = []
        thread.select(lambda state: state.messages[-1]).subscribe(
            lambda message: seen.append((status_of(message), part_of(thread, "ask-1").interrupt is not None))
        )
        await settled()
        assert seen[-1] == ("requires-action/interrupt", True)
        runtime.update([U1, answer, U2])
        runtime.update([U1, answer])
        assert part_of(thread, "ask-1").interrupt is not None
        thread.resume_tool_call("ask-1", "that")
        assert part_of(thread, "ask-1").interrupt is None
        await settled()
        assert owner.told == [("a1", "ask-1", "that", False)]
        assert status_of(thread.state.messages[-1]) == "requires-action/tool-calls"
        with pytest.raises(NotAllowedError):
            thread.resume_tool_call("ask-1", "again")


async def test_what_a_tool_tells_is_shown_while_it_runs() -> None:
    owner = Owner()
    async with open_store(owner) as runtime:
        runtime.update([U1, note("slow-1")])
        await settled()
        assert part_of(runtime.thread, "slow-1").preliminary == "half"
        owner.gate.set()
        await settled()
        assert part_of(runtime.thread, "slow-1").preliminary is MISSING
        assert runtime.thread.export().entries[-1].message == runtime.thread.state.messages[-1]


async def test_a_message_waits_until_the_tools_before_it_were_cancelled() -> None:
    owner = Owner()
    async with open_store(owner) as runtime:
        runtime.update([U1, note("slow-1")])
        await settled()
        await runtime.thread.append("next", starts_run=False)
        assert owner.outputs == []
        await runtime.thread.append("now")
        assert [(id, is_error) for _, id, _, is_error in owner.told] == [("slow-1", True)]
        assert [request.starts_run for request in owner.sent] == [False, None]


async def test_a_message_in_the_queue_cancels_nothing() -> None:  # T-G13
    owner = Owner()

    class Driver:
        def run(self, request: AppendRequest, /, *, steer: bool) -> None:
            del steer
            owner.sent.append(request)

    async with open_store(owner, queue=MessageQueue(Driver())) as runtime:
        runtime.update([U1, note("slow-1")])
        await settled()
        await runtime.thread.append("next")
        owner.gate.set()
        await settled()
        assert owner.told == [("a1", "slow-1", "slowly", False)]


async def test_a_message_whose_thread_was_left_while_it_waited_reaches_nobody() -> None:  # T-G9
    owner = Owner()

    async def deaf() -> None:
        """Hear nothing."""
        with anyio.CancelScope(shield=True):
            await owner.gate.wait()

    owner.tools.frontend(deaf)
    async with open_store(owner) as runtime:
        runtime.update([U1, note("deaf-1")])
        await settled()
        operation = runtime.thread.append("x")
        await settled()
        assert not operation.is_done
        runtime.thread.detach()
        owner.gate.set()
        with pytest.raises(NotSentError, match="left before"):
            await operation
        assert owner.sent == []


@pytest.mark.parametrize("how", ["cancel", "reload", "delete"])
async def test_what_stops_the_conversation_stops_its_tools(how: str) -> None:
    owner = Owner()
    done: list[str] = []
    extra = {"on_reload": lambda _: done.append("reload"), "on_delete": lambda _: done.append("delete")}
    async with open_store(owner, **extra) as runtime:
        runtime.update([U1, note("slow-1")], is_running=True)
        await settled()
        thread = runtime.thread
        if how == "cancel":
            thread.cancel_run()
            await settled()
            assert owner.cancels == 1
        elif how == "reload":
            await thread.reload("a1")
        else:
            await thread.delete_message("a1")
        assert done == ([] if how == "cancel" else [how])
        assert [(id, is_error) for _, id, _, is_error in owner.told] == [("slow-1", True)]


@pytest.mark.parametrize("how", ["state", "session", "thread"])
async def test_after_a_new_beginning_everything_is_history_and_what_runs_is_dropped(how: str) -> None:
    owner = Owner()
    async with open_store(owner, on_load_state=lambda _: None) as runtime:
        runtime.update([U1, note("slow-1")])
        await settled()
        if how == "state":
            runtime.thread.import_state({})
        elif how == "session":
            runtime.thread.notify_session_reset()
        if how == "thread":
            runtime.update([U1, note("look-1")], threads=ExternalThreads(current_id="t2"))
        else:
            runtime.update([U1, note("look-1")])
        owner.gate.set()
        await settled()
        assert (owner.ran, owner.outputs, owner.states[-1]) == (["slow-1"], [], set())
        runtime.update([U1, note("look-1", "look-2")])
        await settled()
        assert owner.told == [("a1", "look-2", "seen", False)]


async def test_messages_that_are_loading_are_history() -> None:
    owner = Owner()
    async with open_store(owner, (), is_loading=True) as runtime:
        runtime.update([U1, note("look-1")])
        runtime.update(is_loading=False)
        runtime.update([U1, note("look-1"), U2, note("look-2", id="a2")])
        await settled()
        assert owner.ran == ["look-2"]


async def test_an_owner_that_fails_to_take_a_result_is_reported_and_stops_no_other_tool() -> None:
    owner = Owner()

    def refuse(output: ToolOutput) -> None:
        owner.outputs.append(output)
        raise OSError("full")

    async with open_store(owner, on_tool_result=refuse) as runtime:
        found = reports(runtime.thread)
        runtime.update([U1, note("look-1", "look-2")])
        await settled()
        assert sorted(id for _, id, _, _ in owner.told) == ["look-1", "look-2"]
        assert found == ["tool: full"] * 2


async def test_an_owner_may_show_the_result_inside_of_taking_it() -> None:
    owner = Owner()
    answered: dict[str, Any] = {}

    def take(output: ToolOutput) -> None:
        owner.outputs.append(output)
        answered[output.tool_call_id] = output.result
        runtime.update([U1, note("look-1", "look-2", **answered)])

    async with open_store(owner, on_tool_result=take) as runtime:
        runtime.update([U1, note("look-1", "look-2")])
        await settled()
        assert sorted(owner.ran) == ["look-1", "look-2"]
        assert len(owner.outputs) == 2
        message = runtime.thread.state.messages[-1]
        assert isinstance(message, AssistantMessage)
        assert message.status.type == "complete"
        assert message.created_at > LONG_AGO


async def test_other_tools_may_be_given_later() -> None:
    owner, other = Owner(), Toolkit()

    @other.frontend
    async def later(context: ToolContext) -> str:
        """Come later."""
        owner.ran.append(context.tool_call_id)
        return "late"

    async with open_store(owner) as runtime:
        runtime.update([U1, note("later-1")])
        await settled()
        assert owner.ran == []
        runtime.update(tools=[other])
        await settled()
        assert owner.ran == ["later-1"]
