"""The operations of a vector, performed on an external-store runtime whose owner plays a script."""

from collections.abc import Callable
from typing import Any

import anyio
import attrs
from reactivex import operators as ops

from partwise.messages import Message, branches_from_likes, message_from_like, thaw
from partwise.repository import Entry, Export, export_from_branches
from partwise.runtimes import AppendRequest, MessageQueue, Operation
from partwise.runtimes.external import (
    DEFAULT_THREAD_ID,
    ExternalStoreRuntime,
    ExternalThread,
    ExternalThreads,
    _cancelling,
)
from partwise.store import Suggestion, ThreadRow, ThreadState

from ._adapters import begin, feedback, perform, snake
from ._composing import Composing, ScriptedAttachments, composer_state, edits_state
from ._failures import CannotBeAskedError, scripted
from ._gates import Gates, Later
from ._references import resolve
from ._scripts import Nested
from ._spelling import loose
from ._trace import Trace, message

Json = Any

CALLBACKS = {
    "onNew": "on_new",
    "onEdit": "on_edit",
    "onDelete": "on_delete",
    "onReload": "on_reload",
    "onResume": "on_resume",
    "onCancel": "on_cancel",
    "onRefetchThread": "on_refetch",
    "onAddToolResult": "on_tool_result",
    "onResumeToolCall": "on_resume_tool_call",
    "onRespondToToolApproval": "on_approval",
    "onImport": "on_import",
    "onExportExternalState": "on_export_state",
    "onLoadExternalState": "on_load_state",
    "unstable_onBranchChange": "on_branch_change",
    "setMessages": "set_messages",
}
THREAD_CALLBACKS = {
    "onSwitchToThread": "on_switch_to",
    "onSwitchToNewThread": "on_switch_to_new",
    "onRename": "on_rename",
    "onUpdateCustom": "on_update_custom",
    "onArchive": "on_archive",
    "onUnarchive": "on_unarchive",
    "onDelete": "on_delete",
}
THREAD_ACTIONS = {
    "switchToThread": "switch_to",
    "switchToNewThread": "switch_to_new",
    "rename": "rename",
    "updateCustom": "update_custom",
    "archive": "archive",
    "unarchive": "unarchive",
    "delete": "delete",
    "initialize": "initialize",
    "reloadMainThread": "reload_main",
}
FLAGS = {"isLoading": "is_loading", "isDisabled": "is_disabled", "isSendDisabled": "is_send_disabled"}

_turn_later = _cancelling.turn_later


@attrs.frozen
class Raw:
    """A message in the owner's own form; the same name is the same object."""

    name: str
    fields: Json = attrs.field(eq=False, hash=False)


@attrs.define(eq=False)
class Timers:
    """What the runtime does a turn later, held back while a vector says so."""

    is_held: bool = False
    waiting: list[anyio.Event] = attrs.field(factory=list)

    async def turn_later(self) -> None:
        if self.is_held:
            event = anyio.Event()
            self.waiting.append(event)
            await event.wait()
        else:
            await _turn_later()

    def release(self) -> None:
        for event in self.waiting:
            event.set()
        self.waiting.clear()


