"""Stopping what the owner is doing, and giving an unanswered message back to its author."""

from __future__ import annotations

from collections.abc import Callable

import anyio.lowlevel
import attrs

from partwise.messages import AssistantMessage, Message, TextPart, UserMessage
from partwise.repository import Change, Tree
from partwise.runtimes._composer import Composer, edited
from partwise.store import ComposerState

from ._conversion import Conversion
from ._host import Host, require, told
from ._mirror import Mirror

__all__ = ["Cancelling"]

Note = Callable[[Change[Message]], None]


@attrs.frozen
class _Moved:
    """A message that went back into the composer, and the draft that it became there."""

    message_id: str
    draft: ComposerState


class Cancelling:
    """Cancels, cleans up, and tells the owner a turn later what is left.

    Until then the owner may still show the message; if it answered it in the meantime, the message stays
    and the draft is taken out of the composer again, unless somebody has changed it.
    """

    def __init__(self, host: Host, mirror: Mirror, conversion: Conversion, composer: Composer) -> None:
        self._host = host
        self._mirror = mirror
        self._conversion = conversion
        self._composer = composer
        self._moved: _Moved | None = None
        self._owes_list = False

    def cancel(self) -> None:
        """Stop the run; see ``ExternalThread.cancel_run``."""
        options = self._host.options
        on_cancel = require(options.on_cancel, "cancel", "on_cancel")
        was_running = self._host.document.state.is_running
        stopped_id = self._answer_in_progress() if was_running else None
        if options.queue is not None:
            options.queue.notify_cancelled()
        if stopped_id is not None:
            self._mirror.stopped.add(stopped_id)
        try:
            told(self._host, "on_cancel", on_cancel)
        except BaseException:
            self._mirror.stopped.discard(stopped_id or "")
            raise
        finally:
            if was_running:
                self._clean_up()

    def _answer_in_progress(self) -> str | None:
        messages = self._host.document.state.messages
        last = messages[-1] if messages else None
        is_answer = isinstance(last, AssistantMessage) and last.id != self._mirror.placeholder_id
        return last.id if last is not None and is_answer else None

    def _clean_up(self) -> None:
        self._host.document.change(self._drop_empty_answer)
        messages = self._host.document.state.messages
        message = messages[-1] if messages else None
        if self._host.options.set_messages is None or message is None or not _fits_a_draft(message):
            return
        draft = edited(message, self._composer.state.run_config)
        if not self._composer.restore(draft):
            return
        self._moved = _Moved(message.id, self._composer.state)
        self._owes_list = True
        self._mirror.loosen()
        self._host.document.delete(message.id)
        self._host.spawn(self._hand_back, self._host.generation)

    def after_feed(self) -> None:
        """Look whether the owner answered the message that went back into the composer."""
        moved = self._moved
        messages = self._host.document.state.messages
        if moved is None:
            return
        if moved.message_id not in messages:
            # The owner took it back by itself, so there is nothing to tell it.
            self._owes_list = False
            return
        below = messages[messages.index_of(moved.message_id) + 1 :]
        if any(message.id != self._mirror.placeholder_id for message in below):
            self._moved, self._owes_list = None, False
            self._composer.retract(moved.draft)

    def leave(self) -> None:
        """Take the draft out again whose message the owner still has, since it will not be told any more."""
        if self._owes_list and self._moved is not None:
            self._composer.retract(self._moved.draft)
        self._moved, self._owes_list = None, False

    async def _hand_back(self, generation: int) -> None:
        await turn_later()
        moved, set_messages = self._moved, self._host.options.set_messages
        is_owed = self._owes_list and self._host.generation == generation
        if not is_owed or moved is None or set_messages is None:
            return
        self._owes_list = False
        self._host.document.change(self._drop_empty_answer)
        self._mirror.loosen()
        if moved.message_id in self._host.document.tree:
            self._host.document.delete(moved.message_id)
        try:
            told(self._host, "set_messages", set_messages, self._conversion.sources(self._host.document.state.messages))
        except Exception as error:
            self._host.report("set_messages", f"failed: {error}", error)

    def _drop_empty_answer(self, tree: Tree[Message], note: Note) -> None:
        self._mirror.drop_placeholder(tree, note)
        head = None if tree.head_id is None else tree.get(tree.head_id).message
        if isinstance(head, AssistantMessage) and head.metadata.is_optimistic and not head.content:
            self._mirror.loosen()
            note(tree.delete(head.id))


async def turn_later() -> None:
    """Wait until everything that could go on at this moment has done so, twice over."""
    for _ in range(3):
        await anyio.lowlevel.checkpoint()


def _fits_a_draft(message: Message) -> bool:
    return isinstance(message, UserMessage) and all(isinstance(part, TextPart) for part in message.content)
