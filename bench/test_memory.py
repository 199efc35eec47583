"""How many bytes do an idle slice, a message, and a snapshot that is kept take?"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

from bench._answer import Answer, Step, question_of
from bench._conversations import WHEN, conversation
from bench.peers._protocol import Parameters
from partwise.cli._bench._peers import PEERS, absence
from partwise.cli._bench._worker import bytes_per_slice
from partwise.messages import AssistantMessage, TextPart
from partwise.reactive import KeyedSeq
from partwise.repository import Tree, export_from_list
from partwise.store import ThreadState

SLICES = 3_000
MESSAGES = 3_000


def measure(on_step: Step, *, slices: int = SLICES, messages: int = MESSAGES) -> Answer:
    """Trace allocations with and without the thing itself."""
    rows: list[tuple[str, ...]] = []
    figures: dict[str, float] = {}
    for label in PEERS:
        if label in {"floor", "partwise-twin"} or absence(label) is not None:
            continue
        on_step(label)
        figures[f"memory/{label}"] = bytes_per_slice(label, Parameters.of(slices))
        rows.append((f"{label}: an idle slice", f"{figures[f'memory/{label}']:,.0f}"))
    known = conversation(messages)
    things: dict[str, Callable[[], object]] = {
        "a message of three parts, as a value": lambda: conversation(messages),
        "its place in the tree": lambda: _tree(known),
        "its place in a snapshot": lambda: KeyedSeq((message.id, message) for message in known),
    }
    for name, make in things.items():
        on_step(name)
        rows.append((name, f"{_traced(make) / messages:,.0f}"))
    on_step("snapshots")
    rows.append((f"a snapshot that is kept: one of {messages:,} messages differs", f"{_per_snapshot(known):,.0f}"))
    return Answer(
        question=question_of(__doc__),
        heads=("what", "bytes"),
        rows=tuple(rows),
        figures=figures,
        notes=(
            f"Traced by tracemalloc, over {slices:,} slices and {messages:,} messages. "
            "An idle slice includes its function, its closure and all handles.",
        ),
    )


def _tree(messages: list[object]) -> object:
    tree = Tree()
    tree.replace_all(export_from_list(messages))
    return tree


def _per_snapshot(messages: list[object], kept: int = 200) -> float:
    state = ThreadState(messages=KeyedSeq((message.id, message) for message in messages))
    id = messages[-1].id

    def snapshots() -> object:
        states = []
        current = state
        for number in range(kept):
            message = AssistantMessage(id=id, created_at=WHEN, content=(TextPart(str(number)),))
            current = ThreadState(messages=current.messages.replace(id, message))
            states.append(current)
        return states

    return _traced(snapshots) / kept


def _traced(make: Callable[[], object]) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        made = make()
        gc.collect()
        used = tracemalloc.get_traced_memory()[0]
        del made
        return used
    finally:
        tracemalloc.stop()


def test_memory_is_traced_for_slices_messages_and_snapshots():
    answer = measure(lambda text: None, slices=90, messages=60)

    assert answer.figures["memory/partwise"] > 0
    assert len(answer.rows) >= 7
