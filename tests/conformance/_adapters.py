"""Adapters that do what a vector says: the model, the history, suggestions and feedback."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import attrs

from partwise.adapters import HistoryItem, LoadedHistory, RunContext, RunMetadata, RunResult, SuggestionRequest
from partwise.messages import Message, branches_from_likes, message_from_like, new_id, thaw
from partwise.repository import Entry
from partwise.store import Suggestion
from partwise.tools import ModelContext

from ._failures import scripted
from ._gates import Call, Gates, Later
from ._scripts import Nested, start
from ._spelling import LOOSE, fallback_status, loose
from ._trace import Trace, message

Json = Any


@attrs.define(eq=False)
class Model:
    """The scripted model, and streams that answer in its place; calls are numbered over all of them."""

    scripts: list[Json]
    trace: Trace
    gates: Gates
    nested: Nested
    calls: int = 0

    def __call__(self, run: RunContext) -> Any:
        scripts = dict(enumerate(self.scripts))
        default = {"mode": "promise", "steps": [{"return": {"content": [_unscripted(self.calls)]}}]}
        return self._start(run, scripts.get(self.calls, default))

    def resumed(self, script: Json, via: str) -> Callable[[RunContext], Any]:
        """A stream that answers in place of the model."""
        return lambda run: self._start(run, script, via=via)

    def _start(self, run: RunContext, script: Json, **marks: str) -> Any:
        call = Call(self.calls)
        self.calls += 1
        self.trace.note("run", call.number, {**marks, **_seen(run)})
        call.watch(run.signal, lambda number, reason: self.trace.note("abort", number, reason))
        return start(script, self.gates, self.nested, result, call)


def _unscripted(number: int) -> Json:
    return {"type": "text", "text": f"unscripted {number}"}


def _seen(run: RunContext) -> Json:
    shown = message(run.message)
    seen: Json = {
        "messages": [item.id for item in run.messages],
        "parentId": run.parent_id,
        "assistantId": run.assistant_message_id,
        "content": shown["content"],
        "status": shown["status"],
    }
    steps = len(run.message.metadata.steps)
    extra = {
        "steps": steps,
        "runConfig": thaw(run.run_config),
        "context": context(run.context),
        "threadId": run.thread_id,
    }
    return {**seen, **{key: value for key, value in extra.items() if value}}


def context(value: ModelContext) -> Json:
    """What a model is told beside the conversation, without what is not there."""
    settings = {"callSettings": value.call_settings, "config": value.config}
    shown = {key: {_camel(name): thaw(item) for name, item in kept.items()} for key, kept in settings.items() if kept}
    return {**shown, "system": value.system} if value.system else shown


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def snake(name: str) -> str:
    """A name of the reference in the product's spelling."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def result(given: Json) -> RunResult:
    """A result of a script as the product takes it."""
    fields: Json = {}
    if "content" in given:
        fields["content"] = [loose({"content": [item]})["content"][0] for item in given["content"]]
    if given.get("status") is not None:
        fields["status"] = fallback_status(given["status"])
    if given.get("metadata") is not None:
        named = {LOOSE.get(key, key): value for key, value in given["metadata"].items()}
        carrier: Any = message_from_like({"role": "assistant", "content": "", "metadata": named}).metadata
        fields["metadata"] = RunMetadata(**{key: getattr(carrier, key) for key in named})
    return RunResult(**fields)


@attrs.define(eq=False)
class Behaviours:
    """What the first, second, … call of one function does; beyond the list it succeeds."""

    items: list[Json]
    calls: int = 0

    def next(self) -> Json:
        """What the next call does."""
        item = self.items[self.calls] if self.calls < len(self.items) else "ok"
        self.calls += 1
        return item


def begin(behaviour: Json, gates: Gates) -> Later:
    """Begin a call; what it returns or raises comes when it is awaited, unless it raises at once."""
    if isinstance(behaviour, dict) and "throw" in behaviour:
        raise scripted(behaviour["throw"])
    return Later(lambda: perform(behaviour, gates))


async def perform(behaviour: Json, gates: Gates) -> Json:
    """Wait, fail or return as a behaviour says."""
    if isinstance(behaviour, str):
        return None
    if "wait" in behaviour:
        await gates.wait(behaviour["wait"])
    if "reject" in behaviour:
        raise scripted(behaviour["reject"])
    return behaviour.get("return")


