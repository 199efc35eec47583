"""The data and the contenders of the fan-out benchmark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import attrs
from reactivex import operators as ops
from reactivex.subject import BehaviorSubject

from partwise.reactive import KeyedSeq, Store, attr, index, key

PARTS = 3


@attrs.frozen
class Part:
    text: str


@attrs.frozen
class Message:
    id: str
    content: tuple[Part, ...]


@attrs.frozen
class Thread:
    messages: KeyedSeq[str, Message]
    is_running: bool = False


def thread(slices: int) -> Thread:
    """Return a thread with at least so many parts, three in a message."""
    content = tuple(Part("") for _ in range(PARTS))
    count = -(-slices // PARTS)
    return Thread(KeyedSeq((f"m{number}", Message(f"m{number}", content)) for number in range(count)))


def with_delta(state: Thread, id: str, part: int, text: str) -> Thread:
    """Return the snapshot in which one part has another text: the frozen update that all contenders make."""
    message = state.messages.by_key(id)
    content = list(message.content)
    content[part] = Part(text)
    return Thread(state.messages.replace(id, Message(id, tuple(content))), state.is_running)


def part_text(id: str, part: int) -> Callable[[Thread], str]:
    return lambda state: state.messages.by_key(id).content[part].text


class Contender(Protocol):
    """One way of telling a listener that the part it shows has changed."""

    label: str
    deliveries: int

    def change(self, text: str) -> None:
        """Set the text of one part in the middle."""

    def close(self) -> None:
        """Stop all listening."""


class Floor:
    """The same frozen update by hand, and one direct call."""

    label = "floor: frozen update, one call"

    def __init__(self, slices: int) -> None:
        self.state = thread(slices)
        self.deliveries = 0
        self._id = f"m{len(self.state.messages) // 2}"
        self._listener: Callable[[str], None] | None = self._hear

    def _hear(self, text: str) -> None:
        self.deliveries += 1

    def change(self, text: str) -> None:
        self.state = with_delta(self.state, self._id, 1, text)
        if self._listener is not None:
            self._listener(text)

    def close(self) -> None:
        self._listener = None


class Tracked:
    """A tracked slice of a store for each part."""

    label = "partwise: store.select"

    def __init__(self, slices: int) -> None:
        self.store = Store(thread(slices))
        self.deliveries = 0
        self._id = f"m{len(self.store.value.messages) // 2}"
        self._subscriptions = [self.listen(f"m{n // PARTS}", n % PARTS) for n in range(slices)]
        self.deliveries = 0

    def _hear(self, text: object) -> None:
        self.deliveries += 1

    def listen(self, id: str, part: int):
        return self.store.select(part_text(id, part)).subscribe(self._hear)

    def change(self, text: str) -> None:
        self.store.commit(with_delta(self.store.value, self._id, 1, text))

    def close(self) -> None:
        for subscription in self._subscriptions:
            subscription.dispose()


class Addressed(Tracked):
    """A slice at an address for each part."""

    label = "partwise: store.at"

    def listen(self, id: str, part: int):
        steps = (attr("messages"), key(id), attr("content"), index(part), attr("text"))
        return self.store.at(*steps).subscribe(self._hear)


class RxPipe:
    """A subject of snapshots, and a pipe of map and identity distinct for each part."""

    label = "bare Rx pipe per slice"

    def __init__(self, slices: int) -> None:
        self.subject = BehaviorSubject(thread(slices))
        self.deliveries = 0
        self._id = f"m{len(self.subject.value.messages) // 2}"
        self._subscriptions = [self.listen(f"m{n // PARTS}", n % PARTS) for n in range(slices)]
        self.deliveries = 0

    def _hear(self, text: str) -> None:
        self.deliveries += 1

    def listen(self, id: str, part: int):
        pipe = self.subject.pipe(
            ops.map(part_text(id, part)), ops.distinct_until_changed(comparer=lambda one, other: one is other)
        )
        return pipe.subscribe(self._hear)

    def change(self, text: str) -> None:
        self.subject.on_next(with_delta(self.subject.value, self._id, 1, text))

    def close(self) -> None:
        for subscription in self._subscriptions:
            subscription.dispose()


CONTENDERS: tuple[Callable[[int], Contender], ...] = (Floor, Tracked, Addressed, RxPipe)


def check(contender: Contender) -> None:
    """Raise unless a change is delivered once, several as often, and none after the end."""
    before = contender.deliveries
    contender.change("one")
    assert contender.deliveries == before + 1, contender.label
    for text in ("two", "three"):
        contender.change(text)
    assert contender.deliveries == before + 3, contender.label
    contender.close()
    contender.change("four")
    assert contender.deliveries == before + 3, contender.label
