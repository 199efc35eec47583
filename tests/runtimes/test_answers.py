"""Messages and the answers to them."""

from __future__ import annotations

import anyio
import pytest

from partwise.adapters import RunContext, RunResult
from partwise.errors import (
    MessageLikeError,
    MessageNotFoundError,
    NotAllowedError,
    ParentNotFoundError,
    RuntimeClosedError,
    UnsupportedError,
)
from partwise.messages import COMPLETE_STOP, AssistantMessage, FilePart, TextPart, message_text
from partwise.runtimes import LocalRuntime
from partwise.stream import ErrorChunk, Finish, PartChunk, ReasoningDelta, StepFinish, TextDelta, ToolResult
from partwise.tools import ModelContext
from tests.runtimes.scenes import Log, Script, call, heard, last, settled, shown, status_of, statuses, talking


async def test_one_question_gives_events_statuses_and_stored_messages_in_order() -> None:  # trace 1
    history = Log()
    model = Script([RunResult(content=[TextPart("a")]), RunResult(content=[TextPart("ab")])])
    async with talking(model, history=history) as thread:
        events = heard(thread)
        seen: list[tuple[list[str], bool]] = []
        thread.select(lambda s: s).subscribe(
            lambda state: seen.append(
                ([f"{m.role[0]}:{message_text(m)}:{status_of(m)}" for m in state.messages], state.is_running)
            )
        )

        await thread.append("hi")

        assert [shot for index, shot in enumerate(seen) if shot not in seen[:index]] == [
            ([], False),
            (["u:hi:-"], False),
            (["u:hi:-"], True),
            (["u:hi:-", "a::running"], True),
            (["u:hi:-", "a:a:running"], True),
            (["u:hi:-", "a:ab:running"], True),
            (["u:hi:-", "a:ab:complete/unknown"], True),
            (["u:hi:-", "a:ab:complete/unknown"], False),
        ]
        assert events == ["initialize", "run_start", "run_end"]
        assert history.writes == [("append", "u:hi", "-"), ("append", "a:ab", "complete/unknown")]


async def test_chunks_and_whole_results_and_a_returned_result_give_the_same_answer() -> None:
    async def chunks(run: RunContext):
        yield TextDelta("a")
        yield TextDelta("b")

    async def results(run: RunContext):
        yield RunResult(content=[TextPart("a")])
        yield {"content": [{"type": "text", "text": "ab"}]}

    async def promise(run: RunContext) -> RunResult:
        return RunResult(content=[TextPart("ab")])

    class WithRun:
        async def run(self, run: RunContext):
            yield TextDelta("ab")

    for model in (chunks, results, promise, WithRun()):
        async with talking(model) as thread:
            await thread.append("hi")
            assert shown(thread) == ["u:hi", "a:ab"]
            assert statuses(thread) == ["complete/unknown"]


async def test_a_model_that_returns_nothing_gives_an_empty_complete_answer() -> None:
    async def model(run: RunContext) -> None:
        return None

    async with talking(model) as thread:
        await thread.append("hi")
        assert statuses(thread) == ["complete/unknown"]


async def test_the_message_is_visible_when_append_returns_and_need_not_be_awaited() -> None:
    async with talking(Script([TextDelta("yes")])) as thread:
        thread.append("hi")
        assert shown(thread)[0] == "u:hi"
        assert thread.state.is_running
        await settled()
        assert shown(thread) == ["u:hi", "a:yes"]


async def test_text_call_text_stay_three_parts_in_order() -> None:  # B91
    model = Script([TextDelta("a"), TextDelta("b"), *call("c0", "far"), ToolResult("c0", 1), TextDelta("c"), Finish()])
    async with talking(model) as thread:
        await thread.append("hi")
        assert [part.type for part in last(thread).content] == ["text", "tool-call", "text"]
        assert last(thread).status == COMPLETE_STOP


