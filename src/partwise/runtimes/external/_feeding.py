"""Taking in what the owner says: one description of the store after the other."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, cast

import attrs

from partwise.errors import FeedError, MessageNotFoundError
from partwise.messages import AssistantMessage, Message, RunningStatus, new_id, thread_state
from partwise.repository import Entry, Export
from partwise.store import RunEnd, RunStart

from ._cancelling import Cancelling
from ._conversion import Conversion
from ._host import Host
from ._joining import Joined, Joining
from ._mirror import Mirror
from ._options import ExternalOptions, capabilities
from ._reading import FALLBACK_PREFIX, is_mutable, shared, with_derived_status

__all__ = ["Feeding"]

# Stands for a feed that came in pieces, and is nowhere as a whole.
_PATCHED = object()


class Feeding:
    """Shows what the owner gives: messages as a list, a tree or patches, and flags beside them.

    An update that fails changes nothing, so that the same one may be tried again.
    """

    def __init__(
        self, host: Host, mirror: Mirror, conversion: Conversion, joining: Joining, cancelling: Cancelling
    ) -> None:
        self._host = host
        self._mirror = mirror
        self._conversion = conversion
        self._joining = joining
        self._cancelling = cancelling
        self._source: object = None
        self._items: tuple[Any, ...] = ()
        self._run: RunStart | None = None
        self._is_first = True

    def update(self, source: object, changes: dict[str, Any], *, is_new: bool) -> None:
        """Take in messages and flags.

        Args:
            source: A list of items or an export of a tree; looked at only if ``is_new``.
            changes: Options that are others now.
            is_new: Whether messages were given.
        """
        host = self._host
        host.document.check_writer()
        before = host.options
        options = attrs.evolve(before, **changes) if changes else before
        self._use(options)
        try:
            with host.document.batch():
                is_shown = self._show(source if is_new else self._source, options)
                self._publish(options)
        except BaseException:
            self._use(before)
            raise
        if is_shown:
            if self._mirror.feed:
                host.announce()
            self._tell_of_runs(runs=bool(options.is_running))
            self._cancelling.after_feed()
        self._is_first = False

    def put(self, item: object) -> None:
        """Take in one item: a new one at the end, or a newer one of a message that is there."""
        self._refuse_joins("one item")
        runs = bool(self._host.options.is_running)

        def show() -> None:
            made = self._conversion.one(item, fallback_id=f"{FALLBACK_PREFIX}{len(self._mirror.feed)}")
            if made is not None:
                place = self._mirror.place_of(made.id)
                is_last = place >= len(self._mirror.feed) - 1
                message = with_derived_status(made, is_last=is_last, is_running=runs)
                self._mirror.put(message, place, is_running=runs)

        self._patch(show)

    def remove(self, message_id: str) -> None:
        """Take one message out.

        Raises:
            MessageNotFoundError: The owner never gave it, or took it out already.
        """
        self._refuse_joins("the end of a message")
        if self._mirror.place_of(message_id) >= len(self._mirror.feed):
            raise MessageNotFoundError(message_id, where="the feed")
        self._patch(lambda: self._mirror.remove(message_id, is_running=bool(self._host.options.is_running)))

    def refresh(self) -> None:
        """Convert every item again at the next update."""
        self._conversion.refresh()
        self._joining.refresh()

    def _use(self, options: ExternalOptions) -> None:
        self._joining.use(options.convert)
        self._conversion.use(_like_of if options.joins else options.convert)

    def _refuse_joins(self, what: str) -> None:
        if self._host.options.joins:
            text = f"A store that joins its items cannot be told {what}; give the whole list to update."
            raise FeedError(text, code="joins")

    def _patch(self, show: Callable[[], None]) -> None:
        self._host.document.check_writer()
        with self._host.document.batch():
            show()
            self._publish(self._host.options)
        self._source = _PATCHED
        if self._mirror.feed:
            self._host.announce()
        self._cancelling.after_feed()

    def _show(self, source: object, options: ExternalOptions) -> bool:
        """Show messages if there can be anything new about them; returns whether there was."""
        before, runs = self._host.options, bool(options.is_running)
        is_as_before = (
            source is self._source
            and not self._is_first
            and runs == bool(before.is_running)
            and options.convert is before.convert
            and options.joins == before.joins
        )
        if isinstance(source, Export):
            if options.joins:
                text = "A store that joins its items is given a list of them; a tree says itself what each message is."
                raise FeedError(text, code="joins")
            if is_as_before:
                return False
            export = cast("Export[Any]", source)  # type: ignore[redundant-cast]  # redundant for mypy only
            self._mirror.show_tree(self._read_tree(export, is_running=runs), is_running=runs)
            self._source, self._items = source, ()
            return True
        if source is _PATCHED:
            if is_as_before:
                return False
            source = self._conversion.sources(self._mirror.feed)
        items = _items(source)
        is_identical = is_as_before and len(items) == len(self._items) and all(map(operator.is_, items, self._items))
        if is_identical and not (items and is_mutable(items[-1])):
            return False
        whole = self._joining.join(items) if options.joins else items
        converted = self._conversion.feed(whole, is_running=runs)
        self._mirror.show_list(converted, is_running=runs, is_same=options.is_same)
        self._source, self._items = source, items
        if len(self._conversion) > 2 * len(self._host.document.tree) + 64:
            self._conversion.forget(self._host.document.tree)
        return True

    def _read_tree(self, export: Export[Any], *, is_running: bool) -> Export[Message]:
        entries: list[Entry[Message]] = []
        for index, entry in enumerate(export.entries):
            message = self._conversion.one(entry.message, fallback_id=f"{FALLBACK_PREFIX}{index}")
            if message is not None:
                entries.append(Entry(entry.parent_id, message))
        head_id = export.head_id or (entries[-1].message.id if entries else None)
        return Export(
            export.head_id,
            tuple(
                Entry(
                    entry.parent_id,
                    self._as_shown(entry.message, is_last=entry.message.id == head_id, is_running=is_running),
                )
                for entry in entries
            ),
        )

    def _as_shown(self, message: Message, *, is_last: bool, is_running: bool) -> Message:
        """Give a message its status, and keep the object that is shown already where it is equal."""
        if is_last:
            message = with_derived_status(message, is_last=True, is_running=is_running)
        return shared(self._host.document.find(message.id), message)

    def _publish(self, options: ExternalOptions) -> None:
        """Show the flags beside the messages."""
        document = self._host.document
        messages = document.state.messages
        is_running = options.is_running
        if is_running is None:
            last = messages[-1] if messages else None
            is_running = isinstance(last, AssistantMessage) and isinstance(last.status, RunningStatus)
        shown: dict[str, Any] = {"is_running": is_running}
        if options.state is not None:
            shown["state"] = options.state
        elif self._host.options.state is not None:
            shown["state"] = thread_state(tuple(messages))
        if options is not self._host.options or self._is_first:
            shown |= {
                "is_loading": options.is_loading,
                "is_disabled": options.is_disabled,
                "is_send_disabled": options.is_send_disabled,
                "capabilities": capabilities(options),
                "suggestions": options.suggestions,
                "extras": options.extras,
            }
        document.set(**shown)
        self._host.options = options

    def _tell_of_runs(self, *, runs: bool) -> None:
        """Announce the start and the end of a run; one that was under way when the thread was made, at its end."""
        head_id = self._host.document.state.head_id or ""
        if self._is_first:
            self._run = RunStart(run_id=new_id(), message_id=head_id) if runs else None
        elif runs and self._run is None:
            self._run = RunStart(run_id=new_id(), message_id=head_id)
            self._host.events.emit(self._run)
        elif not runs and self._run is not None:
            run, self._run = self._run, None
            self._host.events.emit(RunEnd(run_id=run.run_id, message_id=head_id))


def _like_of(joined: Joined) -> Any:
    return joined.like


def _items(source: object) -> tuple[Any, ...]:
    if source is None or isinstance(source, (str, bytes)) or not isinstance(source, Iterable):
        text = f"The messages of an external store are a list or an export of a tree, not {type(source).__name__}."
        raise FeedError(text)
    return tuple(cast("Iterable[Any]", source))  # type: ignore[redundant-cast]  # redundant for mypy only
