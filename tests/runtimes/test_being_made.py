"""Messages that are sent while their thread is still being made go on in the order in which they were sent."""

from collections.abc import Awaitable, Callable
from itertools import permutations

import anyio
import pytest

from partwise.errors import NotSentError
from partwise.messages import message_text
from partwise.stream import TextDelta
from partwise.testing import settled

from .scenes import Log, Script, shown, talking

pytestmark = pytest.mark.anyio


class Makings:
    """Threads that are made when the test says so, one attempt for each message."""

    def __init__(self, failing: int | None = None, at_once: int | None = None) -> None:
        self.gates: list[anyio.Event] = []
        self._failing = failing
        self._at_once = at_once

    def __call__(self) -> Awaitable[None] | None:
        number, gate = len(self.gates), anyio.Event()
        self.gates.append(gate)
        return None if number == self._at_once else self._make(number, gate.wait)

    async def _make(self, number: int, made: Callable[[], Awaitable[object]]) -> None:
        await made()
        if number == self._failing:
            raise OSError("no thread")


@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_the_order_of_sending_is_kept_whichever_attempt_ends_first(order: tuple[int, ...]) -> None:
    making, history = Makings(), Log()
    script = Script([TextDelta("a")], [TextDelta("b")], [TextDelta("c")])
    async with talking(script, initialize=making, history=history) as thread:
        operations = [thread.append(text) for text in ("0", "1", "2")]
        for number in order:
            making.gates[number].set()
            await settled()
        for operation in operations:
            await operation
        asked = [item.message for item in thread.export().entries if item.message.role == "user"]
        assert [message_text(message) for message in asked] == ["0", "1", "2"]
        assert shown(thread)[:3] == ["u:0", "u:1", "u:2"]
        assert shown(thread)[-1].startswith("a:")


async def test_a_thread_that_is_there_by_now_lets_nobody_overtake() -> None:
    making = Makings(at_once=1)
    async with talking(Script([TextDelta("a")], [TextDelta("b")]), initialize=making) as thread:
        first, second = thread.append("0"), thread.append("1")
        await settled()
        assert shown(thread) == ["u:0", "u:1"]
        making.gates[0].set()
        await first
        await second
        assert shown(thread)[:2] == ["u:0", "u:1"]
        assert len(shown(thread)) == 3


@pytest.mark.parametrize("order", list(permutations(range(2))))
async def test_what_follows_a_message_that_was_not_sent_is_stored_under_what_is_there(order: tuple[int, ...]) -> None:
    making, history = Makings(failing=0), Log()
    async with talking(Script([TextDelta("a")]), initialize=making, history=history) as thread:
        first, second = thread.append("0"), thread.append("1")
        for number in order:
            making.gates[number].set()
            await settled()
        with pytest.raises(NotSentError):
            await first
        await second
        assert shown(thread) == ["u:1", "a:a"]
        parents = {item.message.id: item.parent_id for item in thread.export().entries}
        assert next(iter(parents.values())) is None
        assert all(parent is None or parent in parents for parent in parents.values())