async def test_what_the_provider_executed_itself_starts_no_other_roundtrip() -> None:  # B21
    model = Script([*call("c0", "far"), ToolResult("c0", {"hits": 3}), TextDelta("three"), Finish("stop")])
    async with talking(model) as thread:
        await thread.append("hi")
        assert len(model.calls) == 1
        assert statuses(thread) == ["complete/stop"]


async def test_an_error_chunk_and_an_exception_keep_what_had_arrived() -> None:
    model = Script([TextDelta("half"), ErrorChunk("gone")], [TextDelta("half"), ValueError("boom")])
    history = Log()
    async with talking(model, history=history) as thread:
        await thread.append("one")
        assert last(thread).status.error["message"] == "gone"
        with pytest.raises(ValueError, match="boom"):
            await thread.append("two")
        assert last(thread).status.error["message"] == "boom"
        assert statuses(thread) == ["incomplete/error", "incomplete/error"]
        assert shown(thread) == ["u:one", "a:half", "u:two", "a:half"]
        assert history.writes[-1] == ("append", "a:half", "incomplete/error")
        assert not thread.state.is_running


async def test_a_failure_in_a_task_group_of_the_adapter_is_told_by_what_it_was() -> None:
    async def model(run: RunContext):
        async with anyio.create_task_group() as group:
            group.start_soon(fail)
            yield TextDelta("a")
            await anyio.sleep_forever()

    async def fail() -> None:
        raise ValueError("boom")

    async with talking(model) as thread:
        with pytest.raises(ValueError, match="boom"):
            await thread.append("hi")
        assert "boom" in last(thread).status.error["message"]
        assert statuses(thread) == ["incomplete/error"]


async def test_metadata_of_results_and_steps_are_kept() -> None:
    model = Script([{"metadata": {"state": {"n": 1}, "custom": {"k": 2}}}, TextDelta("a"), StepFinish()])
    async with talking(model) as thread:
        await thread.append("hi")
        assert thread.state.state == {"n": 1}
        assert last(thread).metadata.custom == {"k": 2}
        assert len(last(thread).metadata.steps) == 1


async def test_a_context_says_what_the_run_is_about() -> None:
    model = Script([TextDelta("a")])
    async with talking(model, instructions="be brief", thread_id="t1") as thread:
        await thread.append("hi", run_config={"speed": 2})
        context = model.calls[0]
        assert [message_text(m) for m in context.messages] == ["hi"]
        assert context.context.system == "be brief"
        assert (context.thread_id, context.run_config, context.roundtrip) == ("t1", {"speed": 2}, 0)
        assert context.message is last(thread)
        assert context.parent_id == thread.state.messages[0].id


async def test_messages_that_nobody_answers_are_stored_and_shown() -> None:
    history = Log()
    model = Script([TextDelta("a")])
    async with talking(model, history=history) as thread:
        await thread.append({"role": "assistant", "content": "hello"})
        await thread.append({"role": "system", "content": "rules"})
        await thread.append("note", starts_run=False)
        assert shown(thread) == ["a:hello", "s:rules", "u:note"]
        assert history.order == ["append a:hello", "append s:rules", "append u:note"]
        assert not model.calls


async def test_a_message_that_breaks_a_rule_changes_nothing() -> None:
    async with talking(Script([])) as thread:
        events = heard(thread)
        with pytest.raises(MessageLikeError):
            thread.append({"role": "user", "content": [{"type": "reasoning", "text": "x"}]})
        with pytest.raises(ParentNotFoundError):
            thread.append("x", parent_id="nowhere")
        with pytest.raises(ParentNotFoundError):
            thread.start_run("nowhere")
        with pytest.raises(MessageNotFoundError):
            thread.reload("nowhere")
        await settled()
        assert shown(thread) == []
        assert not thread.state.is_running
        assert "run_start" not in events


