"""What one token costs, in exact counts, and threads that are long."""

from __future__ import annotations

from typing import Any

from partwise.messages import Pieces, TextPart, as_written
from partwise.persistence import MemoryHistory
from partwise.reactive import StoreStatistics, text_deltas
from partwise.runtimes import LocalThread
from partwise.stream import TextDelta, ToolArgsDelta, ToolCallStart
from tests.runtimes.scenes import Script, answer, chain, question, shown, statuses, talking


def statistics(thread: LocalThread) -> StoreStatistics:
    return thread._host.document.store.statistics()


def long_thread(pairs: int, parts: int = 1) -> list[Any]:
    texts = tuple(TextPart(f"part {number}") for number in range(parts))
    return [
        make(f"{kind}{n}") for n in range(pairs) for make, kind in ((question, "u"), (lambda i: answer(i, *texts), "a"))
    ]


async def test_a_token_wakes_the_slices_of_its_part_and_message_and_none_of_two_thousand_others() -> None:  # B108
    marks: list[StoreStatistics] = []
    tokens = 200
    async with talking(None) as thread:
        mark = lambda run: marks.append(statistics(thread))  # noqa: E731 - a step of the script below
        thread.set_options(model=Script([TextDelta("a"), mark, *[TextDelta("b")] * tokens, mark]))
        thread.import_(chain(*[answer(f"a{n}", *[TextPart(f"{k}") for k in range(4)]) for n in range(500)]))
        others: list[object] = []
        for message in thread.state.messages:
            thread.message(message.id).subscribe(others.append)
            for position in range(4):
                thread.message(message.id).part(position).subscribe(others.append)
        idle: list[object] = []
        for selector in (
            lambda s: len(s.messages),
            lambda s: s.is_running,
            lambda s: s.messages[0].content[0].text,
            lambda s: s.messages[499].status.type,
            lambda s: s.composer.text,
            lambda s: s.queue,
        ):
            thread.select(selector).subscribe(idle.append)
        assert len(others) == 2500
        operation = thread.append("hi")
        fresh = thread.state.messages[-1].id
        woken: dict[str, int] = {"part": 0, "message": 0, "text": 0}

        def count(name: str) -> Any:
            return lambda value: woken.update({name: woken[name] + 1})

        thread.message(fresh).part(0).subscribe(count("part"))
        thread.message(fresh).subscribe(count("message"))
        thread.select(lambda s: s.messages[-1].content[0].text if s.messages[-1].content else "").subscribe(
            count("text")
        )
        await operation
        before, after = marks
        assert after.commits - before.commits == tokens
        assert after.evaluations - before.evaluations == 3 * tokens
        assert after.deliveries - before.deliveries == 3 * tokens
        assert len(others) == 2500
        assert woken["part"] == tokens + 1
        assert shown(thread)[-1] == "a:a" + "b" * tokens


async def test_the_cost_of_a_token_does_not_grow_with_the_thread() -> None:  # B100
    costs: set[tuple[int, int, int]] = set()
    for pairs in (1, 100, 2000):
        marks: list[StoreStatistics] = []
        async with talking(None) as thread:
            mark = lambda run, to=marks, of=thread: to.append(statistics(of))  # noqa: E731 - a step of the script below
            thread.set_options(model=Script([TextDelta("a"), mark, *[TextDelta("b")] * 50, mark]))
            thread.import_(chain(*long_thread(pairs)))
            for message in thread.state.messages:
                thread.message(message.id).part(0).subscribe(lambda part: None)
            operation = thread.append("hi")
            thread.message(thread.state.messages[-1].id).part(0).subscribe(lambda part: None)
            await operation
        before, after = marks
        costs.add(
            (
                after.commits - before.commits,
                after.evaluations - before.evaluations,
                after.deliveries - before.deliveries,
            )
        )
    assert costs == {(50, 50, 50)}