class ExternalOperations(Composing):
    """An external-store runtime with the owner of a vector, and a method for each operation."""

    def __init__(self, given: Json, trace: Trace, gates: Gates, nested: Nested, numbers: list[int]) -> None:
        del numbers
        self.given, self.trace, self.gates, self.nested = given, trace, gates, nested
        self.saved: dict[str, Json] = {}
        self.timers = Timers()
        _cancelling.turn_later = self.timers.turn_later
        self.pool = {name: _pooled(name, item) for name, item in given.get("pool", {}).items()}
        self.lists = {name: [self.pool[item] for item in items] for name, items in given.get("lists", {}).items()}
        self.trees = {
            name: Export(tree.get("headId"), tuple(Entry(parent, self.pool[item]) for item, parent in tree["messages"]))
            for name, tree in given.get("repositories", {}).items()
        }
        self.converters: dict[str, Any] = {}
        self.current: Json = None
        self.barrier: Later | None = None
        self.store = dict(given["store"])
        self.queue: MessageQueue | None = None
        self.runtime = ExternalStoreRuntime(self._messages(), on_error=lambda *_: None, **self._fields())
        self.heard: list[Callable[[Any], None]] = []
        self.watch()
        self.runtime.threads.select(lambda state: state.main_id).pipe(ops.skip(1)).subscribe(self._moved)

    @property
    def thread(self) -> ExternalThread:
        return self.runtime.thread

    def listen(self, heard: Callable[[Any], None]) -> None:
        self.heard.append(heard)
        super().listen(heard)

    def _moved(self, main_id: object) -> None:
        del main_id
        self.trace.note("thread-changed")
        self.watch()
        for heard in self.heard:
            super().listen(heard)

    # What the owner says

    def _messages(self) -> Json:
        if self.store.get("repository") is not None:
            return self.trees[self.store["repository"]]
        name = self.store.get("messages")
        self.current = None if name is None else self.lists[name]
        return self.current

    def _fields(self) -> Json:
        store = self.store
        fields: Json = {name: bool(store.get(key)) for key, name in FLAGS.items()}
        fields["is_running"] = store.get("isRunning")
        fields["suggestions"] = [Suggestion(**item) for item in store.get("suggestions") or []]
        fields["state"], fields["extras"] = store.get("state"), store.get("extras")
        fields["can_copy"] = (store.get("capabilities") or {}).get("copy", True)
        fields["feedback"] = feedback(self.trace) if store.get("feedback") else None
        fields["threads"] = self._threads()
        fields["convert"] = self._converter(store.get("convert"))
        fields["queue"] = self._queue(store.get("queue"))
        fields["initialize"] = self._initialize
        script = store.get("attachments")
        fields["attachments"] = None if script is None else ScriptedAttachments(script, self.trace, self.gates)
        for name, field in CALLBACKS.items():
            behaviour = (store.get("callbacks") or {}).get(name)
            fields[field] = None if behaviour is None else self._callback(name, behaviour)
        return fields

    def _threads(self) -> ExternalThreads | None:
        given, current_id = self.store.get("threadList") or {}, self.store.get("threadId")
        if not given and current_id is None:
            return None
        called = {
            THREAD_CALLBACKS[name]: self._callback(name, behaviour)
            for name, behaviour in (given.get("callbacks") or {}).items()
        }
        return ExternalThreads(
            current_id=current_id or DEFAULT_THREAD_ID,
            regular=None if given.get("threads") is None else [_row(item) for item in given["threads"]],
            archived=[_row(item) for item in given.get("archivedThreads") or []],
            is_loading=bool(given.get("isLoading")),
            **called,
        )

    def _converter(self, name: str | None) -> Json:
        if name is None or name in self.converters:
            return self.converters.get(name or "")

        def convert(raw: Raw) -> Json:
            if "convert" in (self.given.get("observe") or []):
                items = self._messages() or []
                self.trace.note("convert", raw.name, next(i for i, item in enumerate(items) if item is raw))
            if raw.fields.get("bad"):
                raise scripted(f"bad message {raw.fields['id']}")
            return _like(raw.fields, has_id=not name.startswith("simple-noid"))

        self.converters[name] = convert
        return convert

    def _queue(self, script: Json) -> MessageQueue | None:
        if script is None:
            self.queue = None
        elif self.queue is None:
            self.queue = MessageQueue(
                Driver(self, script) if "cancel" not in script else CancellingDriver(self, script)
            )
        return self.queue

    def _initialize(self) -> Later | None:
        if self.barrier is None and not self.has_barrier:
            return None
        self.trace.note("initialize-barrier")
        return self.barrier

    has_barrier = False

    def _callback(self, name: str, behaviour: Json) -> Json:
        def called(*args: Any) -> Any:
            self.trace.note("callback", name, *self._written(name, args))
            if behaviour == "apply":
                items = list(args[0])
                self.store["messages"], self.lists["(applied)"] = "(applied)", items
                self.store.pop("repository", None)
                self.runtime.update(items, **self._fields())
                return None
            if isinstance(behaviour, dict) and "do" in behaviour:
                self.nested(behaviour["do"])
                return None
            if isinstance(behaviour, dict) and "notSent" in behaviour:
                return Later(_not_sent)
            if isinstance(behaviour, dict) and "throw" in behaviour:
                raise scripted(behaviour["throw"])
            return begin(behaviour, self.gates)

        return called

    def _written(self, name: str, args: Json) -> list[Json]:
        match name:
            case "onNew" | "onEdit":
                return [request_json(args[0])]
            case "onReload" | "onResume":
                request = args[0]
                written = {
                    "parentId": request.parent_id,
                    "sourceId": request.source_id,
                    "runConfig": thaw(request.run_config),
                }
                return [request.parent_id, written] if name == "onReload" else [written]
            case "setMessages" | "onImport":
                return [[self._name(item) for item in args[0]]]
            case "unstable_onBranchChange":
                return [{"headId": args[0].head_id, "visibleMessageIds": list(args[0].visible_ids)}]
            case "onAddToolResult":
                return [_output(args[0])]
            case "onRespondToToolApproval":
                response = args[0]
                extra = {"optionId": response.option_id, "reason": response.reason}
                written = {"approvalId": response.approval_id, "approved": response.approved}
                return [{**written, **{key: value for key, value in extra.items() if value is not None}}]
            case "onResumeToolCall":
                return [{"toolCallId": args[0], "payload": args[1]}]
            case _:
                return list(args)

    def _name(self, item: Json) -> str:
        return next((name for name, pooled in self.pool.items() if pooled is item), getattr(item, "id", "?"))

    # What the scenario asks for

    def begin(self, op: Json) -> None:
        self.timers.is_held = bool(op.get("holdTimers"))

    def performed(self, op: Json) -> None:
        if not op.get("holdTimers"):
            self.timers.release()

    def also(self, state: ThreadState) -> Json:
        if "composer" not in (self.given.get("observe") or []):
            return {}
        return {"composer": composer_state(state, self.thread), **edits_state(state, self.thread)}

    def exported(self) -> Json:
        export = self.thread.export()
        return {"headId": export.head_id, "messages": [[e.message.id, e.parent_id] for e in export.entries]}

    def ref(self, reference: Json) -> Json:
        return resolve(reference, self.thread, self.saved)

    def perform(self, op: Json) -> Json:
        return getattr(self, f"do_{op['op']}")(op)

    def do_set_store(self, op: Json) -> None:
        for key, value in op["set"].items():
            if value is None:
                self.store.pop(key, None)
            else:
                self.store[key] = value
        self.runtime.update(self._messages(), **self._fields())

    def do_threads_state(self, op: Json) -> Json:
        state = self.runtime.threads.state
        return {
            "mainThreadId": _default_id(state.main_id),
            "threadIds": [_default_id(id) for id in state.regular_ids],
            "archivedThreadIds": list(state.archived_ids),
            "isLoading": state.is_loading,
            "items": {_default_id(row.id): _item(row) for row in state.rows},
        }

    def do_threads(self, op: Json) -> Operation:
        name = THREAD_ACTIONS[op["do"]]
        answer = getattr(self.runtime.threads, name)(*op["args"])
        return Kept(answer) if name == "initialize" else answer

    def do_append(self, op: Json) -> Operation:
        like = {
            "role": op.get("role", "user"),
            "content": op["content"] if "content" in op else op["text"],
            **{key: op[key] for key in ("metadata", "attachments") if key in op},
        }
        parent = {"parent_id": self.ref(op["parent"])} if "parent" in op else {}
        return self.thread.append(
            loose(like),
            **parent,
            source_id=self.ref(op.get("sourceId")),
            run_config=op.get("runConfig"),
            starts_run=op.get("startRun"),
            steers=op.get("steer"),
        )

    def do_start_run(self, op: Json) -> Operation:
        return self.thread.start_run(
            self.ref(op["parent"]), run_config=op.get("runConfig"), source_id=self.ref(op.get("sourceId"))
        )

    def do_resume_run(self, op: Json) -> Operation:
        return self.thread.resume_run(self.ref(op["parent"]), run_config=op.get("runConfig"))

    def do_reload(self, op: Json) -> Operation:
        return self.thread.reload(self.ref(op["message"]), run_config=op.get("runConfig"))

    def do_cancel_run(self, op: Json) -> None:
        self.thread.cancel_run()

    def do_flush_timers(self, op: Json) -> None: ...

    def do_switch_branch(self, op: Json) -> None:
        self.thread.switch_to_branch(self.ref(op["to"]))

    def do_switch_branch_position(self, op: Json) -> None:
        if "position" not in op:
            raise CannotBeAskedError
        self.thread.switch_branch(self.ref(op["message"]), op["position"])

    def do_add_tool_result(self, op: Json) -> None:
        extra = {"artifact": op["artifact"]} if "artifact" in op else {}
        self.thread.add_tool_result(
            self.ref(op["message"]), op["toolCallId"], op["result"], is_error=op.get("isError", False), **extra
        )

    def do_respond_to_approval(self, op: Json) -> Operation:
        return self.thread.respond_to_approval(
            op["approvalId"], approved=op.get("approved"), option_id=op.get("optionId"), reason=op.get("reason")
        )

    def do_resume_tool_call(self, op: Json) -> None:
        self.thread.resume_tool_call(op["toolCallId"], op.get("payload"))

    def do_export_external_state(self, op: Json) -> Json:
        return self.thread.export_state()

    def do_import_external_state(self, op: Json) -> None:
        self.thread.import_state(op.get("state"))

    def do_notify_session_reset(self, op: Json) -> None:
        self.thread.notify_session_reset()

    def do_delete_message(self, op: Json) -> Operation:
        return self.thread.delete_message(self.ref(op["message"]))

    def do_submit_feedback(self, op: Json) -> None:
        self.thread.submit_feedback(self.ref(op["message"]), op["type"])

    def do_get_branches(self, op: Json) -> Json:
        return list(self.thread.branches_of(self.ref(op["message"])))

    def do_get_state(self, op: Json) -> Json:
        return self.thread.state.state

    def do_export(self, op: Json) -> Json:
        return self.exported()

    def do_import(self, op: Json) -> None:
        pairs = [(loose(item["message"]), item["parentId"]) for item in op["repository"]["messages"]]
        self.thread.import_(export_from_branches(branches_from_likes(pairs), op["repository"].get("headId")))

    def do_reset(self, op: Json) -> None:
        self.thread.reset([loose(like) for like in op.get("messages", [])])

    def do_invalidate(self, op: Json) -> None:
        self.thread.detach()

    def do_set_initialize(self, op: Json) -> None:
        behaviour = op["behaviour"]
        self.has_barrier = True
        self.barrier = None if behaviour == "none" else Later(lambda: perform(behaviour, self.gates))

    def do_listen(self, op: Json) -> None:
        name, behaviour = snake(op["event"]), op["behaviour"]
        self.thread.events.subscribe(lambda event: self.nested(behaviour["do"]) if event.type == name else None)

    def do_signal(self, op: Json) -> None:
        self.gates.open(op["name"], op.get("error"))

    def do_save(self, op: Json) -> None:
        self.saved[op["as"]] = self.ref(op["ref"])