async def test_wrong_roles_are_refused_with_their_ids() -> None:
    async with talking(Script([TextDelta("a")])) as thread:
        await thread.append("hi")
        question = thread.state.messages[0].id
        with pytest.raises(NotAllowedError) as caught:
            thread.reload(question)
        assert (caught.value.code, caught.value.id) == ("not-assistant", question)
        with pytest.raises(NotAllowedError):
            thread.add_tool_result(question, "c0", 1)
        with pytest.raises(UnsupportedError):
            thread.delete_message(question)


async def test_a_message_goes_to_the_root_when_its_parent_is_none() -> None:
    async with talking(Script([TextDelta("a")])) as thread:
        await thread.append("one")
        await thread.append("two", parent_id=None)
        assert shown(thread) == ["u:two", "a:a"]
        assert len(thread.branches_of(thread.state.messages[0].id)) == 2


async def test_a_start_without_a_parent_answers_nothing_at_all() -> None:
    model = Script([TextDelta("welcome")])
    async with talking(model) as thread:
        await thread.start_run(None)
        assert shown(thread) == ["a:welcome"]
        assert model.calls[0].messages == ()


async def test_both_of_two_simultaneous_senders_learn_how_it_went() -> None:  # B22
    gate = anyio.Event()
    model = Script([gate, TextDelta("a")])
    outcomes: list[str] = []
    async with talking(model) as thread:

        async def send(text: str) -> None:
            await thread.append(text)
            outcomes.append(text)

        async with anyio.create_task_group() as group:
            group.start_soon(send, "one")
            group.start_soon(send, "two")
            await settled()
            gate.set()

        assert sorted(outcomes) == ["one", "two"]
        assert sorted(statuses(thread)) == ["complete/unknown", "incomplete/cancelled"]
        answered = [thread.find(m.id).parent_id for m in thread.state.messages if m.role == "assistant"]
        assert len(answered) == len(set(answered))
        assert not thread.state.is_running


async def test_a_closed_runtime_refuses_and_changes_nothing() -> None:
    history = Log()
    runtime = LocalRuntime(Script([TextDelta("a")]), history=history)
    thread = runtime.thread
    for act in (
        lambda: thread.append("early"),
        lambda: thread.start_run(None),
        lambda: thread.load(),
        lambda: thread.resume_run(None, Script([])),
    ):
        with pytest.raises(RuntimeClosedError):
            act()
    assert (shown(thread), thread.state.is_running, thread.state.is_loading) == ([], False, False)
    async with runtime:
        await thread.append("hi")
    assert shown(thread) == ["u:hi", "a:a"]
    before = thread.state
    for act in (
        lambda: thread.append("late"),
        lambda: thread.start_run(None),
        lambda: thread.load(),
        lambda: thread.reload(last(thread).id),
        lambda: thread.add_tool_result(last(thread).id, "c0", 1),
    ):
        with pytest.raises(RuntimeClosedError):
            act()
    assert thread.state is before
    assert thread.export().head_id == before.head_id
    thread.cancel_run()
    assert history.order == ["append u:hi", "append a:a"]
    with pytest.raises(RuntimeClosedError):
        async with runtime:
            pass


async def test_what_is_set_up_before_entering_counts_after_it() -> None:
    runtime = LocalRuntime(Script([TextDelta("a")]), messages=["earlier"])
    kinds: list[str] = []
    runtime.thread.composer.set_text("hello")
    runtime.thread.reset(["one"])
    runtime.thread.events.subscribe(lambda event: kinds.append(event.type))
    async with runtime:
        await settled()
        await runtime.thread.composer.send()
        assert shown(runtime.thread) == ["u:one", "u:hello", "a:a"]
    assert kinds == ["initialize", "run_start", "send", "run_end"]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_runtime_made_outside_of_a_loop_works_inside_one(backend: str) -> None:
    runtime = LocalRuntime(Script([TextDelta("a")]))

    async def main() -> list[str]:
        async with runtime:
            await runtime.thread.append("hi")
            return shown(runtime.thread)

    assert anyio.run(main, backend=backend) == ["u:hi", "a:a"]


