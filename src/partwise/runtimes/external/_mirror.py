"""Keeping a tree like the feed of its owner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import attrs

from partwise.messages import RUNNING, AssistantMessage, AssistantMetadata, Feedback, Message, new_id, with_metadata
from partwise.repository import Change, Entry, Export, Tree
from partwise.runtimes._document import Document
from partwise.tools import ToolState

from ._conversion import Converted
from ._options import SameFunction
from ._reading import with_derived_status
from ._stopped import Stopped
from ._tool_marks import ToolMarks

__all__ = ["Mirror"]

Note = Callable[[Change[Message]], None]


class Mirror:
    """Brings a document to where a feed is, and keeps the branches that were made here.

    Attributes:
        kept_ids: Messages that stay as hidden alternatives when the feed is cut above them, since a new
            version of them was asked for here.
        stopped: Answers that were stopped here.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._feed: list[Message] = []
        self._is_exact = False
        self._placeholder: AssistantMessage | None = None
        self.kept_ids: set[str] = set()
        self.stopped = Stopped()
        self._tool_marks = ToolMarks()
        self._feedback: dict[str, tuple[Feedback, Message | None, Message | None]] = {}

    @property
    def placeholder_id(self) -> str | None:
        """The id of the placeholder, while one is shown."""
        shown = self._placeholder
        return None if shown is None or shown.id not in self._document.tree else shown.id

    @property
    def feed(self) -> Sequence[Message]:
        """The messages that the owner gave last, as one line."""
        return self._feed

    def keep(self, message_id: str | None) -> None:
        """Keep a message as an alternative when the owner cuts the feed above it, since a new version was asked for."""
        if message_id is not None:
            self.kept_ids.add(message_id)

    def keep_feedback(self, message_id: str, feedback: Feedback) -> None:
        """Show what a user thinks of an answer for as long as the owner does not say it itself."""
        self._feedback[message_id] = (feedback, None, None)

    def _with_feedback(self, message: Message) -> Message:
        known = self._feedback.get(message.id)
        if known is None or not isinstance(message, AssistantMessage):
            return message
        feedback, bare, marked = known
        if bare is message and marked is not None:
            return marked
        if message.metadata.submitted_feedback is not None:
            del self._feedback[message.id]
            return message
        marked = with_metadata(message, attrs.evolve(message.metadata, submitted_feedback=feedback))
        self._feedback[message.id] = (feedback, message, marked)
        return marked

    def loosen(self) -> None:
        """Take note that the tree was changed by others, so that the next feed is compared message by message."""
        self._is_exact = False

    def show_list(self, converted: Converted, *, is_running: bool, is_same: SameFunction | None) -> None:
        """Show a feed that is one line of messages."""
        messages = converted.messages
        if self._feedback:
            messages = tuple(map(self._with_feedback, messages))
        if self.stopped:
            messages = tuple(map(self.stopped.of, messages))
        if self._tool_marks:
            messages = tuple(map(self._tool_marks.of, messages))
        before, self._feed = self._feed, list(messages)
        if self._is_exact and converted.changed is not None:
            self._show_changed(converted.changed, is_running=is_running)
            return

        # What was kept here and is shown by its owner again is the owner's to drop.
        self.kept_ids -= {message.id for message in messages} - {message.id for message in before}

        def steps(tree: Tree[Message], note: Note) -> None:
            self._rename(tree, note, before, is_same)
            self._put(tree, note)
            self._drop_vanished(tree, note, before)
            self._end(tree, note, is_running=is_running)

        self._document.change(steps)
        self._is_exact = True

    def place_of(self, message_id: str) -> int:
        """Return where a message is in the feed; of one that is new, where it would come."""
        messages = self._document.state.messages
        if message_id in messages:
            index = messages.index_of(message_id)
            if index < len(self._feed) and self._feed[index].id == message_id:
                return index
        return next((index for index, item in enumerate(self._feed) if item.id == message_id), len(self._feed))

    def put(self, message: Message, place: int, *, is_running: bool) -> None:
        """Show one message that is new at the end, or newer where it is."""
        self.loosen()  # a list that comes later is compared with what was shown, not with the list before
        message = self._tool_marks.of(self.stopped.of(message))
        if place < len(self._feed):
            self._feed[place] = message
            self._document.replace(message)
            return
        before = self._feed[-1] if self._feed else None
        last = None if before is None else with_derived_status(before, is_last=False, is_running=is_running)
        if last is not None:
            self._feed[-1] = last
        self._feed.append(message)

        def steps(tree: Tree[Message], note: Note) -> None:
            if last is not None and last is not before:
                note(tree.put(tree.get(last.id).parent_id, last))
            note(tree.put(None if last is None else last.id, message))
            self._end(tree, note, is_running=is_running)

        self._document.change(steps)

    def remove(self, message_id: str, *, is_running: bool) -> None:
        """Take one message out of the feed; what follows it moves up."""
        self.loosen()
        del self._feed[self.place_of(message_id)]
        self.kept_ids.discard(message_id)

        def steps(tree: Tree[Message], note: Note) -> None:
            if message_id in tree:
                note(tree.delete(message_id))
            self._end(tree, note, is_running=is_running)

        self._document.change(steps)

    def show_tree(self, export: Export[Message], *, is_running: bool) -> None:
        """Show a feed that is a whole tree: exactly its messages, and its head.

        Raises:
            ParentNotFoundError: A parent is not in the feed; nothing is changed.
            CycleError: A message would be its own ancestor; nothing is changed.
            MessageNotFoundError: The head is not in the feed; nothing is changed.
        """
        if self.stopped or self._tool_marks:
            marked = (
                Entry(entry.parent_id, self._tool_marks.of(self.stopped.of(entry.message))) for entry in export.entries
            )
            export = Export(export.head_id, tuple(marked))
        whole: Tree[Message] = Tree()
        whole.replace_all(export)
        self.kept_ids.clear()

        def steps(tree: Tree[Message], note: Note) -> None:
            note(tree.import_(Export(whole.head_id, export.entries)))
            for message in [message for message in tree if message.id not in whole]:
                note(tree.delete(message.id))
            if whole.head_id is None:
                note(tree.clear())
            self._feed = list(whole.messages)
            self._end(tree, note, is_running=is_running, is_whole=True)

        self._document.change(steps)
        self._is_exact = False

    def mark_tools(self, states: Mapping[str, ToolState]) -> None:
        """Show what the tools that run here are doing, for as long as they do."""
        with self._document.batch():
            for message_id, bare in self._tool_marks.use(states).items():
                message = bare or self._document.find(message_id)
                if message is None:
                    continue
                shown = self._tool_marks.of(message)
                place = self.place_of(message_id)
                if place < len(self._feed):
                    self._feed[place] = shown
                self._document.replace(shown)

    def drop_placeholder(self, tree: Tree[Message], note: Note) -> None:
        """Take the placeholder away until the next feed."""
        if self.placeholder_id is not None:
            note(tree.delete(self.placeholder_id))
        self._placeholder = None

    def _show_changed(self, changed: Sequence[int], *, is_running: bool) -> None:
        """Show newer versions of messages where they are: the way of a token."""
        is_ending = self._needs_placeholder(is_running) != (self.placeholder_id is not None)
        if len(changed) == 1 and not is_ending:
            self._document.replace(self._feed[changed[0]])
            return

        def steps(tree: Tree[Message], note: Note) -> None:
            for index in changed:
                note(tree.put(self._feed[index - 1].id if index else None, self._feed[index]))
            if is_ending:
                self._end(tree, note, is_running=is_running)

        self._document.change(steps)

    def _rename(self, tree: Tree[Message], note: Note, before: Sequence[Message], is_same: SameFunction | None) -> None:
        """Give messages that come back under another id that id, where they are."""
        if is_same is None:
            return
        ids = {message.id for message in self._feed}
        for old, new in zip(before, self._feed, strict=False):
            is_swapped = old.id != new.id and old.id not in ids and old.id in tree and new.id not in tree
            if is_swapped and is_same(old, new):
                note(tree.rename(old.id, new))

    def _put(self, tree: Tree[Message], note: Note) -> None:
        parent_id: str | None = None
        for message in self._feed:
            place = tree.find(message.id)
            if place is None or place.message is not message or place.parent_id != parent_id:
                note(tree.put(parent_id, message))
            parent_id = message.id

    def _drop_vanished(self, tree: Tree[Message], note: Note, before: Sequence[Message]) -> None:
        """Remove what left the feed from between messages that stayed; at the end it may be an alternative."""
        ids = {message.id for message in self._feed}
        is_followed = False
        for message in reversed(before):
            if message.id in ids:
                is_followed = True
            elif is_followed and message.id in tree:
                note(tree.delete(message.id))

    def _end(self, tree: Tree[Message], note: Note, *, is_running: bool, is_whole: bool = False) -> None:
        """Make the feed's last message the last one, or the placeholder below it if one is due.

        What is below the last message is cut off, unless the feed is whole and says itself what there is.
        """
        last_id = self._feed[-1].id if self._feed else None
        if self._needs_placeholder(is_running):
            placeholder = self._placeholder = self._placeholder or _placeholder()
            place = tree.find(placeholder.id)
            if place is None or place.parent_id != last_id:
                note(tree.put(last_id, placeholder))
            if tree.head_id != placeholder.id:
                note(tree.show(placeholder.id))
            if last_id is None:
                note(tree.prune(None, {placeholder.id, *self.kept_ids}))
            return
        if last_id is not None and tree.head_id != last_id:
            note(tree.show(last_id))
        if not is_whole:
            note(tree.prune(last_id, self.kept_ids))
        if self.placeholder_id is not None:
            note(tree.delete(self.placeholder_id))
        self._placeholder = None

    def _needs_placeholder(self, is_running: bool) -> bool:
        return is_running and not (self._feed and isinstance(self._feed[-1], AssistantMessage))


def _placeholder() -> AssistantMessage:
    return AssistantMessage(
        id=new_id(),
        created_at=datetime.now(UTC),
        status=RUNNING,
        metadata=AssistantMetadata(is_optimistic=True),
    )
