"""What does one delta cost through the whole local runtime, from the model's yield to the listener of its part?"""

from __future__ import annotations

import gc
from collections.abc import Callable

import anyio
import attrs

from bench._answer import Answer, Step, Taken, micros, question_of, timed
from bench._conversations import WHEN, Streaming, conversation, listen_to_every_part
from partwise.cli._bench._peers import PEERS
from partwise.cli._bench._thread import Parameters
from partwise.messages import RUNNING, AssistantMessage, TextPart
from partwise.reactive import KeyedSeq
from partwise.store import ThreadState
from partwise.stream import TextDelta

TIMES = 100
SHAPES = ((0, 4), (10, 4), (10_000, 3_334))


class Floor:
    """The same frozen update of the same values by hand, and one direct call."""

    def __init__(self, messages: int) -> None:
        known = [*conversation(messages), AssistantMessage(id="answer", created_at=WHEN, content=(TextPart("Well. "),))]
        self.state = ThreadState(messages=KeyedSeq((message.id, message) for message in known), is_running=True)
        self.heard = 0

    def change(self, text: str) -> None:
        messages = self.state.messages
        message = messages.by_key("answer")
        content = message.content
        part = content[-1]
        message = AssistantMessage(
            id=message.id,
            created_at=message.created_at,
            content=(*content[:-1], TextPart(part.text + text)),
            status=RUNNING,
            metadata=message.metadata,
        )
        self.state = attrs.evolve(self.state, messages=messages.replace("answer", message))
        self.hear(part.text)

    def hear(self, value: object) -> None:
        del value
        self.heard += 1

    def round(self, times: int) -> float:
        return timed(lambda: self.change("tok "), times)


class RaceFloor:
    """The floor of the fan-out race: the same update of values with fewer fields, and one direct call."""

    def __init__(self, messages: int) -> None:
        self._peer = PEERS["floor"].make()
        self._peer.build(Parameters(slices=messages * 3, messages=messages))
        self._changes = 0

    @property
    def heard(self) -> int:
        return self._peer.deliveries()

    def change(self) -> None:
        self._changes += 1
        self._peer.change(self._changes)

    def round(self, times: int) -> float:
        return timed(self.change, times)


class Listened:
    """One runtime with an answer on its way, a listener for the streamed part, and listeners for other parts."""

    def __init__(self, streaming: Streaming, slices: int, *, by_address: bool) -> None:
        self._streaming = streaming
        self.heard = 0
        thread = self.thread = streaming.thread
        listen_to_every_part(thread, slices, self.hear)
        id = thread.state.messages[-1].id
        if by_address:
            thread.message(id).part(0).subscribe(self.hear)
        else:
            thread.select(lambda state: state.messages.by_key(id).content[0].text).subscribe(self.hear)
        self.heard = 0

    def hear(self, value: object) -> None:
        del value
        self.heard += 1

    async def round(self, times: int) -> float:
        return await self._streaming.say([TextDelta("tok ") for _ in range(times)]) / times


def measure(
    on_step: Step, *, shapes: tuple[tuple[int, int], ...] = SHAPES, rounds: int = 20, times: int = TIMES
) -> Answer:
    """Stream into threads of several sizes, in turns with the floor."""
    return anyio.run(_measure, on_step, shapes, rounds, times)


async def _measure(on_step: Step, shapes: tuple[tuple[int, int], ...], rounds: int, times: int) -> Answer:
    rows: list[tuple[str, ...]] = []
    figures: dict[str, float] = {}
    for slices, messages in shapes:
        on_step(f"{slices:,} slices, {messages:,} messages")
        async with Streaming(messages) as one, Streaming(messages) as other:
            floor, race = Floor(messages), RaceFloor(messages)
            tracked = Listened(one, slices, by_address=False)
            address = Listened(other, slices, by_address=True)
            taken = await _turns(floor, race, tracked, address, rounds, times)
            expected = (rounds + 1) * times
            heard = [each.heard for each in (floor, race, tracked, address)]
            if heard != [expected] * len(heard):
                text = f"{expected} deliveries are right, not {heard}"
                raise AssertionError(text)
        base = taken["floor"].median
        rows += [
            (
                label,
                f"{slices:,}",
                f"{messages:,}",
                micros(each.median),
                micros(each.best),
                micros(each.worst),
                f"{each.median / base:,.1f}",
            )
            for label, each in taken.items()
        ]
        figures |= {f"stream/{label}/{slices}": each.median for label, each in taken.items()}
    return Answer(
        question=question_of(__doc__),
        heads=("through", "other slices", "messages", "median µs", "best round", "worst round", "to floor"),
        rows=tuple(rows),
        figures=figures,
        notes=(
            "The floor makes the same update of the same values (thread, message, part) and one direct call; that of "
            "the fan-out race does so with values that have fewer fields. Seconds of the processor.",
        ),
    )


async def _turns(
    floor: Floor, race: RaceFloor, tracked: Listened, address: Listened, rounds: int, times: int
) -> dict[str, Taken]:
    async def of_floor(times: int) -> float:
        return floor.round(times)

    async def of_race(times: int) -> float:
        return race.round(times)

    contenders: dict[str, Callable[..., object]] = {
        "floor": of_floor,
        "floor of the race": of_race,
        "tracked selector": tracked.round,
        "address": address.round,
    }
    names = list(contenders)
    taken: dict[str, list[float]] = {name: [] for name in names}
    gc.collect()
    for number in range(rounds + 1):
        turn = number % len(names)
        for name in (*names[turn:], *names[:turn]):
            seconds = await contenders[name](times)
            if number:
                taken[name].append(seconds)
    return {name: Taken(tuple(seconds)) for name, seconds in taken.items()}


def test_a_streamed_delta_reaches_its_listener_once():
    answer = measure(lambda text: None, shapes=((9, 4),), rounds=1, times=5)

    assert [row[0] for row in answer.rows] == ["floor", "floor of the race", "tracked selector", "address"]


async def test_a_streamed_delta_is_one_commit_one_evaluation_and_one_delivery():
    async with Streaming(20) as streaming:
        listened = Listened(streaming, 60, by_address=False)
        store = streaming.thread._host.document.store
        before = store.statistics()
        await listened.round(50)
        after = store.statistics()

    assert listened.heard == 50
    assert after.commits - before.commits == 50
    assert after.evaluations - before.evaluations == 50
    assert after.deliveries - before.deliveries == 50
    assert store.statistics().index_entries == 0
    assert store.statistics().live_slices == 0
