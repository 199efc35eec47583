"""The data of the race: a thread of messages with parts, and the one update that all peers make."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import attrs

from partwise.reactive import KeyedSeq

__all__ = ["PARTS", "Depth", "Message", "Parameters", "Part", "Place", "Thread", "reader", "thread", "with_texts"]

PARTS = 3

Depth: TypeAlias = Literal["message", "part", "text", "argument"]
Place: TypeAlias = tuple[int, int]


@attrs.frozen
class Part:
    """One part: a text, and a value deep inside the arguments of a call."""

    text: str
    args: dict[str, dict[str, str]]


@attrs.frozen
class Message:
    """One message."""

    id: str
    content: tuple[Part, ...]


@attrs.frozen
class Thread:
    """The snapshot that is replaced at each change."""

    messages: KeyedSeq[str, Message]
    is_running: bool = False


@attrs.frozen(kw_only=True)
class Parameters:
    """What one race is about; every peer gets the same.

    Attributes:
        slices: How many listeners there are, each on one part.
        messages: How many messages the thread has, three parts in each.
        changed: How many parts one change changes.
        depth: What a listener looks at: a message, a part, its text, or a value inside its arguments.
        seed: Chooses the parts that change. One part alone is the last one, as in a stream.
    """

    slices: int
    messages: int
    changed: int = 1
    depth: Depth = "text"
    seed: int = 0

    @classmethod
    def of(cls, slices: int, *, changed: int = 1, depth: Depth = "text") -> Parameters:
        """One slice for each part, and as many messages as that takes."""
        return cls(slices=slices, messages=-(-slices // PARTS), changed=changed, depth=depth)

    def places(self) -> list[Place]:
        """Return the part that each slice looks at, as the number of its message and of the part."""
        parts = self.messages * PARTS
        return [divmod(number % parts, PARTS) for number in range(self.slices)]

    def targets(self) -> tuple[Place, ...]:
        """Return the parts that each change changes."""
        watched = list(dict.fromkeys(self.places()))
        if self.changed == 1:
            return (watched[-1],) if watched else ((self.messages - 1, PARTS - 1),)
        return tuple(sorted(random.Random(self.seed).sample(watched, self.changed)))

    def expected(self) -> int:
        """Return how many values one change has to deliver."""
        targets: set[object] = set(self.targets())
        places: list[object] = list(self.places())
        if self.depth == "message":
            targets = {message for message, _ in self.targets()}
            places = [message for message, _ in self.places()]
        return sum(place in targets for place in places)


def thread(messages: int) -> Thread:
    """Return a thread of so many messages."""
    return Thread(KeyedSeq((f"m{number}", _message(number)) for number in range(messages)))


def _message(number: int) -> Message:
    return Message(f"m{number}", tuple(Part("", {"file": {"line": ""}}) for _ in range(PARTS)))


def with_texts(state: Thread, targets: Sequence[Place], text: str) -> Thread:
    """Return the snapshot in which these parts have another text; everything else is shared."""
    messages = state.messages
    for number, position in targets:
        id = f"m{number}"
        message = messages.by_key(id)
        content = list(message.content)
        content[position] = Part(text, {"file": {"line": text}})
        messages = messages.replace(id, Message(id, tuple(content)))
    return Thread(messages, state.is_running)


def reader(place: Place, depth: Depth) -> Callable[[Thread], object]:
    """Return the selector of a slice: what a user would write to look at that place."""
    number, position = place
    id = f"m{number}"
    if depth == "message":
        return lambda state: state.messages.by_key(id)
    if depth == "part":
        return lambda state: state.messages.by_key(id).content[position]
    if depth == "text":
        return lambda state: state.messages.by_key(id).content[position].text
    return lambda state: state.messages.by_key(id).content[position].args["file"]["line"]
