"""Turning the items of a feed into messages, each no more often than it has to be."""

from __future__ import annotations

from collections.abc import Container, Iterable
from operator import is_, length_hint
from typing import Any

import attrs

from partwise.messages import Message

from ._calls import with_whole_calls
from ._joining import Joined
from ._options import ConvertFunction
from ._reading import (
    FALLBACK_PREFIX,
    has_own_id,
    is_current,
    is_message,
    is_mutable,
    own_id,
    read_like,
    shared,
    with_derived_status,
)
from ._remarks import Remarks

__all__ = ["Conversion", "Converted", "first_difference"]


@attrs.define(eq=False)
class _Entry:
    """What one item became; ``position`` is that of an item without an id of its own."""

    item: Any
    message: Message
    position: int | None


@attrs.frozen
class Converted:
    """A feed as messages.

    Attributes:
        messages: One for each id, in order.
        changed: Positions at which another object stands than before, if nothing but that changed; else None.
    """

    messages: tuple[Message, ...]
    changed: tuple[int, ...] | None


class Conversion:
    """Converts feeds one after the other, and only what is new in them.

    An item that is the same object as before became the same message and is not looked at, but for the last
    one if it can be changed in place. An item that equals the one which stood there is taken for it, too.

    Args:
        remarks: Told of what cannot be shown.
    """

    def __init__(self, remarks: Remarks) -> None:
        self._remarks = remarks
        self._convert: ConvertFunction | None = None
        self._items: tuple[Any, ...] = ()
        self._entries: list[_Entry | None] = []
        self._shown: tuple[Message, ...] = ()
        self._by_item: dict[int, _Entry] = {}
        self._by_id: dict[str, _Entry] = {}

    def use(self, convert: ConvertFunction | None) -> None:
        """Convert with another function from now on; everything is read again."""
        if convert is not self._convert:
            self._convert = convert
            self.refresh()

    def refresh(self) -> None:
        """Read every item again next time, as after changes in place."""
        self._items, self._entries = (), []
        self._by_item.clear()

    def sources(self, messages: Iterable[Message]) -> list[Any]:
        """Return the items that messages were made of; a message that was made here has none."""
        found: list[Any] = []
        for message in messages:
            entry = self._by_id.get(message.id)
            if self._convert is None and (entry is None or is_message(entry.item)):
                found.append(message)
            elif entry is not None and isinstance(entry.item, Joined):
                # An item whose outputs became several messages is still one item.
                found += [item for item in entry.item.items if not found or item is not found[-1]]
            elif entry is not None:
                found.append(entry.item)
        return found

    def forget(self, known: Container[str]) -> None:
        """Let go of the items of messages that nobody knows any more."""
        for message_id in [message_id for message_id in self._by_id if message_id not in known]:
            entry = self._by_id.pop(message_id)
            self._by_item.pop(id(entry.item), None)

    def __len__(self) -> int:
        return len(self._by_id)

    def feed(self, items: tuple[Any, ...], *, is_running: bool) -> Converted:
        """Convert a feed; if that fails, the next one is compared with the one before.

        Args:
            items: The whole feed.
            is_running: Whether the last one is being made.
        """
        before, old = self._items, self._entries
        start = first_difference(before, items)
        last = len(items) - 1
        # What was last is so no more, and what is last may have begun or ended to run.
        doubtful = {index for index in (len(before) - 1, last) if 0 <= index < start}
        entries = old[:start] + [None] * (len(items) - start)
        changed: list[int] = []
        for index in (*sorted(doubtful), *range(start, len(items))):
            entries[index] = self._entry(items[index], index, old, is_last=index == last, is_running=is_running)
            previous, present = old[index] if index < len(old) else None, entries[index]
            if previous is None or present is None or present.message is not previous.message:
                changed.append(index)
        return self._accept(items, entries, changed)

    def one(self, item: Any, *, fallback_id: str, is_last: bool = False, is_running: bool = False) -> Message | None:
        """Convert one item of a feed that is no list."""
        self._items, self._entries, self._shown = (), [], ()
        known = self._by_item.get(id(item))
        if known is not None and not is_mutable(item):
            return with_derived_status(known.message, is_last=is_last, is_running=is_running)
        before = None if known is None else known.message
        like = item if self._convert is None else self._convert(item)
        message = self._read(like, fallback_id, before, is_last=is_last, is_running=is_running)
        return None if message is None else self._keep(_Entry(item, message, None)).message

    def _entry(
        self, item: Any, index: int, old: list[_Entry | None], *, is_last: bool, is_running: bool
    ) -> _Entry | None:
        entry = self._by_item.get(id(item))
        if entry is None and index < len(old) and old[index] is not None and _equal(self._items[index], item):
            entry = old[index]
        if entry is not None and entry.position in {None, index}:
            may_have_changed = is_last and entry.item is item and is_mutable(item)
            if not may_have_changed and is_current(entry.message, is_last=is_last, is_running=is_running):
                return entry if entry.item is item else self._keep(attrs.evolve(entry, item=item))
        version = entry or (old[index] if index < len(old) else None)
        before = None if version is None else version.message
        like = item if self._convert is None else self._convert(item)
        message = self._read(like, self._fallback_id(index), before, is_last=is_last, is_running=is_running)
        if message is None:
            return None
        return self._keep(_Entry(item, message, None if has_own_id(like) else index))

    def _read(
        self, like: Any, fallback_id: str, before: Message | None, *, is_last: bool, is_running: bool
    ) -> Message | None:
        known = None if before is not None else self._by_id.get(own_id(like) or "")
        before = before if known is None else known.message
        message = read_like(
            like,
            fallback_id=fallback_id,
            fallback_time=None if before is None or is_message(like) else before.created_at,
            is_last=is_last,
            is_running=is_running,
            remarks=self._remarks,
        )
        if message is None or (is_message(like) and self._convert is None):
            return message
        known = self._by_id.get(message.id)
        shown = None if known is None else known.message
        if before is not None and before.id == message.id:
            # Where an id is there twice, what stood in this place is nearer than what has the id.
            shown = before
        whole = with_whole_calls(message, shown, lambda call_id: self._tell_of_call(message.id, call_id))
        if whole is not message:
            whole = with_derived_status(whole, is_last=is_last, is_running=is_running)
        return shared(shown, whole)

    def _tell_of_call(self, message_id: str, call_id: str) -> None:
        text = f"Message {message_id!r} has call {call_id!r} more than once; only the last of them is shown."
        self._remarks.tell("duplicate-call", (message_id, call_id), text)

    def _keep(self, entry: _Entry) -> _Entry:
        previous = self._by_id.get(entry.message.id)
        if previous is not None and previous.item is not entry.item:
            self._by_item.pop(id(previous.item), None)
        self._by_id[entry.message.id] = entry
        self._by_item[id(entry.item)] = entry
        return entry

    def _fallback_id(self, index: int) -> str:
        """An id for an item without one; never one that an item has of its own."""
        fallback_id = f"{FALLBACK_PREFIX}{index}"
        while (taken := self._by_id.get(fallback_id)) is not None and taken.position is None:
            fallback_id += "-"
        return fallback_id

    def _accept(self, items: tuple[Any, ...], entries: list[_Entry | None], changed: list[int]) -> Converted:
        shown = self._shown
        news = [(index, entry.message) for index in changed if (entry := entries[index]) is not None]
        is_alike = len(entries) == len(self._entries) == len(shown) and len(news) == len(changed)
        is_alike = is_alike and all(shown[index].id == message.id for index, message in news)
        if is_alike and news:
            patched = list(shown)
            for index, message in news:
                patched[index] = message
            shown = tuple(patched)
        elif not is_alike:
            shown = self._unique(entries)
        self._items, self._entries, self._shown = items, entries, shown
        return Converted(shown, tuple(changed) if is_alike else None)

    def _unique(self, entries: list[_Entry | None]) -> tuple[Message, ...]:
        """Return one message for each id; an id that was made up gives way to one that was given."""
        places: dict[str, int] = {}
        for index, entry in enumerate(entries):
            if entry is None:
                continue
            other = places.get(entry.message.id)
            before = None if other is None else entries[other]
            if before is not None and before.position is not None and entry.position is None:
                self._rename(before, places)
                places[before.message.id] = entries.index(before)
            elif before is not None and entry.position is not None:
                self._rename(entry, places)
            elif before is not None:
                text = f"Message {entry.message.id!r} is in the feed more than once; only the last of them is shown."
                self._remarks.tell("duplicate-id", entry.message.id, text)
            places[entry.message.id] = index
        kept = set(places.values())
        return tuple(entry.message for index, entry in enumerate(entries) if entry is not None and index in kept)

    def _rename(self, entry: _Entry, taken: Container[str]) -> None:
        fallback_id = f"{entry.message.id}-"
        while fallback_id in taken or fallback_id in self._by_id:
            fallback_id += "-"
        entry.message = attrs.evolve(entry.message, id=fallback_id)
        self._keep(entry)


def _equal(one: Any, other: Any) -> bool:
    try:
        return type(one) is type(other) and bool(one == other)
    except Exception:
        return False


def first_difference(before: tuple[Any, ...], after: tuple[Any, ...]) -> int:
    """Return the first position at which another object stands, or the length of the shorter one if there is none."""
    ahead = iter(before)
    # Once for each token over the whole feed: nothing here is done in Python for each item.
    if all(map(is_, ahead, after)):
        return min(len(before), len(after))
    return len(before) - length_hint(ahead) - 1
