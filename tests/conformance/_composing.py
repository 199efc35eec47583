"""Drafts, written the way the vectors write them."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import attrs

from partwise.errors import NotAllowedError
from partwise.messages import (
    CompleteAttachment,
    FailedStatus,
    PendingAttachment,
    TextPart,
    UploadingStatus,
    UserMessage,
    WaitingStatus,
    is_blank,
    message_from_like,
    message_to_json,
    new_id,
    thaw,
)
from partwise.primitives import ComposerView
from partwise.runtimes import AppendRequest, MessageQueue, Operation, Thread
from partwise.store import ComposerState, QueueItem, Quote, ThreadState

from . import _spelling
from ._adapters import Behaviours, begin, snake
from ._failures import scripted
from ._gates import Gates, Later
from ._scripts import Nested
from ._spelling import WHEN, loose
from ._trace import Trace

Json = Any


@attrs.frozen
class File:
    """A file of a vector: nothing but its name and type."""

    name: str
    content_type: str | None


@attrs.define(eq=False)
class ScriptedAttachments:
    """An attachment adapter that does what its script says."""

    script: Json
    trace: Trace
    gates: Gates
    behaviours: dict[str, Behaviours] = attrs.field(factory=dict)

    @property
    def accept(self) -> str:
        return self.script.get("accept", "*")

    def _next(self, name: str) -> Json:
        return self.behaviours.setdefault(name, Behaviours(self.script.get(name) or [])).next()

    def add(self, file: File) -> Any:
        self.trace.note("attachment", "add", file.name)
        behaviour = self._next("add")
        made = PendingAttachment(
            id=f"att-{file.name}", type="document", name=file.name, content_type=file.content_type, file=file
        )
        if isinstance(behaviour, dict) and "stream" in behaviour:
            return self._stream(behaviour["stream"], made)
        return _then(begin(behaviour, self.gates), lambda: made)

    async def _stream(self, steps: Json, made: PendingAttachment) -> AsyncIterator[PendingAttachment]:
        for step in steps:
            if "wait" in step:
                await self.gates.wait(step["wait"])
            elif "raise" in step:
                raise scripted(step["raise"])
            else:
                yield attrs.evolve(made, status=_status(step["yield"].get("status")))

    def send(self, attachment: PendingAttachment) -> Any:
        self.trace.note("attachment", "send", attachment.id)
        sent = CompleteAttachment(
            id=attachment.id,
            type=attachment.type,
            name=attachment.name,
            content_type=attachment.content_type,
            file=attachment.file,
            content=(TextPart(f"<{attachment.name}>"),),
        )
        return _then(begin(self._next("send"), self.gates), lambda: sent)

    def remove(self, attachment: Any) -> Any:
        self.trace.note("attachment", "remove", attachment.id)
        return begin(self._next("remove"), self.gates)


def _then(work: Any, value: Any) -> Later:
    async def run() -> Any:
        await work
        return value()

    return Later(run)


def _status(given: Json) -> Any:
    match (given or {}).get("type"):
        case "running":
            return UploadingStatus(given["progress"])
        case "incomplete":
            return FailedStatus(given["reason"], given.get("message"))
        case _:
            return WaitingStatus()


class Composing:
    """The operations of drafts and of the queue, for a thread of any runtime."""

    thread: Any
    trace: Trace
    nested: Nested

    def ref(self, reference: Json) -> Json:
        raise NotImplementedError

    def composer(self, op: Json) -> Any:
        if "edit" not in op:
            return self.thread.composer
        composer = self.thread.edit_composer(self.ref(op["edit"]))
        if not composer.state.is_editing:
            # There is no such draft in the reference; here it is one that is closed.
            raise NotAllowedError("closed", code="composer-unavailable")
        return composer

    def listen(self, heard: Callable[[Any], None]) -> None:
        """Hear the events of the thread."""
        self.thread.events.subscribe(heard)

    def watch(self) -> None:
        """Write what composers tell into the log."""
        self.thread.events.subscribe(self._heard)

    def _heard(self, event: Any) -> None:
        if getattr(event, "message_id", None) is not None:
            return  # the vectors listen to the draft of the next message only
        kind = {"contentType": getattr(event, "content_type", None)}
        match event.type:
            case "send":
                about = {"chars": event.characters, "attachments": event.attachments}
                self.trace.note("composer-event", "send", about)
            case "attachment_added":
                extra = [kind] if event.content_type else []
                self.trace.note("composer-event", "attachmentAdd", *extra)
            case "attachment_refused":
                about = {"reason": event.reason, **({} if not event.content_type else kind)}
                if event.attachment_id is not None:
                    about["attachmentId"] = event.attachment_id
                self.trace.note("composer-event", "attachmentAddError", about)
            case _:
                pass

    def do_set_text(self, op: Json) -> None:
        self.composer(op).set_text(op["text"])

    def do_set_role(self, op: Json) -> None:
        self.composer(op).set_role(op["role"])

    def do_set_run_config(self, op: Json) -> None:
        self.composer(op).set_run_config(op["runConfig"])

    def do_set_quote(self, op: Json) -> None:
        self.composer(op).set_quote(_quote(op["quote"]))

    def do_send(self, op: Json) -> Operation:
        self.composer(op)
        view = ComposerView(self.thread, self.ref(op["edit"]) if "edit" in op else None)
        if not view.can_send.value:
            return Operation.done()
        return self.composer(op).send(starts_run=op.get("startRun"), steers=op.get("steer"))

    def do_composer_cancel(self, op: Json) -> None:
        self.composer(op)
        ComposerView(self.thread, self.ref(op["edit"]) if "edit" in op else None).cancel()

    def do_composer_reset(self, op: Json) -> Operation:
        return self.composer(op).reset()

    def do_add_attachment(self, op: Json) -> Operation:
        if "file" in op:
            kind = op.get("contentType")
            return self.composer(op).add_attachment(File(op["file"], None if kind is None else kind.lower()))
        made = op["create"]
        carrier = message_from_like(
            loose({"role": "user", "content": "", "attachments": [{"id": new_id(), "type": "document", **made}]})
        )
        return self.composer(op).add_attachment(carrier.attachments[0])

    def do_remove_attachment(self, op: Json) -> Operation:
        reference = op["id"]
        if isinstance(reference, dict):
            index = reference["$attachment"]
            items = self.composer(op).state.attachments
            reference = items[index].id if -len(items) <= index < len(items) else "missing"
        return self.composer(op).remove_attachment(reference)

    def do_clear_attachments(self, op: Json) -> Operation:
        return self.composer(op).clear_attachments()

    def do_restore_draft(self, op: Json) -> bool:
        draft = op["draft"]
        made = ComposerState(text=draft.get("text", ""), quote=_quote(draft.get("quote")))
        return self.composer(op).restore(made)

    def do_begin_edit(self, op: Json) -> None:
        self.thread.begin_edit(self.ref(op["message"]))

    def do_composer_listen(self, op: Json) -> None:
        def called(event: Any) -> None:
            if event.type == snake(op["event"]):
                raise ScenarioListenerError("listener")

        self.thread.events.subscribe(called)

    def _item(self, reference: Json) -> str:
        if not isinstance(reference, dict):
            return reference
        items = [*self.thread.state.steer_queue, *self.thread.state.queue]
        index = reference["$queue"]
        return items[index].id if -len(items) <= index < len(items) else "missing"

    def do_queue_move(self, op: Json) -> None:
        move(self.thread.queue, self._item(op["item"]), op.get("placement", {}), self._item)

    def do_queue_remove(self, op: Json) -> None:
        self.thread.queue.remove(self._item(op["item"]))

    def do_queue_edit(self, op: Json) -> None:
        self.thread.queue.edit(self._item(op["item"]), asked(op["text"]))

    def do_queue_clear(self, op: Json) -> None:
        self.thread.queue.clear()

    def do_queue_idle(self, op: Json) -> None:
        self.thread.queue.notify_idle()

    def do_queue_busy(self, op: Json) -> None:
        self.thread.queue.notify_busy()

    def do_queue_cancelled(self, op: Json) -> None:
        self.thread.queue.notify_cancelled()


class ScenarioListenerError(Exception):
    """Raised by listeners that are told to."""


def asked(text: str) -> AppendRequest:
    """A user's message on its way."""
    return AppendRequest(message=message_from_like(text, fallback_id=new_id()))


