"""Answers made again, edits, and branches that are switched while something runs."""

from __future__ import annotations

import anyio
import pytest

from partwise.errors import BranchNotFoundError, InvalidInputError, ParentNotFoundError
from partwise.messages import message_text
from partwise.runtimes import LocalThread
from partwise.stream import TextDelta
from tests.runtimes.scenes import (
    Script,
    answer,
    chain,
    heard,
    last,
    question,
    settled,
    shown,
    status_of,
    statuses,
    talking,
)


def texts_asked(model: Script) -> list[list[str]]:
    return [[message_text(message) for message in context.messages] for context in model.calls]


async def test_an_answer_made_again_stands_beside_the_old_one() -> None:  # B04
    model = Script([TextDelta("one")], [TextDelta("two")])
    async with talking(model) as thread:
        await thread.append("hi")
        first = last(thread)
        await thread.reload(first.id)
        second = last(thread)
        assert shown(thread) == ["u:hi", "a:two"]
        assert thread.branches_of(second.id) == (first.id, second.id)
        assert thread.state.branches == {second.id: (first.id, second.id)}
        thread.switch_branch(second.id, "previous")
        assert last(thread) is first
        assert texts_asked(model) == [["hi"], ["hi"]]


async def test_making_the_second_of_two_answers_again_leaves_the_first() -> None:  # B05
    model = Script([TextDelta("new")])
    async with talking(model) as thread:
        thread.import_(chain(question("u1"), answer("A"), answer("B")))
        before = thread.state.messages[1]
        await thread.reload("B")
        assert shown(thread) == ["u:u1", "a:A", "a:new"]
        assert thread.state.messages[1] is before
        assert thread.branches_of("B") == ("B", last(thread).id)


async def test_a_branch_keeps_what_hangs_below_it() -> None:  # trace 6
    async with talking(Script([TextDelta("x")])) as thread:
        await thread.append("one")
        first = last(thread).id
        await thread.append("two")
        await thread.reload(first)
        assert shown(thread) == ["u:one", "a:x"]
        thread.switch_to_branch(first)
        assert shown(thread) == ["u:one", "a:x", "u:two", "a:x"]


async def test_an_edited_first_message_opens_a_conversation_of_its_own() -> None:  # trace 7
    async with talking(Script([TextDelta("x")])) as thread:
        await thread.append("one")
        first = thread.state.messages[0].id
        composer = thread.begin_edit(first)
        composer.set_text("one, better")
        await composer.send()
        assert shown(thread) == ["u:one, better", "a:x"]
        assert thread.branches_of(first) == (first, thread.state.messages[0].id)
        thread.switch_branch(thread.state.messages[0].id, "previous")
        assert shown(thread) == ["u:one", "a:x"]


async def test_the_other_branch_can_be_looked_at_while_an_answer_streams() -> None:
    gates = [anyio.Event(), anyio.Event()]
    model = Script([TextDelta("one")], [TextDelta("t"), gates[0], TextDelta("w"), gates[1], TextDelta("o")])
    async with talking(model) as thread:
        await thread.append("hi")
        first = last(thread).id
        operation = thread.reload(first)
        await settled()
        second = last(thread).id
        thread.switch_to_branch(first)
        gates[0].set()
        await settled()
        assert shown(thread) == ["u:hi", "a:one"]
        assert thread.state.is_running
        assert message_text(thread.find(second).message) == "tw"
        thread.switch_to_branch(second)
        assert shown(thread) == ["u:hi", "a:tw"]
        thread.switch_to_branch(first)
        gates[1].set()
        await operation
        assert shown(thread) == ["u:hi", "a:one"]
        assert status_of(thread.find(second).message) == "complete/unknown"


async def test_a_hidden_answer_can_be_cancelled() -> None:
    model = Script([TextDelta("one")], [TextDelta("t"), anyio.Event()])
    async with talking(model) as thread:
        await thread.append("hi")
        first = last(thread).id
        operation = thread.reload(first)
        await settled()
        second = last(thread).id
        thread.switch_to_branch(first)
        thread.cancel_run()
        await operation
        assert status_of(thread.find(second).message) == "incomplete/cancelled"
        assert not thread.state.is_running


