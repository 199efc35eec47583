"""What does one token of somebody else's feed cost, as a new list each time and in pieces?"""

from __future__ import annotations

from collections.abc import Callable

from bench._answer import Answer, Step, micros, question_of, take_turns, timed
from bench._conversations import WHEN, conversation
from partwise.messages import RUNNING, AssistantMessage, Message, TextPart
from partwise.runtimes import ExternalStoreRuntime

SIZES = (10, 1_000, 10_000)


class Fed:
    """A runtime whose owner streams the last of many messages, and a listener for that one."""

    def __init__(self, messages: int) -> None:
        self._items: list[Message] = [*conversation(messages - 1), _answer(0)]
        self._tokens = 0
        self.heard = 0
        self.runtime = ExternalStoreRuntime(self._items, is_running=True)
        self.runtime.thread.message("answer").part(0).subscribe(self._hear)
        self.heard = 0

    def _hear(self, value: object) -> None:
        del value
        self.heard += 1

    def as_list(self) -> None:
        self._tokens += 1
        self._items = [*self._items[:-1], _answer(self._tokens)]
        self.runtime.update(self._items)

    def as_piece(self) -> None:
        self._tokens += 1
        self.runtime.put(_answer(self._tokens))


def _answer(tokens: int) -> Message:
    return AssistantMessage(id="answer", created_at=WHEN, content=(TextPart(f"token {tokens}"),), status=RUNNING)


def measure(on_step: Step, *, sizes: tuple[int, ...] = SIZES, rounds: int = 10, times: int = 50) -> Answer:
    """Stream into feeds of several sizes, both ways in turns."""
    rows: list[tuple[str, ...]] = []
    figures: dict[str, float] = {}
    for size in sizes:
        on_step(f"a feed of {size:,} messages")
        lists, pieces = Fed(size), Fed(size)
        ways: dict[str, Callable[[], float]] = {
            "list": lambda fed=lists: timed(fed.as_list, times),
            "piece": lambda fed=pieces: timed(fed.as_piece, times),
        }
        taken = take_turns(ways, rounds)
        expected = (rounds + 1) * times
        if (lists.heard, pieces.heard) != (expected, expected):
            text = f"{expected} deliveries are right, not {(lists.heard, pieces.heard)}"
            raise AssertionError(text)
        rows.append((f"{size:,}", *(micros(taken[way].median) for way in ("list", "piece"))))
        figures |= {f"external/{way}/{size}": each.median for way, each in taken.items()}
    return Answer(
        question=question_of(__doc__),
        heads=("messages", "a new list, µs", "one piece, µs"),
        rows=tuple(rows),
        figures=figures,
        notes=("A new list is compared with the one before object by object; a piece is looked up by its id.",),
    )


def test_one_token_is_one_delivery_both_ways() -> None:
    measure(lambda step: None, sizes=(4, 40), rounds=1, times=3)