def move(queue: MessageQueue, item: str, placement: Json, resolve: Callable[[Json], Json]) -> None:
    """Move an item of a queue as a vector says."""
    options: Json = {"lane": placement["lane"]} if "lane" in placement else {}
    for key, name in (("insertAfter", "insert_after"), ("insertBefore", "insert_before")):
        if key in placement:
            options[name] = None if placement[key] is None else resolve(placement[key])
    queue.move(item, **options)


def _quote(given: Json) -> Quote | None:
    return None if given is None else Quote(text=given["text"], message_id=given["messageId"])


def composer_state(state: ThreadState, thread: Thread) -> Json:
    """The draft of the next message."""
    shown = _draft(state.composer, ComposerView(thread), thread.composer.accept)
    waiting = [*state.steer_queue, *state.queue]
    if waiting:
        shown["queue"] = [queue_json(item) for item in waiting]
    return shown


def edits_state(state: ThreadState, thread: Thread) -> Json:
    """The open drafts of edited messages, if there are any."""
    edits = {}
    for message_id, draft in state.edits.items():
        place = thread.find(message_id)
        edits[message_id] = {
            **_draft(draft, ComposerView(thread, message_id), thread.composer.accept),
            "parentId": place.parent_id if place else None,
            "sourceId": message_id,
        }
    return {"edits": edits} if edits else {}


