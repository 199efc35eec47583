"""What does it cost to begin and end listening to one part while many others are listened to?"""

from __future__ import annotations

import random
from contextlib import ExitStack

from bench._answer import Answer, Step, clock, micros, question_of, take_turns
from bench.peers._protocol import Contestant, Parameters
from bench.test_fanout import everybody
from partwise.cli._bench._peers import PEERS
from partwise.cli._bench._peers._partwise import Address, Tracked
from partwise.cli._bench._peers._rx import RxPipe

SLICES = 10_000
TIMES = 50


def measure(on_step: Step, *, slices: int = SLICES, rounds: int = 20, only: frozenset[str] | None = None) -> Answer:
    """Subscribe to one more part and dispose, parts in an order without pattern; then many at once."""
    entrants = [entrant for entrant in everybody()[0] if entrant.label in PEERS]
    entrants = [entrant for entrant in entrants if only is None or entrant.label in only]
    one: dict[str, float] = {}
    with ExitStack() as stack:
        contestants: dict[str, Contestant] = {}
        for entrant in entrants:
            on_step(f"building {entrant.label}")
            contestants[entrant.label] = stack.enter_context(Contestant(entrant))
            contestants[entrant.label].build(Parameters.of(slices))
        on_step("one among many")
        fit = {label: peer for label, peer in contestants.items() if peer.fault is None}
        turns = take_turns({label: lambda peer=peer: _once(peer) for label, peer in fit.items()}, rounds)
        one = {label: taken.median for label, taken in turns.items() if contestants[label].fault is None}
    on_step("all of many")
    many = {
        label: _all_in_disorder(make, slices)
        for label, make in (("partwise", Tracked), ("partwise-address", Address), ("rx-pipe", RxPipe))
    }
    rows = [
        (label, micros(one[label]) if label in one else "", *(map(micros, many[label]) if label in many else ("", "")))
        for label in contestants
    ]
    figures = {f"churn/{label}": seconds for label, seconds in one.items()}
    figures |= {f"dispose/{label}": seconds for label, (_, seconds) in many.items()}
    return Answer(
        question=question_of(__doc__),
        heads=(
            "peer",
            f"one among {slices:,}: subscribe and dispose, µs",
            "all: subscribe, µs each",
            "dispose, µs each",
        ),
        rows=tuple(rows),
        figures=figures,
        notes=("All: every part once, subscribed in one random order and disposed in another.",),
    )


def _once(contestant: Contestant) -> float:
    return float(contestant.ask(churn=TIMES).get("mean_us", 0.0)) / 1e6


def _all_in_disorder(make: type[Tracked | RxPipe], slices: int) -> tuple[float, float]:
    chance = random.Random(0)
    peer = make()
    parameters = Parameters.of(slices)
    peer.build(Parameters(slices=0, messages=parameters.messages))
    places = parameters.places()
    chance.shuffle(places)
    listen = peer.listen
    start = clock()
    subscriptions = [listen(place) for place in places]
    middle = clock()
    chance.shuffle(subscriptions)
    begun = clock()
    for subscription in subscriptions:
        subscription.dispose()
    return (middle - start) / slices, (clock() - begun) / slices


def test_churn_is_measured_for_those_who_can():
    answer = measure(lambda text: None, slices=60, rounds=1, only=frozenset({"floor", "partwise"}))

    assert answer.figures["churn/partwise"] > 0
    assert answer.figures["dispose/rx-pipe"] > 0


def test_nothing_is_left_of_listeners_that_came_and_went():
    peer = Tracked()
    peer.build(Parameters.of(300))
    before = peer.store.statistics()
    places = [(random.Random(0).randrange(100), number % 3) for number in range(200)]

    subscriptions = [peer.listen(place) for place in places]
    during = peer.store.statistics()
    random.Random(1).shuffle(subscriptions)
    for subscription in subscriptions:
        subscription.dispose()

    assert during.live_slices == before.live_slices + 200
    after = peer.store.statistics()
    assert (after.live_slices, after.index_entries) == (before.live_slices, before.index_entries)