async def test_there_is_no_branch_beyond_the_first_and_the_last() -> None:
    async with talking(Script([TextDelta("x")])) as thread:
        await thread.append("hi")
        await thread.reload(last(thread).id)
        with pytest.raises(BranchNotFoundError):
            thread.switch_branch(last(thread).id, "next")
        thread.switch_branch(last(thread).id, "previous")
        with pytest.raises(BranchNotFoundError):
            thread.switch_branch(last(thread).id, "previous")


async def test_a_run_goes_on_with_a_stream_from_elsewhere_for_one_roundtrip() -> None:
    model = Script([TextDelta("model")])
    stream = Script([TextDelta("resumed")])
    async with talking(model) as thread:
        await thread.append("hi", starts_run=False)
        head = thread.state.head_id
        await thread.resume_run(head, stream, run_config={"k": 1})
        assert shown(thread) == ["u:hi", "a:resumed"]
        assert (len(model.calls), stream.calls[0].run_config) == (0, {"k": 1})
        with pytest.raises(InvalidInputError):
            thread.resume_run(head, None)
        with pytest.raises(ParentNotFoundError):
            thread.resume_run("nowhere", stream)


async def test_a_reload_takes_the_config_of_the_draft() -> None:
    model = Script([TextDelta("x")])
    async with talking(model) as thread:
        await thread.append("hi")
        thread.composer.set_run_config({"mood": "calm"})
        await thread.reload(last(thread).id)
        await thread.reload(last(thread).id, run_config={"mood": "wild"})
        assert [context.run_config for context in model.calls] == [{}, {"mood": "calm"}, {"mood": "wild"}]


async def replace_all(thread: LocalThread, how: str) -> None:
    if how == "reset":
        thread.reset(["fresh"])
    else:
        thread.import_(chain(question("u1", "fresh")))


@pytest.mark.parametrize("how", ["reset", "import"])
async def test_a_thread_that_is_replaced_during_a_run_ends_it(how: str) -> None:
    gate = anyio.Event()
    model = Script([TextDelta("x"), gate, TextDelta("y")], [TextDelta("z")])
    async with talking(model) as thread:
        events = heard(thread)
        operation = thread.append("hi")
        await settled()
        await replace_all(thread, how)
        gate.set()
        await operation
        assert shown(thread) == ["u:fresh"]
        assert not thread.state.is_running
        assert events[-1] == "run_end"
        await thread.append("on")
        assert shown(thread) == ["u:fresh", "u:on", "a:z"]


async def test_importing_ones_own_export_during_a_run_lets_it_go_on() -> None:
    gate = anyio.Event()
    async with talking(Script([TextDelta("x"), gate, TextDelta("y")])) as thread:
        operation = thread.append("hi")
        await settled()
        thread.import_(thread.export())
        gate.set()
        await operation
        assert shown(thread) == ["u:hi", "a:xy"]
        assert statuses(thread) == ["complete/unknown"]


async def test_an_export_that_hangs_together_badly_is_refused_whole() -> None:
    async with talking(Script([TextDelta("x")])) as thread:
        await thread.append("hi")
        before = thread.state
        bad = chain(question("u1"), question("u2"))
        with pytest.raises(ParentNotFoundError):
            thread.import_(type(bad)("u2", bad.entries[1:]))
        assert thread.state is before


async def test_a_message_slice_ends_when_its_message_leaves_the_branch() -> None:
    async with talking(Script([TextDelta("x")])) as thread:
        await thread.append("hi")
        ended: list[bool] = []
        thread.message(last(thread).id).subscribe(on_completed=lambda: ended.append(True))
        await thread.reload(last(thread).id)
        assert ended == [True]


async def test_reads_inside_of_a_listener_see_what_was_just_written() -> None:  # B82
    async with talking(Script([TextDelta("x")])) as thread:
        seen: list[tuple[bool, int]] = []
        thread.select(lambda s: s.head_id).subscribe(
            lambda head: seen.append((thread.state.head_id == head, len(thread.state.messages)))
        )
        await thread.append("hi")
        assert all(agrees for agrees, _ in seen)
        assert [count for _, count in seen] == [0, 1, 2]
