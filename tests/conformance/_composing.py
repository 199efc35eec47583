"""Drafts, written the way the vectors write them."""

from typing import Any

from partwise.messages import CompleteAttachment, is_blank, message_to_json, thaw
from partwise.primitives import ComposerView
from partwise.runtimes import Thread
from partwise.store import ComposerState, ThreadState

from . import _spelling

Json = Any


def composer_state(state: ThreadState, thread: Thread) -> Json:
    """The draft of the next message."""
    return _draft(state.composer, ComposerView(thread))


def edits_state(state: ThreadState, thread: Thread) -> Json:
    """The open drafts of edited messages, if there are any."""
    edits = {}
    for message_id, draft in state.edits.items():
        place = thread.find(message_id)
        edits[message_id] = {
            **_draft(draft, ComposerView(thread, message_id)),
            "parentId": place.parent_id if place else None,
            "sourceId": message_id,
        }
    return {"edits": edits} if edits else {}


def _draft(draft: ComposerState, view: ComposerView) -> Json:
    shown: Json = {"text": draft.text}
    if draft.role != "user":
        shown["role"] = draft.role
    if draft.attachments:
        shown["attachments"] = [attachment(item) for item in draft.attachments]
    if draft.quote is not None:
        shown["quote"] = {"text": draft.quote.text, "messageId": draft.quote.message_id}
    if draft.run_config:
        shown["runConfig"] = thaw(draft.run_config)
    return {
        **shown,
        "isEmpty": is_blank(draft.text) and not draft.attachments,
        "canSend": view.can_send.value,
        "canCancel": view.can_cancel.value,
    }


def attachment(item: Any) -> Json:
    """An attachment, pending or complete."""
    shown: Json = {"id": item.id, "type": item.type, "name": item.name}
    if item.content_type is not None:
        shown["contentType"] = item.content_type
    if item.file is not None:
        shown["file"] = item.file
    if item.content is not None:
        from datetime import UTC, datetime

        from partwise.messages import UserMessage

        holder = UserMessage(id="-", created_at=datetime.now(UTC), content=item.content)
        shown["content"] = [_spelling.part(part) for part in message_to_json(holder)["content"]]
    if isinstance(item, CompleteAttachment):
        shown["status"] = {"type": "complete"}
    else:
        status: Json = {"type": item.status.type}
        for name in ("reason", "progress", "message"):
            if getattr(item.status, name, None) is not None:
                status[name] = getattr(item.status, name)
        shown["status"] = status
    return shown
