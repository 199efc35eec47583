"""Messages sent during a run that wait for its end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from partwise.adapters import RunContext
from partwise.messages import message_text
from partwise.persistence import MemoryHistory
from partwise.runtimes import LocalThread
from partwise.stream import TextDelta
from partwise.tools import Toolkit
from tests.runtimes.scenes import Script, approval_of, calls, last, reports, settled, shown, statuses, talking


class Stepwise:
    """Answers one question for each step that the test allows."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._gates: list[anyio.Event] = []

    async def run(self, run: RunContext) -> AsyncIterator[Any]:
        self.asked.append(message_text(run.messages[-1]))
        gate = anyio.Event()
        self._gates.append(gate)
        yield TextDelta("re ")
        await gate.wait()
        yield TextDelta(self.asked[-1])

    async def step(self) -> None:
        self._gates.pop(0).set()
        await settled()


def waiting(thread: LocalThread) -> tuple[list[str], list[str]]:
    state = thread.state
    return [item.prompt for item in state.steer_queue], [item.prompt for item in state.queue]


async def test_messages_sent_during_a_run_wait_and_go_one_by_one() -> None:  # trace 11
    model = Stepwise()
    async with talking(model, has_queue=True) as thread:
        thread.append("0")
        await settled()
        for text in "123":
            await thread.append(text, steers=False)
        assert waiting(thread) == ([], ["1", "2", "3"])
        assert shown(thread) == ["u:0", "a:re "]
        for _ in range(4):
            await model.step()
        assert model.asked == ["0", "1", "2", "3"]
        assert shown(thread) == [text for n in "0123" for text in (f"u:{n}", f"a:re {n}")]
        assert set(statuses(thread)) == {"complete/unknown"}


async def test_a_cancel_that_keeps_the_queue_pauses_it_until_the_next_send() -> None:  # trace 11, T-F3
    model = Stepwise()
    async with talking(model, has_queue=True, clears_queue_on_cancel=False) as thread:
        thread.append("0")
        await settled()
        for text in "123":
            thread.append(text, steers=False)
        thread.cancel_run()
        thread.cancel_run()
        await settled()
        assert waiting(thread) == ([], ["1", "2", "3"])
        assert not thread.state.is_running
        thread.append("4", steers=False)
        await settled()
        thread.append("now", steers=True)
        assert waiting(thread) == (["now"], ["2", "3", "4"])
        model._gates.pop(0)
        for _ in range(5):
            await model.step()
        assert model.asked == ["0", "1", "now", "2", "3", "4"]


async def test_a_cancel_that_clears_the_queue_drops_it_and_the_next_send_goes_at_once() -> None:
    model = Stepwise()
    async with talking(model, has_queue=True) as thread:
        thread.append("0")
        await settled()
        thread.append("1")
        thread.cancel_run()
        assert waiting(thread) == ([], [])
        await settled()
        thread.append("2")
        await settled()
        assert model.asked == ["0", "2"]
        thread.cancel_run()


async def test_a_run_that_replaces_a_cancelled_one_holds_the_queue_to_its_own_end() -> None:
    model = Stepwise()
    async with talking(model, has_queue=True) as thread:
        thread.append("0")
        await settled()
        thread.cancel_run()
        thread.reload(last(thread).id)
        await settled()
        thread.append("1", steers=False)
        assert waiting(thread) == ([], ["1"])
        model._gates.pop(0)
        await model.step()
        assert model.asked == ["0", "0", "1"]
        assert statuses(thread)[0] == "complete/unknown"
        thread.cancel_run()


async def test_a_run_that_a_listener_starts_at_the_end_of_another_holds_the_queue() -> None:
    model = Stepwise()
    async with talking(model, has_queue=True) as thread:
        again: list[Any] = []

        def act(event: Any) -> None:
            if event.type == "run_end" and not again:
                again.append(thread.reload(event.message_id))

        thread.events.subscribe(act)
        thread.append("0")
        await settled()
        thread.append("1", steers=False)
        await model.step()
        assert model.asked == ["0", "0"]
        assert waiting(thread) == ([], ["1"])
        await model.step()
        assert model.asked == ["0", "0", "1"]
        await model.step()
        assert set(statuses(thread)) == {"complete/unknown"}


async def test_the_lanes_are_the_same_during_every_queued_run() -> None:  # B14
    model = Stepwise()
    async with talking(model, has_queue=True) as thread:
        thread.append("m1")
        await settled()
        thread.append("m2")
        await model.step()
        assert model.asked == ["m1", "m2"]
        thread.append("i")
        thread.append("b", steers=False)
        assert waiting(thread) == (["i"], ["b"])
        for _ in range(3):
            await model.step()
        assert model.asked == ["m1", "m2", "i", "b"]


