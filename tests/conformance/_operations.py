"""The operations of a vector, performed on a local thread."""

import math
from collections.abc import Callable
from typing import Any

import attrs

from partwise.errors import UnsupportedError
from partwise.messages import branches_from_likes
from partwise.repository import export_from_branches
from partwise.runtimes import LocalRuntime, LocalThread, Operation
from partwise.store import ThreadState
from partwise.tools import ModelContext

from . import _adapters
from ._composing import Composing, ScenarioListenerError, ScriptedAttachments, composer_state, edits_state
from ._failures import CannotBeAskedError
from ._gates import Gates, Later
from ._references import resolve
from ._scripts import Nested
from ._spelling import loose
from ._trace import Trace

Json = Any


@attrs.frozen
class Context:
    """A source of a model context that never changes."""

    context: ModelContext

    def get_model_context(self) -> ModelContext:
        return self.context


class Operations(Composing):
    """A local runtime with the adapters of a vector, and a method for each operation."""

    def __init__(self, given: Json, trace: Trace, gates: Gates, nested: Nested, suggestion_numbers: list[int]) -> None:
        self.trace = trace
        self.gates = gates
        self.nested = nested
        self.numbers = suggestion_numbers
        self.model = _adapters.Model(given.get("model", []), trace, gates, nested)
        self.saved: dict[str, Json] = {}
        self.runtime = LocalRuntime(
            self.model,
            messages=_adapters.first_messages(given.get("initialMessages", [])),
            cancel_timeout=math.inf,
            on_error=lambda *_: None,
            **self._options(given),
        )
        self.thread: LocalThread = self.runtime.thread
        self.observes = given.get("observe") or []
        if "composer" in self.observes:
            self.watch()

    def begin(self, op: Json) -> None:
        """Called before an operation; nothing to do here."""

    performed = begin

    def also(self, state: ThreadState) -> Json:
        """What the vectors write of a state beside its messages."""
        if "composer" not in self.observes:
            return {}
        return {"composer": composer_state(state, self.thread), **edits_state(state, self.thread)}

    def perform(self, op: Json) -> Json:
        """Perform one operation; returns what it returns."""
        method = getattr(self, f"do_{op['op']}", None)
        return self._query(op) if method is None else method(op)

    def ref(self, reference: Json) -> Json:
        """The id that a reference leads to."""
        return resolve(reference, self.thread, self.saved)

    def _options(self, given: Json) -> Json:
        """The options of the product for those that a vector names."""
        made: Json = {}
        options = given.get("options", {})
        if "maxSteps" in options:
            made["max_steps"] = options["maxSteps"]
        if "humanToolNames" in options:
            names = options["humanToolNames"]
            made["human_tools"] = None if names is None else frozenset(names)
        for name, field in (
            ("queueClearOnRewind", "clears_queue_on_rewind"),
            ("queueClearOnCancel", "clears_queue_on_cancel"),
        ):
            if name in options:
                made[field] = bool(options[name])
        if "messageQueue" in options:
            made["has_queue"] = bool(options["messageQueue"])
        if "history" in given:
            script = given["history"]
            made["history"] = None if script is None else _adapters.history(script, self.trace, self.gates, self.model)
        if "attachments" in given:
            script = given["attachments"]
            made["attachments"] = None if script is None else ScriptedAttachments(script, self.trace, self.gates)
        if "feedback" in given:
            made["feedback"] = _adapters.feedback(self.trace) if given["feedback"] else None
        if "suggestion" in given:
            scripts = given["suggestion"]
            suggester = _adapters.Suggester(scripts or [], self.trace, self.gates, self.nested, self.numbers)
            made["suggestions"] = None if scripts is None else suggester
        return made

    def _query(self, op: Json) -> Json:
        match op["op"]:
            case "get_message":
                place = self.thread.find(self.ref(op["message"]))
                return place and {"id": place.message.id, "parentId": place.parent_id, "index": place.index}
            case "get_branches":
                return list(self.thread.branches_of(self.ref(op["message"])))
            case "get_state":
                return self.thread.state.state
            case "export":
                return self.exported()
            case "export_external_state" | "import_external_state" | "notify_session_reset" as action:
                raise UnsupportedError(action)  # the product's local thread does not even have the method
            case unknown:
                raise ValueError(f"unknown operation {unknown!r}")

    def exported(self) -> Json:
        """The whole tree, as ids."""
        export = self.thread.export()
        return {"headId": export.head_id, "messages": [[e.message.id, e.parent_id] for e in export.entries]}

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

    def do_append_text(self, op: Json) -> Operation:
        return self.thread.append(op["text"])

    def do_start_run(self, op: Json) -> Operation:
        return self.thread.start_run(self.ref(op["parent"]), run_config=op.get("runConfig"))

    def do_resume_run(self, op: Json) -> Operation:
        stream = self.model.resumed(op["stream"], "resume") if "stream" in op else None
        return self.thread.resume_run(self.ref(op["parent"]), stream, run_config=op.get("runConfig"))

    def do_reload(self, op: Json) -> Operation:
        return self.thread.reload(self.ref(op["message"]), run_config=op.get("runConfig"))

    def do_cancel_run(self, op: Json) -> None:
        self.thread.cancel_run()

    def do_switch_branch(self, op: Json) -> None:
        self.thread.switch_to_branch(self.ref(op["to"]))

    def do_switch_branch_position(self, op: Json) -> None:
        given = [name for name in ("position", "branchId") if op.get(name) is not None]
        if given == ["position"]:
            self.thread.switch_branch(self.ref(op["message"]), op["position"])
        elif given == ["branchId"]:
            self.thread.switch_to_branch(self.ref(op["branchId"]))
        else:
            raise CannotBeAskedError  # the product has one method for each way

    def do_add_tool_result(self, op: Json) -> None:
        extra = {"artifact": op["artifact"]} if "artifact" in op else {}
        call = self.ref(op["toolCallId"])
        self.thread.add_tool_result(
            self.ref(op["message"]), call, op["result"], is_error=op.get("isError", False), **extra
        )

    def do_respond_to_approval(self, op: Json) -> Operation:
        self.thread.respond_to_approval(
            self.ref(op["approvalId"]),
            approved=op.get("approved"),
            option_id=op.get("optionId"),
            reason=op.get("reason"),
        )
        return Operation.done()

    def do_resume_tool_call(self, op: Json) -> None:
        self.thread.resume_tool_call(op["toolCallId"], op.get("payload"))

    def do_delete_message(self, op: Json) -> Operation:
        return self.thread.delete_message(self.ref(op["message"]))

    def do_submit_feedback(self, op: Json) -> None:
        self.thread.submit_feedback(self.ref(op["message"]), op["type"])

    def do_load(self, op: Json) -> Operation:
        return self.thread.load()

    def do_import(self, op: Json) -> None:
        repository = op["repository"]
        pairs = [(loose(item["message"]), item["parentId"]) for item in repository["messages"]]
        self.thread.import_(export_from_branches(branches_from_likes(pairs), repository.get("headId")))

    def do_reset(self, op: Json) -> None:
        self.thread.reset([loose(like) for like in op.get("messages", [])])

    def do_detach(self, op: Json) -> None:
        self.thread.detach()

    do_invalidate = do_detach

    def do_set_options(self, op: Json) -> None:
        self.thread.set_options(**self._options(op["set"]))

    def do_set_initialize(self, op: Json) -> None:
        behaviour = op["behaviour"]
        barrier = None if behaviour == "none" else Later(lambda: _adapters.perform(behaviour, self.gates))

        def initialize() -> Later | None:
            self.trace.note("initialize-barrier")
            return barrier

        self.thread.set_options(initialize=initialize)

    def do_set_thread_id(self, op: Json) -> None:
        self.thread.set_options(thread_id=op["id"])

    def do_register_context(self, op: Json) -> None:
        given = op["context"]
        fields: Json = {key: given[key] for key in ("system", "priority") if key in given}
        for name, field in (("callSettings", "call_settings"), ("config", "config")):
            fields[field] = {_adapters.snake(key): value for key, value in given.get(name, {}).items()}
        fields["composer_metadata"] = given.get("unstable_composerMetadata", {})
        self.thread.register_context(Context(ModelContext(**fields)))

    def do_listen(self, op: Json) -> None:
        name = _adapters.snake(op["event"])
        listener = self._listener(op["behaviour"])
        self.thread.events.subscribe(lambda event: listener() if event.type == name else None)

    def do_subscribe(self, op: Json) -> None:
        listener = self._listener(op["behaviour"])
        self.thread.select(lambda whole: whole).subscribe(lambda _: listener())

    def _listener(self, behaviour: Json) -> Callable[[], None]:
        done: list[None] = []

        def called() -> None:
            if not isinstance(behaviour, dict):
                raise ScenarioListenerError("listener")
            if not (behaviour.get("once") and done):
                done.append(None)
                self.nested(behaviour["do"])

        return called

    def do_signal(self, op: Json) -> None:
        self.gates.open(op["name"], op.get("error"))

    def do_save(self, op: Json) -> None:
        self.saved[op["as"]] = self.ref(op["ref"])
