"""Messages that wait for the thread to be free, in two lanes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, Literal, Protocol, TypeAlias

import attrs

from partwise.errors import QueueItemNotFoundError, QueuePlacementError
from partwise.messages import FilePart, ImagePart, Message, Part, TextPart, UserMessage, message_text, new_id
from partwise.store import QueueItem

from ._requests import AppendRequest

_LOGGER = logging.getLogger("partwise.runtimes")

__all__ = ["Lane", "MessageQueue", "QueueDriver", "queue_item"]

Lane: TypeAlias = Literal["queue", "steer"]


class _AtEnd:
    pass


_NO_ANCHOR: Final = _AtEnd()


class QueueDriver(Protocol):
    """Sends a message that left the queue.

    A driver that can stop the present run has a ``cancel`` as well; without it, steering means going first.
    """

    def run(self, request: AppendRequest, /, *, steer: bool) -> None:
        """Send a message now. If this raises, the message stays in the queue."""
        ...


@attrs.frozen
class _Entry:
    item: QueueItem
    request: AppendRequest


class MessageQueue:
    """Two ordered lanes and the rule that decides when the next message goes.

    The steer lane goes first. A cancelled run pauses the queue until the next explicit send, so that
    pressing stop does not let the next message loose.

    Args:
        driver: Sends what is next.
        on_change: Told whenever a lane changed.
        on_failure: Told when the driver or a listener raised, logged if not given. A message whose sending
            failed stays first in its lane.

    Attributes:
        transform: Makes the last changes to a message when it leaves the queue.
    """

    def __init__(
        self,
        driver: QueueDriver,
        *,
        on_change: Callable[[], None] | None = None,
        on_failure: Callable[[Exception], None] | None = None,
    ) -> None:
        self._driver = driver
        self.transform: Callable[[AppendRequest], AppendRequest] | None = None
        self._cancel: Callable[[], None] | None = getattr(driver, "cancel", None)
        self._listeners: dict[object, Callable[[], None]] = {}
        self._failure_listener = on_failure or _log_failure
        if on_change is not None:
            self.subscribe(on_change)
        self._lanes: dict[Lane, list[_Entry]] = {"queue": [], "steer": []}
        self._is_running = False
        self._is_paused = False
        # Ends of runs that say nothing about the run which replaced them.
        self._ignored_ends = 0
        # 1 after a cancel: the end of the cancelled run frees the thread, but lets nothing loose.
        self._cancelled_ends = 0
        self._is_interrupting = False

    @property
    def items(self) -> tuple[QueueItem, ...]:
        """The messages that wait, next one first."""
        return tuple(entry.item for entry in self._lanes["queue"])

    @property
    def steer_items(self) -> tuple[QueueItem, ...]:
        """The messages that go before the others."""
        return tuple(entry.item for entry in self._lanes["steer"])

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have a function called whenever a lane changed; returns what ends that."""
        token = object()
        self._listeners[token] = listener

        def unsubscribe() -> None:
            self._listeners.pop(token, None)

        return unsubscribe

    def enqueue(self, request: AppendRequest) -> None:
        """Send a message when the thread is free; at once if it is."""
        self._is_paused = False
        self._add("queue", request)

    def steer(self, request: AppendRequest) -> None:
        """Send a message before the others; where the driver can cancel, at once in place of the run."""
        if self._is_running and self._can_cancel:
            self._interrupt(_Entry(queue_item(request.message), request))
            return
        self._is_paused = False
        self._add("steer", request)

    def give_back(self, request: AppendRequest) -> None:
        """Take back a message that was sent and reached nobody; it goes first at the next explicit send."""
        self._is_paused = True
        self._lanes["queue"].insert(0, _Entry(queue_item(request.message), request))
        self._on_change()

    def notify_busy(self) -> None:
        """Take note that a run started, whoever started it."""
        self._is_paused = False
        self._ignored_ends += self._cancelled_ends
        self._cancelled_ends = 0
        self._is_running = True

    def notify_idle(self) -> None:
        """Take note that a run ended, and send what is next."""
        if self._ignored_ends > 0:
            self._ignored_ends -= 1
            return
        self._cancelled_ends = max(0, self._cancelled_ends - 1)
        self._is_running = False
        self._advance()

    def notify_cancelled(self) -> None:
        """Take note that the run was cancelled: nothing is sent until somebody sends again."""
        if not self._is_interrupting and self._is_running and self._cancelled_ends == 0:
            self._is_paused = True
            self._cancelled_ends = 1

    def remove(self, item_id: str) -> None:
        """Drop a waiting message; one that is gone already is no error."""
        for lane in self._lanes.values():
            for entry in lane:
                if entry.item.id == item_id:
                    lane.remove(entry)
                    self._on_change()
                    return

    def edit(self, item_id: str, request: AppendRequest) -> None:
        """Put another message in the place of a waiting one.

        Raises:
            QueueItemNotFoundError: No such item waits.
        """
        lane, index = self._find(item_id)
        self._lanes[lane][index] = _Entry(attrs.evolve(queue_item(request.message), id=item_id), request)
        self._on_change()

    def clear(self) -> None:
        """Drop everything that waits."""
        for lane in self._lanes.values():
            lane.clear()
        self._on_change()

    def move(
        self,
        item_id: str,
        *,
        lane: Lane | None = None,
        insert_after: str | _AtEnd | None = _NO_ANCHOR,
        insert_before: str | _AtEnd | None = _NO_ANCHOR,
    ) -> None:
        """Move a waiting message within its lane or to the other one.

        Args:
            item_id: The waiting message.
            lane: Where to; its present lane if not given.
            insert_after: The item that it follows; None for the front.
            insert_before: The item that it precedes; None for the end.

        Raises:
            QueueItemNotFoundError: The item, or an anchor in the lane, does not exist.
            QueuePlacementError: An anchor is the item itself, or the two are not neighbours.
        """
        source, index = self._find(item_id)
        target = lane or source
        rest = [entry for entry in self._lanes[target] if entry.item.id != item_id]
        is_anchored = insert_after is not _NO_ANCHOR or insert_before is not _NO_ANCHOR
        place = _place(item_id, rest, target, insert_after, insert_before)
        entry = self._lanes[source][index]
        if not is_anchored and source == "queue" and target == "steer" and self._is_running and self._can_cancel:
            del self._lanes[source][index]
            self._on_change()
            self._interrupt(entry)
            return
        del self._lanes[source][index]
        unanchored = index if source == target else len(rest)
        self._lanes[target].insert(unanchored if place is None else place, entry)
        self._on_change()
        self._advance()

    def _on_change(self) -> None:
        for token, listener in list(self._listeners.items()):
            if token in self._listeners:
                try:
                    listener()
                except Exception as error:
                    self._failure_listener(error)

    def _run(self, request: AppendRequest, *, steer: bool) -> None:
        self._driver.run(request if self.transform is None else self.transform(request), steer=steer)

    @property
    def _can_cancel(self) -> bool:
        return self._cancel is not None

    def _find(self, item_id: str) -> tuple[Lane, int]:
        for name, lane in self._lanes.items():
            for index, entry in enumerate(lane):
                if entry.item.id == item_id:
                    return name, index
        raise QueueItemNotFoundError(item_id, where="the queue")

    def _add(self, lane: Lane, request: AppendRequest) -> None:
        entry = _Entry(queue_item(request.message), request)
        is_next = not self._is_running and not self._is_paused and not self._lanes["steer"]
        if is_next and (lane == "steer" or not self._lanes["queue"]):
            self._send(entry, lane)
            return
        self._lanes[lane].append(entry)
        self._on_change()
        self._advance()

    def _advance(self) -> None:
        if self._is_running or self._is_paused:
            return
        for lane in ("steer", "queue"):
            if self._lanes[lane]:
                entry = self._lanes[lane].pop(0)
                self._on_change()
                self._send(entry, lane)
                return

    def _send(self, entry: _Entry, lane: Lane) -> None:
        self._is_running = True
        try:
            self._run(entry.request, steer=False)
        except Exception as error:
            self._is_running = False
            self._is_paused = True
            self._lanes[lane].insert(0, entry)
            self._on_change()
            self._failure_listener(error)

    def _interrupt(self, entry: _Entry) -> None:
        self._is_paused = False
        self._ignored_ends += max(self._cancelled_ends, 1)
        self._cancelled_ends = 0
        self._is_interrupting = True
        try:
            if self._cancel is not None:
                self._cancel()
        except Exception as error:
            self._ignored_ends -= 1
            self._keep(entry, error)
            return
        finally:
            self._is_interrupting = False
        self._is_running = True
        try:
            self._run(entry.request, steer=True)
        except Exception as error:
            # The present run is cancelled all the same; its end frees the thread and lets nothing loose.
            self._ignored_ends -= 1
            self._cancelled_ends = 1
            self._is_paused = True
            self._keep(entry, error)

    def _keep(self, entry: _Entry, error: Exception) -> None:
        self._lanes["steer"].insert(0, entry)
        self._on_change()
        self._failure_listener(error)