class Kept(Operation):
    """The answer of something that is done at once, where the vectors await it."""

    def __init__(self, remote_id: str) -> None:
        super().__init__()
        self.gives = {"remoteId": remote_id}
        self.settle()


def _row(item: Json) -> ThreadRow:
    return ThreadRow(
        id=item["id"], title=item.get("title"), remote_id=item.get("remoteId"), custom=item.get("custom") or {}
    )


def _item(row: ThreadRow) -> Json:
    named = {"title": row.title, "remoteId": row.remote_id, "custom": thaw(row.custom) or None}
    known = {key: value for key, value in named.items() if value is not None}
    return {"id": _default_id(row.id), "status": row.status, **known}


def _default_id(id: str | None) -> str | None:
    return "DEFAULT_THREAD_ID" if id == DEFAULT_THREAD_ID else id


class Driver:
    """The owner's way of sending what left the queue."""

    def __init__(self, operations: ExternalOperations, script: Json) -> None:
        self.operations, self.script = operations, script
        self.name = script.get("name", "queue")

    def run(self, request: AppendRequest, /, *, steer: bool) -> None:
        self.operations.trace.note("queue-run", self.name, request_json(request), {"steer": steer})
        if "onRun" in self.script:
            self.operations.nested(self.script["onRun"]["do"])