async def test_two_runtimes_side_by_side_do_not_notice_each_other() -> None:
    gate = anyio.Event()
    async with talking(Script([TextDelta("a"), gate, TextDelta("b")])) as one, talking(Script([TextDelta("c")])) as two:
        first = one.append("hi")
        await two.append("ho")
        assert (one.state.is_running, two.state.is_running) == (True, False)
        two.cancel_run()
        gate.set()
        await first
        assert shown(one) == ["u:hi", "a:ab"]
        assert shown(two) == ["u:ho", "a:c"]


async def test_a_tail_moves_through_many_kinds_of_parts_and_every_slice_follows() -> None:  # B106
    model = Script(
        [
            TextDelta("one "),
            TextDelta("two"),
            *call("c0", "far", '{"a":1}'),
            ToolResult("c0", "x"),
            ReasoningDelta("so "),
            ReasoningDelta("what"),
            *call("c1", "far", '{"b":2}'),
            ToolResult("c1", None),
            PartChunk(FilePart(data="x", media_type="text/plain")),
            TextDelta("end"),
            Finish(),
        ]
    )
    async with talking(model) as thread:
        view: dict[str, object] = {}
        thread.select(lambda s: s.messages[-1] if s.messages else None).subscribe(lambda m: view.update(tail=m))
        thread.select(lambda s: tuple(m.id for m in s.messages)).subscribe(lambda ids: view.update(ids=ids))
        agree: list[bool] = []

        def follow(message_id: str) -> None:
            for position in range(6):
                thread.message(message_id).part(position).subscribe(lambda p, at=position: view.update({f"p{at}": p}))
            for tool_call_id in ("c0", "c1"):
                thread.message(message_id).part(tool_call_id=tool_call_id).subscribe(
                    lambda p, at=tool_call_id: view.update({at: p})
                )

        thread.events.subscribe(lambda event: None)
        operation = thread.append("hi")
        follow(last(thread).id)

        def compare(state: object) -> None:
            message = last(thread)
            parts = {f"p{at}": part for at, part in enumerate(message.content)}
            by_id = {p.tool_call_id: p for p in message.content if p.type == "tool-call"}
            wanted = {"tail": message, "ids": tuple(m.id for m in thread.state.messages), **parts, **by_id}
            agree.append({key: view.get(key) for key in wanted} == wanted)

        thread.select(lambda s: s).subscribe(compare)
        await operation
        assert len(last(thread).content) == 6
        assert agree
        assert all(agree)


async def test_a_model_can_be_exchanged_between_runs() -> None:
    async with talking(Script([TextDelta("a")])) as thread:
        await thread.append("one")
        thread.set_options(model=Script([TextDelta("b")]))
        await thread.append("two")
        assert shown(thread) == ["u:one", "a:a", "u:two", "a:b"]


async def test_what_providers_say_about_outgoing_messages_is_stamped_once_on_users_only() -> None:
    class Provider:
        def get_model_context(self) -> ModelContext:
            return ModelContext(composer_metadata={"page": 3})

    model = Script([TextDelta("a")])
    async with talking(model, tools=Provider()) as thread:
        await thread.append({"role": "user", "content": "hi", "metadata": {"custom": {"own": 1, "page": 0}}})
        assert thread.state.messages[0].metadata.custom == {"own": 1, "page": 3}
        assert model.calls[0].context.composer_metadata == {}
        await thread.append({"role": "assistant", "content": "x"})
        assert last(thread).metadata.custom == {}


async def test_an_answer_in_the_tree_is_the_very_object_that_is_shown() -> None:
    async with talking(Script([TextDelta("a")])) as thread:
        await thread.append("hi")
        assert isinstance(last(thread), AssistantMessage)
        assert thread.find(last(thread).id).message is last(thread)