async def test_a_reader_of_deltas_gets_every_character_once() -> None:  # B100
    tokens = [f"{number} " for number in range(5000)]
    async with talking(Script([TextDelta(token) for token in tokens])) as thread:
        operation = thread.append("hi")
        received: list[str] = []
        part = thread.message(thread.state.messages[-1].id).part(0)
        part.select(lambda p: p.text).pipe(text_deltas()).subscribe(
            lambda event: received.append(getattr(event, "text", ""))
        )
        await operation
        assert "".join(received) == "".join(tokens)
        assert len(received) <= len(tokens) + 2


async def test_a_thread_of_thirty_thousand_messages_loads_streams_switches_and_deletes() -> None:  # trace 28
    messages = long_thread(15_000)
    export = chain(*messages)
    async with talking(Script([TextDelta("a"), *[TextDelta("b")] * 100]), history=MemoryHistory()) as thread:
        before = statistics(thread).commits
        thread.import_(export)
        assert statistics(thread).commits - before <= 2
        await thread.append("more", starts_run=False)
        await thread.reload(messages[-1].id)
        assert len(thread.state.messages) == 30_000
        assert statuses(thread)[-1] == "complete/unknown"
        thread.switch_to_branch(messages[-1].id)
        assert shown(thread)[-1] == "u:more"
        root = thread.state.messages[0].id
        await thread.delete_message(root)
        assert thread.state.messages[0].id == "a0"
        assert len(thread.export().entries) == 30_001


async def test_many_silent_messages_in_a_row_cost_a_commit_each() -> None:
    async with talking(Script([])) as thread:
        before = statistics(thread).commits
        for number in range(2000):
            thread.append(f"{number}", starts_run=False)
        assert statistics(thread).commits - before == 2000
        assert len(thread.state.messages) == 2000


async def test_the_state_of_the_model_follows_the_last_visible_answer() -> None:
    model = Script([{"metadata": {"state": 1}}], [{"metadata": {"state": 2}}])
    async with talking(model) as thread:
        seen: list[object] = []
        thread.select(lambda s: s.state).subscribe(seen.append)
        await thread.append("one")
        await thread.append("note", starts_run=False)
        await thread.reload(thread.state.messages[1].id)
        thread.switch_branch(thread.state.messages[1].id, "previous")
        thread.import_(chain(question("u1"), answer("a1")))
        assert seen == [None, 1, 2, 1, None]


async def test_a_long_text_is_joined_only_by_those_who_read_it() -> None:
    heard: list[Any] = []
    async with talking(None) as thread:

        def start(run: Any) -> None:
            thread.message(run.assistant_message_id).part(0).subscribe(heard.append)

        thread.set_options(model=Script([TextDelta("x" * 5_000), start, *[TextDelta("y" * 10)] * 100]))
        await thread.append("hi")

    whole = heard.pop()
    assert [isinstance(as_written(part), Pieces) for part in heard] == [False, *[True] * (len(heard) - 1)]
    assert len(heard) == 100
    assert as_written(whole) == "x" * 5_000 + "y" * 1_000
    assert [len(part.text) for part in reversed(heard)] == [5_000 + 10 * n for n in reversed(range(100))]


async def test_arguments_that_nobody_looks_at_are_not_put_together() -> None:
    heard: list[Any] = []
    pieces = ['{"path": "a.txt", "text": "', *["more "] * 50, '"}']
    async with talking(None) as thread:

        def start(run: Any) -> None:
            thread.message(run.assistant_message_id).part(0).subscribe(heard.append)

        chunks = [ToolArgsDelta("call", piece) for piece in pieces]
        thread.set_options(model=Script([ToolCallStart("call", "write"), start, *chunks]))
        await thread.append("hi")

    growing = [part for part in heard if isinstance(as_written(part), Pieces)]
    assert len(growing) == len(pieces) - 1
    assert [len(part.args["text"]) for part in growing] == [5 * n for n in range(len(growing))]