class CancellingDriver(Driver):
    """An owner that can stop what runs."""

    def cancel(self) -> None:
        self.operations.trace.note("queue-cancel", self.name)
        if self.script["cancel"] == "routed":
            self.operations.thread.cancel_run()


async def _not_sent() -> None:
    from partwise.errors import NotSentError

    raise NotSentError("not sent")


def request_json(request: AppendRequest) -> Json:
    """A message on its way to the owner, without what has its default."""
    written = message(request.message)
    shown = {key: written[key] for key in ("role", "content", "attachments", "metadata") if key in written}
    extra = {
        "sourceId": request.source_id,
        "runConfig": thaw(request.run_config) or None,
        "startRun": request.starts_run,
        "steer": request.steers,
    }
    return {
        **shown,
        "parentId": request.parent_id,
        **{key: value for key, value in extra.items() if value is not None},
    }


def _output(output: Any) -> Json:
    written = {
        "messageId": output.message_id,
        "toolCallId": output.tool_call_id,
        "toolName": output.tool_name,
        "result": output.result,
        "isError": output.is_error,
    }
    return {**written, "artifact": output.artifact} if output.artifact else written


def _pooled(name: str, item: Json) -> Raw | Message:
    if "raw" in item:
        return Raw(name, item["raw"])
    return message_from_like(loose(item["thread"]))


def _like(fields: Json, *, has_id: bool) -> Json:
    text = [{"type": "text", "text": fields["text"]}] if "text" in fields else []
    metadata: Json = {"custom": fields.get("custom", {})}
    if fields.get("optimistic"):
        metadata["isOptimistic"] = True
    like: Json = {"role": fields["role"], "content": [*text, *fields.get("parts", [])], "metadata": metadata}
    if has_id:
        like["id"] = fields["id"]
    if fields.get("status"):
        like["status"] = fields["status"]
    return loose(like)