@attrs.define(eq=False)
class Writes:
    """The writing half of a history, which tells an attempt to store again from what the reference does.

    Attributes:
        failed: What could not be stored, by the message's id.
    """

    script: Json
    trace: Trace
    gates: Gates
    behaviours: dict[str, Behaviours]
    failed: dict[str, HistoryItem] = attrs.field(factory=dict)

    def write(self, name: str, item: HistoryItem) -> Later:
        """Store a message; storing again what failed is noted aside, and succeeds."""
        before = self.failed.pop(item.message.id, None)
        if before is not None:
            self.trace.note("history-retry", item.message.id)
            if before.message == item.message:
                return Later(lambda: perform("ok", self.gates))
            name = "update" if "update" in self.script else name
        self.trace.note("history", name, _item(item))
        behaviour = self.behaviours[name].next()
        if isinstance(behaviour, dict) and behaviour.keys() & {"reject", "throw"}:
            self.failed[item.message.id] = item
        return begin(behaviour, self.gates)


def history(script: Json, trace: Trace, gates: Gates, model: Model) -> Any:
    """A history with exactly the abilities that its script has."""
    behaviours = {name: Behaviours(script.get(name) or []) for name in ("append", "update", "delete")}
    writes = Writes(script, trace, gates, behaviours)
    given = SimpleNamespace(append=lambda item: writes.write("append", item))

    def load() -> Later:
        trace.note("history", "load")
        behaviour = script.get("load", "ok")
        if isinstance(behaviour, dict) and "throw" in behaviour:
            raise scripted(behaviour["throw"])
        return Later(lambda: _loaded(behaviour, gates))

    def delete(items: tuple[HistoryItem, ...]) -> Later:
        trace.note("history", "delete", [_item(item) for item in items])
        return begin(behaviours["delete"].next(), gates)

    given.load = load
    if "update" in script:
        given.update = lambda item: writes.write("update", item)
    if "delete" in script:
        given.delete = delete
    if "resume" in script:
        given.resume = model.resumed(script["resume"], "history")
    return given


async def _loaded(behaviour: Json, gates: Gates) -> LoadedHistory | None:
    stored = await perform(behaviour, gates)
    if stored is None:
        return None
    pairs = branches_from_likes([(loose(item["message"]), item["parentId"]) for item in stored["messages"]])
    return LoadedHistory(
        entries=tuple(Entry(parent, made) for made, parent in pairs),
        head_id=stored.get("headId"),
        resume=stored.get("unstable_resume", False),
    )


def _item(item: HistoryItem) -> Json:
    run_config = thaw(item.run_config)
    return {
        "parentId": item.parent_id,
        "message": message(item.message),
        **({"runConfig": run_config} if run_config else {}),
    }


@attrs.define(eq=False)
class Suggester:
    """The scripted source of suggestions.

    Attributes:
        numbers: The numbers of the requests that are expected, in order; see `_purpose`.
    """

    scripts: list[Json]
    trace: Trace
    gates: Gates
    nested: Nested
    numbers: list[int]
    calls: int = 0

    def __call__(self, request: SuggestionRequest) -> Any:
        number = self.numbers[self.calls] if self.calls < len(self.numbers) else self.calls
        self.calls += 1
        self.trace.note("suggest", number, [item.id for item in request.messages])
        script = self.scripts[number] if number < len(self.scripts) else {"mode": "promise", "steps": [{"return": []}]}
        return start(
            script,
            self.gates,
            self.nested,
            _suggestions,
            Call(number),
            lambda: self.trace.note("suggest-abort", number),
        )


def _suggestions(given: Json) -> list[Suggestion]:
    return [Suggestion(**item) for item in given or []]


def feedback(trace: Trace) -> Callable[[Message, str], None]:
    """A feedback sink that logs."""
    return lambda about, verdict: trace.note("feedback", about.id, verdict)


def first_messages(likes: list[Json]) -> list[Message]:
    """Loose messages as the product's."""
    return [message_from_like(loose(like), fallback_id=new_id()) for like in likes]
