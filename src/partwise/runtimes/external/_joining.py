"""Turning the items of a feed into what each message is made of, and only where something is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, count
from operator import is_not
from typing import Any, cast

import attrs

from ._joined import Output, joined, output_of
from ._options import ConvertFunction
from ._reading import FALLBACK_PREFIX, is_mutable
from ._remarks import Remarks

__all__ = ["Joined", "Joining"]


@attrs.frozen(eq=False)
class Joined:
    """The items that one message is made of; the same object while nothing about them is new.

    Attributes:
        items: The items, in order, each once.
        like: What they become together, message-like; None if nothing.
    """

    items: tuple[Any, ...]
    like: Any

    def __hash__(self) -> int:
        return id(self)


@attrs.frozen(eq=False)
class _Group:
    """One message to be, and where it begins: the place of an item, and whether that is its first output."""

    outputs: tuple[Output, ...]
    joined: Joined
    start: int
    is_whole: bool


class Joining:
    """Joins feeds one after the other.

    An item that is the same object as before is not converted again, but for the last one if it can be
    changed in place. Only the messages that the new items belong to are made anew.

    Args:
        remarks: Told of what cannot be shown.
    """

    def __init__(self, remarks: Remarks) -> None:
        self._remarks = remarks
        self._convert: ConvertFunction | None = None
        self._items: tuple[Any, ...] = ()
        self._groups: list[_Group] = []
        self._given: dict[int, tuple[Any, tuple[Output, ...]]] = {}

    def use(self, convert: ConvertFunction | None) -> None:
        """Convert with another function from now on; everything is read again."""
        if convert is not self._convert:
            self._convert = convert
            self.refresh()

    def refresh(self) -> None:
        """Read every item again next time, as after changes in place."""
        self._items, self._groups = (), []
        self._given.clear()

    def join(self, items: tuple[Any, ...]) -> tuple[Joined, ...]:
        """Return what each message of a feed is made of; if that fails, the next feed is compared with the one before.

        Raises:
            FeedError: The converter gave something else than outputs, or the feed is to be strict.
            Exception: What the converter raised.
        """
        before = self._items
        same = next(compress(count(), map(is_not, before, items)), min(len(before), len(items)))
        last = {index for index in (len(before) - 1, len(items) - 1) if 0 <= index < same and is_mutable(items[index])}
        for item in (*before[-1:], *items[-1:]):
            if is_mutable(item):
                self._given.pop(id(item), None)
        known = {id(group.outputs[0]): group for group in self._groups}
        kept = self._before(min((same, *last)))
        groups = [*self._groups[:kept], *self._formed(items, self._start_of(kept), known)]
        self._items, self._groups = items, groups
        if len(self._given) > 2 * len(items) + 64:
            self._given = {id(item): self._given[id(item)] for item in items}
        return tuple(group.joined for group in groups if group.joined.like is not None)

    def _before(self, place: int) -> int:
        """How many groups are over before an item; the one that it may still belong to is not."""
        groups = self._groups
        kept = len(groups)
        while kept and groups[kept - 1].start >= place:
            kept -= 1
        kept = max(0, kept - 1)
        while kept and not groups[kept].is_whole:
            kept -= 1
        return kept

    def _start_of(self, kept: int) -> int:
        return self._groups[kept].start if kept < len(self._groups) else 0

    def _formed(self, items: tuple[Any, ...], start: int, known: dict[int, _Group]) -> Iterator[_Group]:
        forming: list[tuple[int, int, Output]] = []
        is_closed = False
        for place in range(start, len(items)):
            for number, output in enumerate(self._outputs(items[place], place)):
                first = forming[0][2].role if forming else "user"
                if first in ("user", "system") or output.role in ("user", "system"):
                    begins = True
                else:
                    begins = output.role == "assistant" and is_closed
                if begins and forming:
                    yield self._group(items, forming, known)
                    forming = []
                is_closed = (is_closed and not begins) or (output.role == "assistant" and not output.joins)
                forming.append((place, number, output))
        if forming:
            yield self._group(items, forming, known)

    def _group(self, items: tuple[Any, ...], formed: list[tuple[int, int, Output]], known: dict[int, _Group]) -> _Group:
        outputs = tuple(output for _, _, output in formed)
        start, number, first = formed[0]
        old = known.get(id(first))
        if old is not None and len(old.outputs) == len(outputs) and not any(map(is_not, old.outputs, outputs)):
            return attrs.evolve(old, start=start, is_whole=number == 0)
        places = dict.fromkeys(place for place, _, _ in formed)
        made = Joined(tuple(items[place] for place in places), joined(outputs, self._remarks))
        return _Group(outputs, made, start, number == 0)

    def _outputs(self, item: Any, place: int) -> tuple[Output, ...]:
        entry = self._given.get(id(item))
        if entry is None:
            given = item if self._convert is None else self._convert(item)
            outputs = tuple(
                output_of(output, item, name=f"{FALLBACK_PREFIX}{place}-{number}", remarks=self._remarks)
                for number, output in enumerate(_listed(given))
            )
            entry = self._given[id(item)] = (item, outputs)
        return entry[1]


def _listed(given: Any) -> Iterable[Any]:
    return cast("Sequence[Any]", given) if isinstance(given, (list, tuple)) else (given,)