def _log_failure(error: Exception) -> None:
    _LOGGER.error("A queued message could not be sent, or a listener of the queue failed.", exc_info=error)


def queue_item(message: Message) -> QueueItem:
    """Return what a UI shows of a waiting message: its text, its files, and those of its attachments."""
    parts: list[Part] = [shown for part in message.content if (shown := _shown(part)) is not None]
    if isinstance(message, UserMessage):
        for attachment in message.attachments:
            parts += [shown for part in attachment.content if (shown := _shown(part)) and shown.type != "text"]
    return QueueItem(id=new_id(), prompt=message_text(message), parts=tuple(parts))


def _shown(part: Part) -> Part | None:
    match part:
        case TextPart() | FilePart():
            return part
        case ImagePart():
            return FilePart(data=part.image, media_type="image/*", filename=part.filename)
        case _:
            return None


def _place(
    item_id: str,
    rest: list[_Entry],
    lane: Lane,
    insert_after: str | _AtEnd | None,
    insert_before: str | _AtEnd | None,
) -> int | None:
    after = _after(item_id, rest, lane, insert_after)
    before = _before(item_id, rest, lane, insert_before)
    if after is not None and before is not None and after != before:
        text = (
            f"Queue item {item_id!r} cannot go between {insert_after!r} and {insert_before!r}: they are not neighbours."
        )
        raise QueuePlacementError(text, code="not-adjacent")
    return before if after is None else after


def _after(item_id: str, rest: list[_Entry], lane: Lane, anchor: str | _AtEnd | None) -> int | None:
    if isinstance(anchor, _AtEnd):
        return None
    return 0 if anchor is None else _anchor(item_id, rest, lane, anchor) + 1


def _before(item_id: str, rest: list[_Entry], lane: Lane, anchor: str | _AtEnd | None) -> int | None:
    if isinstance(anchor, _AtEnd):
        return None
    return len(rest) if anchor is None else _anchor(item_id, rest, lane, anchor)


def _anchor(item_id: str, rest: list[_Entry], lane: Lane, anchor: str) -> int:
    if anchor == item_id:
        text = f"Queue item {item_id!r} cannot be placed relative to itself."
        raise QueuePlacementError(text, code="self-anchor")
    for index, entry in enumerate(rest):
        if entry.item.id == anchor:
            return index
    error = QueueItemNotFoundError(anchor, where=f"the {lane} lane")
    error.code = "unknown-anchor"
    raise error