def _draft(draft: ComposerState, view: ComposerView, accept: str) -> Json:
    shown: Json = {"text": draft.text}
    if draft.role != "user":
        shown["role"] = draft.role
    if draft.attachments:
        shown["attachments"] = [attachment(item) for item in draft.attachments]
    if draft.quote is not None:
        shown["quote"] = {"text": draft.quote.text, "messageId": draft.quote.message_id}
    if draft.run_config:
        shown["runConfig"] = thaw(draft.run_config)
    if accept != "*":
        shown["accept"] = accept
    return {
        **shown,
        "isEmpty": is_blank(draft.text) and not draft.attachments,
        "canSend": view.can_send.value,
        "canCancel": view.can_cancel.value,
    }


def queue_json(item: QueueItem) -> Json:
    """A waiting message."""
    return {"id": item.id, "prompt": item.prompt, "parts": parts_json(item.parts)}


def parts_json(parts: Any) -> Json:
    """Parts in the reference's spelling."""
    holder = UserMessage(id="-", created_at=WHEN, content=tuple(parts))
    return [_spelling.part(part) for part in message_to_json(holder)["content"]]


def attachment(item: Any) -> Json:
    """An attachment, pending or complete."""
    shown: Json = {"id": item.id, "type": item.type, "name": item.name}
    if item.content_type is not None:
        shown["contentType"] = item.content_type
    if item.file is not None:
        shown["file"] = getattr(item.file, "name", item.file)
    if item.content is not None:
        shown["content"] = parts_json(item.content)
    if isinstance(item, CompleteAttachment):
        shown["status"] = {"type": "complete"}
    else:
        status: Json = {"type": item.status.type}
        for name in ("reason", "progress", "message"):
            if getattr(item.status, name, None) is not None:
                status[name] = getattr(item.status, name)
        shown["status"] = status
    return shown
