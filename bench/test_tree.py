"""What do load, append, switch, edit and delete cost in a thread of 10,000 messages with 50 branches?"""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median

import anyio
import attrs

from bench._answer import Answer, Step, clock, millis, question_of
from bench._conversations import branched, listen_to_every_part
from partwise.adapters import HistoryItem, RunContext
from partwise.messages import AssistantMessage
from partwise.persistence import MemoryHistory
from partwise.runtimes import LocalRuntime, LocalThread

SIZES = (1_000, 10_000)
BRANCHES = 50
SLICES = 300


def measure(on_step: Step, *, sizes: tuple[int, ...] = SIZES, repeats: int = 9) -> Answer:
    """Do each thing several times in threads of all sizes in turns, with some hundred listeners on the first parts."""
    runs: dict[int, list[dict[str, float]]] = {size: [] for size in sizes}
    for number in range(repeats):
        turn = number % len(sizes)
        for size in (*sizes[turn:], *sizes[:turn]):
            on_step(f"round {number + 1} of {repeats}, {size:,} messages")
            runs[size].append(anyio.run(_measured, size))
    small, large = sizes[0], sizes[-1]
    names = list(runs[small][0])
    best = {size: {name: min(run[name] for run in runs[size]) for name in names} for size in sizes}
    pairs = list(zip(runs[large], runs[small], strict=True))
    growth = {name: median(many[name] / few[name] for many, few in pairs) for name in names}
    rows = [
        (
            name,
            *(millis(best[size][name]) for size in sizes),
            f"{growth[name]:,.1f}",
            millis(best[large][name] / large * 1_000),
        )
        for name in names
    ]
    figures = {f"tree/{name}/{size}": seconds for size in sizes for name, seconds in best[size].items()}
    figures |= {f"tree/growth/{name}": times for name, times in growth.items()}
    return Answer(
        question=question_of(__doc__),
        heads=(
            "what",
            *(f"ms at {size:,}" for size in sizes),
            f"growth, {large / small:,.0f} times the messages",
            "ms per 1,000 messages",
        ),
        rows=tuple(rows),
        figures=figures,
        notes=(
            f"Messages are values already: decoding is not in it. {BRANCHES} branches, {SLICES} slices. "
            f"The best of {repeats} runs; the growth is the median of the ratios within each round, in which the sizes "
            "take turns.",
        ),
    )


async def _silent(run: RunContext) -> None:
    del run


async def _measured(size: int) -> dict[str, float]:
    export = branched(size, BRANCHES)
    items = tuple(HistoryItem(parent_id=entry.parent_id, message=entry.message) for entry in export.entries)
    history = MemoryHistory(items, export.head_id)
    async with LocalRuntime(_silent) as runtime:
        import_ = _seconds(lambda: runtime.thread.import_(export))
    async with LocalRuntime(_silent, history=history) as runtime:
        thread = runtime.thread
        gc.collect()
        start = clock()
        await thread.load()
        taken = {"load from a history": clock() - start, "import": import_}
        listen_to_every_part(thread, min(SLICES, size), lambda value: None)
        taken |= _navigated(thread)
        taken |= await _changed(thread)
    return taken


def _seconds(function: Callable[[], object]) -> float:
    gc.collect()
    start = clock()
    function()
    return clock() - start


def _navigated(thread: LocalThread) -> dict[str, float]:
    """Go to the first and to the last alternative, and back."""
    forks = [id for id, ids in thread.state.branches.items() if len(ids) > 1]
    head = thread.state.head_id
    taken: dict[str, float] = {}
    for name, id in (("switch high up", forks[0]), ("switch near the end", forks[-1])):
        other = thread.branches_of(id)[1]
        away = _seconds(lambda other=other: thread.switch_to_branch(other))
        back = _seconds(lambda id=id: thread.switch_to_branch(id))
        taken[name] = max(away, back)
        if thread.state.head_id != head:
            text = "the way back leads elsewhere"
            raise AssertionError(text)
    return taken


async def _changed(thread: LocalThread) -> dict[str, float]:
    taken = {"append": _seconds(lambda: thread.append("One more.", starts_run=False))}
    question = thread.state.messages[-4]
    edited = {"role": question.role, "content": [{"type": "text", "text": "Once more."}]}
    place = thread.find(question.id)
    parent_id = None if place is None else place.parent_id
    taken["edit near the end"] = _seconds(
        lambda: thread.append(edited, parent_id=parent_id, source_id=question.id, starts_run=False)
    )
    documents = thread._host.document
    middle = thread.state.messages[len(thread.state.messages) // 2].id
    taken["delete in the middle"] = _seconds(lambda: documents.delete(middle))
    last = thread.state.messages[-1].id
    taken["delete the last"] = _seconds(lambda: documents.delete(last))
    answer = next(message for message in reversed(thread.state.messages) if isinstance(message, AssistantMessage))
    metadata = attrs.evolve(answer.metadata, custom={"seen": True})
    taken["replace one"] = _seconds(lambda: documents.replace(attrs.evolve(answer, metadata=metadata)))
    return taken


def test_everything_that_is_measured_does_what_it_says():
    answer = measure(lambda text: None, sizes=(120, 240), repeats=1)

    assert [row[0] for row in answer.rows] == [
        "load from a history",
        "import",
        "switch high up",
        "switch near the end",
        "append",
        "edit near the end",
        "delete in the middle",
        "delete the last",
        "replace one",
    ]


def test_a_branched_thread_has_the_branches_that_it_is_named_for():
    export = branched(1_000, BRANCHES)

    parents = [entry.parent_id for entry in export.entries]
    assert len(export.entries) in range(940, 1_001)
    assert len(parents) - len(set(parents)) in range(BRANCHES - 10, BRANCHES + 1)