async def test_nothing_is_sent_while_the_conversation_waits_for_a_human() -> None:
    tools = Toolkit()

    @tools.frontend(needs_approval=True)
    async def far() -> int:
        return 1

    model = Script(calls("far"), [TextDelta("done")])
    async with talking(model, tools=tools, has_queue=True) as thread:
        thread.append("0")
        thread.append("1", steers=False)
        await settled()
        assert statuses(thread) == ["requires-action/tool-calls"]
        assert waiting(thread) == ([], ["1"])
        await thread.respond_to_approval(approval_of(thread), approved=True)
        await settled()
        assert shown(thread) == ["u:0", "a:done", "u:1", "a:done"]


@pytest.mark.parametrize("how", ["edit", "switch", "note", "delete", "reset"])
async def test_a_thread_that_stopped_waiting_for_a_human_takes_the_next_message(how: str) -> None:
    model = Script([TextDelta("first")], calls("human"), [TextDelta("x")])
    async with talking(model, has_queue=True, history=MemoryHistory()) as thread:
        thread.append("0")
        await settled()
        other = last(thread).id
        thread.reload(other)
        await settled()
        thread.append("1", steers=False)
        assert waiting(thread) == ([], ["1"])
        if how == "edit":
            composer = thread.begin_edit(last(thread).id)
            composer.set_text("my own")
            await composer.send()
        elif how == "switch":
            thread.switch_to_branch(other)
        elif how == "note":
            await thread.append("note", starts_run=False)
        elif how == "delete":
            await thread.delete_message(last(thread).id)
        else:
            thread.reset()
        await settled()
        # A message of any kind that is sent goes on with the conversation; looking at another branch does not.
        assert waiting(thread) == ([], [] if how in {"edit", "note"} else ["1"])
        thread.append("2", steers=False)
        await settled()
        assert waiting(thread) == ([], [])
        assert shown(thread)[-4:] == ["u:1", "a:x", "u:2", "a:x"]


async def test_the_parent_of_a_queued_message_is_what_is_last_when_it_goes() -> None:  # T-F11
    model = Stepwise()
    async with talking(model, has_queue=True) as thread:
        thread.append("0")
        await settled()
        thread.append("1", steers=False)
        await thread.append("note", starts_run=False)
        await model.step()
        assert shown(thread)[-3:] == ["u:note", "u:1", "a:re "]
        await model.step()


async def test_a_message_that_reached_nobody_waits_again_and_the_queue_is_free() -> None:  # T-F1
    fails = [True]

    async def initialize() -> None:
        if fails.pop() if fails else False:
            raise OSError("no thread")

    async with talking(Script([TextDelta("x")]), has_queue=True, initialize=initialize) as thread:
        found = reports(thread)
        thread.append("0")
        await settled()
        assert len(found) == 1
        assert (shown(thread), waiting(thread)) == ([], ([], ["0"]))
        thread.append("1")
        await settled()
        assert shown(thread) == ["u:0", "a:x", "u:1", "a:x"]


async def test_an_edit_drops_what_was_waiting() -> None:
    for clears in (True, False):
        model = Stepwise()
        async with talking(model, has_queue=True, clears_queue_on_rewind=clears) as thread:
            thread.append("0")
            await settled()
            thread.append("1", steers=False)
            thread.append("0, better", parent_id=None, source_id=thread.state.messages[0].id)
            assert waiting(thread) == ([], [] if clears else ["1"])
            await settled()
            model._gates.pop(0)
            await model.step()
            assert model.asked == ["0", "0, better"] if clears else ["0", "0, better", "1"]
            thread.cancel_run()


async def test_what_waits_can_be_moved_changed_and_removed() -> None:
    model = Stepwise()
    async with talking(model, has_queue=True) as thread:
        thread.append("0")
        await settled()
        for text in "123":
            thread.append(text, steers=False)
        one, two, three = thread.queue.items
        thread.queue.move(three.id, insert_before=one.id)
        thread.queue.remove(two.id)
        thread.queue.move(one.id, lane="steer", insert_after=None)
        assert waiting(thread) == (["1"], ["3"])
        for _ in range(3):
            await model.step()
        assert model.asked == ["0", "1", "3"]


async def test_leaving_the_thread_forgets_what_was_waiting() -> None:
    model = Stepwise()
    async with talking(model, has_queue=True) as thread:
        thread.append("0")
        await settled()
        thread.append("1")
        thread.detach()
        await settled()
        assert waiting(thread) == ([], [])
        thread.append("2")
        await settled()
        assert model.asked == ["0", "2"]


@pytest.mark.parametrize("has_queue", [True, False])
async def test_silent_messages_never_wait(has_queue: bool) -> None:
    model = Stepwise()
    async with talking(model, has_queue=has_queue) as thread:
        thread.append("0")
        await settled()
        await thread.append("note", starts_run=False)
        assert shown(thread) == ["u:0", "a:re ", "u:note"]
        await model.step()
        assert shown(thread) == ["u:0", "a:re 0", "u:note"]
