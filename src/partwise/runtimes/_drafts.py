"""Drafts of a thread: of its next message, and of edited ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from partwise.adapters import AttachmentAdapter
from partwise.errors import NotAllowedError
from partwise.messages import MISSING, FrozenDict, Missing, UserMessage
from partwise.store import ComposerState, Sent, ThreadEvent

from ._composer import Composer, composed, edited
from ._host import Host
from ._operation import Operation

__all__ = ["Drafts"]


class Append(Protocol):
    """How a draft gets into the thread."""

    def __call__(
        self,
        message: object,
        *,
        parent_id: str | Missing | None = ...,
        source_id: str | None = ...,
        run_config: Any = ...,
        starts_run: bool | None = ...,
        steers: bool | None = ...,
    ) -> Operation:
        """Append a message; see ``Thread.append``."""
        ...


class Drafts:
    """Commits drafts to the snapshot and sends them; one composer for each.

    Args:
        append: Sends what a draft describes.
    """

    def __init__(self, host: Host[Any], append: Append) -> None:
        self._host = host
        self._append = append
        self._edits: dict[str, Composer] = {}
        self.composer = Composer(self)

    def begin(self, message_id: str) -> Composer:
        """Open the draft of an edited message; see ``Thread.begin_edit``."""
        state = self._host.document.state
        message = self._host.document.tree.get(message_id).message
        if message_id in state.edits:
            text = f"Message {message_id!r} is being edited already; use edit_composer to reach the draft."
            raise NotAllowedError(text, code="edit-in-progress", id=message_id)
        self.show_draft(message_id, edited(message, state.composer.run_config))
        return self.of(message_id)

    def of(self, message_id: str) -> Composer:
        """Return the composer of an edited message, open or not."""
        return self._edits.setdefault(message_id, Composer(self, message_id))

    def show_draft(self, edited_id: str | None, draft: ComposerState | None) -> None:
        """Commit a draft; None closes that of an edited message."""
        if edited_id is None:
            self._host.document.set(composer=draft or ComposerState())
            return
        edits = {key: value for key, value in self._host.document.state.edits.items() if key != edited_id}
        if draft is None:
            self._edits.pop(edited_id, None)
        else:
            edits[edited_id] = draft
        self._host.document.set(edits=FrozenDict(edits))

    def read_draft(self, edited_id: str | None) -> ComposerState | None:
        """Return a draft as it is committed, or None when it is closed."""
        state = self._host.document.state
        return state.composer if edited_id is None else state.edits.get(edited_id)

    def send_draft(
        self, draft: ComposerState, edited_id: str | None, *, starts_run: bool | None, steers: bool | None
    ) -> Operation:
        """Append what a draft describes: at the end, or beside the message that it is a version of."""
        parent_id: str | Missing | None = MISSING
        passed_on: tuple[Any, ...] = ()
        if edited_id is not None:
            place = self._host.document.tree.get(edited_id)
            parent_id = place.parent_id
            if not isinstance(place.message, UserMessage):
                passed_on = tuple(part for part in place.message.content if part.type != "text")
        operation = self._append(
            composed(draft, passed_on),
            parent_id=parent_id,
            source_id=edited_id,
            run_config=draft.run_config,
            starts_run=starts_run,
            steers=steers,
        )
        self._host.events.emit(Sent(edited_id, characters=len(draft.text), attachments=len(draft.attachments)))
        return operation

    @property
    def attachment_adapter(self) -> AttachmentAdapter | None:
        """What takes files in, if there is one now."""
        adapter: AttachmentAdapter | None = self._host.options.attachments
        return adapter

    def emit(self, event: ThreadEvent) -> None:
        """Tell those who listen to the thread."""
        self._host.events.emit(event)

    def report(self, where: str, text: str, error: BaseException | None = None) -> None:
        """Tell of something that nobody can be told by raising."""
        self._host.report(where, text, error)

    def spawn(self, function: Callable[..., Any], *args: Any) -> None:
        """Start a task of the runtime."""
        self._host.spawn(function, *args)
